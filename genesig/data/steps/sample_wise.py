"""Steps that look at one sample at a time: logarithm, ranks, standardisation, zeros.

`Normaliser` in `normalise.py` explains the class variables `kind` and `genes` of a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from genesig.arrays import Array


@dataclass(frozen=True)
class Log2:
    """``log2(min(max(x, floor), ceiling))``."""

    floor: float
    ceiling: float
    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Cut to [floor, ceiling] and take the logarithm."""
        return np.asarray(np.log2(np.clip(X, self.floor, self.ceiling)))


@dataclass(frozen=True)
class RankSamples:
    """``(rank(x) - 1/2) / n_genes`` within a sample, in (0, 1); ties share their mean rank."""

    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Rank each row."""
        return np.asarray((average_ranks(X) - 0.5) / X.shape[1])


def average_ranks(X: Array) -> Array:
    """Return the ranks 1..n_genes of the values of each sample; ties share their mean rank."""
    ranks = np.empty(X.shape)
    for row, values in enumerate(X):
        _distinct, rank_group, counts = np.unique(values, return_inverse=True, return_counts=True)
        ranks[row] = (np.cumsum(counts) - (counts - 1) / 2)[rank_group]
    return ranks


@dataclass(frozen=True)
class StandardiseSamples:
    """``(x - mean(x)) / sd(x)`` over the genes of a sample, sd with ddof=0; constant becomes 0."""

    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Standardise each row."""
        rows = np.ascontiguousarray(X)  # sums along rows must not depend on the memory layout
        centred = rows - rows.mean(axis=1, keepdims=True)
        return np.asarray(centred * inverse_scale(rows, axis=1)[:, None])


def inverse_scale(X: Array, axis: int) -> Array:
    """Return 1 / standard deviation (ddof=0) along an axis, 0 where the values are constant.

    Values count as constant when their deviation is of the size of the rounding error of their
    mean (scikit-learn's StandardScaler has the same bound).
    """
    scale = X.std(axis=axis)
    rounding = X.shape[axis] * np.finfo(np.float64).eps * np.abs(X).max(axis=axis)
    varies = (np.ptp(X, axis=axis) > 0) & (scale > np.maximum(rounding, np.finfo(np.float64).tiny))
    inverse: Array = np.divide(1.0, scale, out=np.zeros_like(scale), where=varies)
    return inverse


ZEROS_AS_MISSING = "zeros_as_missing"


@dataclass(frozen=True)
class ZerosAsMissing:
    """Replace zeros by NaN, which a step of normalise.folds fills in."""

    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Replace zeros by NaN."""
        return np.where(X == 0, np.nan, X)
