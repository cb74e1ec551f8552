"""How well survival is foretold, how many are left at a time, whether groups differ.

Concordances are weighted shares of pairs, of an earlier event i and a later sample j,

    C = Σ_ij w_ij (1[f_i > f_j] + ½ 1[f_i = f_j]) / Σ_ij w_ij,

and has the interval of its infinitesimal jackknife: U_i, the derivative of C by the weight of
sample i, gives the variance Σ U_i², and the limits are those of `share_limits`. Weights of
censoring count as known. NaN without a pair, or where a weight is not known.

The Brier score is

    B(t) = (1/n) Σ_i (S_i(t)² 1[t_i <= t, event]/G(t_i) + (1 - S_i(t))² 1[t_i > t]/G(t))

with G the censoring of the training samples; integrated over times by trapezoids. A sample that is
censored before t adds nothing; its share is borne by those who were followed (Graf et al. 1999).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.risk_sets import DEFAULT_TIES
from genesig.selection.assess.clusters import (
    UNKNOWN,
    Spread,
    freedom,
    mean_interval,
    order_interval,
)
from genesig.selection.assess.intervals import (
    NOTHING,
    Interval,
    Z,
    error_of_splits,
    mean_t,
    of_ratio,
    share_limits,
    t_quantile,
)
from genesig.selection.assess.scores import bin_by_score


@dataclass(frozen=True)
class Curve:
    """A step function of right-censored times, constant from each of its times on.

    Attributes
    ----------
    times, at_risk, events : (m,)
        The distinct times of all samples, ascending; how many are at risk just before, and how many
        of them have the event then.
    value, variance : (m,)
        From that time on.
    start : float
        Value before the first time.
    """

    times: Array
    at_risk: Array
    events: Array
    value: Array
    variance: Array
    start: float

    def at(self, times: Array) -> Array:
        """Return the value at any times; NaN where the last sample was censored before."""
        times = np.asarray(times, dtype=float)
        known = np.concatenate([[self.start], self.value])
        found = known[np.searchsorted(self.times, times, side="right")]
        open_end = self.at_risk[-1] > self.events[-1]
        return np.where((times > self.times[-1]) & open_end, np.nan, found)

    def interval(self) -> tuple[Array, Array]:
        """Return the 95 % limits of a survival curve, on the scale of log(-log S).

        S^exp(±z √V / (S log S)), V Greenwood's; NaN where S is 1 or 0 (Kalbfleisch and Prentice).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = Z * np.sqrt(self.variance) / np.abs(self.value * np.log(self.value))
            return self.value ** np.exp(spread), self.value ** np.exp(-spread)

    def median(self) -> float:
        """Return the first time at which at most half are left; NaN where more are."""
        below = np.flatnonzero(self.value <= 0.5)
        return float(self.times[below[0]]) if len(below) else np.nan


def kaplan_meier(time: Array, event: Array, group: Array | None = None) -> Curve:
    """S(t) = Π_{t_i <= t} (1 - d_i/n_i), with Greenwood's variance S² Σ d_i/(n_i (n_i - d_i)).

    d_i events among n_i at risk; who is censored at a time of an event is at risk then.

    Parameters
    ----------
    time, event : (n,) arrays
        Follow-up, and whether it ended with the event.
    group : (n,) int, optional
        Number of each sample's group, if samples come in groups. The variance is then that over
        groups (Ying and Wei 1994), made larger by as much as Student's t exceeds the normal.

    Source: Kaplan and Meier 1958; Greenwood 1926.
    """
    times, n, d = _counts(time, event)
    S = np.cumprod(1 - d / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(S > 0, S**2 * np.cumsum(d / (n * (n - d))), 0.0)
    if group is not None:
        variance = S**2 * _variance_over_groups(time, event, group, times, n, d)
    return Curve(times, n, d, S, variance, 1.0)


def _variance_over_groups(
    time: Array, event: Array, group: Array, times: Array, n: Array, d: Array
) -> Array:
    r"""Return the variance of log S at each time, (m,), from the influence of each group.

    The weight of a sample with e_k = 1 at its event and r_k = 1 while at risk changes log S by
    :math:`-\sum_k (e_k - r_k d_k/n_k)/(n_k - d_k)`. With one sample in each group the squares add
    up to Greenwood's variance.
    """
    _, place, sizes = np.unique(group, return_inverse=True, return_counts=True)
    number = np.searchsorted(times, np.asarray(time, dtype=float))
    happened, leaving = np.zeros((2, len(sizes), len(times)))
    np.add.at(happened, (place, number), np.asarray(event, dtype=float))
    np.add.at(leaving, (place, number), 1.0)
    at_risk = leaving[:, ::-1].cumsum(axis=1)[:, ::-1]
    left = np.where(n > d, n - d, np.inf)
    influence = -np.cumsum((happened - at_risk * d / n) / left, axis=1)
    share = sizes / sizes.sum()
    if len(sizes) < 2:
        return np.full(len(times), np.nan)
    variance = np.square(influence).T @ (1 / (1 - share))
    return np.asarray(variance * (t_quantile(freedom([sizes])) / Z) ** 2)


def censoring(time: Array, event: Array) -> Curve:
    """G(t) = P(censoring after t), by Kaplan-Meier; events come before censoring at equal times.

    Weights 1/G make up for those who are censored. They need it at the times of events of other
    samples: with `Curve.at` NaN where these lie beyond the last sample here.
    """
    times, n, d = _counts(time, event)
    n = n - d
    lost = _counts(time, ~np.asarray(event, dtype=bool))[2]
    G = np.cumprod(1 - lost / np.maximum(n, 1))
    return Curve(times, n, lost, G, np.full(len(G), np.nan), 1.0)


def _counts(time: Array, event: Array) -> tuple[Array, Array, Array]:
    """Return the distinct times, who is at risk, and who has the event."""
    times, place = np.unique(np.asarray(time, dtype=float), return_inverse=True)
    here = np.bincount(place)
    events = np.bincount(place, weights=np.asarray(event, dtype=float))
    return times, here[::-1].cumsum()[::-1].astype(float), events


class LogRank(NamedTuple):
    """Observed and expected events of each group (k,), chi-squared on k - 1 df, and its p."""

    observed: Array
    expected: Array
    chi_squared: float
    p: float


def log_rank(time: Array, event: Array, group: Array, patient: Array | None = None) -> LogRank:
    """Return (O - E)'V⁺(O - E), the sum over event times of hypergeometric counts.

    At each time, d events among n at risk, n_k in group k: E_k = d n_k/n and
    V_kl = d (n - d)/(n - 1) (δ_kl n_k/n - n_k n_l/n²). The same as Cox's score test of the groups.
    NaN where there is one group, or no time at which two groups are at risk.

    Parameters
    ----------
    time, event, group : (n,) arrays
    patient : (n,) int, optional
        Number of each sample's patient, if patients have several samples. V is then the variance of
        O - E over patients, and p is by Hotelling's T² (Lin and Wei 1989).

    Source: Mantel 1966; Peto and Peto 1972.
    """
    time, event = np.asarray(time, dtype=float), np.asarray(event, dtype=bool)
    names, member = np.unique(group, return_inverse=True)
    inside = member == np.arange(len(names))[:, None]
    observed = inside[:, event].sum(axis=1).astype(float)
    expected, V = np.zeros(len(names)), np.zeros((len(names), len(names)))
    residuals = np.zeros(inside.shape)
    for t in np.unique(time[event]):
        followed, happened = time >= t, event & (time == t)
        at_risk = inside[:, followed].sum(axis=1)
        n, d = at_risk.sum(), np.sum(happened)
        share = at_risk / n
        expected += d * share
        V += d * (n - d) / max(n - 1, 1) * (np.diag(share) - np.outer(share, share))
        if patient is not None:
            residuals += (inside - share[:, None]) * (happened - followed * d / n)
    rest = (observed - expected)[:-1]
    if len(names) < 2 or not V.any():
        return LogRank(observed, expected, np.nan, np.nan)
    # scipy.stats takes half a second to import, which studies without survival need not wait for.
    from scipy.special import chdtrc, fdtrc

    if patient is None:
        value = float(rest @ np.linalg.pinv(V[:-1, :-1]) @ rest)
        return LogRank(observed, expected, value, float(chdtrc(len(names) - 1, value)))
    _, place, sizes = np.unique(patient, return_inverse=True, return_counts=True)
    left = freedom([sizes]) - len(rest) + 1 if len(sizes) > 1 else 0.0
    if not left > 0:
        return LogRank(observed, expected, np.nan, np.nan)
    sums = np.stack([np.bincount(place, weights=one) for one in residuals[:-1]])
    W = (sums / (1 - sizes / sizes.sum())) @ sums.T
    value = float(rest @ np.linalg.pinv(W) @ rest)
    scale = left / (left + len(rest) - 1) / len(rest)
    return LogRank(observed, expected, value, float(fdtrc(len(rest), left, scale * value)))


Pairs = Iterable[tuple[Any, float, Array]]


TIE = 1e-8
"""Scores that differ by no more than this count as equal; so it is in scikit-survival."""


class Concordance(NamedTuple):
    """C and its 95 % interval; U (n,), whose products with those of another score are paired.

    ``pairs`` (n,) is the weight of the pairs that each sample is part of. ``side`` (n,) says on
    which of two sides of the pairs a sample is, 0 on none, if all pairs are between two sides.
    """

    value: float
    interval: Interval
    influence: Array
    pairs: Array
    side: Array | None = None


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
        `survival_curves.censoring` of the training samples.
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
    side = np.where(later, 2, np.where(event & (time <= horizon), 1, 0))
    return _share(((i, _inverse(weight[i]), later) for i in early), f)._replace(side=side)


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
    if group is not None and len(found) == 1:
        rows, _, own = found[0]
        limits = order_interval(value, own.influence, group[rows], events, own.side)
        return Concordance(value, limits, U, every)
    pairs = np.array([own.pairs.sum() for _, _, own in found])
    splits = of_ratio(np.array([own.value for _, _, own in found]) * pairs, pairs, value)
    by_group = U if group is None else np.bincount(group[: len(U)], weights=U)
    error = error_of_splits(splits, ratio, by_group)
    return Concordance(value, _limits(value, error, events), U, every)


def ordered(f: Array) -> Array:
    """Return 1 where f_i is above f_j, one half where they are equal, (n, n)."""
    gap = f[:, None] - f
    return np.where(np.abs(gap) <= TIE, 0.5, gap > 0)


class Brier(NamedTuple):
    """Mean over the samples with its 95 % interval, and of each sample (n,), to be paired."""

    value: float
    interval: Interval
    samples: Array


def brier_losses(time: Array, event: Array, S: Array, times: Array, lost: Curve) -> Array:
    """Return the terms of B(t), (n, m), from predicted survival S (n, m) at times (m,).

    NaN where G is not known or 0.
    """
    time, event = np.asarray(time, dtype=float)[:, None], np.asarray(event, dtype=bool)[:, None]
    times = np.asarray(times, dtype=float)
    own, then = lost.at(time), lost.at(times)
    dead, left = (time <= times) & event, time > times
    own, then = np.where(own > 0, own, np.nan), np.where(then > 0, then, np.nan)
    return np.where(dead, S**2 / own, np.where(left, (1 - S) ** 2 / then, 0.0))


def mean_over(losses: Array, times: Array, group: Array | None = None) -> Brier:
    """Return the mean of the terms of B(t), (n, m), over the samples and over m ascending times.

    `group` (n,) numbers the groups in which samples come.
    """
    each = np.trapezoid(losses, times, axis=1) / (times[-1] - times[0])
    interval = mean_t(each) if group is None else mean_interval(each, group)
    return Brier(float(each.mean()), interval, each)


def over_sets(
    value: float, rows: Sequence[Array], terms: Sequence[Array], ratio: float,
    group: Array | None, *, models: bool,
) -> Interval:  # fmt: skip
    """Return value ± t √(V_s + V_u) on J - 1 degrees of freedom, see `error_of_splits`.

    Of J test sets, whose samples are these rows of the data set and have these terms. Without
    `models` it is V_u alone: of losses themselves, unlike differences, V_s is mostly V_u again.
    Over samples alone, 60 of them, 95 % of what is explained were 79 %, and with three of each
    patient 58 %.
    """
    every, u = np.concatenate(rows), np.concatenate(terms)
    _, number, times = np.unique(every, return_inverse=True, return_counts=True)
    unit = number if group is None else np.unique(group[every], return_inverse=True)[1]
    mean = np.average(u, weights=1 / times[number])
    influence = np.bincount(unit, weights=(u - mean) / times[number]) / len(times)
    splits = np.array([each.mean() for each in terms]) if models else np.zeros(1)
    freedom = len(splits) - 1 if models else len(influence) - 1
    half = t_quantile(freedom) * error_of_splits(splits, ratio, influence)
    return value - half, value + half


def explained(score: Brier, reference: Brier, group: Array | None = None) -> tuple[float, Interval]:
    """Return 1 - B/B₀ of two scores on the same samples, and the 95 % interval of the ratio.

    Delta method on the paired terms: U_i = (b_i - (B/B₀) b₀_i)/B₀. Above 0, predictions are better
    than the reference; with Kaplan-Meier for it, the index of prediction accuracy (Kattan and Gerds
    2018).
    """
    ratio = score.value / reference.value if reference.value > 0 else np.nan
    terms = (score.samples - ratio * reference.samples) / reference.value
    low, high = mean_t(terms) if group is None else mean_interval(terms, group)
    return 1 - ratio, (1 - ratio - high, 1 - ratio - low)


@dataclass(frozen=True)
class Risk:
    """Of some samples: the mean predicted risk by the horizon, and the observed with its limits."""

    samples: int
    expected: float
    observed: float
    interval: Interval

    @property
    def ratio(self) -> tuple[float, Interval]:
        """Return observed over expected risk, 1 where calibrated, with its 95 % interval."""
        low, high = self.interval
        return self.observed / self.expected, (low / self.expected, high / self.expected)


def risk_at(
    time: Array, event: Array, S: Array, horizon: float, group: Array | None = None
) -> Risk:
    """Return 1 - S(horizon), predicted (mean of S (n,)) and by Kaplan-Meier.

    NaN where nobody was followed to the horizon. For `group` see `kaplan_meier`.
    """
    curve = kaplan_meier(time, event, group)
    place = int(np.searchsorted(curve.times, horizon, side="right")) - 1
    expected, n = float(np.mean(1 - S)), len(S)
    if np.isnan(curve.at(np.array([horizon]))[0]):
        return Risk(n, expected, np.nan, NOTHING)
    if place < 0 or curve.value[place] in (0.0, 1.0):
        return Risk(n, expected, 0.0 if place < 0 else float(1 - curve.value[place]), NOTHING)
    low, high = (float(1 - limit[place]) for limit in curve.interval())
    return Risk(n, expected, float(1 - curve.value[place]), (high, low))


def risk_groups(
    time: Array, event: Array, S: Array, horizon: float, patient: Array | None = None
) -> Iterator[Risk]:
    """Yield groups of similar predicted survival S (n,), lowest risk first.

    Groups are those of `bin_by_score`. For `patient` see `log_rank`.
    """
    number = bin_by_score(-S, len(S))
    for group in np.unique(number):
        inside = number == group
        members = None if patient is None else patient[inside]
        yield risk_at(time[inside], event[inside], S[inside], horizon, members)


def slope(
    time: Array, event: Array, f: Array, ties: str = DEFAULT_TIES, group: Array | None = None
) -> tuple[float, Interval]:
    """Return b of the Cox model b f on held-out samples, with Wald's 95 % interval.

    If samples come in groups (n,), the variance is that over groups (Lin and Wei 1989).

    1 where scores are calibrated, below 1 where they are too far apart (van Houwelingen 2000). NaN
    where there is no event, all scores are equal, or they order all events.
    """
    from genesig.optim.cox.slope import fit_slope  # here: the report imports this module

    scores = np.asarray(f, dtype=float)
    fitted = fit_slope(time, event, scores, ties)
    if np.isnan(fitted.value):
        return np.nan, NOTHING
    half_width = Z * float(np.sqrt(fitted.variance))
    if group is not None:
        half_width = _slope_spread(time, event, scores, fitted.value, group).half_width
    return fitted.value, (fitted.value - half_width, fitted.value + half_width)


def _slope_spread(time: Array, event: Array, scores: Array, slope: float, group: Array) -> Spread:
    """Return the spread of a slope over groups (n,), ties by Breslow.

    One Newton step from the slope gives the slope without a group. Degrees of freedom are those of
    a mean times the share of the groups that have an event.
    """
    from genesig.optim.cox.slope import slope_influence  # as above

    _, group_index, group_sizes = np.unique(group, return_inverse=True, return_counts=True)
    residual, information = slope_influence(time, event, scores, slope)
    group_residual = np.bincount(group_index, weights=residual)
    group_information = np.bincount(group_index, weights=information)
    information_without = group_information.sum() - group_information
    if not (information_without > 0).all():
        return UNKNOWN
    n_groups = len(group_sizes)
    error = float(np.linalg.norm(group_residual / information_without)) * np.sqrt(1 - 1 / n_groups)
    n_event_groups = len(np.unique(group_index[np.asarray(event, dtype=bool)]))
    return Spread(error, freedom([group_sizes]) * n_event_groups / n_groups)
