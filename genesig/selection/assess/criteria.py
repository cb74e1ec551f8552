"""Validation errors that choose (tau, lam), as weighted means of a loss per sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.selection.assess.scores import wrong

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Criterion:
    """A loss per sample and how the samples are weighted.

    Attributes
    ----------
    loss : callable
        ``loss(y, f)``: responses (n, 1, ...) and scores (n, ...) to losses (n, ...).
    balanced : bool
        Each class weighs one half, whatever its size; otherwise each sample weighs the same.
    counts : bool
        Whether it counts wrong samples, so that it matters where a score is cut.
    """

    loss: Callable[[Array, Array], Array]
    balanced: bool = False
    counts: bool = False

    def weights(self, y: Array) -> Array:
        """Return the weight of each sample, (n,); they sum to one."""
        if not self.balanced:
            return np.full(len(y), 1.0 / len(y))
        _, number, size = np.unique(y, return_inverse=True, return_counts=True)
        return np.asarray(1.0 / (len(size) * size[number]))


def squared_error(y: Array, f: Array) -> Array:
    """(y - f)², for classes and for regression."""
    return np.asarray(np.square(y - f))


def log_loss(y: Array, f: Array) -> Array:
    """log(1 + exp(-2 y f)): minus the log-likelihood when f is half the log-odds of class +1."""
    return np.asarray(np.logaddexp(0.0, -2.0 * y * f))


CRITERIA = {
    "squared_error": Criterion(squared_error),
    "balanced_error": Criterion(wrong, balanced=True, counts=True),
    "misclassification": Criterion(wrong, counts=True),
    "log_loss": Criterion(log_loss),
}
