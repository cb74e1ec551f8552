"""The balanced error: all classes count alike, two of them or more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from genesig.selection.assess.intervals import Interval, mean_of_shares
from genesig.selection.assess.kinds.record import Headline, HeldOut

Array = np.ndarray[Any, Any]


def balanced(
    loss: Callable[[HeldOut], Array],
    number: Callable[[HeldOut], tuple[Array, int]],
    area: Callable[[Array, Array], tuple[float, float, float]],
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
        of_samples=lambda found, each: _of_samples(found, each, *number(found)),
        highest=1.0, fewest=2, area=area,
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


def _of_samples(found: HeldOut, loss: Array, number: Array, classes: int) -> Interval:
    means, sizes = [], []
    for c in range(classes):
        inside = number == c
        repeats = np.unique(found.repeat[inside])
        each = [loss[inside & (found.repeat == repeat)].mean() for repeat in repeats]
        means.append(float(np.mean(each)))
        sizes.append(len(np.unique(found.row[inside])))
    return mean_of_shares(means, sizes)
