"""From probes, or probe sets, to genes: one value for all columns of one symbol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.data.steps.gene_sets import by_size, numbered
from genesig.errors import pick

Array = np.ndarray[Any, Any]


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
