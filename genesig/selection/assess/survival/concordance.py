"""Whether those with the higher score have the event earlier: C, Uno's C, AUC at a horizon.

Each is a weighted share of pairs, of an earlier event i and a later sample j,

    C = Σ_ij w_ij (1[f_i > f_j] + ½ 1[f_i = f_j]) / Σ_ij w_ij,

and has the interval of its infinitesimal jackknife: U_i, the derivative of C by the weight of
sample i, gives the variance Σ U_i², and the limits are those of `share_limits`. Weights of
censoring count as known. NaN without a pair, or where a weight is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from genesig.selection.assess.intervals import (
    NOTHING,
    Interval,
    error_of_splits,
    of_ratio,
    share_limits,
)
from genesig.selection.assess.survival.curves import Curve

Array = np.ndarray[Any, Any]
Pairs = Iterable[tuple[Any, float, Array]]

TIE = 1e-8
"""Scores that differ by no more than this count as equal; so it is in scikit-survival."""


class Concordance(NamedTuple):
    """C and its 95 % interval; U (n,), whose products with those of another score are paired.

    ``pairs`` (n,) is the weight of the pairs that each sample is part of.
    """

    value: float
    interval: Interval
    influence: Array
    pairs: Array


def harrell(time: Array, event: Array, f: Array) -> Concordance:
    """All pairs whose order is known, alike: an event, and who was followed for longer.

    Who is censored at the time of an event counts as later (Harrell et al. 1996). It depends on the
    censoring: see `uno`.
    """
    time, event = np.asarray(time, dtype=float), np.asarray(event, dtype=bool)
    return _share(((i, 1.0, _later(time, event, i)) for i in np.flatnonzero(event)), f)


def uno(
    time: Array, event: Array, f: Array, lost: Curve, horizon: float = np.inf
) -> Concordance:  # fmt: skip
    """Weigh the pairs by 1/G(t_i)², G the censoring of the training samples.

    Consistent for P(f_i > f_j | t_i < t_j, t_i < horizon), whatever the censoring (Uno et al.
    2011).

    Parameters
    ----------
    lost : Curve
        `curves.censoring` of the training samples.
    horizon : float
        Events from then on are left out. Without it, or beyond the last training sample, one late
        event may outweigh all others, or have no weight that is known.
    """
    time, event = np.asarray(time, dtype=float), np.asarray(event, dtype=bool)
    early, weight = np.flatnonzero(event & (time < horizon)), lost.at(time)
    return _share(((i, _inverse(weight[i]) ** 2, _later(time, event, i)) for i in early), f)


def auc_at(time: Array, event: Array, f: Array, lost: Curve, horizon: float) -> Concordance:
    """Pairs of an event up to the horizon, weighed by 1/G(t_i), and who is followed beyond it.

    The cumulative/dynamic AUC (Uno et al. 2007; Hung and Chiang 2010).
    """
    time, event = np.asarray(time, dtype=float), np.asarray(event, dtype=bool)
    early, weight, later = np.flatnonzero(event & (time <= horizon)), lost.at(time), time > horizon
    return _share(((i, _inverse(weight[i]), later) for i in early), f)


def _later(time: Array, event: Array, i: Any) -> Array:
    return np.asarray((time > time[i]) | ((time == time[i]) & ~event))


def _inverse(weight: float) -> float:
    return 1 / weight if weight > 0 else np.nan


def _share(pairs: Pairs, f: Array) -> Concordance:
    """Return C of (i, w_ij, which j), with its interval."""
    f, events = np.asarray(f, dtype=float), 0
    right, every = np.zeros(len(f)), np.zeros(len(f))  # each pair counts at both of its samples
    for i, weight, later in pairs:
        gap = f[i] - f
        good = weight * later * np.where(np.abs(gap) <= TIE, 0.5, gap > 0)
        total = weight * later
        right += good
        every += total
        right[i] += good.sum()
        every[i] += total.sum()
        events += bool(later.any())
    number = every.sum() / 2
    if not number > 0 or np.isnan(f).any():
        return Concordance(np.nan, NOTHING, np.full(len(f), np.nan), every)
    value = float(right.sum() / 2 / number)
    influence = (right - value * every) / number
    error = float(np.sqrt(influence @ influence))
    return Concordance(value, _limits(value, error, events), influence, every)


def _limits(value: float, error: float, events: int) -> Interval:
    """Return the interval of a share; where every pair is ordered alike, of so many samples.

    The largest variance of C, Kendall's, is 2 C (1 - C)/n: that of a share in half as many samples
    as there are events.
    """
    return share_limits(value, error, max(events // 2, 1))


def pooled(
    found: Sequence[tuple[Array, int, Concordance]],
    events: int,
    ratio: float = 0.0,
    group: Array | None = None,
) -> Concordance:
    """Return C over several test sets, the pairs of each scored by one model; mean of the repeats.

    Test sets that do not define it are left out. The interval has the error of `error_of_splits`;
    of one test set it is that of its C.

    Parameters
    ----------
    found : list of (samples (n,) int, repeat, Concordance)
        Of each test set; samples are numbered from 0.
    events : int
        Samples with an event.
    ratio : float
        Mean of n_test/n_train.
    group : (n,) int, optional
        Group of each sample that can be numbered; each is its own without it.
    """
    found = [each for each in found if not np.isnan(each[2].value)]
    repeats = {repeat for _, repeat, _ in found}
    n = 1 + max((int(samples.max()) for samples, _, _ in found), default=-1)
    U, every, values = np.zeros(n), np.zeros(n), []
    for repeat in repeats:
        parts = [(rows, own) for rows, at, own in found if at == repeat]
        total = sum(own.pairs.sum() for _, own in parts)
        values.append(sum(own.value * own.pairs.sum() for _, own in parts) / total)
        for rows, own in parts:
            part = own.influence * own.pairs.sum() / total
            part += 2 * (own.value - values[-1]) * own.pairs / total
            U[rows] += part / len(repeats)
            every[rows] += own.pairs / len(repeats)
    if not values:
        return Concordance(np.nan, NOTHING, U, every)
    value = float(np.mean(values))
    pairs = np.array([own.pairs.sum() for _, _, own in found])
    splits = of_ratio(np.array([own.value for _, _, own in found]) * pairs, pairs, value)
    by_group = U if group is None else np.bincount(group[: len(U)], weights=U)
    error = error_of_splits(splits, ratio, by_group)
    return Concordance(value, _limits(value, error, events), U, every)


def ordered(f: Array) -> Array:
    """Return 1 where f_i is above f_j, one half where they are equal, (n, n)."""
    gap = f[:, None] - f
    return np.where(np.abs(gap) <= TIE, 0.5, gap > 0)
