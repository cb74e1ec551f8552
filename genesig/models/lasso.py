"""The lasso as a baseline: one path of tau with mu = 0, tau chosen by the inner folds.

The solvers are genesig's own; tests compare them with scikit-learn's lasso and logistic regression.
With mu = 0 and without a refit they are the plain lasso, l1 logistic regression and the Cox lasso.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from genesig.arrays import Array
from genesig.models.logistic_lasso_path import logistic_lasso_path
from genesig.optim import solvers
from genesig.optim.cox.path import cox_path
from genesig.optim.cox.risk_sets import DEFAULT_TIES, left_out_deviance
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.optim.solution import Path
from genesig.optim.training import training_sets

Folds = Sequence[Array]

TAU_FRACTIONS = np.geomspace(1, 0.05, 20)
"""Fractions of the smallest tau that selects nothing."""
GAP_TOLERANCE = 1e-7
"""Relative duality gap."""


def logistic_lasso(X: Array, y: Array, X_test: Array, inner: Folds) -> tuple[Array, Array]:
    """Return scores by ``(1/n) Σ_i log(1 + exp(-y_i f(x_i))) + tau ||b||_1``, tau by held-out loss.

    Returns
    -------
    (n_test,) float
        Logarithmic odds.
    (n,) float
        Logarithmic odds of each training row by the fold that holds it out; NaN without such a
        fold.
    """
    held_out_odds = np.full((len(TAU_FRACTIONS), len(y)), np.nan)
    for fold in inner:
        train = np.setdiff1d(np.arange(len(y)), fold)
        if len(np.unique(y[train])) > 1:
            held_out_odds[:, fold] = _log_odds(X[train], y[train], X[fold])
    has_score = ~np.isnan(held_out_odds[0])
    loss = np.logaddexp(0, -y[has_score] * held_out_odds[:, has_score]).sum(axis=1)
    best_tau = int(np.argmin(loss))
    return _log_odds(X, y, X_test)[best_tau], held_out_odds[best_tau]


def _log_odds(X: Array, y: Array, X_test: Array) -> Array:
    """Return the log odds of test rows at each tau, (len(TAU), n_test)."""
    mean = X.mean(axis=0)
    return np.stack(
        [
            fit.intercept + _linear_scores(X_test, mean, fit.genes, fit.values)
            for fit in logistic_lasso_path(X, y, TAU_FRACTIONS)
        ]
    )


def squares_lasso(X: Array, y: Array, X_test: Array, inner: Folds) -> Array:
    """Minimise ``(1/n) ||y - Xb||² + tau ||b||_1``, tau by the left-out squares; (n_test,)."""
    rows = _training_rows(len(y), inner)
    Y = np.tile(y[:, None], rows.shape[1])
    sets = training_sets(X, Y, rows, centre=True, unit_variance=False, norm=np.ones(len(rows.T)))
    path = solvers.path(
        sets,
        sets.tau_max[:, None] * TAU_FRACTIONS,
        0.0,
        solver="landweber-newton",
        tolerance=GAP_TOLERANCE,
    )
    loss = np.zeros(len(TAU_FRACTIONS))
    for training_set, fold in enumerate(inner, 1):
        residual = (
            y[fold]
            - sets.y_mean[training_set]
            - _scores_along_path(path, training_set, sets.mean[training_set], X[fold])
        )
        loss += np.square(residual).sum(axis=1)
    best_tau = int(np.argmin(loss))
    return np.asarray(sets.y_mean[0] + _scores_along_path(path, 0, sets.mean[0], X_test)[best_tau])


def cox_lasso(X: Array, y: Array, X_test: Array, inner: Folds) -> Array:
    """Minimise ``-(2/n) l(Xb) + tau ||b||_1``, l the partial likelihood, tau by the left-out one.

    y has the fields time and event. Source: Simon, Friedman, Hastie and Tibshirani 2011.
    """
    folds = [fold for fold in inner if np.delete(y["event"], fold).any()]
    rows = _training_rows(len(y), folds)
    sets = cox_sets(
        X,
        FollowUp(y["time"], y["event"]),
        rows,
        centre=True,
        unit_variance=False,
        ties=DEFAULT_TIES,
        norm=np.ones(len(rows.T)),
    )
    path = cox_path(sets, sets.sets.tau_max[:, None] * TAU_FRACTIONS, 0.0, tolerance=GAP_TOLERANCE)
    means = sets.sets.mean
    held_out_scores = np.array(
        [
            _scores_along_path(path, training_set, means[training_set], X)
            for training_set in range(1, len(folds) + 1)
        ]
    )
    best_tau = 0
    if len(folds):
        error, _ = left_out_deviance(y["time"], y["event"], folds, held_out_scores, DEFAULT_TIES)
        best_tau = int(np.argmin(error))
    return np.asarray(_scores_along_path(path, 0, means[0], X_test)[best_tau])


def _training_rows(n: int, folds: Folds) -> Array:
    """Return the mask of training rows (n, 1 + K): all rows, then all but those of each fold."""
    rows = np.ones((n, 1 + len(folds)), dtype=bool)
    for training_set, fold in enumerate(folds, 1):
        rows[fold, training_set] = False
    return rows


def _scores_along_path(path: Path, training_set: int, mean: Array, X: Array) -> Array:
    """Return ``(x - mean)'b`` at each tau of training set k, (len(TAU), n)."""
    return np.stack(
        [
            _linear_scores(X, mean, *path.coef(training_set, tau_index))
            for tau_index in range(path.shape[1])
        ]
    )


def _linear_scores(X: Array, mean: Array, genes: Array, values: Array) -> Array:
    """Return ``(x - mean)'b`` of rows, (n,)."""
    # Not a matrix product: its rounding would depend on the number of rows.
    return np.asarray(((X[:, genes] - mean[genes]) * values).sum(axis=1))
