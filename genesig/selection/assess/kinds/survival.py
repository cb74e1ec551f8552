"""Survival: 1 - C over pairs of samples of one test set, which the same model scored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.optim.cox.risk_sets import RiskSets
from genesig.selection.assess.intervals import (
    NO_INTERVAL,
    Interval,
    ratio_by_split,
    share_limits,
    standard_error_over_splits,
)
from genesig.selection.assess.kinds.record import Assessed, Classes, Headline, HeldOut
from genesig.selection.assess.survival import harrell, order_scores


def _test_sets(scored: HeldOut) -> list[Array]:
    """Return the rows of each test set, one split under one permutation."""
    key = scored.permutation * (int(scored.split.max()) + 1) + scored.split
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)


def _comparable_pairs(y: Array) -> Array:
    """Return which pairs (i, j) are comparable, (n, n): i had the event, j was followed longer."""
    time = y["time"]
    event = y["event"]
    is_later = time > time[:, None]
    is_later |= (time == time[:, None]) & ~event
    return np.asarray(is_later & event[:, None])


def _count_pairs(scored: HeldOut) -> Array:
    """Return the number of pairs in its test set that each sample is part of, (t,)."""
    n_pairs = np.zeros(len(scored.y))
    for rows in _test_sets(scored):
        comparable = _comparable_pairs(scored.y[rows])
        n_pairs[rows] = comparable.sum(axis=0) + comparable.sum(axis=1)
    return n_pairs


def _loss(scored: HeldOut) -> Array:
    """Return the share of each sample's pairs that are ordered wrongly, ties counting one half."""
    loss = np.zeros(scored.scores.shape)
    for rows in _test_sets(scored):
        comparable = _comparable_pairs(scored.y[rows])
        n_pairs = np.maximum(comparable.sum(axis=0) + comparable.sum(axis=1), 1)
        for column, f in enumerate(scored.scores[rows].T):
            wrong = np.where(comparable, 1 - order_scores(f), 0.0)
            loss[rows, column] = (wrong.sum(axis=0) + wrong.sum(axis=1)) / n_pairs
            loss[rows, column] += 0 * f.sum()  # no score is no order
    return loss


def _weights(scored: HeldOut, pool: Array) -> Array:
    """Return half of the sample's share of all pairs of its pool, as a pair has two samples."""
    n_pairs = _count_pairs(scored)
    total = np.bincount(pool, weights=n_pairs)
    return n_pairs / np.where(total > 0, total, np.nan)[pool]


def _split_errors(scored: HeldOut, loss: Array) -> Array:
    _, split = np.unique(scored.split, return_inverse=True)
    n_pairs = _count_pairs(scored)
    total = np.bincount(split, weights=n_pairs)
    return np.bincount(split, weights=n_pairs * loss) / np.where(total > 0, total, np.nan)


def _limits(scored: HeldOut, loss: Array, error: float) -> Interval:
    """Return the interval of 1 - C by the error of `standard_error_over_splits`.

    Test sets without a pair are left out.
    """
    _, repeat = np.unique(scored.repeat, return_inverse=True)
    n_pairs = _count_pairs(scored)
    repeats = int(repeat.max()) + 1
    total = np.bincount(repeat, weights=n_pairs)
    if not (total > 0).all() or np.isnan(loss).any():
        return NO_INTERVAL
    errors = np.bincount(repeat, weights=n_pairs * loss) / total
    influence = 2 * n_pairs * (loss - errors[repeat]) / total[repeat] / repeats
    _, split = np.unique(scored.split, return_inverse=True)
    pairs, n_wrong = (np.bincount(split, weights=values) for values in (n_pairs, n_pairs * loss))
    has_pairs = pairs > 0
    splits = ratio_by_split(n_wrong[has_pairs], pairs[has_pairs], error)
    spread = standard_error_over_splits(splits, scored.ratio, scored.sum_by_group(influence))
    events = len(np.unique(scored.groups[scored.y["event"] & (n_pairs > 0)]))
    return share_limits(error, spread, max(events // 2, 1))


def _measure_split(y: Array, f: Array) -> tuple[float, ...]:
    return (harrell(y["time"], y["event"], f).value,)


def _decision_columns(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    group = np.select([f > 0, f <= 0], ["high", "low"], default="").astype(object)
    return {"predicted": group, "wrong": np.full(len(f), None, dtype=object)}


def _score_covariates(
    adjusted: Adjustment, y: Array, rows: Array, inner_folds: Sequence[Array]
) -> Array:
    """Return the scores of Cox's model of the covariates."""
    from genesig.optim.cox.path import ridge  # here, because most jobs import this module
    from genesig.optim.cox.training import separation_ridge

    training_rows = np.flatnonzero(adjusted.root[:, 0])
    C = adjusted.basis[0].T
    weights = adjusted.weights
    training_weights = None if weights is None else weights[training_rows, 0]
    risk = RiskSets.from_times(
        y["time"][training_rows], y["event"][training_rows], weights=training_weights
    )
    training_covariates = C[training_rows[risk.order]]
    fit = ridge(
        risk,
        training_covariates[:, :0],
        training_covariates,
        np.ones(1),
        column_ridge=separation_ridge(risk, training_covariates),
    )
    return np.asarray(C @ fit.b[:, 0])


SURVIVAL = Assessed(
    headline=Headline(
        name="1 - C",
        loss=_loss,
        weights=_weights,
        split_errors=_split_errors,
        limits=_limits,
        area=lambda y, f: (np.nan, *NO_INTERVAL),
    ),
    errors=("concordance",),
    measure_split=_measure_split,
    decision_columns=_decision_columns,
    score_covariates=_score_covariates,
)
