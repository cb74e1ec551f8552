"""What the samples left out of the inner folds say: the error of a grid, and where to cut it."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.selection.assess.criteria import CRITERIA
from genesig.selection.linear.tasks import Task

Array = np.ndarray[Any, Any]


def midpoint(task: Task, scores: Array) -> Array:
    """C = (m₋ + m₊)/2, m± the mean out-of-fold score of each class of the training set.

    Each training sample is scored by the fold that left it out. A least-squares score of
    unbalanced classes leans to the larger one, so that 0 is no neutral place to cut.

    Parameters
    ----------
    task : Task
    scores : (n_folds, n_tau, n_lam, n_samples) float

    Returns
    -------
    (n_tau, n_lam) float
    """
    y, total = task.y, np.zeros((2, *scores.shape[1:3]))
    for k, rows in enumerate(task.inner):
        for side, sign in enumerate((-1.0, 1.0)):
            total[side] += scores[k][..., rows[y[rows] == sign]].sum(axis=-1)
    sizes = [np.sum(y[task.train] == sign) for sign in (-1.0, 1.0)]
    return np.asarray((total[0] / sizes[0] + total[1] / sizes[1]) / 2)


def validation_error(task: Task, scores: Array, cut: Array, criterion: str) -> tuple[Array, Array]:
    """Return mean validation error and its standard error over the grid.

    E = sum_i w_i loss(y_i, f_i), each training sample i scored by the fold that left it out; with
    the mean E_k and the weight W_k of fold k, SE² = sum_k W_k (E_k - E)² / (K - 1).

    Equal folds make E the mean of the fold means; weights let a fold lack one of the classes.

    Parameters
    ----------
    task : Task
    scores : (n_folds, n_tau, n_lam, n_samples) float
    cut : (n_tau, n_lam) float
        Taken off the scores for a criterion that counts errors.
    criterion : str
        A name in `criteria.CRITERIA`.

    Returns
    -------
    error, standard_error : (n_tau, n_lam) float

    References
    ----------
    Friedman, Hastie, Tibshirani 2010, J. Stat. Softw. 33(1); ``cv.glmnet`` computes cvm and cvsd
    by the same weighted formulas.
    """
    weight, by = np.zeros(len(task.y)), CRITERIA[criterion]
    weight[task.train] = by.weights(task.y[task.train])
    shares = np.array([weight[rows].sum() for rows in task.inner])
    left = cut[..., None] if by.counts else 0.0
    sums = np.stack(
        [
            by.loss(task.y[rows], scores[k][..., rows] - left) @ weight[rows]
            for k, rows in enumerate(task.inner)
        ]
    )
    error = sums.sum(axis=0)
    spread = np.square(sums / shares[:, None, None] - error)
    return error, np.sqrt(np.tensordot(shares, spread, 1) / max(1, len(shares) - 1))
