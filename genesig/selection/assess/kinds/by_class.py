"""What all kinds of classes share: the balanced error, and the AUC of held-out scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess.intervals import (
    NOTHING,
    Interval,
    area_limits,
    corrected_t,
    error_of_splits,
    hull,
    mean_of_shares,
    newcombe,
)
from genesig.selection.assess.kinds.record import Headline, HeldOut
from genesig.selection.assess.scores import placements

Side = tuple[Array, Array]


def held_out_area(found: HeldOut, sides: Sequence[Side]) -> tuple[float, float, float]:
    r"""Return the AUC and its 95 % interval; NaN without both classes or without a score.

    :math:`A = \sum_s \sum_{i \in +, j \in -} (1[f_i > f_j] + ½ 1[f_i = f_j]) / \sum_s n_+ n_-` over
    the test sets s, whose samples one model scored. The AUC of each sample's mean score would be
    that of many models together, and pooled scores compare models with each other. The interval
    is that of `share_limits` by the error of `error_of_splits`, which estimates that of A around
    its mean over studies of this size; near 1 the score interval widens it, a class
    counting the groups of samples it has, and several put together as in `mean_of_shares`. Where a
    test set lacks a class, as in leave-one-out, a repeat's scores are taken together.

    Parameters
    ----------
    sides : list of ((t,) bool, (t,) float)
        Who is positive, and the scores. Of several the mean AUC.
    """
    whole = all(_both(positive, found.split) for positive, _ in sides)
    block = found.split if whole else found.repeat
    known = all(_both(positive, block) and not np.isnan(f).any() for positive, f in sides)
    if not known or min(_fewest(positive, found.row) for positive, _ in sides) < 2:
        return np.nan, *NOTHING
    each = [_within(block, *side) for side in sides]
    value, splits, influence = (np.mean(part, axis=0) for part in zip(*each, strict=True))
    value = float(value)
    if not whole:
        splits = np.full(len(np.unique(found.split)), np.nan)
    error = error_of_splits(splits, found.ratio, found.by_group(influence))
    areas = [own[0] for own in each]
    scored = [newcombe(area, *_sizes(positive, found.groups))
              for area, (positive, _) in zip(areas, sides, strict=True)]  # fmt: skip
    apart = np.sqrt(np.square(np.transpose(scored) - areas).sum(axis=1)) / len(sides)
    return value, *area_limits(value, error, (value - apart[0], value + apart[1]))


def _both(positive: Array, block: Array) -> bool:
    """Tell whether every block has samples of both sides."""
    own = np.bincount(block, weights=positive)
    size = np.bincount(block)
    return bool(((own > 0) & (own < size))[size > 0].all())


def _sizes(positive: Array, unit: Array) -> tuple[int, int]:
    return len(np.unique(unit[positive])), len(np.unique(unit[~positive]))


def _fewest(positive: Array, unit: Array) -> int:
    return min(_sizes(positive, unit))


def _within(block: Array, positive: Array, f: Array) -> tuple[float, Array, Array]:
    """Return A, that of each block, and the influence of each score, (t,)."""
    right, every, of_block = np.zeros(len(f)), np.zeros(len(f)), []
    for one in np.unique(block):
        inside = block == one
        up, down = (np.flatnonzero(inside & side) for side in (positive, ~positive))
        above = placements(f[up], f[down])
        right[up] = above * len(down)
        right[down] = (1 - placements(f[down], f[up])) * len(up)
        every[up], every[down] = len(down), len(up)
        of_block.append(above.mean())
    pairs = every.sum() / 2
    value = right.sum() / 2 / pairs
    return float(value), np.array(of_block), (right - value * every) / pairs


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
      repeats do not add samples, and a class counts the groups of samples it has; half of them
      where they are left out one by one, since every sample trains, too: twice the variance, as
      in `error_of_splits`.

    Coverage of the expected error, nearest centroids on 27 + 11 samples, four strengths of signal:
    5 folds x 4 repeats, hull 98-100 %, over splits alone 71-98 %, over samples alone 96-98 %;
    leave-one-out 88-95 % of this and of lists of eight genes, so read that one as somewhat short
    (tests/references/test_coverage.py); with all samples counted 69-92 %.
    """
    splits = _of_splits(found, loss, number, classes)
    undefined = bool(np.isnan(splits).any())
    over_splits = NOTHING if undefined else corrected_t(splits, error, found.ratio)
    over_samples = _of_samples(found, loss, number, classes, 0.5 if _one_by_one(found) else 1.0)
    low, high = hull(over_splits, over_samples)
    return max(0.0, low), min(1.0, high)


def _one_by_one(found: HeldOut) -> bool:
    """Tell whether each test set is one sample, or the samples of one group."""
    tested = np.unique(np.stack([found.split, found.groups]), axis=1)
    return bool(tested.shape[1] == len(np.unique(found.split)) > 1)


def _of_samples(
    found: HeldOut, loss: Array, number: Array, classes: int, counting: float
) -> Interval:
    means, sizes = [], []
    for c in range(classes):
        inside = number == c
        repeats = np.unique(found.repeat[inside])
        each = [loss[inside & (found.repeat == repeat)].mean() for repeat in repeats]
        means.append(float(np.mean(each)))
        sizes.append(counting * len(np.unique(found.groups[inside])))
    return mean_of_shares(means, sizes)
