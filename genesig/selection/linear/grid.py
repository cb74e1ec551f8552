"""Stage I: the choice of (tau, lam) at the smallest mu by the inner folds.

Mosci 2009, section 4.4: for each inner fold the l1-l2 functional selects genes along a path of
tau, a ridge fit on each support follows for every lam, and the pair with the smallest validation
error is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.refit import refit_scores
from genesig.optim.solvers import path
from genesig.optim.training import TrainingSets, training_sets
from genesig.selection.assess.criteria import CRITERIA, Criterion
from genesig.selection.linear.protocol import Protocol
from genesig.selection.linear.tasks import Task

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Surface:
    """Validation results of one task over the grid.

    Attributes
    ----------
    error, standard_error : (n_tau, n_lam) float
    size : (n_tau,) float
        Mean number of selected genes.
    choice : (int, int)
        Chosen indices of tau and lam.
    """

    error: Array
    standard_error: Array
    size: Array
    choice: tuple[int, int]


def stage_one(todo: list[Task], outer: TrainingSets, protocol: Protocol) -> list[Surface]:
    """Search the grid for every task; their inner folds are solved together.

    Parameters
    ----------
    todo : list of Task
    outer : TrainingSets
        Those of the tasks, one column each; inner folds are centred and scaled as they are.
    protocol : Protocol
    """
    folds = np.array([len(task.inner) for task in todo])
    rows = np.hstack([task.inner_rows() for task in todo])
    Y = np.repeat(np.column_stack([task.y for task in todo]), folds, axis=1)
    inner = training_sets(outer.X, Y, rows, centre=outer.centre, unit_variance=outer.unit_variance)
    tau = np.repeat(protocol.tau_fractions() * outer.tau_max[:, None], folds, axis=0)
    lists = path(
        inner,
        tau,
        protocol.mu[0] * inner.norm[:, None],
        solver=protocol.solver,
        tolerance=protocol.tolerance,
    )
    scores = refit_scores(inner, lists, protocol.lam_grid() * inner.norm[:, None])
    sizes = np.diff(lists.indptr).reshape(tau.shape)
    stops = np.cumsum(folds)
    return [
        _surface(task, scores[stop - k : stop], sizes[stop - k : stop], protocol)
        for task, k, stop in zip(todo, folds, stops, strict=True)
    ]


def _surface(task: Task, scores: Array, sizes: Array, protocol: Protocol) -> Surface:
    error, standard_error = validation_error(task, scores, CRITERIA[protocol.criterion])
    choice = choose(error, standard_error, one_standard_error=protocol.one_standard_error)
    return Surface(error, standard_error, sizes.mean(axis=0), choice)


def validation_error(task: Task, scores: Array, criterion: Criterion) -> tuple[Array, Array]:
    """Return mean validation error and its standard error over the grid.

    E = sum_i w_i loss(y_i, f_i), each training sample i scored by the fold that left it out; with
    the mean E_k and the weight W_k of fold k, SE² = sum_k W_k (E_k - E)² / (K - 1).

    Equal folds make E the mean of the fold means; weights let a fold lack one of the classes.

    Parameters
    ----------
    task : Task
    scores : (n_folds, n_tau, n_lam, n_samples) float
    criterion : Criterion

    Returns
    -------
    error, standard_error : (n_tau, n_lam) float

    References
    ----------
    Friedman, Hastie, Tibshirani 2010, J. Stat. Softw. 33(1); ``cv.glmnet`` computes cvm and cvsd
    by the same weighted formulas.
    """
    weight = np.zeros(len(task.y))
    weight[task.train] = criterion.weights(task.y[task.train])
    shares = np.array([weight[rows].sum() for rows in task.inner])
    sums = np.stack(
        [
            criterion.loss(task.y[rows], scores[k][..., rows]) @ weight[rows]
            for k, rows in enumerate(task.inner)
        ]
    )
    error = sums.sum(axis=0)
    spread = np.square(sums / shares[:, None, None] - error)
    return error, np.sqrt(np.tensordot(shares, spread, 1) / max(1, len(shares) - 1))


def choose(error: Array, standard_error: Array, *, one_standard_error: bool) -> tuple[int, int]:
    """Return the chosen indices into tau (falling) and lam (growing).

    The smallest error wins; ties go to the largest tau, then to the largest lam. With
    `one_standard_error`, the largest tau that has an error within one standard error of the
    smallest wins, with its best lam (Breiman et al. 1984).
    """
    error = error.round(12)  # counts of errors tie exactly; sums of their weights do not
    best = np.unravel_index(np.argmin(error), error.shape)
    bound = error[best] + (standard_error[best] if one_standard_error else 0.0)
    tau = int(np.argmax((error <= bound).any(axis=1)))
    lam = int(np.flatnonzero(error[tau] == error[tau].min())[-1])
    return tau, lam
