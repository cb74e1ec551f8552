"""The double cross-validation error: one number with its interval for each predictor.

The error of a repeat is that of all its held-out scores together, the error of a study the mean
over its repeats; what it is stands in `genesig.selection.assess.kinds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.selection.assess.intervals import NOTHING
from genesig.selection.assess.kinds.record import Headline, HeldOut

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Assessment:
    """Error and AUC of one predictor, each with its 95 % interval; NaN where undefined."""

    error: float
    low: float
    high: float
    auc: float
    auc_low: float
    auc_high: float


def pooled_error(found: HeldOut, pool: Array, headline: Headline) -> Array:
    """Return the error of each pool, (n_pools, m), from pool numbers (t,)."""
    loss = headline.loss(found) * headline.weights(found, pool)[:, None]
    n_pools = int(pool.max()) + 1
    sums = [np.bincount(pool, weights=column, minlength=n_pools) for column in loss.T]
    return np.stack(sums, axis=1)


def study_errors(found: HeldOut, headline: Headline) -> Array:
    """Return the error of each permutation, mean over its repeats, (n_permutations, m)."""
    n_repeats = int(found.repeat.max()) + 1
    pool = found.permutation * n_repeats + found.repeat
    errors = pooled_error(found, pool, headline)
    return np.asarray(errors.reshape(-1, n_repeats, errors.shape[1]).mean(axis=1))


def assess(found: HeldOut, headline: Headline) -> list[Assessment]:
    """Return the error of each column of scores with its interval, for one permutation.

    Both are estimates of what models of this procedure reach on average, trained on as many samples
    as here, and the intervals are for that; see `Headline.limits` of each kind. The AUC is that of
    `held_out_area`, empty for a number and for survival.
    """
    errors = study_errors(found, headline)[0]
    losses = headline.loss(found)
    out = []
    for at, error in enumerate(map(float, errors)):
        limits = NOTHING
        if not np.isnan(error):
            limits = headline.limits(found, losses[:, at].astype(float), error)
        out.append(Assessment(error, *limits, *headline.area(found, found.scores[:, at])))
    return out
