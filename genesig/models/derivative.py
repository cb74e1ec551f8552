"""Nonlinear selection as scikit-learn estimators: derivative penalties, Feature Vector Machine.

Source: Rosasco et al. (2010); Gregorova et al. (2018); Li, Yang and Xing (2006).
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
    FeatureSelector,
    FoldRouting,
    SignClassifier,
    check_classes,
    check_numbers,
    check_training_data,
    feature_mask,
    sample_weight_keywords,
    shared_docstring,
)
from genesig.optim.feature_vectors import pointwise_information, select_feature_vectors
from genesig.optim.nonlinear.path import SolverSettings, fit_path, validation_errors
from genesig.optim.nonlinear.problem import InvalidProblem, check_tau

RIDGE_GRID = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6)


class DerivativeModel(FoldRouting, FeatureSelector, BaseEstimator):  # type: ignore[misc]
    """SUMMARY.

        min_f (1/n) Σ_i (y_i - f(x_i))² + τ Σ_a ||∂_a f||_n + ν ||f||²

    with ||∂_a f||²_n = (1/n) Σ_i (∂_a f(x_i))². A variable is selected where its partial derivative
    is not zero at every training point; a kernel ridge on the selected variables predicts.

    Unlike in the lasso, a variable that is not selected still constrains f: the gradient is held at
    zero at n points. So to screen a variable away beforehand changes the problem. Zeros are in
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
        Fraction of tau_max. None chooses one of `n_tau` values down to `tau_min`. For a polynomial
        of few features tau_max is only an upper bound: a smaller fraction may be needed to select
        anything, and `transform` warns until then.
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

    A sample of weight w counts as w samples: in means and scales, the squared error, the norms of
    the derivatives, the median distance, the n of ν, and the held-out errors.

    Attributes
    ----------
    derivative_norms_ : (d,)
        ||∂_a f||_n in units of y over units of the standardised feature; zero if not selected.
    support_ : (d,) bool array
        Selected features.
    tau_, nu_, width_, lam_ : float
        The chosen settings. `lam_` is None without debiasing.
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
        self,
        *,
        kernel: str = "gaussian",
        width: float | Sequence[float] = 1.0,
        degree: int = 3,
        offset: float = 1.0,
        penalty: str = "lasso",
        groups: Sequence[Sequence[int]] | None = None,
        weights: Sequence[float] | None = None,
        mu: float = 0.5,
        nu: float | Sequence[float] = 1e-2,
        tau: float | None = None,
        n_tau: int = 15,
        tau_min: float = 0.1,
        debias: bool = True,
        lam: Sequence[float] = RIDGE_GRID,
        cv: Any = 5,
        standardise: bool = True,
        solver: str = "auto",
        tolerance: float = 1e-4,
        max_iterations: int = 5000,
    ) -> None:
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
        """Return checked X, y and weights, see `check_training_data`."""
        return check_training_data(self, X, y, sample_weight, "their derivative means nothing")

    def _settings(self, lam: Sequence[float]) -> SolverSettings:
        """Return solver settings with the ridge weights `lam`; raise if these are not positive."""
        check_numbers(self, positive=("tolerance", "tau_min"))
        ridge_weights = np.asarray(lam, dtype=float) if self.debias else np.zeros(0)
        if self.debias and not (len(ridge_weights) and (ridge_weights > 0).all()):
            raise InvalidProblem(f"lam must be positive numbers, found {list(ridge_weights)}")
        return SolverSettings(
            kernel=self.kernel,
            degree=self.degree,
            offset=self.offset,
            penalty=self.penalty,
            mu=self.mu,
            groups=self.groups,
            weights=None if self.weights is None else np.asarray(self.weights, dtype=float),
            lam=ridge_weights,
            standardise=self.standardise,
            solver=self.solver,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )

    def _taus(self) -> Array:
        """Return the fractions of tau_max along the path, falling; `tau`, if set, is the last."""
        if self.tau is None:
            return np.geomspace(1, self.tau_min, self.n_tau + 1)[1:]
        check_tau([self.tau])
        # Warm starts at a few larger tau are quicker than one cold start.
        return np.geomspace(1, min(self.tau, 1.0), 4)[1:] if self.tau < 1 else np.ones(1)

    def _fit(
        self, X: Array, y: Array, folds: list[tuple[Array, Array]], counts: Array | None
    ) -> None:
        """Choose (nu, width), tau and lam by the folds unless they are set, and fit to all rows.

        folds: (training rows, held-out rows) of each. counts (n,): how often each row counts, which
        is its sample weight; None if each counts once.
        """
        lam = tuple(self.lam) if self.debias else (np.nan,)  # no ridge: one column of errors
        taus = self._taus()
        grid = [
            (float(nu), float(width))
            for nu in np.atleast_1d(self.nu)
            for width in np.atleast_1d(self.width)
        ]
        settings = self._settings(lam)
        settings.check(X.shape[0], X.shape[1], grid)
        self.validation_errors_ = None
        (self.nu_, self.width_) = grid[0]
        tau_index = len(taus) - 1
        lam_index = 0
        if self.tau is None or len(grid) > 1 or len(lam) > 1:
            self.validation_errors_ = {
                (nu, width): validation_errors(
                    X, y, settings, folds, nu=nu, width=width, tau=taus.tolist(), counts=counts
                )
                for nu, width in grid
            }
            (self.nu_, self.width_), tau_index, lam_index = self._best(grid)
        self._fit_to_all_rows(X, y, taus[: tau_index + 1], lam[lam_index], counts)

    def _best(self, grid: list[tuple[float, float]]) -> tuple[tuple[float, float], int, int]:
        """Return (nu, width), index of tau and index of lam with the smallest error.

        Ties go to the larger tau, then to the larger lam.
        """
        errors = self.validation_errors_ or {}
        if self.tau is not None:  # the other rows of errors are larger tau, warm starts only
            errors = {
                setting: np.where(_is_last_row(error_table), error_table, np.inf)
                for setting, error_table in errors.items()
            }
        best_setting = min(grid, key=lambda setting: float(errors[setting].min()))
        if not np.isfinite(errors[best_setting].min()):
            raise InvalidProblem(
                "every fit of the path selects more variables than samples in some fold; raise"
                " tau_min, or screen the variables first"
            )
        tau_index, lam_index = np.unravel_index(
            np.argmin(errors[best_setting]), errors[best_setting].shape
        )
        return best_setting, int(tau_index), int(lam_index)

    def _fit_to_all_rows(
        self, X: Array, y: Array, taus: Array, lam: float, counts: Array | None
    ) -> None:
        """Fit to all rows along `taus`, and set the attributes of the last fit."""
        fit = fit_path(
            X,
            y,
            self._settings([lam]),
            nu=self.nu_,
            width=self.width_,
            tau=taus.tolist(),
            counts=counts,
        )
        if not fit.path.solutions:
            raise InvalidProblem(fit.path.message)
        last_step = len(fit.path.solutions) - 1
        self.fit_ = fit
        self.step_ = last_step
        self.taus_ = taus[: last_step + 1]
        self.tau_ = float(taus[last_step])
        self.path_norms_ = np.zeros((last_step + 1, X.shape[1]))
        self.path_norms_[:, fit.features] = [
            solution.norms * fit.y_scale for solution in fit.path.solutions
        ]
        self.derivative_norms_ = self.path_norms_[last_step]
        self.support_ = feature_mask(fit.features[fit.support(last_step)], X.shape[1])
        self.lam_ = lam if self.debias else None
        self.explained_by_none_ = fit.path.explained_by_none
        self.message_ = fit.path.message

    def _score(self, X: Any) -> Array:
        """Return f(x) of each row of X, (m,), see `predict` of the regression."""
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.fit_.predict(self.step_, points)[0])

    def gradient(self, X: Any) -> Array:
        """Return the gradient at new rows of the function that predicts, (m, d).

        In units of y over units of the features as given. With debiasing it is zero outside
        `support_`.
        """
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, reset=False)
        fit = self.fit_
        gradient_rows = np.zeros(points.shape)
        Z = fit.standardised(points)
        if self.debias:
            columns = self.support_  # mask of the variables that `chosen` numbers, in order
            chosen = fit.support(self.step_)
            slopes = (
                fit.ridge(self.step_).gradient(Z[:, chosen])
                if len(chosen)
                else gradient_rows[:, :0]
            )
        else:
            solution = fit.path.solutions[self.step_]
            columns = fit.features
            _, gradients = solution.evaluate(fit.kernel, Z, fit.X, fit.path.nu)  # (d, m)
            slopes = gradients.T
        gradient_rows[:, columns] = slopes * fit.y_scale / fit.scale[columns]
        return gradient_rows


def _is_last_row(table: Array) -> Array:
    """Return a column (rows, 1) of bool that is true for the last row only."""
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

    __doc__ = shared_docstring(
        DerivativeModel,
        "Nonlinear regression that selects variables by their partial derivatives",
        __doc__,
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the settings that are not fixed, and fit to X (n, d), y (n,) with weights (n,).

        ``groups`` (n,), passed here, are the groups of rows for `cv`; the parameter of the model of
        that name divides the features.
        """
        split_parameters = self._split_parameters(params)
        X, y, counts = self._checked(X, y, sample_weight)
        y = np.asarray(y, dtype=float)
        self._fit(X, y, list(check_cv(self.cv).split(X, y, **split_parameters)), counts)
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x), (m,): with `debias` that of the kernel ridge on the selected variables."""
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

    __doc__ = shared_docstring(
        DerivativeModel,
        "Two classes, coded as ±1 and fitted by least squares, by the sign of f",
        __doc__,
    )

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        width: float | Sequence[float] = 1.0,
        degree: int = 3,
        offset: float = 1.0,
        penalty: str = "lasso",
        groups: Sequence[Sequence[int]] | None = None,
        weights: Sequence[float] | None = None,
        mu: float = 0.5,
        nu: float | Sequence[float] = 1e-2,
        tau: float | None = None,
        n_tau: int = 15,
        tau_min: float = 0.1,
        debias: bool = True,
        lam: Sequence[float] = RIDGE_GRID,
        cv: Any = 5,
        standardise: bool = True,
        solver: str = "auto",
        tolerance: float = 1e-4,
        max_iterations: int = 5000,
        calibration: Any = None,
    ) -> None:
        super().__init__(
            kernel=kernel,
            width=width,
            degree=degree,
            offset=offset,
            penalty=penalty,
            groups=groups,
            weights=weights,
            mu=mu,
            nu=nu,
            tau=tau,
            n_tau=n_tau,
            tau_min=tau_min,
            debias=debias,
            lam=lam,
            cv=cv,
            standardise=standardise,
            solver=solver,
            tolerance=tolerance,
            max_iterations=max_iterations,
        )
        self.calibration = calibration

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the settings that are not fixed, and fit to X (n, d) and two labels y (n,).

        ``groups`` (n,) of rows, set in `fit`, go to the folds of `cv` and `calibration`.
        """
        split_parameters = self._split_parameters(params)
        rows, labels, counts = self._checked(X, y, sample_weight)
        check_classes(labels, counts)
        splitter = check_cv(self.cv, labels, classifier=True)
        folds = list(splitter.split(rows, labels, **split_parameters))
        self._fit(rows, self._coded(labels), folds, counts)
        return self._calibrated(
            X, labels, groups=params.get("groups"), **sample_weight_keywords(sample_weight)
        )


class FeatureVectorMachine(RegressorMixin, FeatureSelector, BaseEstimator):  # type: ignore[misc]
    """min_b ½ b'K b - k_y'b + (λ/2)||b||_1, K and k_y mutual information between ranks.

    Selection is its purpose. It sees one feature's dependence on the response at a time, of any
    shape, and leaves out features that repeat one another. Its prediction is weak: a vote of
    the selected features for one of the response's bins, whose mean is returned. On the paper's own
    example the squared error is about half of the response's variance.

    Weighted samples fill the bins by their weights, each in one bin. Whole weights have the effect
    of as many equal rows, except at the edges of bins.

    Parameters
    ----------
    n_features : int, optional
        Most features to take in, at the lowest λ that takes no more. None solves for one `lam`.
    lam : float
        λ as a fraction of its largest useful value 2 max k_y; with `n_features` the smallest that
        may be reached.
    n_bins : int
        Bins of the ranks; at least 5 samples for each, about.
    nonnegative : bool
        b ≥ 0, which needs no shift of the diagonal.
    tolerance : float
        Of the optimality conditions, relative to max k_y.

    Attributes
    ----------
    support_ : (d,) bool array
        Selected features.
    order_ : (k,) int
        Features in the order in which they came in.
    coef_ : (d,)
    information_ : (d,)
        Mutual information of each feature with the response, in nats.
    shift_ : float
        Addition to the diagonal of K, because mutual information is no positive semidefinite kernel
        and the objective would be unbounded; 0 if it was not needed.
    lam_ : float
        λ that was reached, as a fraction.
    violation_ : float
        Largest breach of the optimality conditions.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = FeatureVectorMachine(n_features=1).fit(X, np.abs(X[:, 1]))
    >>> model.get_support(indices=True)
    array([1])
    """

    def __init__(
        self,
        *,
        n_features: int | None = None,
        lam: float = 0.5,
        n_bins: int = 5,
        nonnegative: bool = False,
        tolerance: float = 1e-6,
    ) -> None:
        self.n_features = n_features
        self.lam = lam
        self.n_bins = n_bins
        self.nonnegative = nonnegative
        self.tolerance = tolerance

    def _check(self) -> None:
        """Raise if a setting is out of its range."""
        check_numbers(self, positive=("tolerance",))
        if self.n_bins < 2 or not 0 <= self.lam <= 1:
            raise InvalidProblem(
                f"n_bins must be at least 2 and lam in [0, 1]; found {self.n_bins}, {self.lam:g}"
            )
        if self.n_features is not None and self.n_features < 1:
            raise InvalidProblem(f"n_features must be at least 1, found {self.n_features}")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d), numbers y (n,) (±1 for classes) and sample_weight (n,)."""
        self._check()
        X, y, weights = check_training_data(
            self, X, y, sample_weight, "their ranks mean nothing", y_numeric=True
        )
        if weights is not None:
            X = X[weights > 0]
            y = y[weights > 0]
            weights = weights[weights > 0] / weights[weights > 0].mean()
        selection = select_feature_vectors(
            X,
            y,
            n_features=self.n_features,
            bins=self.n_bins,
            lam=self.lam,
            nonnegative=self.nonnegative,
            tolerance=self.tolerance,
            weights=weights,
        )
        self.information_ = selection.information
        fit = selection.fit
        lam_max = 2 * float(self.information_.max())
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[fit.order] = fit.coef
        self.order_ = fit.order
        self.support_ = feature_mask(self.order_, X.shape[1])
        self.shift_ = fit.shift
        self.violation_ = fit.violation
        self.lam_ = fit.lam / lam_max if lam_max else 0.0
        self._set_votes(
            X[:, self.support_], selection.codes[:, self.support_], y, selection.response, weights
        )
        return self

    def _set_votes(
        self, X: Array, codes: Array, y: Array, response: Array, weights: Array | None
    ) -> None:
        """Set the bin edges, the votes of the features and the mean response of each bin.

        codes (n, k) and response (n,): the bins of the selected features X (n, k) and of y (n,).
        """
        self.edges_ = [
            np.array(
                [
                    X[codes[:, feature] <= bin_index, feature].max(initial=-np.inf)
                    for bin_index in range(self.n_bins - 1)
                ]
            )
            for feature in range(X.shape[1])
        ]
        self.mean_ = float(np.average(y, weights=weights))
        counts = np.bincount(response, weights, minlength=self.n_bins)
        sums = np.bincount(response, y if weights is None else weights * y, minlength=self.n_bins)
        self.bin_used_ = counts > 0
        self.bin_means_ = np.where(counts > 0, sums / np.where(counts > 0, counts, 1), self.mean_)
        self.votes_ = pointwise_information(codes, response, self.n_bins, weights)

    def predict(self, X: Any) -> Array:
        """Return the mean response of the bin with argmax_b Σ_p coef_p log P(b, c_p)/P(b)P(c_p)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)[:, self.support_]
        if X.shape[1] == 0:
            return np.full(len(X), self.mean_)
        bin_scores = np.zeros((len(X), self.n_bins))
        coef = self.coef_[self.support_]
        for feature, edges in enumerate(self.edges_):
            codes = np.searchsorted(edges, X[:, feature], side="left")
            bin_scores += coef[feature] * self.votes_[feature].T[codes]
        bin_scores[:, ~self.bin_used_] = -np.inf
        return np.asarray(self.bin_means_[np.argmax(bin_scores, axis=1)])
