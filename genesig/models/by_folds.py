"""The l1-l2 estimators with (tau, mu, lam) chosen by folds, whose paths go down side by side."""

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
from genesig.models.estimator import NumberRegressor, SignClassifier, check_folds, counts
from genesig.models.l1l2 import _L1L2, L1L2Regressor
from genesig.optim.adjustment import adjustment
from genesig.optim.cox.path import cox_path, ridge_scores
from genesig.optim.cox.risk_sets import left_out_deviance
from genesig.optim.cox.training import CoxSets, cox_sets
from genesig.optim.nonlinear.problem import InvalidProblem
from genesig.optim.refit import refit_scores
from genesig.optim.solution import Path
from genesig.optim.solvers import path
from genesig.optim.training import TrainingSets, training_sets

SMALLEST = 0.005
"""Of a grid of tau that is given by its length, as a fraction of tau_max."""
MU = (1e-6, 1e-3, 1e-2)
LAM = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


def _numbers(name: str, given: Any, above: float = -1.0) -> Array:
    """Return the values of a grid, falling, so that each fit starts at a shorter list."""
    values = np.ravel(np.asarray(given, dtype=float))
    if not (
        len(values) and np.isfinite(values).all() and (values >= 0).all() and (values > above).all()
    ):
        bound = "> 0" if above == 0 else ">= 0"
        raise InvalidProblem(f"{name} must be finite numbers {bound}, found {given!r}")
    return np.unique(values)[::-1]


def _fractions(given: Any) -> Array:
    if isinstance(given, int | np.integer):
        if given < 1:
            raise InvalidProblem(f"tau must be at least 1 value, or the values, found {given}")
        return np.geomspace(1.0, SMALLEST, given + 1)[1:]
    return _numbers("tau", given, above=0)


class _Chosen:
    """The choice of both losses: the smallest error of rows left out."""

    tau: Any
    mu: Any
    lam: Any
    cv: Any

    def _folds(self, X: Array, of: Array, v: Array | None) -> tuple[list[Array], Array]:
        """Return the rows that each fold leaves out, and a mask (n, k) of those that train."""
        stratified = is_classifier(self) or of.dtype.kind == "b"
        folds = [held for _, held in check_cv(self.cv, of, classifier=stratified).split(X, of)]
        check_folds(folds, v)
        rows = np.ones((len(X), len(folds)), dtype=bool)
        for k, held in enumerate(folds):
            rows[held, k] = False
        return folds, rows

    def _choose(
        self,
        sets: TrainingSets,
        solve: Callable[[Array, Array], Path],
        scores: Callable[[Path, Array], Array],
        error: Callable[[Array], Array],
    ) -> None:
        """Fill in the grid, its errors and what is chosen.

        Ties go to the largest tau, then to the largest lam, then to the largest mu.
        """
        self.taus_, mus, lams = (
            _fractions(self.tau),
            _numbers("mu", self.mu),
            _numbers("lam", self.lam),
        )
        self.mus_, self.lams_, norm, errors = mus, lams, sets.norm[:, None], []
        for mu in mus:
            lists = solve(self.taus_ * sets.tau_max[:, None], mu * norm)
            if lists.message:
                warnings.warn(lists.message, ConvergenceWarning, stacklevel=4)
            errors.append(error(scores(lists, lams * norm)))
        self.error_path_ = np.stack(errors)
        best = self.error_path_ <= self.error_path_.min() * (1 + 1e-12)
        tau, lam, mu = np.argwhere(best.transpose(1, 2, 0))[0]
        self.tau_, self.mu_, self.lam_ = map(float, (self.taus_[tau], mus[mu], lams[lam]))

    def _as(self, one: type[BaseEstimator]) -> BaseEstimator:
        """Return the plain estimator with what was chosen."""
        had = {**self.get_params(deep=False), "tau": self.tau_, "mu": self.mu_, "lam": self.lam_}  # type: ignore[attr-defined]
        return one(**{name: had[name] for name in one._get_param_names()})

    def _take(self, fitted: BaseEstimator) -> None:
        vars(self).update({k: value for k, value in vars(fitted).items() if k.endswith("_")})


class _L1L2CV(_Chosen, _L1L2):
    def __init__(
        self,
        tau: int | Sequence[float] = 20,
        mu: float | Sequence[float] = MU,
        lam: float | Sequence[float] = LAM,
        cv: Any = None,
        unit_variance: bool = True,
        solver: str = "landweber-newton",
        tolerance: float = 1e-9,
    ) -> None:
        super().__init__(tau, mu, lam, unit_variance, solver, tolerance)  # type: ignore[arg-type]
        self.cv = cv

    def _fit(self, X: Array, y: Array, v: Array | None) -> None:
        """Choose by the squares of rows left out, then fit to all."""
        folds, rows = self._folds(X, y, v)
        weights = np.ones(len(y)) if v is None else v
        weighted = None if v is None else adjustment(rows, weights=np.tile(v[:, None], len(folds)))
        sets = training_sets(
            X,
            np.tile(y[:, None], len(folds)),
            rows,
            centre=True,
            unit_variance=self.unit_variance,
            adjustment=weighted,
        )

        def squares(scores: Array) -> Array:
            each = (
                np.square(y[held] - f[..., held]) @ weights[held]
                for f, held in zip(scores, folds, strict=True)
            )
            return np.asarray(sum(each) / sum(weights[held].sum() for held in folds))

        self._choose(
            sets,
            lambda tau, mu: path(sets, tau, mu, solver=self.solver, tolerance=self.tolerance),
            lambda lists, lam: refit_scores(sets, lists, lam, ~rows),
            squares,
        )
        plain = self._as(L1L2Regressor)
        plain._fit(X, y, v)
        self._take(plain)


class L1L2RegressorCV(NumberRegressor, _L1L2CV):
    """`L1L2Regressor` with tau, mu and lam by the mean square of rows left out by folds.

    Parameters
    ----------
    tau : int or sequence of float
        Fractions of the smallest tau of each fold that selects nothing; of a number so many, down
        to 0.005 in equal ratios.
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


class L1L2ClassifierCV(SignClassifier, _L1L2CV):
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


class L1L2CoxCV(_Chosen, L1L2Cox):
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
        mu: float | Sequence[float] = MU,
        lam: float | Sequence[float] = LAM,
        cv: Any = None,
        unit_variance: bool = True,
        ties: str = "efron",
        tolerance: float = 1e-7,
    ) -> None:
        super().__init__(tau, mu, lam, unit_variance, ties, tolerance)  # type: ignore[arg-type]
        self.cv = cv

    def fit(self, X: Array, y: Array, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and y as `L1L2Cox` takes it, rows weighted by sample_weight (n,)."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        (time, event) = time_and_event(y)
        v = counts(sample_weight, X)
        folds, rows = self._folds(X, event.astype(bool), v)
        rows = rows if v is None else rows & (v > 0)[:, None]
        sets: CoxSets = cox_sets(
            X,
            time,
            event,
            rows,
            centre=True,
            unit_variance=self.unit_variance,
            ties=self.ties,
            sample_weights=v,
        )

        def deviance(scores: Array) -> Array:
            flat = scores.reshape(len(folds), -1, len(X))
            each, _ = left_out_deviance(time, event, folds, flat, self.ties, v)
            return each.reshape(scores.shape[1:3])

        self._choose(
            sets.sets,
            lambda tau, mu: cox_path(sets, tau, mu, tolerance=self.tolerance),
            lambda lists, lam: ridge_scores(sets, lists, lam),
            deviance,
        )
        self._take(self._as(L1L2Cox).fit(X, y, sample_weight))
        return self
