"""The double cross-validation error: one number with its interval for each predictor.

The error of a repeat is that of all its held-out scores together, the error of a study the mean
over its repeats. It is the balanced error for two classes and 1 - R² for regression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.selection.assess.held_out import HeldOut
from genesig.selection.assess.intervals import (
    NOTHING,
    Interval,
    corrected_t,
    delong,
    hull,
    mean_of_shares,
    mean_t,
)
from genesig.selection.assess.scores import zero_one_loss

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Headline:
    """The error that is reported, as a weighted sum of a loss over the samples of a pool.

    Attributes
    ----------
    name : str
    loss : callable
        Responses (t, 1) and scores (t, m) to losses (t, m).
    weights : callable
        Responses (t,) and pool numbers (t,) to weights (t,): those of a pool, times the losses,
        add up to its error. NaN where a pool does not define it.
    of_splits, of_samples : callable
        Held-out samples and their loss (t,) to the error of each split, (J,); to the interval
        that takes samples as the only source of chance.
    highest : float
        Upper limit of the error.
    fewest : int
        Splits below which the interval over splits is left out, unless samples come in groups.
    area : callable
        Response and mean score of each sample to the AUC and the limits of its interval.
    """

    name: str
    loss: Callable[[Array, Array], Array]
    weights: Callable[[Array, Array], Array]
    of_splits: Callable[[HeldOut, Array], Array]
    of_samples: Callable[[HeldOut, Array], Interval]
    highest: float
    fewest: int
    area: Callable[[Array, Array], tuple[float, float, float]]


@dataclass(frozen=True)
class Assessment:
    """Error and AUC of one predictor, each with its 95 % interval; NaN where undefined."""

    error: float
    low: float
    high: float
    auc: float
    auc_low: float
    auc_high: float


def pooled_error(y: Array, scores: Array, pool: Array, headline: Headline) -> Array:
    """Return the error of each pool, (n_pools, m), from scores (t, m) and pool numbers (t,)."""
    loss = headline.loss(y[:, None], scores) * headline.weights(y, pool)[:, None]
    n_pools = int(pool.max()) + 1
    sums = [np.bincount(pool, weights=column, minlength=n_pools) for column in loss.T]
    return np.stack(sums, axis=1)


def study_errors(found: HeldOut, headline: Headline) -> Array:
    """Return the error of each permutation, mean over its repeats, (n_permutations, m)."""
    n_repeats = int(found.repeat.max()) + 1
    pool = found.permutation * n_repeats + found.repeat
    errors = pooled_error(found.y, found.scores, pool, headline)
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
    losses = headline.loss(found.y[:, None], found.scores)
    out = []
    for at, error in enumerate(map(float, errors)):
        low, high = _interval(found, losses[:, at].astype(float), error, headline)
        y, mean = _per_sample(found, found.scores[:, at])
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


def _per_sample(found: HeldOut, values: Array) -> tuple[Array, Array]:
    """Return the response and the mean of the values of each sample that was tested."""
    _, first, number = np.unique(found.row, return_index=True, return_inverse=True)
    return found.y[first], np.bincount(number, weights=values) / np.bincount(number)


def _class_weights(y: Array, pool: Array) -> Array:
    """1/(2 n_c), with n_c the size of the sample's class in its pool."""
    cell = 2 * pool + (y > 0)
    size = np.bincount(cell, minlength=2 * (int(pool.max()) + 1))
    both: Array = np.all(size.reshape(-1, 2) > 0, axis=1, keepdims=False)
    return np.where(both[pool], 0.5 / size[cell], np.nan)


def _class_splits(found: HeldOut, loss: Array) -> Array:
    _, split = np.unique(found.split, return_inverse=True)
    weighted = _class_weights(found.y, split) * loss
    return np.bincount(split, weights=weighted)


def _class_samples(found: HeldOut, loss: Array) -> Interval:
    shares, sizes = [], []
    for c in (-1.0, 1.0):
        of_class = found.y == c
        repeats = np.unique(found.repeat[of_class])
        each = [loss[of_class & (found.repeat == repeat)].mean() for repeat in repeats]
        shares.append(float(np.mean(each)))
        sizes.append(len(np.unique(found.row[of_class])))
    return mean_of_shares(shares, sizes)


def _number_weights(y: Array, pool: Array) -> Array:
    """1 / Σ (y - ȳ)² over the sample's pool."""
    mean = np.bincount(pool, weights=y) / np.maximum(np.bincount(pool), 1)
    total = np.bincount(pool, weights=np.square(y - mean[pool]))
    return 1.0 / np.where(total > 0, total, np.nan)[pool]


def _number_splits(found: HeldOut, loss: Array) -> Array:
    """Mean loss of each split over the variance of all responses: few of one split have little."""
    _, split = np.unique(found.split, return_inverse=True)
    return np.bincount(split, weights=loss) / np.bincount(split) / _variance(found)


def _number_samples(found: HeldOut, loss: Array) -> Interval:
    return mean_t(_per_sample(found, loss)[1] / _variance(found))


def _variance(found: HeldOut) -> float:
    return float(np.var(_per_sample(found, found.y)[0]))


HEADLINES = {
    "classification": Headline(
        "balanced error", zero_one_loss, _class_weights, _class_splits, _class_samples, 1.0, 2,
        delong,
    ),
    "regression": Headline(
        "1 - R²", lambda y, f: np.square(y - f), _number_weights, _number_splits,
        _number_samples, np.inf, 5, lambda y, f: (np.nan, *NOTHING),
    ),
}  # fmt: skip
