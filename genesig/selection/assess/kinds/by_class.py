"""The balanced error: all classes count alike, two of them or more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from genesig.selection.assess.intervals import (
    NOTHING,
    Interval,
    corrected_t,
    hull,
    mean_of_shares,
)
from genesig.selection.assess.kinds.record import Headline, HeldOut

Array = np.ndarray[Any, Any]


def balanced(
    loss: Callable[[HeldOut], Array],
    number: Callable[[HeldOut], tuple[Array, int]],
    area: Callable[[HeldOut, Array], tuple[float, float, float]],
) -> Headline:
    """Return the mean over the classes of their error shares as a measure.

    Parameters
    ----------
    loss, area : callable
        See `Headline`.
    number : callable
        What was held out to the class of each score, from 0, and how many classes there are.
    """
    return Headline(
        name="balanced error", loss=loss,
        weights=lambda found, pool: _shares(*number(found), pool),
        of_splits=lambda found, each: _of_splits(found, each, *number(found)),
        limits=lambda found, each, error: _limits(found, each, error, *number(found)),
        area=area,
    )  # fmt: skip


def _shares(number: Array, classes: int, pool: Array) -> Array:
    """1/(T n_c), with n_c the size of the sample's class in its pool; NaN where one is missing."""
    cell = classes * pool + number
    size = np.bincount(cell, minlength=classes * (int(pool.max()) + 1))
    every: Array = np.all(size.reshape(-1, classes) > 0, axis=1)
    return np.where(every[pool], 1 / (classes * size[cell]), np.nan)


def _of_splits(found: HeldOut, loss: Array, number: Array, classes: int) -> Array:
    _, split = np.unique(found.split, return_inverse=True)
    return np.bincount(split, weights=_shares(number, classes, split) * loss)


def _limits(found: HeldOut, loss: Array, error: float, number: Array, classes: int) -> Interval:
    """Return the hull of two intervals, each of which is too short where the other is not.

    * over splits: error ± t √((1/J + n_test/n_train) s²) on J - 1 df, see `corrected_t`. It covers
      the choice of training samples, but is empty when no split has an error. Left out where a
      split does not define its error: a test fold without both classes, hence leave-one-out.
    * over samples: from the Wilson intervals of the classes' shares (see `mean_of_shares`), where
      repeats do not add samples, and a class counts the groups of samples it has.

    Coverage of the expected error, nearest centroids on 27 + 11 samples, four strengths of signal:
    5 folds x 4 repeats, hull 98-100 %, over splits alone 71-98 %, over samples alone 96-98 %;
    leave-one-out 88-92 %, so read that one as somewhat short (tests/references/test_coverage.py).
    """
    splits = _of_splits(found, loss, number, classes)
    undefined = bool(np.isnan(splits).any())
    over_splits = NOTHING if undefined else corrected_t(splits, error, found.ratio)
    low, high = hull(over_splits, _of_samples(found, loss, number, classes))
    return max(0.0, low), min(1.0, high)


def _of_samples(found: HeldOut, loss: Array, number: Array, classes: int) -> Interval:
    means, sizes = [], []
    for c in range(classes):
        inside = number == c
        repeats = np.unique(found.repeat[inside])
        each = [loss[inside & (found.repeat == repeat)].mean() for repeat in repeats]
        means.append(float(np.mean(each)))
        sizes.append(len(np.unique(found.groups[inside])))
    return mean_of_shares(means, sizes)
