"""The double cross-validation error: one number with its interval for each predictor.

The error of a repeat is that of all its held-out scores together, the error of a study the mean
over its repeats; what it is stands in `genesig.selection.assess.kinds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.selection.assess.intervals import NOTHING, Interval, corrected_t, hull
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

    The interval is the hull of two, each of which is too short where the other is not:

    * over splits: error ± t √((1/J + n_test/n_train) s²) on J - 1 df (Nadeau and Bengio 2003),
      from the error of each of J splits. It covers the choice of training samples, but is empty
      when no split has an error. Left out where a split does not define its error: a test fold
      without both classes, hence leave-one-out; with fewer than two splits (predefined); and for
      regression with fewer than five, where t on so few degrees of freedom makes it two to three
      times as wide as coverage asks for, unless samples come in groups.
    * over samples: for classes the interval of (e₋ + e₊)/2 from the Wilson intervals of the two
      shares (see `mean_of_shares`), where repeats do not add samples; for regression t over the
      mean loss of each sample, divided by the variance of the response. It takes samples as
      independent, which members of a group are not, and the training set as given.

    Coverage of the expected error, nearest centroids on 27 + 11 samples, four strengths of signal:
    5 folds x 4 repeats, hull 98-100 %, over splits alone 71-98 %, over samples alone 96-98 %;
    leave-one-out 88-92 %, so read that one as somewhat short (tests/references/test_coverage.py).

    Ridge regression on 30 samples, no to strong signal: 3 or 4 folds, over samples alone 96-100 %,
    the hull 99.7-100 % at 2 to 3 times the width; 5 folds, hull 99-100 %. For classes the interval
    over samples covers 91-97 % at 3 or 4 folds, so there the hull is kept.

    Limits are clipped to [0, 1]; for regression only the lower one is. The AUC is that of the mean
    score of each sample over the repeats, with the interval of `delong`; empty for regression.
    """
    errors = study_errors(found, headline)[0]
    losses = headline.loss(found)
    out = []
    for at, error in enumerate(map(float, errors)):
        low, high = _interval(found, losses[:, at].astype(float), error, headline)
        y, mean = found.per_sample(found.scores[:, at])
        out.append(Assessment(error, low, high, *headline.area(y, mean)))
    return out


def _interval(found: HeldOut, loss: Array, error: float, headline: Headline) -> Interval:
    if np.isnan(error):
        return NOTHING
    splits = headline.of_splits(found, loss)
    few = len(splits) < headline.fewest and not found.grouped
    left_out = few or np.isnan(splits).any()
    over_splits = NOTHING if left_out else corrected_t(splits, error, found.ratio)
    low, high = hull(over_splits, headline.of_samples(found, loss))
    return max(0.0, low), min(headline.highest, high)
