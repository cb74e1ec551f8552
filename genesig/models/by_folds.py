"""The l1-l2 estimators with (tau, mu, lam) chosen by cross-validation, all folds in one run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.validation import validate_data

from genesig.arrays import Array
from genesig.models.cox import L1L2Cox, time_and_event
from genesig.models.estimator import (
    FoldClassifier,
    FoldRegressor,
    FoldsInside,
    check_folds,
    checked_weights,
)
from genesig.models.l1l2 import _L1L2, L1L2Regressor
from genesig.optim.adjustment import adjustment
from genesig.optim.cox.path import cox_path, ridge_scores
from genesig.optim.cox.risk_sets import left_out_deviance
from genesig.optim.cox.training import CoxSets, FollowUp, cox_sets
from genesig.optim.nonlinear.problem import InvalidProblem
from genesig.optim.refit import refit_scores
from genesig.optim.solution import Path
from genesig.optim.solvers import path
from genesig.optim.training import TrainingSets, training_sets

SMALLEST_TAU_FRACTION = 0.005
"""Smallest tau of a grid that is set by its length, as a fraction of tau_max."""
MU_GRID = (1e-6, 1e-3, 1e-2)
LAM_GRID = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


def _falling_grid(name: str, grid: Any, *, positive: bool = False) -> Array:
    """Return the distinct values of a grid, descending: each fit starts at a shorter list.

    Raises InvalidProblem: for values below 0, and for 0 if they must be positive.
    """
    values = np.ravel(np.asarray(grid, dtype=float))
    if not (
        len(values)
        and np.isfinite(values).all()
        and (values > 0 if positive else values >= 0).all()
    ):
        bound = "> 0" if positive else ">= 0"
        raise InvalidProblem(f"{name} must be finite numbers {bound}, found {grid!r}")
    return np.unique(values)[::-1]


def _tau_fractions(grid: Any) -> Array:
    """Return fractions of tau_max, descending, from their number or from the fractions."""
    if isinstance(grid, int | np.integer):
        if grid < 1:
            raise InvalidProblem(f"tau must be at least 1 value, or the values, found {grid}")
        return np.geomspace(1.0, SMALLEST_TAU_FRACTION, grid + 1)[1:]
    return _falling_grid("tau", grid, positive=True)


class _GridSearch(FoldsInside):
    """Choice of (tau, mu, lam) by the smallest error of held-out rows, for both losses."""

    tau: Any
    mu: Any
    lam: Any

    def _folds(
        self, X: Array, strata: Array, weights: Array | None, split_parameters: dict[str, Any]
    ) -> tuple[list[Array], Array]:
        """Return the held-out rows of each fold, and the mask (n, n_folds) of the training rows."""
        # strata are bool if they are the events of survival times
        stratified = is_classifier(self) or strata.dtype.kind == "b"
        splitter = check_cv(self.cv, strata, classifier=stratified)
        folds = [held_out for _, held_out in splitter.split(X, strata, **split_parameters)]
        check_folds(folds, weights)
        rows = np.ones((len(X), len(folds)), dtype=bool)
        for fold, held_out in enumerate(folds):
            rows[held_out, fold] = False
        return folds, rows

    def _choose(
        self,
        sets: TrainingSets,
        solve: Callable[[Array, Array], Path],
        scores: Callable[[Path, Array], Array],
        error: Callable[[Array], Array],
    ) -> None:
        """Set the attributes of the grid, of its errors and of the choice.

        `solve` returns the lists of all folds for (tau, mu), `scores` their scores at each lam, and
        `error` the error (n_tau, n_lam) of the held-out rows.

        Ties go to the largest tau, then to the largest lam, then to the largest mu.
        """
        self.taus_ = _tau_fractions(self.tau)
        mus = _falling_grid("mu", self.mu)
        lams = _falling_grid("lam", self.lam)
        self.mus_ = mus
        self.lams_ = lams
        norm = sets.norm[:, None]
        errors = []
        for mu in mus:
            gene_lists = solve(self.taus_ * sets.tau_max[:, None], mu * norm)
            if gene_lists.message:
                warnings.warn(gene_lists.message, ConvergenceWarning, stacklevel=4)
            errors.append(error(scores(gene_lists, lams * norm)))
        self.error_path_ = np.stack(errors)
        # Grids fall, so that the first of equal errors has the largest tau, then lam, then mu.
        is_smallest = self.error_path_ <= self.error_path_.min() * (1 + 1e-12)
        tau, lam, mu = np.argwhere(is_smallest.transpose(1, 2, 0))[0]
        self.tau_, self.mu_, self.lam_ = map(float, (self.taus_[tau], mus[mu], lams[lam]))

    def _with_chosen_settings(self, estimator_class: type[BaseEstimator]) -> BaseEstimator:
        """Return an estimator without cross-validation that has the chosen settings."""
        params = {**self.get_params(deep=False), "tau": self.tau_, "mu": self.mu_, "lam": self.lam_}  # type: ignore[attr-defined]
        return estimator_class(
            **{name: params[name] for name in estimator_class._get_param_names()}
        )

    def _copy_fitted(self, fitted: BaseEstimator) -> None:
        """Copy the fitted attributes of an estimator."""
        vars(self).update(
            {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        )


class _L1L2CV(_GridSearch, _L1L2):
    """Base of `L1L2RegressorCV` and `L1L2ClassifierCV`."""

    def __init__(
        self,
        tau: int | Sequence[float] = 20,
        mu: float | Sequence[float] = MU_GRID,
        lam: float | Sequence[float] = LAM_GRID,
        cv: Any = None,
        unit_variance: bool = True,
        solver: str = "landweber-newton",
        tolerance: float = 1e-9,
    ) -> None:
        super().__init__(tau, mu, lam, unit_variance, solver, tolerance)  # type: ignore[arg-type]
        self.cv = cv

    def _fit(
        self,
        X: Array,
        y: Array,
        sample_weights: Array | None,
        split_parameters: dict[str, Any] | None = None,
    ) -> None:
        """Choose the settings by the squared error of held-out rows, then fit to all rows."""
        folds, rows = self._folds(X, y, sample_weights, split_parameters or {})
        weights = np.ones(len(y)) if sample_weights is None else sample_weights
        weight_adjustment = (
            None
            if sample_weights is None
            else adjustment(rows, weights=np.tile(sample_weights[:, None], len(folds)))
        )
        sets = training_sets(
            X,
            np.tile(y[:, None], len(folds)),
            rows,
            centre=True,
            unit_variance=self.unit_variance,
            adjustment=weight_adjustment,
        )

        def mean_square(scores: Array) -> Array:
            fold_squares = (
                np.square(y[held_out] - f[..., held_out]) @ weights[held_out]
                for f, held_out in zip(scores, folds, strict=True)
            )
            return np.asarray(
                sum(fold_squares) / sum(weights[held_out].sum() for held_out in folds)
            )

        self._choose(
            sets,
            lambda tau, mu: path(sets, tau, mu, solver=self.solver, tolerance=self.tolerance),
            lambda gene_lists, lam: refit_scores(sets, gene_lists, lam, ~rows),
            mean_square,
        )
        final_model = self._with_chosen_settings(L1L2Regressor)
        final_model._fit(X, y, sample_weights)
        self._copy_fitted(final_model)


class L1L2RegressorCV(FoldRegressor, _L1L2CV):
    """`L1L2Regressor` with tau, mu and lam by the mean square of rows left out by folds.

    Parameters
    ----------
    tau : int or sequence of float
        Fractions of the smallest tau of each fold that selects nothing. A number sets their count:
        from 1 (left out) down to 0.005 in equal ratios.
    mu, lam : float or sequence of float
        In units of ||Z'Z||/n of each fold.
    cv : int, splitter or iterable of (rows, held-out rows)
        None is five folds, of classes stratified.
    unit_variance, solver, tolerance
        As those of `L1L2Regressor`.

    Attributes
    ----------
    tau_, mu_, lam_ : float
        Of the smallest error; ties go to the largest tau, then to the largest lam and mu.
    taus_, mus_, lams_ : (n_tau,), (n_mu,), (n_lam,) arrays
        The grid, falling.
    error_path_ : (n_mu, n_tau, n_lam) array
        Mean square of the rows left out, weighted as the rows are. That of the choice is the
        smallest of many and so too small for an error of new rows: leave out rows of all this
        (`cross_val_score`).
    coef_, intercept_, support_, gap_, n_iter_
        As those of `L1L2Regressor`, fitted to all rows with what was chosen.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 200))
    >>> y = 2 * X[:, 3] - X[:, 7] + 0.1 * X[:, 9]
    >>> model = L1L2RegressorCV(mu=[1e-6, 1e-2], cv=5).fit(X, y)
    >>> model.error_path_.shape
    (2, 20, 6)
    >>> model.support_[[3, 7]]
    array([ True,  True])
    """


class L1L2ClassifierCV(FoldClassifier, _L1L2CV):
    """`L1L2Classifier` with tau, mu and lam by the mean square of rows left out by folds.

    Parameters and attributes are those of `L1L2RegressorCV`; its squares are of ±1, as the fits
    have them. Besides ``classes_``: (negative, positive).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 200))
    >>> y = np.where(X[:, 3] - X[:, 7] > 0, "tumour", "normal")
    >>> model = L1L2ClassifierCV().fit(X, y)
    >>> model.support_[[3, 7]], bool(model.tau_ in model.taus_)
    (array([ True,  True]), True)
    """

    def __init__(
        self,
        tau: int | Sequence[float] = 20,
        mu: float | Sequence[float] = MU_GRID,
        lam: float | Sequence[float] = LAM_GRID,
        cv: Any = None,
        unit_variance: bool = True,
        solver: str = "landweber-newton",
        tolerance: float = 1e-9,
        *,
        calibration: Any = None,
    ) -> None:
        super().__init__(
            tau=tau,
            mu=mu,
            lam=lam,
            cv=cv,
            unit_variance=unit_variance,
            solver=solver,
            tolerance=tolerance,
        )
        self.calibration = calibration


class L1L2CoxCV(_GridSearch, L1L2Cox):
    """`L1L2Cox` with tau, mu and lam by the partial likelihood that rows left out add.

    Parameters
    ----------
    tau, mu, lam
        As those of `L1L2RegressorCV`.
    cv : int, splitter or iterable of (rows, held-out rows)
        None is five folds; events are shared out evenly among folds that are given by their number.
    unit_variance, ties, tolerance
        As those of `L1L2Cox`.

    Attributes
    ----------
    tau_, mu_, lam_, taus_, mus_, lams_, error_path_
        As those of `L1L2RegressorCV`; errors are deviances for each event (`left_out_deviance`).
    coef_, intercept_, support_, hazard_, gap_, refit_gap_, n_iter_
        As those of `L1L2Cox`, fitted to all rows with what was chosen.

    Source: van Houwelingen, Bruinsma, Hart, van 't Veer and Wessels 2006.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 100))
    >>> y = np.column_stack([rng.exponential(np.exp(-2 * X[:, 3])), rng.uniform(size=80) < 0.8])
    >>> model = L1L2CoxCV(tau=10, cv=4).fit(X, y)
    >>> bool(model.support_[3]), model.error_path_.shape
    (True, (3, 10, 6))
    """

    def __init__(
        self,
        tau: int | Sequence[float] = 20,
        mu: float | Sequence[float] = MU_GRID,
        lam: float | Sequence[float] = LAM_GRID,
        cv: Any = None,
        unit_variance: bool = True,
        ties: str = "efron",
        tolerance: float = 1e-7,
    ) -> None:
        super().__init__(tau, mu, lam, unit_variance, ties, tolerance)  # type: ignore[arg-type]
        self.cv = cv

    def fit(self, X: Array, y: Array, sample_weight: Any = None, **params: Any) -> Self:
        """Fit to X (n, d) and y as `L1L2Cox` takes it, rows weighted by sample_weight (n,).

        ``groups`` (n,) goes to the folds: set `cv` to a splitter that keeps groups together.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        (time, event) = time_and_event(y)
        weights = checked_weights(sample_weight, X)
        folds, rows = self._folds(X, event.astype(bool), weights, self._split_parameters(params))
        rows = rows if weights is None else rows & (weights > 0)[:, None]
        sets: CoxSets = cox_sets(
            X,
            FollowUp(time, event, weights),
            rows,
            centre=True,
            unit_variance=self.unit_variance,
            ties=self.ties,
        )

        def deviance(scores: Array) -> Array:
            fold_scores = scores.reshape(len(folds), -1, len(X))
            deviances, _ = left_out_deviance(time, event, folds, fold_scores, self.ties, weights)
            return deviances.reshape(scores.shape[1:3])

        self._choose(
            sets.sets,
            lambda tau, mu: cox_path(sets, tau, mu, tolerance=self.tolerance),
            lambda gene_lists, lam: ridge_scores(sets, gene_lists, lam),
            deviance,
        )
        self._copy_fitted(self._with_chosen_settings(L1L2Cox).fit(X, y, sample_weight))
        return self
