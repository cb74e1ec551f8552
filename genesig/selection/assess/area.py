"""The AUC of held-out scores, over pairs of samples that one and the same model ordered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.selection.assess.intervals import NOTHING, area_limits, error_of_splits, newcombe
from genesig.selection.assess.kinds.record import HeldOut
from genesig.selection.assess.scores import placements

Array = np.ndarray[Any, Any]
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
