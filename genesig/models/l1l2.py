"""The l1-l2 protocol, the logistic elastic net and the lasso, as scikit-learn estimators.

The solvers are genesig's own (scikit-learn's lasso and logistic regression are their referees in
tests): those of all inner folds and of all training rows go side by side. With mu = 0 and without
a refit they are the plain lasso, l1 logistic regression and the Cox lasso.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.arrays import Array
from genesig.models.estimator import (
    NumberRegressor,
    Selects,
    SignClassifier,
    TwoClasses,
    check_classes,
    check_numbers,
    mask_of,
    shares,
)
from genesig.optim import solvers
from genesig.optim.adjustment import adjustment
from genesig.optim.cox.path import cox_path
from genesig.optim.cox.risk_sets import USUAL, left_out_deviance
from genesig.optim.cox.training import cox_sets
from genesig.optim.logistic import logistic_coef, logistic_path, logistic_sets
from genesig.optim.refit import refit_coef
from genesig.optim.solution import Path
from genesig.optim.solvers import path
from genesig.optim.training import training_sets


class _L1L2(Selects, BaseEstimator):  # type: ignore[misc]
    """What both estimators share: the settings, their check, the two fits and the score f(x)."""

    _weighed = staticmethod(shares)

    def __init__(
        self,
        tau: float = 0.05,
        mu: float = 1e-6,
        lam: float = 1e-3,
        unit_variance: bool = True,
        solver: str = "landweber-newton",
        tolerance: float = 1e-9,
    ) -> None:
        self.tau = tau
        self.mu = mu
        self.lam = lam
        self.unit_variance = unit_variance
        self.solver = solver
        self.tolerance = tolerance

    def _fit(self, X: Array, y: Array, v: Array | None) -> None:
        """Fill the fitted attributes from checked X (n, d), a real response y, weights v (n,)."""
        check_numbers(self, not_negative=("lam",))
        rows = np.ones((len(y), 1), dtype=bool)
        weighted = None if v is None else adjustment(rows, weights=v[:, None])
        sets = training_sets(
            X, y[:, None], rows, centre=True, unit_variance=self.unit_variance, adjustment=weighted
        )  # fmt: skip
        fits = path(
            sets,
            self.tau * sets.tau_max,
            self.mu * sets.norm,
            solver=self.solver,
            tolerance=self.tolerance,
        )
        if fits.message:
            warnings.warn(fits.message, ConvergenceWarning, stacklevel=3)
        values, intercept = refit_coef(sets, fits, self.lam * sets.norm)
        self.support_ = mask_of(fits.indices, X.shape[1])
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[fits.indices] = values
        self.intercept_ = float(intercept[0, 0])
        self.gap_ = float(fits.gap[0, 0])
        self.n_iter_ = int(fits.iterations[0, 0])

    def _score(self, X: Array) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.intercept_ + X @ self.coef_)


class L1L2Regressor(NumberRegressor, _L1L2):
    """``f(x) = intercept + x'b``: l1-l2 selection, then regularised least squares.

    The selection minimises ``(1/n)||y - Zb||² + mu ||b||² + tau ||b||_1`` over the centred, scaled
    features Z; the coefficients are those of ``(1/n)||y - Z_A b||² + lam ||b||²`` on its support.

    Parameters
    ----------
    tau : float
        Weight of the l1 term, as a fraction of the smallest tau that selects nothing.
    mu : float
        Weight of the squared l2 term, in units of ||Z'Z||/n.
    lam : float
        Weight of the final ridge, in units of ||Z'Z||/n.
    unit_variance : bool
        Divide each feature by its standard deviation.
    solver : str
        A name in `genesig.optim.solvers.SOLVERS`.
    tolerance : float
        Largest relative duality gap of the selection; a larger one is warned of.

    Attributes
    ----------
    coef_ : (d,) array
        In the units of X; 0 where a feature is not selected.
    intercept_ : float
    support_ : (d,) bool array
        Selected features.
    gap_ : float
        Duality gap of the selection, relative to ||y||²/n.
    n_iter_ : int

    Source: Mosci 2009, eq. 4.4 and 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 30))
    >>> model = L1L2Regressor(tau=0.3).fit(X, X[:, 2] - X[:, 5])
    >>> model.get_support(indices=True)
    array([2, 5])
    """


class L1L2Classifier(SignClassifier, _L1L2):
    """The sign of ``f(x) = intercept + x'b``, fitted to two classes coded -1 and +1.

    Parameters and attributes are those of `L1L2Regressor`, and ``classes_``: (negative, positive).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 30))
    >>> y = np.where(X[:, 2] > 0, "tumour", "normal")
    >>> model = L1L2Classifier(tau=0.5, calibration=5).fit(X, y)
    >>> model.get_support(indices=True), model.predict_proba(X).shape
    (array([2]), (50, 2))
    """


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

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 30))
    >>> model = L1L2Logistic(tau=0.5).fit(X, X[:, 2] > 0)
    >>> model.get_support(indices=True), model.predict_proba(X).shape
    (array([2]), (50, 2))
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


Folds = Sequence[Array]

TAU = np.geomspace(1, 0.05, 20)
"""As fractions of the smallest tau that selects nothing."""
TOLERANCE = 1e-7
"""Relative duality gap."""


def logistic_lasso(X: Array, y: Array, X_test: Array, inner: Folds) -> tuple[Array, Array]:
    """Minimise ``(1/n) Σ_i log(1 + exp(-y_i f(x_i))) + tau ||b||_1``, tau by the left-out loss.

    Returns
    -------
    (n_test,) float
        Logarithmic odds.
    (n,) float
        Those of the rows left out, NaN where none could leave a row out.
    """
    folds = [fold for fold in inner if len(np.unique(np.delete(y, fold))) > 1]
    rows = _rows(len(y), folds)
    Y = np.tile(y[:, None], rows.shape[1])
    sets = logistic_sets(X, Y, rows, centre=True, unit_variance=False)
    path, start, _ = logistic_path(sets, sets.tau_max[:, None] * TAU, 0.0, tolerance=TOLERANCE)
    left_out = np.full((len(TAU), len(y)), np.nan)
    for k, fold in enumerate(folds, 1):
        left_out[:, fold] = start[k][:, None] + _along(path, k, sets.sets.mean[k], X[fold])
    known = ~np.isnan(left_out[0])
    loss = np.logaddexp(0, -y[known] * left_out[:, known]).sum(axis=1)
    best = int(np.argmin(loss))
    f = start[0, best] + _along(path, 0, sets.sets.mean[0], X_test)[best]
    return f, left_out[best]


def squares_lasso(X: Array, y: Array, X_test: Array, inner: Folds) -> Array:
    """Minimise ``(1/n) ||y - Xb||² + tau ||b||_1``, tau by the left-out squares; (n_test,)."""
    rows = _rows(len(y), inner)
    Y = np.tile(y[:, None], rows.shape[1])
    sets = training_sets(X, Y, rows, centre=True, unit_variance=False, norm=np.ones(len(rows.T)))
    path = solvers.path(
        sets, sets.tau_max[:, None] * TAU, 0.0, solver="landweber-newton", tolerance=TOLERANCE
    )  # fmt: skip
    loss = np.zeros(len(TAU))
    for k, fold in enumerate(inner, 1):
        off = y[fold] - sets.y_mean[k] - _along(path, k, sets.mean[k], X[fold])
        loss += np.square(off).sum(axis=1)
    best = int(np.argmin(loss))
    return np.asarray(sets.y_mean[0] + _along(path, 0, sets.mean[0], X_test)[best])


def cox_lasso(X: Array, y: Array, X_test: Array, inner: Folds) -> Array:
    """Minimise ``-(2/n) l(Xb) + tau ||b||_1``, l the partial likelihood, tau by the left-out one.

    y has the fields time and event. Source: Simon, Friedman, Hastie and Tibshirani 2011.
    """
    folds = [fold for fold in inner if np.delete(y["event"], fold).any()]
    rows = _rows(len(y), folds)
    sets = cox_sets(X, y["time"], y["event"], rows, centre=True, unit_variance=False, ties=USUAL,
                    norm=np.ones(len(rows.T)))  # fmt: skip
    path = cox_path(sets, sets.sets.tau_max[:, None] * TAU, 0.0, tolerance=TOLERANCE)
    means = sets.sets.mean
    fits = np.array([_along(path, k, means[k], X) for k in range(1, len(folds) + 1)])
    best = 0
    if len(folds):
        error, _ = left_out_deviance(y["time"], y["event"], folds, fits, USUAL)
        best = int(np.argmin(error))
    return np.asarray(_along(path, 0, means[0], X_test)[best])


def _rows(n: int, folds: Folds) -> Array:
    """Return the rows that train: all of them, and those that each fold leaves, (n, 1 + K)."""
    rows = np.ones((n, 1 + len(folds)), dtype=bool)
    for k, fold in enumerate(folds, 1):
        rows[fold, k] = False
    return rows


def _along(path: Path, k: int, mean: Array, X: Array) -> Array:
    """Return ``(x - mean)'b`` at each tau of training set k, (len(TAU), n)."""
    scores = np.empty((path.shape[1], len(X)))
    for m in range(len(scores)):
        genes, values = path.coef(k, m)
        # Not a matrix product: its sums depend on how many rows stand beside one.
        scores[m] = ((X[:, genes] - mean[genes]) * values).sum(axis=1)
    return scores
