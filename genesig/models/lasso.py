"""The lasso as users would take it: one path of tau, mu = 0, tau by what inner folds leave out.

The solvers are genesig's own; scikit-learn's lasso and logistic regression are their referees in
tests. With mu = 0 and without a refit they are the plain lasso, l1 logistic regression and the Cox
lasso.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from genesig.arrays import Array
from genesig.models.logistic_lasso_path import logistic_lasso_path
from genesig.optim import solvers
from genesig.optim.cox.path import cox_path
from genesig.optim.cox.risk_sets import USUAL, left_out_deviance
from genesig.optim.cox.training import cox_sets
from genesig.optim.solution import Path
from genesig.optim.training import training_sets

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
    left_out = np.full((len(TAU), len(y)), np.nan)
    for fold in inner:
        rest = np.setdiff1d(np.arange(len(y)), fold)
        if len(np.unique(y[rest])) > 1:
            left_out[:, fold] = _log_odds(X[rest], y[rest], X[fold])
    scored = ~np.isnan(left_out[0])
    loss = np.logaddexp(0, -y[scored] * left_out[:, scored]).sum(axis=1)
    best = int(np.argmin(loss))
    return _log_odds(X, y, X_test)[best], left_out[best]


def _log_odds(X: Array, y: Array, X_test: Array) -> Array:
    """Return the log odds of test rows at each tau, (len(TAU), n_test)."""
    mean = X.mean(axis=0)
    return np.stack(
        [
            fit.intercept + _linear_scores(X_test, mean, fit.genes, fit.values)
            for fit in logistic_lasso_path(X, y, TAU)
        ]
    )


def squares_lasso(X: Array, y: Array, X_test: Array, inner: Folds) -> Array:
    """Minimise ``(1/n) ||y - Xb||² + tau ||b||_1``, tau by the left-out squares; (n_test,)."""
    rows = _rows(len(y), inner)
    Y = np.tile(y[:, None], rows.shape[1])
    sets = training_sets(X, Y, rows, centre=True, unit_variance=False, norm=np.ones(len(rows.T)))
    path = solvers.path(
        sets, sets.tau_max[:, None] * TAU, 0.0, solver="landweber-newton", tolerance=TOLERANCE
    )
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
    sets = cox_sets(
        X,
        y["time"],
        y["event"],
        rows,
        centre=True,
        unit_variance=False,
        ties=USUAL,
        norm=np.ones(len(rows.T)),
    )
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
    return np.stack(
        [_linear_scores(X, mean, *path.coef(k, number)) for number in range(path.shape[1])]
    )


def _linear_scores(X: Array, mean: Array, genes: Array, values: Array) -> Array:
    """Return ``(x - mean)'b`` of rows, (n,)."""
    # Not a matrix product: its sums depend on how many rows stand beside one.
    return np.asarray(((X[:, genes] - mean[genes]) * values).sum(axis=1))
