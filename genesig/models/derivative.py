"""Nonlinear variable selection by penalties on partial derivatives, as scikit-learn estimators.

Source: Rosasco et al. (2010); Gregorova et al. (2018).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from genesig.models.derivative_base import DerivativeModel
from genesig.optim.nonlinear.checks import InvalidProblem

Array = np.ndarray[Any, Any]


class DerivativeRegressor(RegressorMixin, DerivativeModel):  # type: ignore[misc]
    """Selects variables, and predicts a number; described in `DerivativeModel`."""

    __doc__ = (DerivativeModel.__doc__ or "").replace(
        "SUMMARY", "Nonlinear regression that selects variables by their partial derivatives"
    )

    def fit(self, X: Any, y: Any) -> Self:
        """Choose what is not fixed, and fit; X (n, d), y (n,)."""
        X, y = self._checked(X, y)
        y = np.asarray(y, dtype=float)
        self._fit(X, y, list(check_cv(self.cv).split(X, y)))
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x), (m,)."""
        return self._values(X)


class DerivativeClassifier(ClassifierMixin, DerivativeModel):  # type: ignore[misc]
    """Selects variables, and tells two classes apart by the sign of f; see `DerivativeModel`."""

    __doc__ = (DerivativeModel.__doc__ or "").replace(
        "SUMMARY", "Two classes, coded as ±1 and fitted by least squares, by the sign of f"
    )

    def __sklearn_tags__(self) -> Any:
        """Say that there are two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Choose what is not fixed, and fit; X (n, d), y (n,) of two labels."""
        X, y = self._checked(X, y)
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise InvalidProblem(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InvalidProblem("y holds one class only; two classes are needed")
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y))
        self._fit(X, np.where(y == self.classes_[1], 1.0, -1.0), folds)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return f(x), positive for the second class, (m,)."""
        return self._values(X)

    def predict(self, X: Any) -> Array:
        """Return the class by the sign of f, (m,)."""
        positive = (self._values(X) > 0).astype(int)
        return np.asarray(self.classes_[positive])
