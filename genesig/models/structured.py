"""What estimators with a penalty on blocks share: scaling, the fit, classes as columns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.models.checks import check_numbers
from genesig.models.probabilities import CrossFitted
from genesig.models.selects import Selects
from genesig.models.weights import check_classes
from genesig.optim.nonlinear.checks import InvalidProblem
from genesig.optim.structured.penalties import Penalty
from genesig.optim.structured.solution import Minimisers

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Scale:
    """Means and scales of training rows, (d,); the scale of what is constant is 1."""

    mean: Array
    scale: Array

    @classmethod
    def of(cls, X: Array, *, unit_variance: bool, weights: Array | None = None) -> Scale:
        """Learn from X (n, d), rows with the weights (n,) if there are any."""
        mean = X.mean(axis=0) if weights is None else weights @ X / len(X)
        square = None if weights is None else weights @ (X - mean) ** 2 / len(X)
        scale = X.std(axis=0) if square is None else np.sqrt(square)
        scale = scale if unit_variance else np.ones(X.shape[1])
        seen = X if weights is None else X[weights > 0]
        scale[(np.ptp(seen, axis=0) == 0) | (scale == 0)] = 1
        return cls(mean, scale)

    def apply(self, X: Array) -> Array:
        """Centre and scale."""
        return np.asarray((X - self.mean) / self.scale)


def levels(estimator: Any, largest: float, norm: float) -> tuple[Array, float]:
    """Return tau (1,) and mu, absolute, from fractions of tau_max and in units of a norm."""
    check_numbers(estimator, positive=("tau",), not_negative=("mu",))
    tau, mu = estimator.tau, estimator.mu
    return np.array([tau * (largest or 1.0)]), float(mu * norm)


def warn_of(fits: Minimisers) -> None:
    """Warn of a fit that did not converge."""
    if fits.message:
        warnings.warn(fits.message, ConvergenceWarning, stacklevel=5)


class LinearBlocks(Selects, BaseEstimator):  # type: ignore[misc]
    """Linear models of centred features with a penalty on blocks of them."""

    coef_: Any
    intercept_: Any

    def _levels(self, Z: Array, Y: Array, penalty: Penalty) -> tuple[Array, float]:
        """Return tau (1,) and mu, absolute, for centred Z (n, d) and Y (n, T)."""
        n, small = len(Z), Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z
        norm = float(np.linalg.norm(small, 2)) / n
        return levels(self, 2 / n * penalty.dual(Z.T @ Y), norm)

    def _keep(self, fits: Minimisers, scale: Scale, centre: Array) -> None:
        """Keep the fit of the one tau, its coefficients in the units of X."""
        warn_of(fits)
        self.tau_, self.gap_ = float(fits.tau[0]), float(fits.gap[0])
        self.n_iter_ = int(fits.steps[0])
        self.blocks_, self.norms_ = fits.support(0), fits.norms.toarray()[0]
        B = fits.coef(0) / scale.scale[:, None]
        self.support_ = np.asarray(B.any(axis=1))
        self.coef_, self.intercept_ = B.T, centre - scale.mean @ B

    def _values(self, X: Any) -> Array:
        """Return f(x), (m, T)."""
        check_is_fitted(self)
        return self._scores(validate_data(self, X, dtype=np.float64, reset=False))

    def _scores(self, X: Array) -> Array:
        """Return f(x) of checked rows, (m, T)."""
        return np.asarray(X @ np.atleast_2d(self.coef_).T + self.intercept_)


class ClassColumns(CrossFitted):
    """Classes as responses, and the class whose mean training score is nearest.

    Two classes are -1 and +1, cut halfway between their mean scores. More are a column each, 1
    inside and 0 outside, over the square root of the class's share, so that rare ones count.
    """

    classes_: Array

    def _columns(self, y: Array, weights: Array | None = None) -> Array:
        """Keep the classes and return their columns, (n, T), not centred."""
        check_classification_targets(y)
        self.classes_, number = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:  # scikit-learn's own checks look for these words
            raise InvalidProblem("y has only one class; at least two are needed")
        check_classes(y, weights)
        if len(self.classes_) == 2:
            return np.where(number == 1, 1.0, -1.0)[:, None]
        member = np.eye(len(self.classes_))[number]
        return np.asarray(member / np.sqrt(np.average(member, axis=0, weights=weights)))

    def _learn_cut(self, scores: Array, y: Array, weights: Array | None = None) -> None:
        """Keep the mean training scores of the classes, (K, T)."""
        rows = [y == each for each in self.classes_]
        known = [None if weights is None else weights[mine] for mine in rows]
        self.means_ = np.array([np.average(scores[mine], axis=0, weights=v)
                                for mine, v in zip(rows, known, strict=True)])  # fmt: skip

    def decision_function(self, X: Any) -> Array:
        """Return how much nearer each class's mean is, (m, K); of two classes that of the second.

        ``f(x)'m_k - ||m_k||²/2``; for two classes f(x) less the number halfway, (m,).
        """
        scores = self._values(X)
        if len(self.classes_) == 2:
            return np.asarray(scores[:, 0] - self.means_.mean())
        return np.asarray(scores @ self.means_.T - (self.means_**2).sum(axis=1) / 2)

    def predict(self, X: Any) -> Array:
        """Return the class of each row, (m,)."""
        scores = self.decision_function(X)
        number = np.argmax(scores, axis=1) if scores.ndim > 1 else (scores > 0).astype(int)
        return np.asarray(self.classes_[number])
