"""Lasso and elastic net as baselines: paths of tau, whose fit is chosen by the inner folds.

The solvers are genesig's own; tests compare them with scikit-learn's and scikit-survival's. The
penalty is glmnet's, ``lambda (share ||b||_1 + (1 - share) ||b||²/2)`` with the l1 share 1 for the
lasso; the coefficients are not fitted again. At ties the first l1 share and the largest tau win.

X (n, d) are training rows, X_test (n_test, d) test rows; y (n,) are numbers, ±1 for two classes,
or for survival a structured array of time and event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from genesig.arrays import Array
from genesig.models.logistic_lasso_path import logistic_lasso_path
from genesig.optim import solvers
from genesig.optim.cox.path import cox_path
from genesig.optim.cox.risk_sets import DEFAULT_TIES, left_out_deviance
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.optim.solution import Path
from genesig.optim.training import TrainingSets, training_sets

Folds = Sequence[Array]  # held-out rows of each inner fold, as numbers of training rows

TAU_FRACTIONS = np.geomspace(1, 0.05, 20)  # in units of the smallest tau that selects nothing
LASSO_L1_SHARES = (1.0,)
ELASTIC_NET_L1_SHARES = (0.5, 0.1)  # L1 shares of the elastic net, one of which is chosen
GAP_TOLERANCE = 1e-7  # largest relative duality gap of a fit that counts as converged


def logistic_net(
    X: Array, y: Array, X_test: Array, folds: Folds, l1_shares: Sequence[float]
) -> tuple[Array, Array]:
    """Return scores of test rows and of held-out training rows by penalised logistic regression.

    L1 share and tau are those with the smallest logistic loss of held-out rows.

    Scores are the logarithms of odds, (n_test,) and (n,); NaN for a training row that no fold holds
    out.
    """
    held_out_odds = np.full((len(l1_shares) * len(TAU_FRACTIONS), len(y)), np.nan)
    for fold in folds:
        train = np.setdiff1d(np.arange(len(y)), fold)
        if len(np.unique(y[train])) > 1:
            held_out_odds[:, fold] = _log_odds(X[train], y[train], X[fold], l1_shares)
    has_score = ~np.isnan(held_out_odds[0])
    loss = np.logaddexp(0, -y[has_score] * held_out_odds[:, has_score]).sum(axis=1)
    best_fit = int(np.argmin(loss))
    return _log_odds(X, y, X_test, l1_shares)[best_fit], held_out_odds[best_fit]


def _log_odds(X: Array, y: Array, X_test: Array, l1_shares: Sequence[float]) -> Array:
    """Return the log odds of test rows at each l1 share and tau, (n_fits, n_test)."""
    mean = X.mean(axis=0)
    return np.stack(
        [
            fit.intercept + _linear_scores(X_test, mean, fit.genes, fit.values)
            for l1_share in l1_shares
            for fit in logistic_lasso_path(X, y, TAU_FRACTIONS, l1_share)
        ]
    )


def squares_net(
    X: Array, y: Array, X_test: Array, folds: Folds, l1_shares: Sequence[float]
) -> Array:
    """Return scores of test rows, (n_test,), by penalised least squares.

    L1 share and tau are those with the smallest squared error of held-out rows.
    """
    rows = _training_rows(len(y), folds)
    Y = np.tile(y[:, None], rows.shape[1])
    # Ones stand for ||Z'Z||/n, the unit of mu: it is slow to compute, and mu is absolute here.
    sets = training_sets(X, Y, rows, centre=True, unit_variance=False, norm=np.ones(len(rows.T)))

    def fit(tau: Array, mu: Array) -> Path:
        return solvers.path(sets, tau, mu, solver="landweber-newton", tolerance=GAP_TOLERANCE)

    scores = sets.y_mean[:, None, None] + _scores_along_paths(
        fit, sets, np.vstack([X, X_test]), l1_shares
    )
    loss = np.zeros(scores.shape[1])
    for training_set, fold in enumerate(folds, 1):
        loss += np.square(y[fold] - scores[training_set][:, fold]).sum(axis=1)
    return np.asarray(scores[0, int(np.argmin(loss)), len(y) :])  # set 0 has all training rows


def cox_net(X: Array, y: Array, X_test: Array, folds: Folds, l1_shares: Sequence[float]) -> Array:
    """Return scores of test rows, (n_test,), by penalised Cox regression.

    L1 share and tau are those with the largest likelihood of left-out rows. y has the fields time
    and event; a fold counts only if its training rows have an event.

    Source: Simon, Friedman, Hastie and Tibshirani 2011.
    """
    usable_folds = [fold for fold in folds if np.delete(y["event"], fold).any()]
    rows = _training_rows(len(y), usable_folds)
    sets = cox_sets(
        X,
        FollowUp(y["time"], y["event"]),
        rows,
        centre=True,
        unit_variance=False,
        ties=DEFAULT_TIES,
        norm=np.ones(len(rows.T)),  # as in `squares_net`
    )

    def fit(tau: Array, mu: Array) -> Path:
        return cox_path(sets, tau, mu, tolerance=GAP_TOLERANCE)

    scores = _scores_along_paths(fit, sets.training_sets, np.vstack([X, X_test]), l1_shares)
    best_fit = 0
    if len(usable_folds):
        error, _ = left_out_deviance(
            y["time"], y["event"], usable_folds, scores[1:, :, : len(y)], DEFAULT_TIES
        )
        best_fit = int(np.argmin(error))
    return np.asarray(scores[0, best_fit, len(y) :])


def _training_rows(n: int, folds: Folds) -> Array:
    """Return the rows (n, 1 + K) bool of training sets: all rows, then all except each fold's."""
    rows = np.ones((n, 1 + len(folds)), dtype=bool)
    for training_set, fold in enumerate(folds, 1):
        rows[fold, training_set] = False
    return rows


def _scores_along_paths(
    fit: Callable[[Array, Array], Path], sets: TrainingSets, X: Array, l1_shares: Sequence[float]
) -> Array:
    """Return ``(x - mean)'b`` of rows by each training set, l1 share and tau, (k, n_fits, n)."""
    tau = sets.tau_max[:, None] * TAU_FRACTIONS
    # With tau = lambda share, glmnet's squared term lambda (1 - share) ||b||²/2 is mu ||b||².
    paths = [fit(tau, tau * (1 / l1_share - 1) / 2) for l1_share in l1_shares]
    return np.stack(
        [
            [
                _linear_scores(X, mean, *path.coef(training_set, tau_index))
                for path in paths
                for tau_index in range(path.shape[1])
            ]
            for training_set, mean in enumerate(sets.mean)
        ]
    )


def _linear_scores(X: Array, mean: Array, genes: Array, values: Array) -> Array:
    """Return ``(x - mean)'b`` of rows, (n,); b has the values of the given genes."""
    # Not a matrix product: its rounding would depend on the number of rows.
    return np.asarray(((X[:, genes] - mean[genes]) * values).sum(axis=1))
