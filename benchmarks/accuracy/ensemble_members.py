"""Members of ensembles: methods of different kinds, each of which returns log odds.

A member chooses its setting (such as a penalty) by the inner folds. Platt scaling of the left-out
scores, with bounds of the slope, turns its scores into log odds. Scores are arrays (n + n_test,):
of the training rows, each by a fit without its fold, then of the test rows by the fit to all
training rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from answers_rivals import Folds
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeCV

from genesig.models.baselines import PENALTY_GRID
from genesig.models.lasso import (
    ELASTIC_NET_L1_SHARES,
    GAP_TOLERANCE,
    TAU_FRACTIONS,
    logistic_lasso_path,
)
from genesig.models.top_genes import N_GENES, class_f, largest_columns
from genesig.optim import solvers
from genesig.optim.classes import fitted_line, two_columns
from genesig.optim.training import training_sets

Array = np.ndarray[Any, Any]
ScorePath = Callable[[Array, Array, Array], Array]
"""(training rows, their classes, rows to score) -> scores (n_settings, n_rows)."""
Loss = Callable[[Array, Array], Array]  # (classes, scores) -> loss of each score

SLOPE_BOUNDS = (0.25, 4.0)  # log odds per standard deviation of left-out scores


class TrainingData(NamedTuple):
    """Rows of a split, standardised on the training rows."""

    Z: Array  # (n, d): training rows
    y: Array  # (n,): ±1
    Z_test: Array  # (n_test, d)
    inner: Folds  # training and left-out rows of each fold


def logistic_net(X: Array, y: Array, X_scored: Array) -> Array:
    """Return the log odds by logistic elastic nets: a path of tau for each of two l1 ratios."""
    deviation = X_scored - X.mean(axis=0)
    return np.stack(
        [
            intercept + deviation[:, genes] @ values
            for l1_share in ELASTIC_NET_L1_SHARES
            for intercept, genes, values in logistic_lasso_path(X, y, TAU_FRACTIONS, l1_share)
        ]
    )


def squares_net(X: Array, y: Array, X_scored: Array) -> Array:
    """Return the scores by least-squares elastic nets: a path of tau for each of two l1 ratios."""
    rows = np.ones((len(y), 1), dtype=bool)
    norm = np.ones(1)  # so that mu is not in units of ||X'X||/n
    sets = training_sets(X, y[:, None], rows, centre=True, unit_variance=False, norm=norm)
    tau = sets.tau_max[:, None] * TAU_FRACTIONS
    deviation = X_scored - sets.mean[0]
    scores = []
    for l1_share in ELASTIC_NET_L1_SHARES:
        mu = tau * (1 / l1_share - 1) / 2  # so that l1_share = tau / (tau + 2 mu)
        path = solvers.path(sets, tau, mu, solver="landweber-newton", tolerance=GAP_TOLERANCE)
        for tau_index in range(len(TAU_FRACTIONS)):
            genes, values = path.coef(0, tau_index)
            scores.append(sets.y_mean[0] + deviation[:, genes] @ values)
    return np.stack(scores)


def diagonal_lda(X: Array, y: Array, X_scored: Array) -> Array:
    """Return scores of discriminant analysis with a diagonal covariance, (1, n_rows).

    Full shrinkage makes the covariance a multiple of the identity. Genes are first scaled to
    variance 1 within the classes, so that this is their diagonal covariance.
    """
    class_means = np.where((y > 0)[:, None], X[y > 0].mean(axis=0), X[y < 0].mean(axis=0))
    scale = (X - class_means).std(axis=0)
    scale[scale == 0] = 1.0
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=1.0, priors=(0.5, 0.5))
    return np.asarray(model.fit(X / scale, y).decision_function(X_scored / scale)[None])


def ridge(X: Array, y: Array, X_scored: Array) -> Array:
    """Return scores of ridge regression (1, n_rows); leave-one-out errors choose its penalty."""
    largest_eigenvalue = float(np.linalg.norm(X - X.mean(axis=0), 2) ** 2) or 1.0
    model = RidgeCV(largest_eigenvalue * PENALTY_GRID).fit(X, y)
    return np.asarray(model.predict(X_scored)[None])


def logistic_loss(y: Array, scores: Array) -> Array:
    """Return the logistic loss of log odds."""
    return np.asarray(np.logaddexp(0, -y * scores))


def squared_loss(y: Array, scores: Array) -> Array:
    """Return the squared error."""
    return np.square(y - scores)


MEMBERS: dict[str, tuple[ScorePath, Loss]] = {
    "logistic net": (logistic_net, logistic_loss),
    "squares net": (squares_net, squared_loss),
    "diagonal LDA": (diagonal_lda, logistic_loss),
    "ridge": (ridge, squared_loss),
}


def all_genes_member(name: str, data: TrainingData) -> Array:
    """Return the log odds (n + n_test,) of a member with all genes."""
    genes = [np.arange(data.Z.shape[1])] * (1 + len(data.inner))
    return member_scores(name, data, genes)


def top_genes_member(names: Sequence[str], data: TrainingData) -> Array:
    """Return the mean log odds (n + n_test,) of members on the k genes of the largest |t|.

    The inner folds choose k from `N_GENES`.
    """
    training_rows = [np.arange(len(data.y)), *(train for train, _ in data.inner)]
    ranked_genes = [  # of each training set, the largest |t| last
        largest_columns(class_f(data.Z[rows], data.y[rows]), max(N_GENES)) for rows in training_rows
    ]
    mean_log_odds = []
    for n_genes in N_GENES:
        top_genes = [genes[-n_genes:] for genes in ranked_genes]
        members = [member_scores(name, data, top_genes) for name in names]
        mean_log_odds.append(np.mean(members, axis=0))
    return choose_setting(np.stack(mean_log_odds), data, logistic_loss)


def member_scores(name: str, data: TrainingData, genes: Sequence[Array]) -> Array:
    """Return the log odds (n + n_test,) of a member: of left-out rows, then of test rows.

    genes: columns for all training rows, then for the training rows of each fold.
    """
    score, loss = MEMBERS[name]
    Z, y, Z_test, inner = data
    test_scores = score(Z[:, genes[0]], y, Z_test[:, genes[0]])
    scores = np.hstack([np.empty((len(test_scores), len(y))), test_scores])
    for (train, left_out), fold_genes in zip(inner, genes[1:], strict=True):
        fold_Z = Z[:, fold_genes]
        scores[:, left_out] = score(fold_Z[train], y[train], fold_Z[left_out])
    return as_log_odds(choose_setting(scores, data, loss), y)


def choose_setting(scores: Array, data: TrainingData, loss: Loss) -> Array:
    """Return the scores (n + n_test,) of the setting with the smallest loss of left-out rows.

    For a left-out row the losses in the other folds choose. scores (n_settings, n + n_test).
    """
    losses = loss(data.y, scores[:, : len(data.y)])
    chosen = scores[int(np.argmin(losses.sum(axis=1)))].copy()
    for train, left_out in data.inner:
        chosen[left_out] = scores[int(np.argmin(losses[:, train].sum(axis=1))), left_out]
    return chosen


def as_log_odds(scores: Array, y: Array) -> Array:
    """Return the scores (n + n_test,) less the midpoint of the class means, times Platt's slope.

    The left-out rows, the first n, give the midpoint and the slope; see `SLOPE_BOUNDS`.
    """
    left_out = scores[: len(y)]
    deviation = float(left_out.std())
    if not deviation > 1e-12:
        return np.zeros_like(scores)
    line = fitted_line(two_columns(left_out), (y > 0).astype(int))
    slope = float(np.clip(line[-1] * deviation, *SLOPE_BOUNDS)) / deviation
    midpoint = np.mean([left_out[y == label].mean() for label in (-1, 1)])
    return np.asarray(slope * (scores - midpoint))
