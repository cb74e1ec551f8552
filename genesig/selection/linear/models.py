"""One linear model of one training set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Model:
    """One linear model of one training set.

    Attributes
    ----------
    genes, values : (m,) int, (m,) or (m, T) float
        Columns of the matrix, ascending, and weights.
    intercept : float or (T,) float
        Less the threshold.
    gamma : (q,) or (q, T) float, or None
    left_out : (n, ...) float
        Score of each training sample by the fold that left it out, less the threshold; else NaN.
    unseen : (n, ...) float or None
        The same by settings that the other folds chose, see `unseen`.
    """

    genes: Array
    values: Array
    intercept: Any
    gamma: Array | None
    left_out: Array
    unseen: Array | None = None

    def scores(self, X: Array, rows: Array) -> Array:
        """Return the scores of some rows of the matrix, without covariates."""
        return np.asarray(self.intercept + X[np.ix_(rows, self.genes)] @ self.values)
