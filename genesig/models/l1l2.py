"""The l1-l2 protocol, also for Cox's model, and the logistic elastic net, for scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.models.estimator import (
    LinearSelector,
    NumberRegressor,
    SignClassifier,
    TwoClasses,
    check_classes,
    check_numbers,
    mean_one_weights,
)
from genesig.optim.adjustment import adjustment
from genesig.optim.cox.path import cox_path, ridge_coef
from genesig.optim.cox.risk_sets import baseline_hazard
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.optim.logistic import logistic_coef, logistic_path, logistic_sets
from genesig.optim.refit import refit_coef
from genesig.optim.solution import convergence_message
from genesig.optim.solvers import path
from genesig.optim.training import training_sets


class _L1L2(LinearSelector, BaseEstimator):  # type: ignore[misc]
    """Base of `L1L2Regressor` and `L1L2Classifier`: selection, ridge refit and score f(x)."""

    _row_weights = staticmethod(mean_one_weights)

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

    def _fit(self, X: Array, y: Array, weights: Array | None) -> None:
        """Set the fitted attributes from checked X (n, d), y (n,) and weights (n,) of mean 1."""
        check_numbers(self, not_negative=("lam",))
        rows = np.ones((len(y), 1), dtype=bool)  # one training set with all rows
        weight_adjustment = None if weights is None else adjustment(rows, weights=weights[:, None])
        sets = training_sets(
            X,
            y[:, None],
            rows,
            centre=True,
            unit_variance=self.unit_variance,
            adjustment=weight_adjustment,
        )
        fits = path(
            sets,
            self.tau * sets.tau_max,
            self.mu * sets.norm,
            solver=self.solver,
            tolerance=self.tolerance,
        )
        if fits.message:
            warnings.warn(fits.message, ConvergenceWarning, stacklevel=3)
        coefs, intercept = refit_coef(sets, fits, self.lam * sets.norm)
        self._set_model(fits, coefs, intercept, X.shape[1])

    def _score(self, X: Array) -> Array:
        """Return f(x) of each row of X, (n,)."""
        return self._linear_score(X)


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
    One more parameter, ``calibration``, sets the folds for `predict_proba`, see
    `genesig.models.estimator.CrossFitted`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 30))
    >>> y = np.where(X[:, 2] > 0, "tumour", "normal")
    >>> model = L1L2Classifier(tau=0.5, calibration=5).fit(X, y)
    >>> model.get_support(indices=True), model.predict_proba(X).shape
    (array([2]), (50, 2))
    """

    def __init__(
        self,
        tau: float = 0.05,
        mu: float = 1e-6,
        lam: float = 1e-3,
        unit_variance: bool = True,
        solver: str = "landweber-newton",
        tolerance: float = 1e-9,
        *,
        calibration: Any = None,
    ) -> None:
        super().__init__(
            tau=tau, mu=mu, lam=lam, unit_variance=unit_variance, solver=solver, tolerance=tolerance
        )
        self.calibration = calibration


class L1L2Logistic(LinearSelector, TwoClasses, BaseEstimator):  # type: ignore[misc]
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
        The second class has y = 1.
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
        weights = mean_one_weights(sample_weight, X)  # scaled to mean 1; None without weights
        rows = np.ones((len(X), 1), dtype=bool)  # one training set with all rows
        check_classes(y, weights)
        sets = logistic_sets(
            X,
            self._coded(y)[:, None],
            rows,
            unit_variance=self.unit_variance,
            sample_weights=None if weights is None else weights[:, None],
            balanced=self.balanced,
        )
        fits, intercept = logistic_path(
            sets, self.tau * sets.tau_max, self.mu * sets.norm, tolerance=self.tolerance
        )
        if fits.message:
            warnings.warn(fits.message, ConvergenceWarning, stacklevel=2)
        coefs, intercepts = logistic_coef(sets, fits, intercept)
        self._set_model(fits, coefs, intercepts, X.shape[1])
        return self

    def decision_function(self, X: Array) -> Array:
        """Return f(x) of each row of X, (n,); above 0 is the second class."""
        return self._linear_score(X)

    def predict_proba(self, X: Array) -> Array:
        """Return the probability of each class by the model itself, (n, 2)."""
        f = self.decision_function(X)
        return np.asarray(np.stack([expit(-f), expit(f)], axis=1))


class L1L2Cox(LinearSelector, BaseEstimator):  # type: ignore[misc]
    """``hazard(t | x) = h_0(t) exp(η(x))``, ``η = intercept + x'b``, by l1-l2 selection and ridge.

    The selection minimises ``-(2/n) l(Zb) + mu ||b||² + tau ||b||_1`` over the centred, scaled
    features Z, l the logarithm of Cox's partial likelihood; the coefficients are those of
    ``-(2/n) l(Z_A b) + lam ||b||²`` on its support.

    Parameters
    ----------
    tau : float
        Weight of the l1 term, as a fraction of the smallest tau that selects nothing.
    mu, lam : float
        Weights of the squared l2 terms, in units of ||Z'Z||/n.
    unit_variance : bool
        Divide each feature by its standard deviation.
    ties : {"efron", "breslow"}
        With breslow, a whole weight has the effect of as many equal rows. With efron it has not:
        deaths of one time leave the risk set one after the other, each with their mean weight, and
        equal rows would be further deaths.
    tolerance : float
        Largest relative duality gap of both fits; a larger one is warned of.

    Attributes
    ----------
    coef_ : (d,) array
        In the units of X; 0 where a feature is not selected.
    intercept_ : float
        The (weighted) mean of the training rows has η = 0.
    support_ : (d,) bool array
        Selected features.
    hazard_ : Hazard
        The cumulative baseline hazard at the event times (Breslow).
    gap_, refit_gap_ : float
        Duality gaps of the selection and the refit, relative to 2 (l_saturated - l(0)) / n.
    n_iter_ : int

    Source: Simon, Friedman, Hastie and Tibshirani 2011; Mosci 2009 for the two stages.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 30))
    >>> y = np.column_stack([rng.exponential(np.exp(-2 * X[:, 3])), rng.uniform(size=80) < 0.8])
    >>> model = L1L2Cox(tau=0.7).fit(X, y)
    >>> model.get_support(indices=True), model.survival_function(X, [0.5, 1.0]).shape
    (array([3]), (80, 2))
    """

    def __init__(
        self,
        tau: float = 0.5,
        mu: float = 1e-6,
        lam: float = 1e-1,
        unit_variance: bool = True,
        ties: str = "efron",
        tolerance: float = 1e-7,
    ) -> None:
        self.tau = tau
        self.mu = mu
        self.lam = lam
        self.unit_variance = unit_variance
        self.ties = ties
        self.tolerance = tolerance

    def fit(self, X: Array, y: Array, sample_weight: Any = None) -> L1L2Cox:
        """Fit to X (n, d) and y: structured (event, time), or (n, 2) columns of time and event.

        Rows are weighted by sample_weight (n,), as in R's ``coxph``.
        """
        check_numbers(self, not_negative=("lam",))
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        time, event = time_and_event(y)
        weights = mean_one_weights(sample_weight, X)
        rows = np.ones((len(X), 1), dtype=bool) if weights is None else weights[:, None] > 0
        sets = cox_sets(
            X,
            FollowUp(time, event, weights),
            rows,
            centre=True,
            unit_variance=self.unit_variance,
            ties=self.ties,
        )
        norm = sets.training_sets.norm[:, None]
        tau = self.tau * sets.training_sets.tau_max[:, None]
        mu = self.mu * norm
        fits = cox_path(sets, tau, mu, tolerance=self.tolerance)
        coefs, intercept, gap = ridge_coef(sets, fits, self.lam * norm[:, 0])
        message = fits.message or convergence_message(gap, self.tolerance)
        if message:
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        self._set_model(fits, coefs, intercept, X.shape[1])
        self.refit_gap_ = float(gap[0, 0])  # of the only training set and tau
        self.hazard_ = baseline_hazard(
            sets.risk[0], (self.intercept_ + X @ self.coef_)[sets.rows[0]]
        )
        return self

    def predict(self, X: Array) -> Array:
        """Return η(x), the logarithm of the hazard ratio, of each row of X, (n,)."""
        return self._linear_score(X)

    def survival_function(self, X: Array, times: Array) -> Array:
        """Return S(t | x) = exp(-H_0(t) exp η(x)), (n, len(times))."""
        return self.hazard_.survival(self.predict(X), times)


def time_and_event(y: Array) -> tuple[Array, Array]:
    """Return times (n,) and events (n,), not yet checked, from a structured array or two columns.

    Raises
    ------
    GenesigError
        y is neither structured with one boolean and one number field, nor (n, 2).
    """
    y = np.asarray(y)
    names = y.dtype.names or ()
    boolean_fields = [name for name in names if y.dtype[name].kind == "b"]
    other_fields = [name for name in names if name not in boolean_fields]
    if len(boolean_fields) == len(other_fields) == 1 and y.dtype[other_fields[0]].kind in "iuf":
        return np.asarray(y[other_fields[0]], dtype=float), np.asarray(y[boolean_fields[0]])
    if y.dtype.names or y.ndim != 2 or y.shape[1] != 2:
        raise GenesigError(
            "y must be a structured array of an event (boolean) and a time, or have the two columns"
            f" time and event; found shape {y.shape}, fields {y.dtype.names}"
        )
    return y[:, 0].astype(float), y[:, 1]
