"""The double cross-validation error with its interval, and how much another predictor's differs.

The error of a repeat is that of all its held-out scores together, the error of a study the mean
over its repeats; what it is stands in `genesig.selection.assess.kinds`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess.clusters import group_numbers, mean_spread
from genesig.selection.assess.intervals import NOTHING, Interval, corrected_t, hull, t_quantile
from genesig.selection.assess.kinds.record import Headline, HeldOut


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


FEWEST = 3
"""Repeats from which on their spread tells of that of training sets."""


def difference(
    other: HeldOut, linear: HeldOut, at: int, headline: Headline
) -> tuple[float, float, float, float, float]:
    """Return (error, error of the linear one, their difference, its 95 % interval).

    Both models see the same samples, so that what makes a sample hard for both does not count.
    The interval is ``d ± t √(s²/n + r²)``, t on the degrees of freedom of Satterthwaite (1946), of
    n - 1 and of the repeats less one: s² the variance over the n samples (or s²/n that over groups
    of samples, with their degrees of freedom, see `clusters.mean_spread`) of the
    mean difference of each over its repeats, the classes weighing one half each; and r² that of the
    difference over the repeats. s²/n takes the training sets as given, and repeats are other
    training sets of the same samples. With fewer than `FEWEST` repeats r² says too little: the
    interval is then the hull of that with s²/n alone and one over splits, t with the correction for
    training sets that overlap (Nadeau and Bengio 2003), left out where a split does not define its
    error. What they cover is measured in docs/evidence/claims.md.

    Parameters
    ----------
    other, linear : HeldOut
        In any order of the samples.
    at : int
        Column of `linear`: that of the chosen lists.
    """
    errors = [float(study_errors(other, headline)[0, 0]),
              float(study_errors(linear, headline)[0, at])]  # fmt: skip
    one, two = _order(other), _order(linear)
    ours, theirs = linear.taken(two), other.taken(one)
    ours = replace(ours, scores=ours.scores[:, [at]])
    losses = [headline.loss(found)[:, 0].astype(float) for found in (theirs, ours)]
    apart, centre = losses[0] - losses[1], errors[0] - errors[1]
    n = len(theirs.y)
    weights = headline.weights(theirs, np.zeros(n, dtype=np.int64)) * n
    by_repeat = _by_repeat(theirs, apart, headline)
    if len(by_repeat) >= FEWEST and np.isfinite(by_repeat).all():
        low, high = _over_groups(theirs, apart * weights, centre, by_repeat)
        return errors[0], errors[1], centre, low, high
    by_split = headline.of_splits(theirs, apart)
    usable = len(by_split) > 1 and not np.isnan(by_split).any()
    over_splits = corrected_t(by_split, centre, other.ratio) if usable else NOTHING
    low, high = hull(over_splits, _over_groups(theirs, apart * weights, centre))
    return errors[0], errors[1], centre, low, high


def _order(found: HeldOut) -> Array:
    return np.lexsort((found.row, found.split))


def _by_repeat(found: HeldOut, apart: Array, headline: Headline) -> Array:
    """Return the difference of each repeat."""
    _, repeat = np.unique(found.repeat, return_inverse=True)
    return np.bincount(repeat, weights=headline.weights(found, repeat) * apart)


def _over_groups(
    found: HeldOut, apart: Array, centre: float, repeats: Array | None = None
) -> Interval:
    """Centre ± t √(s²/n + r²), from the mean weighted difference of each sample; r² of repeats.

    If samples come in groups, the variance over groups stands for s²/n.
    """
    first, number = np.unique(found.row, return_index=True, return_inverse=True)[1:]
    each = np.bincount(number, weights=apart) / np.bincount(number)
    if len(each) < 2 or np.isnan(each).any():
        return NOTHING
    parts, freedom = [float(each.var(ddof=1)) / len(each)], [float(len(each) - 1)]
    group = group_numbers(found.groups[first])
    if group is not None:
        spread = mean_spread(each, group)
        if not spread.freedom > 0:
            return NOTHING
        parts, freedom = [spread.error**2], [spread.freedom]
    if repeats is not None:
        parts, freedom = [*parts, float(repeats.var(ddof=1))], [*freedom, len(repeats) - 1.0]
    total = sum(parts)
    share = sum(part**2 / own for part, own in zip(parts, freedom, strict=True))
    half = t_quantile(total**2 / share if share > 0 else freedom[0]) * float(np.sqrt(total))
    return centre - half, centre + half
