"""Measures of several classes, and intervals of samples in groups, such as several of a patient.

Groups are independent, the samples of one group are not. A variance is a sum over groups of squared
sums of influences. Each influence is first divided by √(1 - h), with h the share of the samples
that its group has (CR2: Bell and McCaffrey 2002). Few groups, or groups of unequal size, give a
variance that varies itself: therefore the quantile is Student's t, on the degrees of freedom of
Satterthwaite (1946). With one sample in every group, variances are the usual ones; then
`group_numbers` returns None, and the measures keep their usual intervals.

In measures of several classes y holds the number of each sample's class, 0 to T - 1, and f (n, T) a
margin for each class; the class of the largest margin is predicted. If two classes share the
largest margin, none is predicted, and the sample counts as wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess.intervals import (
    NO_INTERVAL,
    NORMAL_QUANTILE,
    Interval,
    auc,
    hull,
    newcombe,
    placements,
    share_limits,
    t_quantile,
    wilson,
)

MAX_NEWTON_STEPS = 100  # largest number of Newton steps of `class_calibration_slope`


class Spread(NamedTuple):
    """Standard error of a measure, and the degrees of freedom of its square."""

    error: float  # standard error, in the unit of the measure
    df: float  # degrees of freedom; 0 if the error is unknown

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval; NaN without a degree of freedom."""
        return t_quantile(self.df) * self.error if self.df > 0 else np.nan

    @property
    def normal_error(self) -> float:
        """Standard error that gives the same interval by the normal quantile."""
        return self.half_width / NORMAL_QUANTILE

    def around(self, value: float) -> Interval:
        """Return the 95 % interval of a value."""
        return value - self.half_width, value + self.half_width


UNKNOWN_SPREAD = Spread(np.nan, 0.0)


def group_numbers(groups: Sequence[str] | Array | None) -> Array | None:
    """Return the index of each sample's group (n,), from 0; None if no two samples share a group.

    groups (n,): names of the groups; None if there are none.
    """
    if groups is None:
        return None
    group_names, group = np.unique(np.asarray(groups), return_inverse=True)
    return None if len(group_names) == len(group) else group


def influence_spread(
    influence: Array, group: Array, stratum: Array | None = None, weights: Array | None = None
) -> Spread:
    r"""Return the spread of a measure from the influence of each sample (n,), which adds up to 0.

    .. math:: V = \sum_g \left(\sum_{i \in g} U_i / \sqrt{1 - h_i}\right)^2,

    :math:`h_i` the share of the samples of i's stratum (class) that are in i's group: influences
    are deviations from the mean of their stratum, which the group pulls to itself. Samples count
    by their weights (n,), 1 by default.
    """
    stratum = np.zeros(len(group), dtype=np.int64) if stratum is None else stratum
    weights = np.ones(len(group)) if weights is None else weights
    share = np.empty(len(group))
    group_sizes = []
    for stratum_number in np.unique(stratum):
        in_stratum = stratum == stratum_number
        sizes, group_number = _group_sizes(group[in_stratum], weights[in_stratum])
        if len(sizes) < 2:
            return UNKNOWN_SPREAD
        share[in_stratum] = (sizes / sizes.sum())[group_number]
        group_sizes.append(sizes)
    _, group_number = np.unique(group, return_inverse=True)
    sums = np.bincount(group_number, weights=influence / np.sqrt(1 - share))
    return Spread(float(np.sqrt(sums @ sums)), satterthwaite_df(group_sizes))


def _group_sizes(group: Array, weights: Array) -> tuple[Array, Array]:
    """Return the sum of the weights of each group, and the index of each sample's group (n,)."""
    _, group_number = np.unique(group, return_inverse=True)
    return np.bincount(group_number, weights=weights), group_number


def satterthwaite_df(sizes_by_stratum: Sequence[Array]) -> float:
    r"""Return the degrees of freedom of the variance of a sum of means over independent groups.

    Satterthwaite's :math:`(\mathrm{tr} K)^2 / \mathrm{tr} K^2`, with :math:`u' K u` the variance of
    `influence_spread` for group means u of equal variance: G - 1 for G groups of equal size, fewer
    for unequal ones. Each part is the sizes of the groups of one stratum.
    """
    trace = trace_of_square = 0.0
    for sizes in sizes_by_stratum:
        share = sizes / sizes.sum()
        weight = np.square(share) / (1 - share)
        # K = D - d a' - a d' + s a a', with D = diag(d): weights d, shares a and s the sum of d.
        total = float(weight.sum())
        columns = np.column_stack([weight, share])
        low_rank = np.array([[0.0, -1.0], [-1.0, total]]) @ (columns.T @ columns)
        diagonal = -2 * weight * share + total * share**2
        trace += total + float(diagonal.sum())
        trace_of_square += float(
            weight @ weight + 2 * (weight @ diagonal) + np.trace(low_rank @ low_rank)
        )
    return trace**2 / trace_of_square


def mean_spread(values: Array, group: Array) -> Spread:
    """Return the spread of the mean of values (n,) over samples in groups."""
    return influence_spread((values - np.mean(values)) / len(values), group)


def effective_sample_size(hits: Array, group: Array) -> float:
    """Return the effective number of independent samples for the mean of hits (n,), 0 or 1.

    It follows from the variance of the share (Korn and Graubard 1998), at most n. A share of 0 or
    1, or one group, has no variance: then all samples of a group count as identical.
    """
    n = len(hits)
    share = float(np.mean(hits))
    spread = mean_spread(hits, group)
    if not spread.normal_error > 0 or not 0 < share < 1:
        sizes = np.unique(group, return_counts=True)[1]
        return float(n**2 / np.square(sizes).sum())
    return min(float(n), share * (1 - share) / spread.normal_error**2)


def share_interval(hits: Array, group: Array) -> Interval:
    """Return Wilson's interval of the mean of hits (n,), 0 or 1, by `effective_sample_size`."""
    return (
        wilson(float(np.mean(hits)), effective_sample_size(hits, group))
        if len(hits)
        else NO_INTERVAL
    )


def mean_of_shares_interval(hits: Array, y: Array, group: Array) -> Interval:
    """Return the interval of the mean over the classes y (n,) of their shares of hits, 0 or 1.

    As `intervals.mean_of_shares`, from the limits of `share_interval`; if samples of one group have
    several classes, with the correlation of the shares over groups.
    """
    group_names, group_number = np.unique(group, return_inverse=True)
    shares = []
    limits = []
    sums = []
    for class_code in np.unique(y):
        in_class = y == class_code
        share = float(np.mean(hits[in_class]))
        shares.append(share)
        limits.append(share_interval(hits[in_class], group[in_class]))
        deviation = np.where(in_class, hits - share, 0.0)
        sums.append(np.bincount(group_number, weights=deviation, minlength=len(group_names)))
    sizes = np.linalg.norm(sums, axis=1)
    unit = np.array(sums) / np.where(sizes > 0, sizes, 1.0)[:, None]
    correlation = unit @ unit.T
    np.fill_diagonal(correlation, 1.0)
    low, high = (
        float(np.sqrt(max(0.0, width @ correlation @ width))) / len(shares)
        for width in np.abs(np.transpose(limits) - shares)
    )
    middle = float(np.mean(shares))
    return max(0.0, middle - low), min(1.0, middle + high)


def mean_interval(values: Array, group: Array) -> Interval:
    """Return the interval of the mean of values (n,) over samples in groups."""
    return mean_spread(values, group).around(float(np.mean(values)))


def positive_mean_interval(values: Array, group: Array) -> Interval:
    """Return the interval of the mean of losses (n,) on the scale of its logarithm.

    A few squares underestimate their own variance: the error is at least that of squares of
    normal numbers, √(2/n) of the mean, n being divided by the design effect of the values.
    """
    mean = float(np.mean(values))
    spread = mean_spread(values, group)
    if not mean > 0:
        return spread.around(mean)
    inflation = design_effect(spread, mean_spread(values, np.arange(len(values))), group)
    min_error = mean * np.sqrt(2 * inflation / len(values))
    half_width = Spread(max(spread.error, min_error), spread.df).half_width
    return mean * float(np.exp(-half_width / mean)), mean * float(np.exp(half_width / mean))


def area_influence(positive: Array, f: Array) -> tuple[float, Array]:
    """Return the AUC of scores f (n,) and the influence of each sample (n,).

    `positive` (n,) bool; ties count one half.
    """
    placements_above = placements(f[positive], f[~positive])
    placements_below = placements(f[~positive], f[positive])
    area = float(np.mean(placements_above))
    influence = np.empty(len(f))
    influence[positive] = (placements_above - area) / len(placements_above)
    influence[~positive] = (1 - placements_below - area) / len(placements_below)
    return area, influence


def area_interval(y: Array, group: Array, sides: Sequence[tuple[Array, Array]]) -> Interval:
    """Return the interval of the mean AUC of several sides, of samples of the classes y (n,).

    The hull of two, as in `delong`: `share_limits` by the error over groups (Obuchowski 1997), and
    the score interval, its variance multiplied by the `design_effect` of the groups and by the
    square of Student's t over the normal quantile. NaN with fewer than two groups of a class.

    sides sequence of ((n,) bool, (n,) float): which samples are positive, and the scores.
    """
    for positive, f in sides:
        min_groups = min(len(np.unique(group[side])) for side in (positive, ~positive))
        if min_groups < 2 or np.isnan(f).any():
            return NO_INTERVAL
    area_influences = [area_influence(*side) for side in sides]
    areas = [area for area, _ in area_influences]
    influences = np.stack([side_area for _, side_area in area_influences])
    influence = influences.mean(axis=0)
    area = float(np.mean(areas))
    grouped_spread, ungrouped_spread = (
        influence_spread(influence, g, y) for g in (group, np.arange(len(y)))
    )
    effect = design_effect(grouped_spread, ungrouped_spread, group)
    inflation = effect
    if grouped_spread.error:  # Student's t over the normal quantile
        inflation *= (grouped_spread.half_width / grouped_spread.error / NORMAL_QUANTILE) ** 2
    score_intervals = [
        newcombe(
            side_area,
            int(positive.sum()),
            int((~positive).sum()),
            inflation,
            tolerance=1e-4,  # the step of the grid of θ: else no θ may fit if there are many groups
        )
        for side_area, (positive, _) in zip(areas, sides, strict=True)
    ]
    widths = np.sqrt(np.square(np.transpose(score_intervals) - areas).sum(axis=1)) / len(sides)
    # With an error, n has no effect.
    has_error = grouped_spread.normal_error > 0 and 0 < area < 1
    by_error = share_limits(area, grouped_spread.normal_error, n=1) if has_error else NO_INTERVAL
    return hull(by_error, (area - float(widths[0]), area + float(widths[1])))


def design_effect(
    grouped: Spread, ungrouped: Spread, group: Array, weights: Array | None = None
) -> float:
    """Return the ratio of the variance over groups to the variance over ungrouped samples.

    Clipped to the range that groups of these sizes can have; its maximum if a variance is 0 or
    unknown. weights (n,): of the samples, 1 by default.
    """
    weights = np.ones(len(group)) if weights is None else weights
    sizes, _ = _group_sizes(group, weights)
    max_effect = float(sizes @ sizes / (weights @ weights))
    if not (ungrouped.error > 0 and grouped.error > 0):
        return max_effect
    return float(np.clip((grouped.error / ungrouped.error) ** 2, 1 / max_effect, max_effect))


def explained_interval(y: Array, f: Array, group: Array) -> Interval:
    """Return the interval of R² by the jackknife that leaves out one group at a time.

    NaN for one group, or if y is constant without a group.
    """
    loss = np.square(y - f)
    centred = y - np.mean(y)
    _, group_number, sizes = np.unique(group, return_inverse=True, return_counts=True)
    losses, sums, squares = (
        np.bincount(group_number, weights=values) for values in (loss, centred, np.square(centred))
    )
    n_left = len(y) - sizes
    squares_left = squares.sum() - squares - np.square(sums) / np.maximum(n_left, 1)
    if not (squares_left > 0).all() or len(sizes) < 2:
        return NO_INTERVAL
    ratio_left = (losses.sum() - losses) / squares_left
    unexplained_share = loss.sum() / squares.sum()
    # (1 - share) (value - ratio_left) is the influence of a group with this share of the samples.
    share = sizes / len(y)
    influence = (1 - share) * (unexplained_share - ratio_left)
    influence -= share * influence.sum()  # so that the influences add up to 0
    standard_error = float(np.sqrt(np.square(influence) @ (1 / (1 - share))))
    low, high = Spread(standard_error, satterthwaite_df([sizes])).around(
        1 - float(unexplained_share)
    )
    return low, min(1.0, high)


def line_spreads(X: Array, residual: Array, group: Array) -> tuple[Spread, ...]:
    r"""Return the spread of each coefficient of least squares on X (n, q), samples in groups.

    :math:`A \sum_g X_g' (I - H_g)^{-1} e_g e_g' (I - H_g)^{-1} X_g A`, A the inverse of X'X: HC3 if
    every group has one sample. Degrees of freedom as for a mean, less one for each further column.
    """
    inverse = np.linalg.inv(X.T @ X)
    meat = np.zeros((X.shape[1],) * 2)
    group_names, sizes = np.unique(group, return_counts=True)
    for group_name in group_names:
        in_group = group == group_name
        rows = X[in_group]
        unexplained = np.eye(len(rows)) - rows @ inverse @ rows.T
        # singular if this group alone determines a coefficient
        if np.linalg.eigvalsh(unexplained)[0] < 1e-9:
            unknown_spreads: tuple[Spread, ...] = (UNKNOWN_SPREAD,) * X.shape[1]
            return unknown_spreads
        score = rows.T @ np.linalg.solve(unexplained, residual[in_group])
        meat += np.outer(score, score)
    degrees_of_freedom = satterthwaite_df([sizes]) - (X.shape[1] - 1) if len(sizes) > 1 else 0.0
    variances: list[float] = np.diag(inverse @ meat @ inverse).tolist()
    return tuple(Spread(float(np.sqrt(value)), degrees_of_freedom) for value in variances)


def order_interval(
    value: float, influence: Array, group: Array, n_event_groups: int, side: Array | None = None
) -> Interval:
    """Return the interval of a concordance, with the influence of each sample (n,).

    The degrees of freedom are those of a mean times the share of groups with an event; with `side`
    (see `survival.Concordance`), those of a difference of the two sides. If every pair is ordered
    alike, the interval is that of a share in half as many samples as groups have an event. value:
    the concordance; NaN has no interval.
    """
    if np.isnan(value):
        return NO_INTERVAL
    if side is None:
        error, degrees_of_freedom = influence_spread(influence, group)
        degrees_of_freedom *= n_event_groups / len(np.unique(group))
    else:
        has_pair = side > 0
        error, degrees_of_freedom = influence_spread(
            influence[has_pair], group[has_pair], side[has_pair]
        )
    if not degrees_of_freedom > 0:
        return NO_INTERVAL
    return share_limits(
        value, Spread(error, degrees_of_freedom).normal_error, max(n_event_groups // 2, 1)
    )


def predict_class(f: Array) -> Array:
    """Return the number of the class with the largest margin f (..., T), (...,).

    -1 at a tie or without f.
    """
    best = np.argmax(np.where(np.isnan(f), -np.inf, f), axis=-1)
    is_highest = f == np.take_along_axis(f, best[..., None], axis=-1)
    return np.asarray(np.where(is_highest.sum(axis=-1) == 1, best, -1))


def wrong_classes(y: Array, f: Array) -> Array:
    """Return 1 where the class of y (n,) is not predicted by f (n, ..., T), 0 where it is.

    NaN where f is.
    """
    true_class = y.reshape(-1, *[1] * (f.ndim - 2))  # (n, 1, ...), as many axes as f less one
    return np.where(np.isnan(f).any(axis=-1), np.nan, predict_class(f) != true_class)


def class_calibration_slope(
    y: Array, p: Array, share: Array, group: Array | None = None
) -> tuple[float, Interval]:
    """Return b of ``π_c (p_c/π_c)^b / Σ π_k (p_k/π_k)^b`` by its likelihood, with its interval.

    The probabilities p (n, T) hold for classes of the shares π (T,). b is 1 if they are calibrated,
    below 1 if they are too far apart. Classes are weighted by these shares, and the variance allows
    for the unequal weights (White 1982), over groups (n,) if samples come in groups. NaN without a
    sample of every class, and if all predictions are right or all are wrong: then b is infinite.
    """
    from scipy.special import softmax

    T = p.shape[1]
    class_number = y.astype(np.int64)
    class_sizes = np.bincount(class_number, minlength=T)
    base = np.log(share)
    log_ratio = np.log(np.maximum(p, 1e-300)) - base
    # of each class, less the log ratio of the sample's own class
    log_ratio = log_ratio - log_ratio[np.arange(len(class_number)), class_number][:, None]
    if (
        not class_sizes.all()
        or np.isnan(p).any()
        or not (log_ratio > 0).any()
        or (log_ratio >= 0).all()
    ):
        return np.nan, NO_INTERVAL
    sample_weight = share[class_number] / class_sizes[class_number]
    b = 1.0
    for _ in range(MAX_NEWTON_STEPS):
        class_probability = softmax(base + b * log_ratio, axis=1)
        mean = (class_probability * log_ratio).sum(axis=1)
        information = float(
            sample_weight @ ((class_probability * log_ratio**2).sum(axis=1) - mean**2)
        )
        step = -float(sample_weight @ mean) / information if information > 0 else np.nan
        if not abs(step) > 1e-12 * abs(b):
            break
        b += float(np.clip(step, -1.0, 1.0))
    if not abs(step) <= 1e-6 * max(1.0, abs(b)):  # not converged, or NaN
        return np.nan, NO_INTERVAL
    if group is not None:
        return b, influence_spread(sample_weight * mean / information, group).around(b)
    half_width = (
        NORMAL_QUANTILE * float(np.sqrt(np.square(sample_weight * mean).sum())) / information
    )
    return b, (b - half_width, b + half_width)


def mean_class_error(y: Array, f: Array, n_classes: int) -> float:
    """Return the mean over the classes of their error shares; NaN if a class is absent."""
    losses = wrong_classes(y, f)
    losses_by_class = [losses[y == c] for c in range(n_classes)]
    if not all(map(len, losses_by_class)):
        return np.nan
    return float(np.mean([class_losses.mean() for class_losses in losses_by_class]))


def macro_auc(y: Array, f: Array) -> float:
    """Return the mean over the classes of the AUC of its margin against all other samples."""
    return float(np.mean([auc(np.where(y == c, 1.0, -1.0), f[:, c]) for c in range(f.shape[1])]))


def class_sides(y: Array, f: Array) -> list[tuple[Array, Array]]:
    """Return for each class which samples are of it, and the margin of that class."""
    return [(y == c, f[:, c]) for c in range(f.shape[1])]
