"""Nonlinear selection by derivative penalties, as scikit-learn estimators.

Source: Rosasco et al. (2010); Gregorova et al. (2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.arrays import Array
from genesig.models.estimator import (
    Selects,
    SignClassifier,
    check_classes,
    check_numbers,
    checked,
    described,
    mask_of,
    passed_on,
)
from genesig.optim.nonlinear.choice import Settings, fit_path, validation_errors
from genesig.optim.nonlinear.problem import InvalidProblem, check_tau

RIDGE = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6)


class DerivativeModel(Selects, BaseEstimator):  # type: ignore[misc]
    """SUMMARY.

        min_f (1/n) Σ_i (y_i - f(x_i))² + τ Σ_a ||∂_a f||_n + ν ||f||²

    with ||∂_a f||²_n = (1/n) Σ_i (∂_a f(x_i))². A variable is selected where its partial derivative
    is not zero at every training point; a kernel ridge on the selected variables predicts.

    What differs from the lasso: a variable that is not selected still constrains f, whose gradient
    is held at zero at n points, so to screen it away beforehand changes the problem. Zeros are in
    the norms of the derivatives, never in the weights of f. The number of selected variables is
    not limited by n; beyond n the model says nothing, and the path is cut there. With many more
    variables than samples the penalised f itself hardly generalises (`explained_by_none_`): trust
    the debiased prediction and the ranking by `derivative_norms_`, and screen to a few hundred
    variables first.

    Parameters
    ----------
    kernel : {"gaussian", "polynomial", "linear"}
    width : float or sequence of float
        Of the Gaussian kernel, in multiples of the median distance between training rows.
    degree, offset : int, float
        Of the polynomial kernel (x'z + offset)^degree.
    penalty : {"lasso", "group", "elastic"}
    groups, weights : list of lists of feature numbers, sequence of float
        Partition of the features, and weight of each group, for the group penalty.
    mu : float
        Share of the norms in the elastic penalty; the rest is squared.
    nu : float or sequence of float
        Weight of ||f||², relative to mean(diag K)/n. Positive, because with ν = 0 a function of
        zero gradient at every training point fits any response, and nothing is ever selected.
    tau : float, optional
        Fraction of tau_max, which is an upper bound only where a kernel on few features can tell
        less than there are samples: it may then take a smaller fraction to select anything, with
        a warning of `transform` until then. None chooses one of `n_tau` values down to `tau_min`.
    n_tau, tau_min : int, float
    debias : bool
        Predict by kernel ridge on the selected variables.
    lam : sequence of float
        Weights of that ridge, relative to mean diag K, falling.
    cv : int, splitter or iterable of (rows, held-out rows)
        Folds for what is not fixed: a sequence's member, tau, lam. One pair is a validation set.
    standardise : bool
        Unit variance of the features; they are always centred, on training rows only.
    solver : {"auto", "compressed", "fista", "admm", "projection"}
    tolerance : float
        Duality gap relative to the variance of y, and the resolution of "exactly zero": a variable
        (or group) whose part of the penalty is below it counts as not selected. The smaller the
        τ, the smaller it has to be, or it selects like a threshold on the norms.
    max_iterations : int
        For one tau.

    Weights of samples count them so often: in means and scales, the squared error, the norms of the
    derivatives, the median distance, the n of ν, the held-out errors.

    Attributes
    ----------
    derivative_norms_ : (d,)
        ||∂_a f||_n in units of y over units of the standardised feature; zero if not selected.
    support_ : (d,) bool array
        Selected features.
    tau_, nu_, width_, lam_ : float
        What was chosen. `lam_` is None without debiasing.
    validation_errors_ : dict or None
        (nu, width) -> mean squared error for each (tau, lam); for classes that of ±1.
    taus_ : (t,)
        Fractions of tau_max of the final path.
    path_norms_ : (t, d)
        Derivative norms along it.
    explained_by_none_ : float
        Share of the variance of y that f fits with no variable; near 1, ν is too small.
    message_ : str
        Empty, or sentences about a path cut short and fits that did not converge.

    Raises
    ------
    InvalidProblem
        One sentence, before any work: fewer than 3 samples, NaN, constant columns, ν ≤ 0, a width
        that is not positive, groups that do not partition the features, too little memory.

    References
    ----------
    Rosasco et al. (2010); Gregorova et al. (2018); with the corrections that the solvers name.
    """

    def __init__(
        self, *, kernel: str = "gaussian", width: float | Sequence[float] = 1.0, degree: int = 3,
        offset: float = 1.0, penalty: str = "lasso",
        groups: Sequence[Sequence[int]] | None = None, weights: Sequence[float] | None = None,
        mu: float = 0.5, nu: float | Sequence[float] = 1e-2, tau: float | None = None,
        n_tau: int = 15, tau_min: float = 0.1, debias: bool = True,
        lam: Sequence[float] = RIDGE, cv: Any = 5,
        standardise: bool = True, solver: str = "auto", tolerance: float = 1e-4,
        max_iterations: int = 5000,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.width = width
        self.degree = degree
        self.offset = offset
        self.penalty = penalty
        self.groups = groups
        self.weights = weights
        self.mu = mu
        self.nu = nu
        self.tau = tau
        self.n_tau = n_tau
        self.tau_min = tau_min
        self.debias = debias
        self.lam = lam
        self.cv = cv
        self.standardise = standardise
        self.solver = solver
        self.tolerance = tolerance
        self.max_iterations = max_iterations

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
        return checked(self, X, y, sample_weight, "their derivative means nothing")

    def _settings(self, lam: Sequence[float]) -> Settings:
        check_numbers(self, positive=("tolerance", "tau_min"))
        shrunk = np.asarray(lam, dtype=float) if self.debias else np.zeros(0)
        if self.debias and not (len(shrunk) and (shrunk > 0).all()):
            raise InvalidProblem(f"lam must be positive numbers, found {list(shrunk)}")
        return Settings(
            kernel=self.kernel, degree=self.degree, offset=self.offset, penalty=self.penalty,
            mu=self.mu, groups=self.groups,
            weights=None if self.weights is None else np.asarray(self.weights, dtype=float),
            lam=shrunk, standardise=self.standardise, solver=self.solver,
            tolerance=self.tolerance, max_iterations=self.max_iterations,
        )  # fmt: skip

    def _taus(self) -> Array:
        if self.tau is None:
            return np.geomspace(1, self.tau_min, self.n_tau + 1)[1:]
        check_tau([self.tau])
        # a few steps on the way are quicker than one jump
        return np.geomspace(1, min(self.tau, 1.0), 4)[1:] if self.tau < 1 else np.ones(1)

    def _fit(
        self, X: Array, y: Array, folds: list[tuple[Array, Array]], counts: Array | None
    ) -> None:
        lam = tuple(self.lam) if self.debias else (np.nan,)
        taus = self._taus()
        grid = [(float(v), float(w)) for v in np.atleast_1d(self.nu) for w in _list(self.width)]
        settings = self._settings(lam)
        settings.check(X.shape[0], X.shape[1], grid)
        self.validation_errors_ = None
        (self.nu_, self.width_), step, shrink = grid[0], len(taus) - 1, 0
        if self.tau is None or len(grid) > 1 or len(lam) > 1:
            self.validation_errors_ = {
                (nu, width): validation_errors(
                    X, y, settings, folds, nu=nu, width=width, tau=taus.tolist(), counts=counts
                )
                for nu, width in grid
            }
            (self.nu_, self.width_), step, shrink = self._best(grid)
        self._conclude(X, y, taus[: step + 1], lam[shrink], counts)

    def _best(self, grid: list[tuple[float, float]]) -> tuple[tuple[float, float], int, int]:
        """Return the setting of the least error; at ties the larger tau, then the larger lam."""
        errors = self.validation_errors_ or {}
        if self.tau is not None:  # the steps on the way are not for choice
            errors = {
                key: np.where(_last_row(table), table, np.inf) for key, table in errors.items()
            }
        key = min(grid, key=lambda each: float(errors[each].min()))
        if not np.isfinite(errors[key].min()):
            raise InvalidProblem(
                "every fit of the path selects more variables than samples in some fold; raise"
                " tau_min, or screen the variables first"
            )
        step, shrink = np.unravel_index(np.argmin(errors[key]), errors[key].shape)
        return key, int(step), int(shrink)

    def _conclude(self, X: Array, y: Array, taus: Array, lam: float, counts: Array | None) -> None:
        fit = fit_path(
            X, y, self._settings([lam]), nu=self.nu_, width=self.width_, tau=taus.tolist(),
            counts=counts,
        )  # fmt: skip
        if not fit.path.solutions:
            raise InvalidProblem(fit.path.message)
        last = len(fit.path.solutions) - 1
        self.fit_, self.step_ = fit, last
        self.taus_, self.tau_ = taus[: last + 1], float(taus[last])
        self.path_norms_ = np.zeros((last + 1, X.shape[1]))
        self.path_norms_[:, fit.features] = [
            solution.norms * fit.y_scale for solution in fit.path.solutions
        ]
        self.derivative_norms_ = self.path_norms_[last]
        self.support_ = mask_of(fit.features[fit.support(last)], X.shape[1])
        self.lam_ = lam if self.debias else None
        self.explained_by_none_ = fit.path.explained_by_none
        self.message_ = fit.path.message

    def _score(self, X: Any) -> Array:
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, reset=False)
        values: Array = self.fit_.predict(self.step_, points)[0]
        return values

    def gradient(self, X: Any) -> Array:
        """Return the gradient at new rows of the function that predicts, (m, d).

        In units of y over units of the features as given. With debiasing it is zero outside
        `support_`.
        """
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, reset=False)
        fit, out = self.fit_, np.zeros(points.shape)
        Z = fit.standardised(points)
        if self.debias:
            columns, chosen = self.support_, fit.support(self.step_)
            slopes = fit.ridge(self.step_).gradient(Z[:, chosen]) if len(chosen) else out[:, :0]
        else:
            solution, columns = fit.path.solutions[self.step_], fit.features
            slopes = solution.evaluate(fit.kernel, Z, fit.X, fit.path.nu)[1].T
        out[:, columns] = slopes * fit.y_scale / fit.scale[columns]
        return out


def _list(value: float | Sequence[float]) -> Array:
    return np.atleast_1d(np.asarray(value, dtype=float))


def _last_row(table: Array) -> Array:
    return np.asarray(np.arange(len(table))[:, None] == len(table) - 1)


class DerivativeRegressor(RegressorMixin, DerivativeModel):  # type: ignore[misc]
    """Selects variables, and predicts a number; described in `DerivativeModel`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = DerivativeRegressor(tau=0.5, lam=[1e-2]).fit(X, X[:, 1] ** 2)
    >>> model.get_support(indices=True)
    array([1])
    """

    __doc__ = described(
        DerivativeModel,
        "Nonlinear regression that selects variables by their partial derivatives",
        __doc__,
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose what is not fixed, and fit; X (n, d), y (n,), sample_weight (n,)."""
        X, y, counts = self._checked(X, y, sample_weight)
        y = np.asarray(y, dtype=float)
        self._fit(X, y, list(check_cv(self.cv).split(X, y)), counts)
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x), (m,)."""
        return self._score(X)


class DerivativeClassifier(SignClassifier, DerivativeModel):
    """Selects variables, and tells two classes apart by the sign of f; see `DerivativeModel`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = DerivativeClassifier(tau=0.3, lam=[1e-2]).fit(X, X[:, 1] > 0)
    >>> int(np.argmax(model.derivative_norms_))
    1
    """

    __doc__ = described(
        DerivativeModel,
        "Two classes, coded as ±1 and fitted by least squares, by the sign of f",
        __doc__,
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose what is not fixed, and fit; X (n, d), y (n,) of two labels, sample_weight (n,)."""
        rows, labels, counts = self._checked(X, y, sample_weight)
        check_classes(labels, counts)
        folds = list(check_cv(self.cv, labels, classifier=True).split(rows, labels))
        self._fit(rows, self._coded(labels), folds, counts)
        return self._calibrated(X, labels, **passed_on(sample_weight))
