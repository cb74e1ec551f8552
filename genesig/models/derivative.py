"""Nonlinear variable selection by penalties on partial derivatives, as scikit-learn estimators.

Source: Rosasco et al. (2010); Gregorova et al. (2018).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.model_selection import check_cv

from genesig.models.derivative_base import DerivativeModel
from genesig.models.two_classes import SignClassifier
from genesig.models.weights import check_classes, passed_on

Array = np.ndarray[Any, Any]


class DerivativeRegressor(RegressorMixin, DerivativeModel):  # type: ignore[misc]
    """Selects variables, and predicts a number; described in `DerivativeModel`."""

    __doc__ = (DerivativeModel.__doc__ or "").replace(
        "SUMMARY", "Nonlinear regression that selects variables by their partial derivatives"
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose what is not fixed, and fit; X (n, d), y (n,), sample_weight (n,)."""
        X, y, counts = self._checked(X, y, sample_weight)
        y = np.asarray(y, dtype=float)
        self._fit(X, y, list(check_cv(self.cv).split(X, y)), counts)
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x), (m,)."""
        return self._values(X)


class DerivativeClassifier(SignClassifier, DerivativeModel):
    """Selects variables, and tells two classes apart by the sign of f; see `DerivativeModel`."""

    __doc__ = (DerivativeModel.__doc__ or "").replace(
        "SUMMARY", "Two classes, coded as ±1 and fitted by least squares, by the sign of f"
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose what is not fixed, and fit; X (n, d), y (n,) of two labels, sample_weight (n,)."""
        rows, labels, counts = self._checked(X, y, sample_weight)
        check_classes(labels, counts)
        folds = list(check_cv(self.cv, labels, classifier=True).split(rows, labels))
        self._fit(rows, self._coded(labels), folds, counts)
        return self._calibrated(X, labels, **passed_on(sample_weight))

    def decision_function(self, X: Any) -> Array:
        """Return f(x), positive for the second class, (m,)."""
        return self._values(X)
