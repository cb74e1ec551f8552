"""The mean of two linear models of two classes, which is one linear model.

Least squares and logistic loss err in unlike ways, so that their mean errs less than either. How
much each counts is asked of their scores of left-out training samples, so that one which tells the
classes apart no better than chance has little say; the mean is cut halfway between the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.optim.logistic.path import (
    covariate_coef,
    logistic_coef,
    logistic_path,
    logistic_scores,
)
from genesig.optim.logistic.training import LogisticSets, logistic_sets
from genesig.selection.assess.held import held_fixed
from genesig.selection.linear.kinds.least_squares import LeastSquares
from genesig.selection.linear.kinds.record import Model
from genesig.selection.linear.protocol import Protocol
from genesig.selection.linear.tasks import Task

Array = np.ndarray[Any, Any]

TAU = np.geomspace(1.0, 0.1, 6)[1:]
"""Fractions of tau_max among which the logistic model is chosen."""
MU = 1e-6
"""Weight of its squared l2 term, in units of ||X'X||/n: next to none."""
TOLERANCE = 1e-7
"""Largest duality gap of its fits, relative to the loss without genes."""


def average(
    todo: list[Task], outer: LeastSquares, inner: LeastSquares, lists: list[Model],
    protocol: Protocol,
) -> list[Model]:  # fmt: skip
    """Return the mean of each model and the logistic one of its training set.

    Parameters
    ----------
    todo : list of Task
    outer, inner : LeastSquares
        Of the tasks, and of what trains their inner folds.
    lists : list of Model
    protocol : Protocol
    """
    if protocol.model != "committee":
        return lists
    folds = [task for task in todo for _ in task.inner]
    whole = _sets(outer, todo, np.hstack([task.training_rows() for task in todo]), None)
    parts = _sets(outer, folds, np.hstack([task.inner_rows() for task in todo]), whole)
    tau = TAU * whole.tau_max[:, None]
    each = np.repeat(tau, [len(task.inner) for task in todo], axis=0)
    found = logistic_path(parts, each, MU * parts.norm[:, None], tolerance=TOLERANCE)
    scores = np.split(logistic_scores(parts, *found), np.cumsum([len(t.inner) for t in todo])[:-1])
    told = [task.left_out(np.moveaxis(s, 1, 2)) for task, s in zip(todo, scores, strict=True)]
    chosen = [_likeliest(task, f) for task, f in zip(todo, told, strict=True)]
    others = _models(whole, tau, chosen)
    return [
        _mean(task, one, other, f[:, at], protocol)
        for task, one, other, f, at in zip(todo, lists, others, told, chosen, strict=True)
    ]


def _sets(
    outer: LeastSquares, todo: Sequence[Task], rows: Array, like: LogisticSets | None
) -> LogisticSets:  # fmt: skip
    own, Y = outer.sets, np.column_stack([task.y for task in todo])
    fixed = held_fixed([task.held for task in todo], Y, rows)
    return logistic_sets(
        own.X, Y, rows, centre=own.centre, unit_variance=own.unit_variance, weights=own.weights,
        fixed=fixed, balanced=True, like=like,
    )  # fmt: skip


def _likeliest(task: Task, scores: Array) -> int:
    """Return the place of the tau of smallest log loss, both classes alike, scores (n, m)."""
    y = task.y[task.train]
    loss = np.logaddexp(0.0, -y[:, None] * scores[task.train])
    error = np.mean([loss[y == side].mean(axis=0) for side in (-1.0, 1.0)], axis=0)
    return int(np.argmin(error.round(12)))


def _models(sets: LogisticSets, tau: Array, chosen: Sequence[int]) -> list[Model]:
    """Fit the training sets, each down to the tau that is chosen."""
    last = max(chosen) + 1
    path, constant, held = logistic_path(
        sets, tau[:, :last], MU * sets.norm[:, None], tolerance=TOLERANCE
    )
    values, intercept = logistic_coef(sets, path, constant)
    gamma = None if sets.fixed is None else covariate_coef(sets, held)
    models = []
    for k, at in enumerate(chosen):
        part = slice(*path.indptr[k * last + at :][:2])
        own = None if gamma is None else gamma[k, at]
        moved = 0.0 if own is None or sets.fixed is None else own @ sets.fixed.mean[k]
        model = Model(path.indices[part], values[part], intercept[k, at] - moved, own, held[:0])
        models.append(model)
    return models


def _mean(task: Task, one: Model, other: Model, told: Array, protocol: Protocol) -> Model:
    """Return the mean of two models; `told` (n,) are scores of the other of left-out samples."""
    a, b = shares(task.y[task.train], one.left_out[task.train], told[task.train])
    scores = a * one.left_out + b * told
    cut = 0.0
    if protocol.threshold == "midpoint":
        cut = np.mean([scores[task.train][task.y[task.train] == side].mean() for side in (-1, 1)])
    genes = np.union1d(one.genes, other.genes)
    values = np.zeros(len(genes))
    for weight, model in ((a, one), (b, other)):
        values[np.searchsorted(genes, model.genes)] += weight * model.values
    gamma = None
    if one.gamma is not None and other.gamma is not None:
        gamma = a * one.gamma + b * other.gamma
    kept = values != 0
    intercept = a * one.intercept + b * other.intercept - cut
    blind = None if one.unseen is None else a * one.unseen + b * told - cut
    return Model(genes[kept], values[kept], intercept, gamma, scores - cut, blind)


def shares(y: Array, one: Array, other: Array) -> tuple[float, float]:
    """Return what two scores of samples are multiplied by, in their mean.

    Those of Fisher's discriminant of the scores, each over its standard deviation, W being their
    mean covariance within a class and d the difference of the class means:

        w ∝ (W + ½ tr(W) I)⁻¹ d,

    drawn towards shares that go with d by the ridge. A score that would count against the other is
    left out; equal shares where neither tells the classes apart.

    Parameters
    ----------
    y : (n,) float
        -1 and 1.
    one, other : (n,) float
        Of samples that each model had not seen.
    """
    F = np.column_stack([one, other])
    spread = F.std(axis=0)
    spread[spread == 0] = 1.0
    Z = F / spread
    sides = [Z[y == side] for side in (-1.0, 1.0)]
    d = sides[1].mean(axis=0) - sides[0].mean(axis=0)
    W = np.mean([np.cov(side.T, bias=True) for side in sides], axis=0)
    if d.max() <= 0 or np.trace(W) == 0:
        w = np.ones(2)
    else:
        w = np.linalg.solve(W + np.trace(W) / 2 * np.eye(2), d)
        w = w if (w >= 0).all() else (d == d.max()).astype(float)
    a, b = w / w.sum() / spread
    return float(a), float(b)
