"""The balanced error and the AUC of held-out scores, of two or more classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess.intervals import (
    NO_INTERVAL,
    Interval,
    area_limits,
    corrected_t,
    hull,
    mean_of_shares,
    newcombe,
    standard_error_over_splits,
)
from genesig.selection.assess.kinds.record import Headline, HeldOut
from genesig.selection.assess.scores import placements

Side = tuple[Array, Array]


def held_out_area(held_out: HeldOut, sides: Sequence[Side]) -> tuple[float, float, float]:
    r"""Return the AUC and its 95 % interval; NaN without both classes or without a score.

    :math:`A = \sum_s \sum_{i \in +, j \in -} (1[f_i > f_j] + ½ 1[f_i = f_j]) / \sum_s n_+ n_-` over
    the test sets s, whose samples one model scored. The AUC of each sample's mean score would be
    that of many models together, and pooled scores compare models with each other. The interval
    is that of `share_limits` by the error of `standard_error_over_splits`, which estimates the
    error of A around its mean over studies of this size. Near 1 the score interval widens it, with
    the groups of samples of each class as its size; the intervals of several sides are combined as
    in `mean_of_shares`. If a test set lacks a class, as in leave-one-out, the scores of a repeat
    are pooled.

    Parameters
    ----------
    sides : list of ((t,) bool, (t,) float)
        Which samples are positive, and the scores; with several sides A is the mean of their AUC.
    """
    splits_have_both = all(_has_both_sides(positive, held_out.split) for positive, _ in sides)
    test_set = held_out.split if splits_have_both else held_out.repeat
    is_defined = all(
        _has_both_sides(positive, test_set) and not np.isnan(f).any() for positive, f in sides
    )
    if not is_defined or min(_min_units(positive, held_out.row) for positive, _ in sides) < 2:
        return np.nan, *NO_INTERVAL
    side_areas = [_area_within_blocks(test_set, *side) for side in sides]
    value, splits, influence = (np.mean(part, axis=0) for part in zip(*side_areas, strict=True))
    value = float(value)
    if not splits_have_both:
        splits = np.full(len(np.unique(held_out.split)), np.nan)
    error = standard_error_over_splits(splits, held_out.ratio, held_out.sum_by_group(influence))
    areas = [side_area[0] for side_area in side_areas]
    score_intervals = [
        newcombe(area, *_count_units(positive, held_out.groups))
        for area, (positive, _) in zip(areas, sides, strict=True)
    ]
    widths = np.sqrt(np.square(np.transpose(score_intervals) - areas).sum(axis=1)) / len(sides)
    return value, *area_limits(value, error, (value - widths[0], value + widths[1]))


def _has_both_sides(positive: Array, block: Array) -> bool:
    """Return whether every block has samples of both sides."""
    n_positive = np.bincount(block, weights=positive)
    size = np.bincount(block)
    return bool(((n_positive > 0) & (n_positive < size))[size > 0].all())


def _count_units(positive: Array, unit: Array) -> tuple[int, int]:
    """Return the number of units (samples or groups) on the positive and on the negative side."""
    return len(np.unique(unit[positive])), len(np.unique(unit[~positive]))


def _min_units(positive: Array, unit: Array) -> int:
    return min(_count_units(positive, unit))


def _area_within_blocks(block: Array, positive: Array, f: Array) -> tuple[float, Array, Array]:
    """Return the AUC over pairs within blocks, the AUC of each block, and the influence (t,)."""
    concordant = np.zeros(len(f))
    comparable = np.zeros(len(f))
    block_areas = []
    for block_number in np.unique(block):
        in_block = block == block_number
        positive_rows, negative_rows = (
            np.flatnonzero(in_block & side) for side in (positive, ~positive)
        )
        shares_below = placements(f[positive_rows], f[negative_rows])
        concordant[positive_rows] = shares_below * len(negative_rows)
        concordant[negative_rows] = (1 - placements(f[negative_rows], f[positive_rows])) * len(
            positive_rows
        )
        comparable[positive_rows], comparable[negative_rows] = (
            len(negative_rows),
            len(positive_rows),
        )
        block_areas.append(shares_below.mean())
    pairs = comparable.sum() / 2
    value = concordant.sum() / 2 / pairs
    return float(value), np.array(block_areas), (concordant - value * comparable) / pairs


def balanced_error_measure(
    loss: Callable[[HeldOut], Array],
    class_number: Callable[[HeldOut], tuple[Array, int]],
    area: Callable[[HeldOut, Array], tuple[float, float, float]],
) -> Headline:
    """Return the balanced error, the mean over the classes of their error shares, as a headline.

    Parameters
    ----------
    loss, area : callable
        See `Headline`.
    class_number : callable
        Held-out scores -> class number of each score, from 0, and the number of classes.
    """
    return Headline(
        name="balanced error",
        loss=loss,
        weights=lambda scored, pool: _class_weights(*class_number(scored), pool),
        split_errors=lambda scored, losses: _split_errors(scored, losses, *class_number(scored)),
        limits=lambda scored, losses, error: _limits(scored, losses, error, *class_number(scored)),
        area=area,
    )


def _class_weights(class_number: Array, n_classes: int, pool: Array) -> Array:
    """Return 1/(T n_c), n_c the size of the sample's class in its pool; NaN without a class."""
    cell = n_classes * pool + class_number
    size = np.bincount(cell, minlength=n_classes * (int(pool.max()) + 1))
    has_all_classes: Array = np.all(size.reshape(-1, n_classes) > 0, axis=1)
    return np.where(has_all_classes[pool], 1 / (n_classes * size[cell]), np.nan)


def _split_errors(scored: HeldOut, loss: Array, class_number: Array, n_classes: int) -> Array:
    _, split = np.unique(scored.split, return_inverse=True)
    return np.bincount(split, weights=_class_weights(class_number, n_classes, split) * loss)


def _limits(
    scored: HeldOut, loss: Array, error: float, class_number: Array, n_classes: int
) -> Interval:
    """Return the hull of two intervals of the balanced error, each too short in other cases.

    * over splits: error ± t √((1/J + n_test/n_train) s²) on J - 1 df, see `corrected_t`. It covers
      the choice of training samples, but is empty when no split has an error. Left out where a
      split does not define its error: a test fold without both classes, hence leave-one-out.
    * over samples: from the Wilson intervals of the classes' shares (see `mean_of_shares`), where
      repeats do not add samples, and the size of a class is its number of groups; half of it in
      leave-one-out, since every sample trains, too: twice the variance, as
      in `standard_error_over_splits`.

    Coverage of the expected error, nearest centroids on 27 + 11 samples, four strengths of signal:
    5 folds x 4 repeats, hull 98-100 %, over splits alone 71-98 %, over samples alone 96-98 %;
    leave-one-out 88-95 % of this and of lists of eight genes, so read that one as somewhat short
    (tests/references/test_coverage.py); with all samples counted 69-92 %.
    """
    splits = _split_errors(scored, loss, class_number, n_classes)
    undefined = bool(np.isnan(splits).any())
    over_splits = NO_INTERVAL if undefined else corrected_t(splits, error, scored.ratio)
    over_samples = _interval_over_samples(
        scored, loss, class_number, n_classes, 0.5 if _is_leave_one_out(scored) else 1.0
    )
    low, high = hull(over_splits, over_samples)
    return max(0.0, low), min(1.0, high)


def _is_leave_one_out(scored: HeldOut) -> bool:
    """Return whether each test set is one sample, or the samples of one group."""
    tested = np.unique(np.stack([scored.split, scored.groups]), axis=1)
    return bool(tested.shape[1] == len(np.unique(scored.split)) > 1)


def _interval_over_samples(
    scored: HeldOut, loss: Array, class_number: Array, n_classes: int, samples_per_group: float
) -> Interval:
    means = []
    sizes = []
    for c in range(n_classes):
        in_class = class_number == c
        repeats = np.unique(scored.repeat[in_class])
        repeat_means = [loss[in_class & (scored.repeat == repeat)].mean() for repeat in repeats]
        means.append(float(np.mean(repeat_means)))
        sizes.append(samples_per_group * len(np.unique(scored.groups[in_class])))
    return mean_of_shares(means, sizes)
