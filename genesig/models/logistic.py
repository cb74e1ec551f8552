"""Two classes by their logarithmic odds: the elastic net itself, without a refit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.models.checks import check_numbers
from genesig.models.selects import Selects, mask_of
from genesig.models.two_classes import TwoClasses
from genesig.models.weights import check_classes, shares
from genesig.optim.adjustment import adjustment
from genesig.optim.logistic.path import logistic_path
from genesig.optim.logistic.scores import logistic_coef
from genesig.optim.logistic.training import logistic_sets

Array = np.ndarray[Any, Any]


class L1L2Logistic(Selects, TwoClasses, BaseEstimator):  # type: ignore[misc]
    """``log(p / (1 - p)) = f(x) = intercept + x'b``, p the probability of the second class.

    The coefficients minimise ``(1/n) Σ_i v_i log(1 + exp(-y_i f(x_i))) + mu ||b||² + tau ||b||_1``
    over the centred, scaled features; the intercept has no penalty.

    Parameters
    ----------
    tau : float
        Weight of the l1 term, as a fraction of the smallest tau that selects nothing.
    mu : float
        Weight of the squared l2 term, in units of ||Z'Z||/n.
    balanced : bool
        Multiply the weights v of each class so that both have the same sum.
    unit_variance : bool
        Divide each feature by its standard deviation.
    tolerance : float
        Largest relative duality gap; a larger one is warned of.

    Attributes
    ----------
    classes_ : (2,) array
        The second is the one with y = 1.
    coef_ : (d,) array
        In the units of X; 0 where a feature is not selected.
    intercept_ : float
    support_ : (d,) bool array
        Selected features.
    gap_ : float
        Duality gap, relative to the loss without features.
    n_iter_ : int

    Source: Friedman, Hastie and Tibshirani 2010.
    """

    def __init__(
        self,
        tau: float = 0.2,
        mu: float = 1e-6,
        balanced: bool = False,
        unit_variance: bool = True,
        tolerance: float = 1e-9,
    ) -> None:
        self.tau = tau
        self.mu = mu
        self.balanced = balanced
        self.unit_variance = unit_variance
        self.tolerance = tolerance

    def fit(self, X: Array, y: Array, sample_weight: Any = None) -> L1L2Logistic:
        """Fit to X (n, d) and the classes y (n,) of its rows, weighted by sample_weight (n,)."""
        check_numbers(self, not_negative=("tau", "mu"))
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        v, rows = shares(sample_weight, X), np.ones((len(X), 1), dtype=bool)
        check_classes(y, v)
        sets = logistic_sets(
            X, self._coded(y)[:, None], rows, centre=True, unit_variance=self.unit_variance,
            fixed=None if v is None else adjustment(rows, weights=v[:, None]),
            balanced=self.balanced,
        )  # fmt: skip
        fits, intercept, _ = logistic_path(
            sets, self.tau * sets.tau_max, self.mu * sets.norm, tolerance=self.tolerance
        )
        if fits.message:
            warnings.warn(fits.message, ConvergenceWarning, stacklevel=2)
        values, constant = logistic_coef(sets, fits, intercept)
        self.support_ = mask_of(fits.indices, X.shape[1])
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[fits.indices] = values
        self.intercept_ = float(constant[0, 0])
        self.gap_, self.n_iter_ = float(fits.gap[0, 0]), int(fits.iterations[0, 0])
        return self

    def decision_function(self, X: Array) -> Array:
        """Return f(x) of each row of X, (n,); above 0 is the second class."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.intercept_ + X @ self.coef_)

    def predict_proba(self, X: Array) -> Array:
        """Return the probability of each class by the model itself, (n, 2)."""
        f = self.decision_function(X)
        return np.asarray(np.stack([expit(-f), expit(f)], axis=1))
