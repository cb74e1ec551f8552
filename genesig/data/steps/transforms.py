"""Steps that look at one sample at a time or centre and scale genes; stored fields of all steps."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.arrays import Array

ZEROS_AS_MISSING = "zeros_as_missing"  # name of the step in a config


class RowWiseStep:
    """A step that looks at one sample at a time and learns nothing; it keeps all columns."""

    kind: ClassVar[Literal["sample"]] = "sample"  # see `Normaliser` in `normalise.py`
    genes: ClassVar[None] = None  # columns that the result has; None for all


class LearnedStep:
    """A step that learns from training samples and keeps all columns."""

    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None


@dataclass(frozen=True)
class Log2(RowWiseStep):
    """``log2(min(max(x, floor), ceiling))``."""

    floor: float
    ceiling: float

    def transform(self, X: Array) -> Array:
        """Cut to [floor, ceiling] and take the logarithm."""
        return np.asarray(np.log2(np.clip(X, self.floor, self.ceiling)))


@dataclass(frozen=True)
class RankSamples(RowWiseStep):
    """``(rank(x) - 1/2) / n_genes`` within a sample, in (0, 1); ties share their mean rank."""

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
class StandardiseSamples(RowWiseStep):
    """``(x - mean(x)) / sd(x)`` over the genes of a sample, sd with ddof=0; constant becomes 0."""

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


@dataclass(frozen=True)
class ZerosAsMissing(RowWiseStep):
    """Replace zeros by NaN, which a step of normalise.folds fills in."""

    def transform(self, X: Array) -> Array:
        """Replace zeros by NaN."""
        return np.where(X == 0, np.nan, X)


@dataclass(frozen=True, eq=False)
class Centre(LearnedStep):
    """Subtract the training mean from each gene."""

    mean: Array  # (n_genes,) float

    @classmethod
    def fit(cls, X: Array) -> Centre:
        """Average each column."""
        return cls(X.mean(axis=0))

    def transform(self, X: Array) -> Array:
        """Subtract the stored means."""
        return X - self.mean


@dataclass(frozen=True, eq=False)
class UnitVariance(LearnedStep):
    """Divide each gene by its training standard deviation (ddof=0)."""

    # (n_genes,) float: 1 / standard deviation; 0 for a gene that is constant on the training rows,
    # which becomes 0 everywhere
    inverse_scale: Array

    @classmethod
    def fit(cls, X: Array) -> UnitVariance:
        """Measure the deviation of each column from its mean."""
        return cls(inverse_scale(X, axis=0))

    def transform(self, X: Array) -> Array:
        """Multiply by the stored inverse deviations."""
        return X * self.inverse_scale


def state_of(step: Any) -> dict[str, Any]:
    """Return the stored fields of a fitted step: arrays as lists, None for a missing number."""
    return {name: _json_value(getattr(step, name)) for name in stored_fields(step)}


def stored_fields(step: Any) -> list[str]:
    """Return the fields of a step, or of its class, by name, without those marked as not stored."""
    return [field.name for field in fields(step) if field.metadata.get("stored", True)]


def _json_value(value: Any) -> Any:
    """Return a field as JSON has it: a list for an array, None for a NaN in an array."""
    if not isinstance(value, np.ndarray):
        return list(value) if isinstance(value, tuple) else value
    if value.dtype.kind == "f" and np.isnan(value).any():
        value = np.where(np.isnan(value), np.array(None), value)
    return value.tolist()
