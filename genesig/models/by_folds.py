"""The l1-l2 estimators with (tau, mu, lam) chosen by cross-validation, folds solved together."""

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
from genesig.models.estimator import (
    FoldClassifier,
    FoldRegressor,
    FoldRouting,
    checked_weights,
    held_out_folds,
)
from genesig.models.l1l2 import _L1L2, L1L2Cox, L1L2Regressor, time_and_event
from genesig.optim.adjustment import adjustment
from genesig.optim.cox.path import cox_path, ridge_scores
from genesig.optim.cox.risk_sets import left_out_deviance
from genesig.optim.cox.training import CoxSets, FollowUp, cox_sets
from genesig.optim.nonlinear.problem import InvalidProblem
from genesig.optim.refit import refit_scores
from genesig.optim.solution import Path
from genesig.optim.solvers import path
from genesig.optim.training import TrainingSets, training_sets

SMALLEST_TAU_FRACTION = 0.005  # smallest tau of a grid set by its length, over tau_max
MU_GRID = (1e-6, 1e-3, 1e-2)
LAM_GRID = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


def _falling_grid(name: str, grid: Any, *, positive: bool = False) -> Array:
    """Return the distinct values of a grid, descending, as each fit starts from a shorter list.

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
    """Return fractions of tau_max, descending: those of `grid`, or `grid` many if it is an int."""
    if isinstance(grid, int | np.integer):
        if grid < 1:
            raise InvalidProblem(
                f"tau must be at least 1 value (or the fractions of tau_max), found {grid}"
            )
        return np.geomspace(1.0, SMALLEST_TAU_FRACTION, grid + 1)[1:]
    return _falling_grid("tau", grid, positive=True)


class _GridSearch(FoldRouting):
    """Choice of (tau, mu, lam) by the smallest error of held-out rows, for squares and Cox."""

    tau: Any
    mu: Any
    lam: Any

    def _folds(
        self, X: Array, strata: Array, weights: Array | None, split_parameters: dict[str, Any]
    ) -> tuple[list[Array], Array]:
        """Return the held-out rows of each fold, and the mask (n, n_folds) of the training rows.

        strata (n,): y, or of survival times the events (bool).
        """
        stratified = is_classifier(self) or strata.dtype.kind == "b"
        splitter = check_cv(self.cv, strata, classifier=stratified)
        folds = held_out_folds(splitter.split(X, strata, **split_parameters), len(X), weights)
        is_training = np.ones((len(X), len(folds)), dtype=bool)
        for fold, held_out in enumerate(folds):
            is_training[held_out, fold] = False
        return folds, is_training

    def _choose(
        self,
        sets: TrainingSets,
        solve: Callable[[Array, Array], Path],
        scores: Callable[[Path, Array], Array],
        error: Callable[[Array], Array],
    ) -> None:
        """Set the attributes of the grid, of its errors and of the choice.

        `solve` returns the selected features (lists) of all folds for (tau, mu), `scores` the
        scores of their refits at each lam, and `error` the error (n_tau, n_lam) of held-out rows.

        Ties go to the largest tau, then to the largest lam, then to the largest mu.
        """
        self.taus_ = _tau_fractions(self.tau)
        self.mus_ = _falling_grid("mu", self.mu)
        self.lams_ = _falling_grid("lam", self.lam)
        norm = sets.norm[:, None]  # ||Z'Z||/n of each fold, the unit of mu and lam
        errors = []
        for mu in self.mus_:
            gene_lists = solve(self.taus_ * sets.tau_max[:, None], mu * norm)
            if gene_lists.message:
                warnings.warn(gene_lists.message, ConvergenceWarning, stacklevel=4)
            errors.append(error(scores(gene_lists, self.lams_ * norm)))
        self.error_path_ = np.stack(errors)
        # Grids fall, so that the first of equal errors has the largest tau, then lam, then mu.
        is_smallest = self.error_path_ <= self.error_path_.min() * (1 + 1e-12)
        tau_index, lam_index, mu_index = np.argwhere(is_smallest.transpose(1, 2, 0))[0]
        self.tau_ = float(self.taus_[tau_index])
        self.mu_ = float(self.mus_[mu_index])
        self.lam_ = float(self.lams_[lam_index])

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
        folds, is_training = self._folds(X, y, sample_weights, split_parameters or {})
        weights = np.ones(len(y)) if sample_weights is None else sample_weights
        weight_adjustment = (
            None
            if sample_weights is None
            else adjustment(is_training, weights=np.tile(sample_weights[:, None], len(folds)))
        )
        sets = training_sets(
            X,
            np.tile(y[:, None], len(folds)),
            is_training,
            centre=True,
            unit_variance=self.unit_variance,
            adjustment=weight_adjustment,
        )

        def mean_square(scores: Array) -> Array:  # scores (n_folds, n_tau, n_lam, n)
            fold_squares = (
                np.square(y[held_out] - fold_scores[..., held_out]) @ weights[held_out]
                for fold_scores, held_out in zip(scores, folds, strict=True)
            )
            return np.asarray(
                sum(fold_squares) / sum(weights[held_out].sum() for held_out in folds)
            )

        self._choose(
            sets,
            lambda tau, mu: path(sets, tau, mu, solver=self.solver, tolerance=self.tolerance),
            lambda gene_lists, lam: refit_scores(sets, gene_lists, lam, ~is_training),
            mean_square,
        )
        final_model = self._with_chosen_settings(L1L2Regressor)
        final_model._fit(X, y, sample_weights)
        self._copy_fitted(final_model)


class L1L2RegressorCV(FoldRegressor, _L1L2CV):
    """`L1L2Regressor` whose tau, mu and lam have the smallest cross-validated squared error.

    Parameters
    ----------
    tau : int or sequence of float
        Fractions of tau_max, the smallest tau of each fold that selects nothing. An int is their
        number: in equal ratios from below 1 down to 0.005.
    mu, lam : float or sequence of float
        In units of ||Z'Z||/n of each fold.
    cv : int, splitter or iterable of (rows, held-out rows)
        The rows are all others. None: five folds, stratified for classes.
    unit_variance, solver, tolerance
        As in `L1L2Regressor`.

    Attributes
    ----------
    tau_, mu_, lam_ : float
        The choice with the smallest error; ties: the largest tau, then the largest lam, then mu.
    taus_, mus_, lams_ : (n_tau,), (n_mu,), (n_lam,) arrays
        The grid, descending.
    error_path_ : (n_mu, n_tau, n_lam) array
        Mean squared error of the held-out rows, weighted by ``sample_weight``. The smallest of many
        errors is too optimistic for new rows: estimate theirs by an outer cross-validation of this
        estimator (`cross_val_score`).
    coef_, intercept_, support_, gap_, n_iter_
        As in `L1L2Regressor`, fitted to all rows with the chosen settings.

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
    """`L1L2Classifier` whose tau, mu and lam have the smallest cross-validated squared error.

    Parameters and attributes as in `L1L2RegressorCV`, and ``classes_``: (negative, positive). The
    fits and the squared errors code the classes as -1 and 1.

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
    """`L1L2Cox` whose tau, mu and lam have the largest cross-validated partial likelihood.

    Parameters
    ----------
    tau, mu, lam
        As in `L1L2RegressorCV`.
    cv : int, splitter or iterable of (rows, held-out rows)
        The rows are all others. None: five folds. Folds set by number are stratified by event.
    unit_variance, ties, tolerance
        As in `L1L2Cox`.

    Attributes
    ----------
    tau_, mu_, lam_, taus_, mus_, lams_, error_path_
        As in `L1L2RegressorCV`; errors are deviances per event (`left_out_deviance`).
    coef_, intercept_, support_, hazard_, gap_, refit_gap_, n_iter_
        As in `L1L2Cox`, fitted to all rows with the chosen settings.

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
        """Fit to X (n, d) and to y as in `L1L2Cox.fit`, with sample_weight (n,).

        ``groups`` (n,) goes to the folds: set `cv` to a splitter that keeps groups together.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        time, event = time_and_event(y)
        weights = checked_weights(sample_weight, X)
        folds, is_training = self._folds(
            X, event.astype(bool), weights, self._split_parameters(params)
        )
        if weights is not None:
            is_training &= (weights > 0)[:, None]
        sets: CoxSets = cox_sets(
            X,
            FollowUp(time, event, weights),
            is_training,
            centre=True,
            unit_variance=self.unit_variance,
            ties=self.ties,
        )

        def deviance(scores: Array) -> Array:  # scores (n_folds, n_tau, n_lam, n)
            fold_scores = scores.reshape(len(folds), -1, len(X))
            deviances, _ = left_out_deviance(time, event, folds, fold_scores, self.ties, weights)
            return deviances.reshape(scores.shape[1:3])

        self._choose(
            sets.training_sets,
            lambda tau, mu: cox_path(sets, tau, mu, tolerance=self.tolerance),
            lambda gene_lists, lam: ridge_scores(sets, gene_lists, lam),
            deviance,
        )
        self._copy_fitted(self._with_chosen_settings(L1L2Cox).fit(X, y, sample_weight))
        return self
