"""Measures of predicted survival, survival curves, and the log-rank test.

Concordances are weighted shares of pairs, of an earlier event i and a later sample j,

    C = Σ_ij w_ij (1[f_i > f_j] + ½ 1[f_i = f_j]) / Σ_ij w_ij,

with the interval of the infinitesimal jackknife: U_i, the derivative of C by the weight of
sample i, gives the variance Σ U_i², and the limits are those of `share_limits`. Weights for
censoring count as fixed. NaN without a pair, or if a weight is undefined.

The Brier score is

    B(t) = (1/n) Σ_i (S_i(t)² 1[t_i <= t, event]/G(t_i) + (1 - S_i(t))² 1[t_i > t]/G(t))

with G the censoring curve of the training samples; integrated over times by trapezoids. A sample
that is censored before t adds nothing; the weights 1/G make up for it (Graf et al. 1999).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.risk_sets import DEFAULT_TIES
from genesig.selection.assess.clusters import (
    UNKNOWN_SPREAD,
    Spread,
    mean_interval,
    order_interval,
    satterthwaite_df,
)
from genesig.selection.assess.intervals import (
    NO_INTERVAL,
    NORMAL_QUANTILE,
    Interval,
    bin_by_score,
    mean_t,
    ratio_by_split,
    share_limits,
    standard_error_over_splits,
    t_quantile,
)


@dataclass(frozen=True)
class StepCurve:
    """A survival curve of right-censored times: 1 at first, constant from each of its times on."""

    times: Array  # (m,) distinct times of all samples, ascending
    at_risk: Array  # (m,) samples at risk just before each time
    events: Array  # (m,) samples with the event at each time
    value: Array  # (m,) value from each time on
    variance: Array  # (m,) variance of the value

    def at(self, times: Array) -> Array:
        """Return the value at any times; NaN beyond a last sample that was censored."""
        times = np.asarray(times, dtype=float)
        steps = np.concatenate([[1.0], self.value])
        values = steps[np.searchsorted(self.times, times, side="right")]
        open_end = self.at_risk[-1] > self.events[-1]
        return np.where((times > self.times[-1]) & open_end, np.nan, values)

    def interval(self) -> tuple[Array, Array]:
        """Return the 95 % limits of a survival curve, on the scale of log(-log S).

        S^exp(±z √V / (S log S)), V Greenwood's (Kalbfleisch and Prentice); 1 where S is 1, NaN
        where S is 0.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = (
                NORMAL_QUANTILE * np.sqrt(self.variance) / np.abs(self.value * np.log(self.value))
            )
            return self.value ** np.exp(spread), self.value ** np.exp(-spread)  # 1 ** NaN is 1

    def median(self) -> float:
        """Return the first time at which the curve is at most one half; NaN if it never is."""
        below_half = np.flatnonzero(self.value <= 0.5)
        return float(self.times[below_half[0]]) if len(below_half) else np.nan


def kaplan_meier(time: Array, event: Array, group: Array | None = None) -> StepCurve:
    """Return the Kaplan-Meier curve of survival with Greenwood's variance.

    S(t) = Π_{t_i <= t} (1 - d_i/n_i), of variance S² Σ d_i/(n_i (n_i - d_i)), with d_i events among
    n_i at risk; a sample that is censored at the time of an event is at risk then.

    time, event (n,): follow-up, and whether it ended with the event. group (n,) int, optional:
    number of each sample's group, if samples come in groups. The variance is then that over groups
    (Ying and Wei 1994), times the squared ratio of Student's t to the normal quantile.

    Source: Kaplan and Meier 1958; Greenwood 1926.
    """
    times, n_at_risk, n_events = _count_at_risk(time, event)
    survival = np.cumprod(1 - n_events / n_at_risk)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(
            survival > 0,
            survival**2 * np.cumsum(n_events / (n_at_risk * (n_at_risk - n_events))),
            0.0,
        )
    if group is not None:
        variance = survival**2 * _variance_over_groups(
            time, event, group, times, n_at_risk, n_events
        )
    return StepCurve(times, n_at_risk, n_events, survival, variance)


def _variance_over_groups(
    time: Array, event: Array, group: Array, times: Array, n_at_risk: Array, n_events: Array
) -> Array:
    r"""Return the variance of log S at each time, (m,), from the influence of each group.

    The weight of a sample with e_k = 1 at its event and r_k = 1 while at risk changes log S by
    :math:`-\sum_k (e_k - r_k d_k/n_k)/(n_k - d_k)`. With one sample in each group the squares add
    up to Greenwood's variance.
    """
    _, group_number, sizes = np.unique(group, return_inverse=True, return_counts=True)
    time_number = np.searchsorted(times, np.asarray(time, dtype=float))
    events, leaving_now = np.zeros((2, len(sizes), len(times)))
    np.add.at(events, (group_number, time_number), np.asarray(event, dtype=float))
    np.add.at(leaving_now, (group_number, time_number), 1.0)
    at_risk = leaving_now[:, ::-1].cumsum(axis=1)[:, ::-1]
    # Where nobody is left, the survival is 0, and its variance too.
    n_left = np.where(n_at_risk > n_events, n_at_risk - n_events, np.inf)
    influence = -np.cumsum((events - at_risk * n_events / n_at_risk) / n_left, axis=1)
    share = sizes / sizes.sum()
    if len(sizes) < 2:
        return np.full(len(times), np.nan)
    variance = np.square(influence).T @ (1 / (1 - share))
    return np.asarray(variance * (t_quantile(satterthwaite_df([sizes])) / NORMAL_QUANTILE) ** 2)


def censoring(time: Array, event: Array) -> StepCurve:
    """Return the censoring curve G(t) = P(censoring after t) by Kaplan-Meier.

    Events come before censoring at equal times. Weights 1/G at the events of other samples make up
    for censoring; they are NaN beyond the last sample here (`StepCurve.at`).
    """
    times, n_at_risk, n_events = _count_at_risk(time, event)
    n_at_risk = n_at_risk - n_events
    n_censored = _count_at_risk(time, ~np.asarray(event, dtype=bool))[2]
    curve = np.cumprod(1 - n_censored / np.maximum(n_at_risk, 1))
    return StepCurve(times, n_at_risk, n_censored, curve, np.full(len(curve), np.nan))


def _count_at_risk(time: Array, event: Array) -> tuple[Array, Array, Array]:
    """Return the distinct times, the number at risk just before each, and of events at each."""
    times, time_number = np.unique(np.asarray(time, dtype=float), return_inverse=True)
    n_samples = np.bincount(time_number)
    events = np.bincount(time_number, weights=np.asarray(event, dtype=float))
    return times, n_samples[::-1].cumsum()[::-1].astype(float), events


class LogRank(NamedTuple):
    """Result of the log-rank test: observed and expected events of each group (k,), and p.

    `chi_squared` is on k - 1 degrees of freedom.
    """

    observed: Array
    expected: Array
    chi_squared: float
    p: float


def log_rank(time: Array, event: Array, group: Array, patient: Array | None = None) -> LogRank:
    """Return the log-rank test (O - E)'V⁺(O - E) of several groups.

    At each time, d events among n at risk, n_k in group k: E_k = d n_k/n and
    V_kl = d (n - d)/(n - 1) (δ_kl n_k/n - n_k n_l/n²). The same as Cox's score test of the
    groups. NaN where there is one group, or no time at which two groups are at risk.

    time, event, group (n,). patient (n,) int, optional: number of each sample's patient, if
    patients have several samples. V is then the variance of O - E over patients, and p is by
    Hotelling's T² (Lin and Wei 1989).

    Source: Mantel 1966; Peto and Peto 1972.
    """
    time = np.asarray(time, dtype=float)
    event = np.asarray(event, dtype=bool)
    group_names, member = np.unique(group, return_inverse=True)
    in_group = member == np.arange(len(group_names))[:, None]
    observed = in_group[:, event].sum(axis=1).astype(float)
    expected = np.zeros(len(group_names))
    V = np.zeros((len(group_names), len(group_names)))
    residuals = np.zeros(in_group.shape)
    for t in np.unique(time[event]):
        is_followed = time >= t
        has_event = event & (time == t)
        at_risk = in_group[:, is_followed].sum(axis=1)
        n_at_risk = at_risk.sum()
        n_events = np.sum(has_event)
        share = at_risk / n_at_risk
        expected += n_events * share
        V += (
            n_events
            * (n_at_risk - n_events)
            / max(n_at_risk - 1, 1)
            * (np.diag(share) - np.outer(share, share))
        )
        if patient is not None:
            residuals += (in_group - share[:, None]) * (
                has_event - is_followed * n_events / n_at_risk
            )
    deviation = (observed - expected)[:-1]  # the sum over all groups is 0
    if len(group_names) < 2 or not V.any():
        return LogRank(observed, expected, np.nan, np.nan)
    # scipy.stats takes half a second to import, which studies without survival need not wait for.
    from scipy.special import chdtrc, fdtrc

    if patient is None:
        value = float(deviation @ np.linalg.pinv(V[:-1, :-1]) @ deviation)
        return LogRank(observed, expected, value, float(chdtrc(len(group_names) - 1, value)))
    _, patient_number, sizes = np.unique(patient, return_inverse=True, return_counts=True)
    degrees_of_freedom = satterthwaite_df([sizes]) - len(deviation) + 1 if len(sizes) > 1 else 0.0
    if not degrees_of_freedom > 0:
        return LogRank(observed, expected, np.nan, np.nan)
    sums = np.stack(
        [np.bincount(patient_number, weights=group_residuals) for group_residuals in residuals[:-1]]
    )
    W = (sums / (1 - sizes / sizes.sum())) @ sums.T
    value = float(deviation @ np.linalg.pinv(W) @ deviation)
    scale = degrees_of_freedom / (degrees_of_freedom + len(deviation) - 1) / len(deviation)
    return LogRank(
        observed, expected, value, float(fdtrc(len(deviation), degrees_of_freedom, scale * value))
    )


WeightedPairs = Iterable[tuple[Any, float, Array]]
"""Row i of an event, the weight of its pairs, and which samples j are its later ones (n,) bool."""


SCORE_TOLERANCE = 1e-8  # scores that differ by less count as equal, as in scikit-survival


class Concordance(NamedTuple):
    """A concordance C with its 95 % interval."""

    value: float
    interval: Interval
    influence: Array  # (n,) U, to be paired with that of another score of the same samples
    pairs: Array  # (n,) weight of the pairs that each sample is part of
    side: Array | None = None  # (n,) 1 or 2 if all pairs are between two sides, 0 without pairs


def harrell(time: Array, event: Array, f: Array) -> Concordance:
    """Return Harrell's C: all pairs of an event and a sample followed for longer, weighted alike.

    A sample that is censored at the time of an event counts as later (Harrell et al. 1996). C
    depends on the censoring: see `uno`.
    """
    time = np.asarray(time, dtype=float)
    event = np.asarray(event, dtype=bool)
    return _concordance(((i, 1.0, _is_later(time, event, i)) for i in np.flatnonzero(event)), f)


def uno(
    time: Array, event: Array, f: Array, censoring_curve: StepCurve, horizon: float = np.inf
) -> Concordance:
    """Return Uno's C: pairs weighted by 1/G(t_i)², G the censoring of the training samples.

    Consistent for P(f_i > f_j | t_i < t_j, t_i < horizon), whatever the censoring (Uno et al.
    2011).

    censoring_curve: `censoring` of the training samples. horizon: events from then on are left out.
    Without it, or beyond the last training sample, one late event may outweigh all others, or have
    an undefined weight.
    """
    time = np.asarray(time, dtype=float)
    event = np.asarray(event, dtype=bool)
    event_rows = np.flatnonzero(event & (time < horizon))
    weight = censoring_curve.at(time)
    return _concordance(
        ((i, _inverse_weight(weight[i]) ** 2, _is_later(time, event, i)) for i in event_rows), f
    )


def auc_at(
    time: Array, event: Array, f: Array, censoring_curve: StepCurve, horizon: float
) -> Concordance:
    """Return the AUC at a horizon: samples with an event by then against those followed longer.

    The cumulative/dynamic AUC, with pairs weighted by 1/G(t_i) (Uno et al. 2007; Hung and Chiang
    2010).
    """
    time = np.asarray(time, dtype=float)
    event = np.asarray(event, dtype=bool)
    event_rows = np.flatnonzero(event & (time <= horizon))
    weight = censoring_curve.at(time)
    is_later = time > horizon
    side = np.where(is_later, 2, np.where(event & (time <= horizon), 1, 0))
    return _concordance(
        ((i, _inverse_weight(weight[i]), is_later) for i in event_rows), f
    )._replace(side=side)


def _is_later(time: Array, event: Array, row: Any) -> Array:
    """Return which samples outlive the event of the sample of one row, (n,) bool."""
    return np.asarray((time > time[row]) | ((time == time[row]) & ~event))


def _inverse_weight(weight: float) -> float:
    """Return 1 / weight; NaN for a weight of 0."""
    return 1 / weight if weight > 0 else np.nan


def _concordance(pairs: WeightedPairs, f: Array) -> Concordance:
    """Return the concordance of scores f (n,) over weighted pairs, with its interval."""
    f = np.asarray(f, dtype=float)
    n_events = 0  # with a later sample
    # each pair counts at both of its samples
    concordant = np.zeros(len(f))
    comparable = np.zeros(len(f))
    for i, weight, is_later in pairs:
        gap = f[i] - f
        gain = weight * is_later * np.where(np.abs(gap) <= SCORE_TOLERANCE, 0.5, gap > 0)
        total = weight * is_later
        concordant += gain
        comparable += total
        concordant[i] += gain.sum()
        comparable[i] += total.sum()
        n_events += bool(is_later.any())
    n_pairs = comparable.sum() / 2
    if not n_pairs > 0 or np.isnan(f).any():
        return Concordance(np.nan, NO_INTERVAL, np.full(len(f), np.nan), comparable)
    value = float(concordant.sum() / 2 / n_pairs)
    influence = (concordant - value * comparable) / n_pairs
    error = float(np.sqrt(influence @ influence))
    return Concordance(value, _concordance_limits(value, error, n_events), influence, comparable)


def _concordance_limits(value: float, error: float, n_events: int) -> Interval:
    """Return the interval of a concordance by its standard error and number of events.

    If every pair is ordered alike, the interval is that of a share in half as many samples as there
    are events: the largest variance of C, Kendall's, is 2 C (1 - C)/n.
    """
    return share_limits(value, error, max(n_events // 2, 1))


def pool_concordance(
    test_sets: Sequence[tuple[Array, int, Concordance]],
    n_events: int,
    test_train_ratio: float = 0.0,
    group: Array | None = None,
) -> Concordance:
    """Return the mean over the repeats of C, each over pairs within the test sets of a repeat.

    Test sets that do not define C are left out. The interval has the error of
    `standard_error_over_splits`; of one test set it is that of its C.

    test_sets: (samples (n,) int, repeat, Concordance) of each test set; samples are numbered from
    0. n_events: samples, or groups, with an event. test_train_ratio: mean of n_test/n_train. group
    (n,) int, optional: number of each sample's group; without it each sample is its own group.
    """
    test_sets = [test_set for test_set in test_sets if not np.isnan(test_set[2].value)]
    repeats = {repeat for _, repeat, _ in test_sets}
    n = 1 + max((int(samples.max()) for samples, _, _ in test_sets), default=-1)
    pooled_influence = np.zeros(n)
    comparable = np.zeros(n)
    values = []
    for repeat in repeats:
        repeat_sets = [
            (rows, concordance)
            for rows, set_repeat, concordance in test_sets
            if set_repeat == repeat
        ]
        total = sum(concordance.pairs.sum() for _, concordance in repeat_sets)
        values.append(
            sum(concordance.value * concordance.pairs.sum() for _, concordance in repeat_sets)
            / total
        )
        for rows, concordance in repeat_sets:
            influence = concordance.influence * concordance.pairs.sum() / total
            # A pair counts at both of its samples, hence 2.
            influence += 2 * (concordance.value - values[-1]) * concordance.pairs / total
            pooled_influence[rows] += influence / len(repeats)
            comparable[rows] += concordance.pairs / len(repeats)
    if not values:
        return Concordance(np.nan, NO_INTERVAL, pooled_influence, comparable)
    value = float(np.mean(values))
    if group is not None and len(test_sets) == 1:
        rows, _, concordance = test_sets[0]
        limits = order_interval(
            value, concordance.influence, group[rows], n_events, concordance.side
        )
        return Concordance(value, limits, pooled_influence, comparable)
    pairs = np.array([concordance.pairs.sum() for _, _, concordance in test_sets])
    splits = ratio_by_split(
        np.array([concordance.value for _, _, concordance in test_sets]) * pairs, pairs, value
    )
    group_influence = (
        pooled_influence
        if group is None
        else np.bincount(group[: len(pooled_influence)], weights=pooled_influence)
    )
    error = standard_error_over_splits(splits, test_train_ratio, group_influence)
    return Concordance(
        value, _concordance_limits(value, error, n_events), pooled_influence, comparable
    )


def order_scores(f: Array) -> Array:
    """Return 1 where f_i is above f_j, one half where they are equal, (n, n)."""
    gap = f[:, None] - f
    return np.where(np.abs(gap) <= SCORE_TOLERANCE, 0.5, gap > 0)


class Brier(NamedTuple):
    """A Brier score with its 95 % interval, and the terms of the samples (n,), to be paired."""

    value: float
    interval: Interval
    samples: Array


def brier_losses(
    time: Array, event: Array, S: Array, times: Array, censoring_curve: StepCurve
) -> Array:
    """Return the terms of B(t), (n, m), from predicted survival S (n, m) at times (m,).

    NaN where G is not known or 0.
    """
    time = np.asarray(time, dtype=float)[:, None]
    event = np.asarray(event, dtype=bool)[:, None]
    times = np.asarray(times, dtype=float)
    weight_at_event = censoring_curve.at(time)
    weight_at_time = censoring_curve.at(times)
    has_event_before = (time <= times) & event
    is_event_free = time > times
    weight_at_event = np.where(weight_at_event > 0, weight_at_event, np.nan)
    weight_at_time = np.where(weight_at_time > 0, weight_at_time, np.nan)
    return np.where(
        has_event_before,
        S**2 / weight_at_event,
        np.where(is_event_free, (1 - S) ** 2 / weight_at_time, 0.0),
    )


def integrated_brier(losses: Array, times: Array, group: Array | None = None) -> Brier:
    """Return the mean of the terms of B(t), (n, m), over the samples and over m ascending times.

    `group` (n,) numbers the groups in which samples come.
    """
    sample_losses = np.trapezoid(losses, times, axis=1) / (times[-1] - times[0])
    interval = mean_t(sample_losses) if group is None else mean_interval(sample_losses, group)
    return Brier(float(sample_losses.mean()), interval, sample_losses)


def interval_over_sets(
    value: float,
    rows: Sequence[Array],
    losses: Sequence[Array],
    test_train_ratio: float,
    group: Array | None,
    *,
    include_models: bool,
) -> Interval:
    """Return the interval of a mean loss over J test sets, value ± t √(V_s + V_u).

    V_s is the variance over splits, V_u over samples or groups, see `standard_error_over_splits`,
    which has V_u alone for one split; t is on J - 1 degrees of freedom, J at least 2. Without
    `include_models` the variance is V_u, on the number of samples or groups less one: of losses
    themselves, unlike differences, V_s is mostly V_u again. For explained variation, 95 % intervals
    by V_u alone covered 79 % with 60 samples, and 58 % with three samples of each patient.

    rows, losses: of each test set, rows of the data set and their losses (n_test,).
    """
    tested_rows = np.concatenate(rows)
    all_losses = np.concatenate(losses)
    _, row_number, n_tests = np.unique(tested_rows, return_inverse=True, return_counts=True)
    group_number = (
        row_number if group is None else np.unique(group[tested_rows], return_inverse=True)[1]
    )
    mean = np.average(all_losses, weights=1 / n_tests[row_number])
    influence = np.bincount(group_number, weights=(all_losses - mean) / n_tests[row_number]) / len(
        n_tests
    )
    splits = (
        np.array([set_losses.mean() for set_losses in losses]) if include_models else np.zeros(1)
    )
    df = len(splits) - 1 if include_models else len(influence) - 1
    half_width = t_quantile(df) * standard_error_over_splits(splits, test_train_ratio, influence)
    return value - half_width, value + half_width


def explained_variation(
    score: Brier, reference: Brier, group: Array | None = None
) -> tuple[float, Interval]:
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
    """Mean predicted risk of samples by the horizon, and the observed risk with its interval."""

    samples: int
    expected: float
    observed: float
    interval: Interval


def risk_at(
    time: Array, event: Array, S: Array, horizon: float, group: Array | None = None
) -> Risk:
    """Return predicted and observed risk: 1 - the mean of S (n,), and 1 - Kaplan-Meier's curve.

    The observed risk is NaN if no sample was followed to the horizon. For `group` see
    `kaplan_meier`.
    """
    curve = kaplan_meier(time, event, group)
    # index of the last time by the horizon; -1 without any
    last_time = int(np.searchsorted(curve.times, horizon, side="right")) - 1
    expected = float(np.mean(1 - S))
    n_samples = len(S)
    if np.isnan(curve.at(np.array([horizon]))[0]):
        return Risk(n_samples, expected, np.nan, NO_INTERVAL)
    if last_time < 0:
        return Risk(n_samples, expected, 0.0, NO_INTERVAL)
    if curve.value[last_time] in (0.0, 1.0):
        return Risk(n_samples, expected, float(1 - curve.value[last_time]), NO_INTERVAL)
    high, low = (float(1 - limit[last_time]) for limit in curve.interval())  # of the risk
    return Risk(n_samples, expected, float(1 - curve.value[last_time]), (low, high))


def risk_groups(
    time: Array, event: Array, S: Array, horizon: float, group: Array | None = None
) -> Iterator[Risk]:
    """Yield the risk of the samples in each bin of `bin_by_score`, lowest risk first.

    S (n,): predicted survival by the horizon. For `group` see `kaplan_meier`.
    """
    bin_number = bin_by_score(-S, len(S))
    for risk_bin in np.unique(bin_number):
        in_bin = bin_number == risk_bin
        group_in_bin = None if group is None else group[in_bin]
        yield risk_at(time[in_bin], event[in_bin], S[in_bin], horizon, group_in_bin)


def calibration_slope_of_cox(
    time: Array, event: Array, f: Array, ties: str = DEFAULT_TIES, group: Array | None = None
) -> tuple[float, Interval]:
    """Return the slope b of the Cox model b f on held-out samples, with Wald's 95 % interval.

    If samples come in groups (n,), the variance is that over groups (Lin and Wei 1989).

    b is 1 if the scores are calibrated, below 1 if they are too far apart (van Houwelingen 2000).
    NaN without an event, if all scores are equal, or if they order all events.
    """
    from genesig.optim.cox.path import fit_slope

    scores = np.asarray(f, dtype=float)
    fitted = fit_slope(time, event, scores, ties)
    if np.isnan(fitted.value):
        return np.nan, NO_INTERVAL
    half_width = NORMAL_QUANTILE * float(np.sqrt(fitted.variance))
    if group is not None:
        half_width = _slope_spread(time, event, scores, fitted.value, group).half_width
    return fitted.value, (fitted.value - half_width, fitted.value + half_width)


def _slope_spread(time: Array, event: Array, scores: Array, slope: float, group: Array) -> Spread:
    """Return the spread of a slope over groups (n,), ties by Breslow.

    The variance is the jackknife's, ``(1 - 1/G) Σ_g (b_g - b)²``, with b_g the slope without group
    g by one Newton step from b. Degrees of freedom are those of a mean times the share of the
    groups that have an event.
    """
    from genesig.optim.cox.path import slope_influence

    _, group_index, group_sizes = np.unique(group, return_inverse=True, return_counts=True)
    score_residual, information = slope_influence(time, event, scores, slope)
    group_residual = np.bincount(group_index, weights=score_residual)
    group_information = np.bincount(group_index, weights=information)
    information_without_group = group_information.sum() - group_information
    if not (information_without_group > 0).all():
        return UNKNOWN_SPREAD
    n_groups = len(group_sizes)
    slope_changes = group_residual / information_without_group
    standard_error = float(np.linalg.norm(slope_changes)) * np.sqrt(1 - 1 / n_groups)
    n_event_groups = len(np.unique(group_index[np.asarray(event, dtype=bool)]))
    return Spread(standard_error, satterthwaite_df([group_sizes]) * n_event_groups / n_groups)
