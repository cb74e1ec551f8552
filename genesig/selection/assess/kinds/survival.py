"""Survival: 1 - C, over the pairs of samples that one and the same model ordered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.optim.cox.risk_sets import RiskSets
from genesig.selection.assess.intervals import (
    NOTHING,
    Interval,
    error_of_splits,
    of_ratio,
    share_limits,
)
from genesig.selection.assess.kinds.record import Assessed, Classes, Headline, HeldOut
from genesig.selection.assess.survival import harrell, ordered


def _tests(found: HeldOut) -> list[Array]:
    """Return the rows of each test set: those of one split under one permutation."""
    key = found.permutation * (int(found.split.max()) + 1) + found.split
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)


def _pairs(y: Array) -> Array:
    """Return which pairs are of known order, (n, n): i had the event, and j was followed longer."""
    time, event = y["time"], y["event"]
    later = time > time[:, None]
    later |= (time == time[:, None]) & ~event
    return np.asarray(later & event[:, None])


def _of_each(found: HeldOut) -> Array:
    """Return the number of pairs in its test set that each sample is part of, (t,)."""
    number = np.zeros(len(found.y))
    for rows in _tests(found):
        known = _pairs(found.y[rows])
        number[rows] = known.sum(axis=0) + known.sum(axis=1)
    return number


def _loss(found: HeldOut) -> Array:
    """Return the share of each sample's pairs that are ordered wrongly, ties counting one half."""
    loss = np.zeros(found.scores.shape)
    for rows in _tests(found):
        known = _pairs(found.y[rows])
        number = np.maximum(known.sum(axis=0) + known.sum(axis=1), 1)
        for at, f in enumerate(found.scores[rows].T):
            wrong = np.where(known, 1 - ordered(f), 0.0)
            loss[rows, at] = (wrong.sum(axis=0) + wrong.sum(axis=1)) / number
            loss[rows, at] += 0 * f.sum()  # no score is no order
    return loss


def _weights(found: HeldOut, pool: Array) -> Array:
    """Half of the sample's share of all pairs of its pool: a pair counts at both of its samples."""
    number = _of_each(found)
    total = np.bincount(pool, weights=number)
    return number / np.where(total > 0, total, np.nan)[pool]


def _splits(found: HeldOut, loss: Array) -> Array:
    _, split = np.unique(found.split, return_inverse=True)
    number = _of_each(found)
    total = np.bincount(split, weights=number)
    return np.bincount(split, weights=number * loss) / np.where(total > 0, total, np.nan)


def _limits(found: HeldOut, loss: Array, error: float) -> Interval:
    """Return the interval on the scale of log(C/(1-C)), by the error of `error_of_splits`.

    Test sets without a pair are left out.
    """
    _, repeat = np.unique(found.repeat, return_inverse=True)
    number, repeats = _of_each(found), int(repeat.max()) + 1
    total = np.bincount(repeat, weights=number)
    if not (total > 0).all() or np.isnan(loss).any():
        return NOTHING
    errors = np.bincount(repeat, weights=number * loss) / total
    influence = 2 * number * (loss - errors[repeat]) / total[repeat] / repeats
    _, split = np.unique(found.split, return_inverse=True)
    pairs, wrong = (np.bincount(split, weights=each) for each in (number, number * loss))
    known = pairs > 0
    splits = of_ratio(wrong[known], pairs[known], error)
    spread = error_of_splits(splits, found.ratio, found.by_group(influence))
    events = len(np.unique(found.groups[found.y["event"] & (number > 0)]))
    return share_limits(error, spread, max(events // 2, 1))


def _of_split(y: Array, f: Array) -> tuple[float, ...]:
    return (harrell(y["time"], y["event"], f).value,)


def _decided(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    group = np.select([f > 0, f <= 0], ["high", "low"], default="").astype(object)
    return {"predicted": group, "wrong": np.full(len(f), None, dtype=object)}


def _alone(fixed: Adjustment, y: Array, rows: Array, left_out: Sequence[Array]) -> Array:
    """Return the scores of Cox's model of the covariates."""
    from genesig.optim.cox.path import ridge  # here, because most jobs import this module
    from genesig.optim.cox.training import separation_ridge

    train, C, v = np.flatnonzero(fixed.root[:, 0]), fixed.basis[0].T, fixed.weights
    own = None if v is None else v[train, 0]
    risk = RiskSets.from_times(y["time"][train], y["event"][train], weights=own)
    known = C[train[risk.order]]
    fit = ridge(risk, known[:, :0], known, np.ones(1), column_ridge=separation_ridge(risk, known))
    return np.asarray(C @ fit.b[:, 0])


SURVIVAL = Assessed(
    headline=Headline(
        name="1 - C", loss=_loss, weights=_weights, of_splits=_splits, limits=_limits,
        area=lambda y, f: (np.nan, *NOTHING),
    ),
    errors=("concordance",),
    of_split=_of_split,
    decided=_decided,
    alone=_alone,
)  # fmt: skip
