"""Mean and spread of a sample over its genes taken away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

Array = np.ndarray[Any, Any]


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
