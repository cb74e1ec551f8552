"""Steps that leave out genes, and steps that make one column of the probes of a gene.

`Normaliser` in `normalise.py` explains the class variables `kind` and `genes` of a step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError, did_you_mean, pick

if TYPE_CHECKING:
    import pandas as pd

# The name of a probe is that of its set; from the second probe on, its number follows:
# ``1007_s_at#2`` (see `affy.layouts.Probes`).
PROBE_NUMBER = re.compile(r"#\d+$")


@dataclass(frozen=True, eq=False)
class KeptGenes:
    """The genes that a filter chose."""

    genes: Array  # (n_kept,) int, ascending
    kind: ClassVar[Literal["fold"]] = "fold"

    def transform(self, X: Array) -> Array:
        """Return the kept columns."""
        return X[:, self.genes]


@dataclass(frozen=True)
class Filter:
    """A rule that chooses genes: `fit`, or a call with stored genes, returns `KeptGenes`."""

    choose: Callable[..., Array]  # function of (X, settings): returns the kept columns, ascending
    kind: ClassVar[Literal["fold"]] = "fold"

    def fit(self, X: Array, **settings: float) -> KeptGenes:
        """Choose genes by their values over the rows."""
        return KeptGenes(self.choose(X, **settings))

    def __call__(self, genes: Array) -> KeptGenes:
        """Return the fitted filter with these genes, as a model file has stored them."""
        return KeptGenes(genes)


def by_variance(X: Array, *, keep: float) -> Array:
    """Keep the share `keep` of genes (at least one) with the largest training variance.

    Of equal variances the earlier genes are kept.
    """
    n_kept = max(1, round(keep * X.shape[1]))
    largest_first = np.argsort(-X.var(axis=0), kind="stable")
    return np.sort(largest_first[:n_kept])


def by_fold(X: Array, *, above: float) -> Array:
    """Return the genes with ``max / min > above`` over the training samples (n_train, n_genes).

    Raises GenesigError: a value is not positive.
    """
    minimum = X.min(axis=0)
    if minimum.min() <= 0:
        raise GenesigError(
            f"normalise.folds: fold_filter needs positive values, found {minimum.min():g}; use "
            "range_filter, or put log2 after it in normalise.folds instead of before the splits"
        )
    return _passing_genes("fold_filter", X.max(axis=0) > above * minimum, above)


def by_range(X: Array, *, above: float) -> Array:
    """Keep genes with ``max - min > above`` over the training samples."""
    return _passing_genes("range_filter", np.ptp(X, axis=0) > above, above)


def by_detection(X: Array, *, above: float, samples: float) -> Array:
    """Keep genes with ``x > above`` in at least the share `samples` of the training samples."""
    min_samples = int(np.ceil(samples * len(X) * (1 - 1e-12)))  # 0.2 of 5 rows is 1, not 2
    return _passing_genes("detection_filter", (above < X).sum(axis=0) >= min_samples, above)


def _passing_genes(step: str, passes: Array, above: float) -> Array:
    """Return the columns that pass a filter; raise if there is none."""
    if not passes.any():
        raise GenesigError(
            f"normalise.folds: {step} leaves no gene above {above:g}; lower its 'above'"
        )
    return np.flatnonzero(passes)


def number_sets(step: str, by: Sequence[str] | None, n_columns: int) -> Array:
    """Return the number of the set of each column: 0, 1, ... in order of first occurrence.

    step: name of the step, for the message.
    by (n_columns,) sequence of names, or None: the set of each column; None makes each column a set
        of its own.

    Raises GenesigError: if `by` does not name a set for each column.
    """
    if by is None:
        return np.arange(n_columns)
    if isinstance(by, str) or len(by) != n_columns:
        fault = f"'{by}'" if isinstance(by, str) else f"{len(by)} names"
        raise GenesigError(f"{step}: needs the set of each of {n_columns} columns, found {fault}")
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(str(name), len(numbers)) for name in by], dtype=np.int64)


def sets_by_size(sets: Array) -> Iterator[tuple[Array, Array]]:
    """Yield, for each size of set, the numbers (m,) of these sets and their columns (m, size)."""
    sizes = np.bincount(sets)
    order = np.argsort(sets, kind="stable")
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        set_numbers = np.flatnonzero(sizes == size)
        yield set_numbers, order[starts[set_numbers][:, None] + np.arange(size)]


def set_columns_of(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns of the gene table that name sets for some step, without ``symbol``.

    ``symbol`` is the study's own column of symbols, under whatever name the file has it.
    """
    return [step["by"] for step in steps if step.get("by") not in (None, "symbol")]


def with_sets(steps: Sequence[Mapping[str, Any]], var: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the steps with ``by`` as the set of each column instead of a gene-table column.

    steps: a step with the setting ``by`` combines columns. Null means the probe set in the probe's
        name for ``median_polish``, and the column ``symbol`` for other steps.
    var: the gene table before the first step; `fit_steps` selects the columns that are left later.

    Raises GenesigError: the gene table has no such column.
    """
    return [
        {**step, "by": _set_of_each_column(str(step["step"]), step["by"], var)}
        if "by" in step and isinstance(step["by"], str | None)
        else dict(step)
        for step in steps
    ]


def _set_of_each_column(step: str, by: str | None, var: pd.DataFrame) -> list[str]:
    """Return the name of the set of each column, for a step with the setting ``by``."""
    if by is None and step == "median_polish":
        return [PROBE_NUMBER.sub("", str(name)) for name in var.index]
    column = by or "symbol"
    if column not in var.columns:
        column_names = ", ".join(f"'{name}'" for name in var.columns)
        suggestion = did_you_mean(column, map(str, var.columns))
        raise GenesigError(
            f"normalise.folds: {step} by '{column}', but the gene table has "
            f"{column_names}{suggestion}"
        )
    return [str(name) for name in var[column]]


def _mean(X: Array) -> Array:
    """Return the mean of each column."""
    return np.asarray(X.mean(axis=0))


def _interquartile_range(X: Array) -> Array:
    """Return the interquartile range of each column."""
    lower, upper = np.quantile(X, (0.25, 0.75), axis=0)
    return np.asarray(upper - lower)


# The column with the largest value of this measure on the training samples represents its set; None
# takes the median of the columns in each sample.
COLLAPSE_RULES: dict[str, Callable[[Array], Array] | None] = {
    "max_mean": _mean,
    "max_iqr": _interquartile_range,
    "median": None,
}


@dataclass(frozen=True, eq=False)
class Collapse:
    """Keep the column of each set with the largest training mean or range, or the set's median.

    A column without a symbol is a set by itself, and stays: its symbol is then its id.
    """

    # (n_sets,) int: the column that represents each set and gives its name: the chosen one (the
    # first of equal ones); with the rule ``median`` the first column of the set
    genes: Array
    # (n_columns,) int, or (0,): number of each column's set for the rule ``median``; empty for the
    # others
    sets: Array
    kind: ClassVar[Literal["fold"]] = "fold"

    @classmethod
    def fit(cls, X: Array, *, by: Sequence[str] | None, rule: str) -> Collapse:
        """Choose by the rows; `by` names each column's set, None: each its own."""
        sets = number_sets("collapse", by, X.shape[1])
        measure = pick("normalise.folds: collapse, rule", COLLAPSE_RULES, rule)
        if measure is None:
            return cls(np.unique(sets, return_index=True)[1], sets)
        best_first = np.lexsort((np.arange(len(sets)), -measure(X), sets))
        first_of_set = np.unique(sets[best_first], return_index=True)[1]
        return cls(np.sort(best_first[first_of_set]), np.empty(0, dtype=np.int64))

    def transform(self, X: Array) -> Array:
        """Return the chosen columns, or the median of each set."""
        if not len(self.sets):
            return X[:, self.genes]
        collapsed = np.empty((len(X), len(self.genes)))
        for set_numbers, columns in sets_by_size(self.sets):
            collapsed[:, set_numbers] = np.median(X[:, columns], axis=2)
        return collapsed
