"""Columns that belong together, the probes of a gene or of a probe set, and one value for all."""

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

# A probe's name: its set's, and from the second probe on its number (see `affy.arrays.Probes`).
PROBE = re.compile(r"#\d+$")


def numbered(step: str, by: Sequence[str] | None, n_columns: int) -> Array:
    """Give the columns' sets the numbers 0, 1, ... in the order in which they first occur.

    Parameters
    ----------
    step : str
        Who asks, for the message.
    by : (n_columns,) sequence of names, or None
        The set of each column; None makes each column a set of its own.
    n_columns : int

    Raises
    ------
    GenesigError
        If `by` does not name a set for each column.
    """
    if by is None:
        return np.arange(n_columns)
    if isinstance(by, str) or len(by) != n_columns:
        found = f"'{by}'" if isinstance(by, str) else f"{len(by)} names"
        raise GenesigError(f"{step}: needs the set of each of {n_columns} columns, found {found}")
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(str(name), len(numbers)) for name in by], dtype=np.int64)


def by_size(sets: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the sets of each size: (m,) numbers and (m, size) columns."""
    sizes = np.bincount(sets)
    order = np.argsort(sets, kind="stable")
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        numbers = np.flatnonzero(sizes == size)
        yield numbers, order[starts[numbers][:, None] + np.arange(size)]


def gene_columns(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns of the gene table, but for symbols, by which steps take columns together.

    ``symbol`` is the study's, whatever its column is called.
    """
    return [step["by"] for step in steps if step.get("by") not in (None, "symbol")]


def with_sets(steps: Sequence[Mapping[str, Any]], var: pd.DataFrame) -> list[dict[str, Any]]:
    """Put the set of each column in place of the name of a gene table's column.

    Parameters
    ----------
    steps : list of steps
        A step with the setting ``by`` takes columns together. Null is the probe set in the probe's
        name for ``median_polish``, the column ``symbol`` for others.
    var : DataFrame, index = gene ids
        Of the genes as the first of the steps sees them; `fit_steps` follows what the others see.

    Raises
    ------
    GenesigError
        The gene table has no such column.
    """
    bound: list[dict[str, Any]] = []
    for step in steps:
        by = step.get("by")
        if "by" not in step or not (by is None or isinstance(by, str)):
            bound.append(dict(step))
            continue
        bound.append({**step, "by": _sets(str(step["step"]), by, var)})
    return bound


def _sets(step: str, by: str | None, var: pd.DataFrame) -> list[str]:
    if by is None and step == "median_polish":
        return [PROBE.sub("", str(name)) for name in var.index]
    column = by or "symbol"
    if column not in var.columns:
        names = ", ".join(f"'{name}'" for name in var.columns)
        near = did_you_mean(column, map(str, var.columns))
        raise GenesigError(
            f"normalise.folds: {step} by '{column}', but the gene table has {names}{near}"
        )
    return [str(name) for name in var[column]]


def _mean(X: Array) -> Array:
    return np.asarray(X.mean(axis=0))


def _interquartile_range(X: Array) -> Array:
    lower, upper = np.quantile(X, (0.25, 0.75), axis=0)
    return np.asarray(upper - lower)


# What the column that stands for its set has the most of, on the training samples.
RULES: dict[str, Callable[[Array], Array] | None] = {
    "max_mean": _mean,
    "max_iqr": _interquartile_range,
    "median": None,
}


@dataclass(frozen=True, eq=False)
class Collapse:
    """Keep of each set the column with the largest training mean or range, or the set's median.

    A column without a symbol is a set of its own, and kept.

    Attributes
    ----------
    genes : (n_sets,) int
        The column that stands for each set and gives its name: the chosen one, of equal ones the
        first; with the rule ``median`` the first of the set.
    sets : (n_columns,) int, or (0,)
        Number of each column's set for the rule ``median``; empty for the others.
    """

    genes: Array
    sets: Array
    kind: ClassVar[Literal["fold"]] = "fold"

    @classmethod
    def fit(cls, X: Array, *, by: Sequence[str] | None, rule: str) -> Collapse:
        """Choose by the rows; `by` names each column's set, None: each its own."""
        sets = numbered("collapse", by, X.shape[1])
        measure = pick("normalise.folds: collapse, rule", RULES, rule)
        if measure is None:
            return cls(np.unique(sets, return_index=True)[1], sets)
        best = np.lexsort((np.arange(len(sets)), -measure(X), sets))
        first = np.unique(sets[best], return_index=True)[1]
        return cls(np.sort(best[first]), np.empty(0, dtype=np.int64))

    def transform(self, X: Array) -> Array:
        """Take the chosen columns, or the median of each set."""
        if not len(self.sets):
            return X[:, self.genes]
        collapsed = np.empty((len(X), len(self.genes)))
        for numbers, columns in by_size(self.sets):
            collapsed[:, numbers] = np.median(X[:, columns], axis=2)
        return collapsed
