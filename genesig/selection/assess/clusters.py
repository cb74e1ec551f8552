"""Intervals of measures whose samples come in groups, such as several samples of one patient.

Groups are independent, the samples of one group are not. A variance is a sum over groups of squared
sums of influences, each divided by what the group takes of its own residual (CR2: Bell and
McCaffrey 2002). Few groups, or groups of unequal size, give a variance that varies itself: the
quantile is that of Student's t, on the degrees of freedom of Satterthwaite (1946). With one sample
in every group, variances are the usual ones; then `group_numbers` returns None, and the measures
keep their usual intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess.intervals import (
    NOTHING,
    Interval,
    Z,
    area_variance,
    hull,
    share_limits,
    t_quantile,
    wilson,
)
from genesig.selection.assess.scores import placements


class Spread(NamedTuple):
    """Standard error of a measure, and the degrees of freedom of its square."""

    error: float
    freedom: float

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval; NaN without a degree of freedom."""
        return t_quantile(self.freedom) * self.error if self.freedom > 0 else np.nan

    @property
    def normal_error(self) -> float:
        """Standard error that gives the same interval by the normal quantile."""
        return self.half_width / Z

    def around(self, value: float) -> Interval:
        """Return the 95 % interval of a value."""
        return value - self.half_width, value + self.half_width


UNKNOWN = Spread(np.nan, 0.0)


def group_numbers(groups: Sequence[str] | Array | None) -> Array | None:
    """Return the number of each sample's group (n,), or None if every sample has its own group."""
    if groups is None:
        return None
    names, number = np.unique(np.asarray(groups), return_inverse=True)
    return None if len(names) == len(number) else number


def influence_spread(influence: Array, group: Array, stratum: Array | None = None) -> Spread:
    r"""Return the spread of a measure from the influence of each sample (n,), which adds up to 0.

    .. math:: V = \sum_g \left(\sum_{i \in g} U_i / \sqrt{1 - h_i}\right)^2,

    :math:`h_i` the share of the samples of i's stratum (class) that are in i's group: influences
    are deviations from the mean of their stratum, which the group pulls to itself.
    """
    stratum = np.zeros(len(group), dtype=np.int64) if stratum is None else stratum
    share = np.empty(len(group))
    parts = []
    for number in np.unique(stratum):
        inside = stratum == number
        _, place, sizes = np.unique(group[inside], return_inverse=True, return_counts=True)
        if len(sizes) < 2:
            return UNKNOWN
        share[inside] = (sizes / sizes.sum())[place]
        parts.append(sizes)
    _, place = np.unique(group, return_inverse=True)
    sums = np.bincount(place, weights=influence / np.sqrt(1 - share))
    return Spread(float(np.sqrt(sums @ sums)), freedom(parts))


def freedom(parts: Sequence[Array]) -> float:
    r"""Return the degrees of freedom of the variance of a sum of means over independent groups.

    Satterthwaite's :math:`(\mathrm{tr} K)^2 / \mathrm{tr} K^2`, with :math:`u' K u` the variance of
    `influence_spread` for group means u of equal variance: G - 1 for G groups of equal size, fewer
    for unequal ones. Each part is the sizes of the groups of one stratum.
    """
    trace = trace_of_square = 0.0
    for sizes in parts:
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


def share_sizes(hits: Array, group: Array) -> float:
    """Return the number of independent samples that tell as much of a share, hits (n,) 0 or 1.

    That of the share's variance (Korn and Graubard 1998), at most n. A share of 0 or 1 tells no
    variance: then all samples of one group count as alike.
    """
    n, share = len(hits), float(np.mean(hits))
    spread = mean_spread(hits, group)
    if not spread.normal_error > 0 or not 0 < share < 1:
        sizes = np.unique(group, return_counts=True)[1]
        return float(n**2 / np.square(sizes).sum())
    return min(float(n), share * (1 - share) / spread.normal_error**2)


def share_interval(hits: Array, group: Array) -> Interval:
    """Return Wilson's interval of a share of samples in groups, in as many as `share_sizes`."""
    return wilson(float(np.mean(hits)), share_sizes(hits, group)) if len(hits) else NOTHING


def mean_of_shares_interval(hits: Array, y: Array, group: Array) -> Interval:
    """Return the interval of the mean over the classes y (n,) of their shares of hits, 0 or 1.

    As `intervals.mean_of_shares`, from the limits of `share_interval`; where samples of one group
    have several classes, with the correlation of the shares over groups.
    """
    names, place = np.unique(group, return_inverse=True)
    shares, limits, sums = [], [], []
    for name in np.unique(y):
        inside = y == name
        share = float(np.mean(hits[inside]))
        shares.append(share)
        limits.append(share_interval(hits[inside], group[inside]))
        deviation = np.where(inside, hits - share, 0.0)
        sums.append(np.bincount(place, weights=deviation, minlength=len(names)))
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

    Few squares tell too little of their own variance: the error is at least that of squares of
    normal numbers, √(2/n) of the mean, n being divided by the design effect of the values.
    """
    mean, spread = float(np.mean(values)), mean_spread(values, group)
    if not mean > 0:
        return spread.around(mean)
    effect = design_effect(spread, mean_spread(values, np.arange(len(values))), group)
    least = mean * np.sqrt(2 * effect / len(values))
    half = Spread(max(spread.error, least), spread.freedom).half_width
    return mean * float(np.exp(-half / mean)), mean * float(np.exp(half / mean))


def area_influence(positive: Array, f: Array) -> tuple[float, Array]:
    """Return the AUC and the influence of each sample (n,)."""
    above, below = placements(f[positive], f[~positive]), placements(f[~positive], f[positive])
    area = float(np.mean(above))
    influence = np.empty(len(f))
    influence[positive] = (above - area) / len(above)
    influence[~positive] = (1 - below - area) / len(below)
    return area, influence


def area_interval(y: Array, group: Array, sides: Sequence[tuple[Array, Array]]) -> Interval:
    """Return the interval of the mean AUC of several sides, of samples of the classes y (n,).

    The hull of two, as in `delong`: that of `share_limits` by the error over groups (Obuchowski
    1997), and the score interval, whose variance is multiplied by the design effect: that of the
    groups over that of as many independent samples. NaN with fewer than two groups of a class.

    Parameters
    ----------
    sides : sequence of ((n,) bool, (n,) float)
        Who is positive, and the scores.
    """
    for positive, f in sides:
        fewest = min(len(np.unique(group[side])) for side in (positive, ~positive))
        if fewest < 2 or np.isnan(f).any():
            return NOTHING
    each = [area_influence(*side) for side in sides]
    areas, influences = [area for area, _ in each], np.stack([one for _, one in each])
    total, area = influences.mean(axis=0), float(np.mean(areas))
    grouped, alone = (influence_spread(total, g, y) for g in (group, np.arange(len(y))))
    effect = design_effect(grouped, alone, group)
    inflation = effect * (grouped.half_width / grouped.error / Z) ** 2 if grouped.error else effect
    scored = [
        score_interval(one, int(positive.sum()), int((~positive).sum()), inflation)
        for one, (positive, _) in zip(areas, sides, strict=True)
    ]
    apart = np.sqrt(np.square(np.transpose(scored) - areas).sum(axis=1)) / len(sides)
    known = grouped.normal_error > 0 and 0 < area < 1
    by_error = share_limits(area, grouped.normal_error, 1) if known else NOTHING
    return hull(by_error, (area - float(apart[0]), area + float(apart[1])))


def design_effect(grouped: Spread, alone: Spread, group: Array) -> float:
    """Return how many times a variance over groups is that over samples.

    Within the smallest and the largest that groups of these sizes can have; the largest if no
    variance is known.
    """
    sizes = np.unique(group, return_counts=True)[1]
    most = float(np.square(sizes).sum() / sizes.sum())
    if not (alone.error > 0 and grouped.error > 0):
        return most
    return float(np.clip((grouped.error / alone.error) ** 2, 1 / most, most))


def score_interval(area: float, positive: int, negative: int, effect: float) -> Interval:
    """Return the θ with |area - θ| <= z √(effect V(θ)), see `intervals.newcombe`."""
    theta = np.linspace(0.0, 1.0, 10001)
    width = Z * np.sqrt(effect * area_variance(theta, positive, negative))
    inside = np.abs(area - theta) <= width + 1e-4
    return float(theta[inside][0]), float(theta[inside][-1])


def explained_interval(y: Array, f: Array, group: Array) -> Interval:
    """Return the interval of R² by the jackknife that leaves out one group at a time."""
    loss, centred = np.square(y - f), y - np.mean(y)
    _, place, sizes = np.unique(group, return_inverse=True, return_counts=True)
    losses, sums, squares = (
        np.bincount(place, weights=values) for values in (loss, centred, np.square(centred))
    )
    left = len(y) - sizes
    rest = squares.sum() - squares - np.square(sums) / np.maximum(left, 1)
    if not (rest > 0).all() or len(sizes) < 2:
        return NOTHING
    without = (losses.sum() - losses) / rest
    value = loss.sum() / squares.sum()
    # (1 - a)(value - without) is the influence of a group that holds a share a of the samples.
    share = sizes / len(y)
    parts = (1 - share) * (value - without)
    parts -= share * parts.sum()
    error = float(np.sqrt(np.square(parts) @ (1 / (1 - share))))
    low, high = Spread(error, freedom([sizes])).around(1 - float(value))
    return low, min(1.0, high)


def line_spreads(X: Array, residual: Array, group: Array) -> tuple[Spread, ...]:
    r"""Return the spread of each coefficient of least squares on X (n, q), samples in groups.

    :math:`A \sum_g X_g' (I - H_g)^{-1} e_g e_g' (I - H_g)^{-1} X_g A`, A the inverse of X'X: HC3 if
    every group has one sample. Degrees of freedom as for a mean, less one for each further column.
    """
    inverse = np.linalg.inv(X.T @ X)
    meat = np.zeros((X.shape[1],) * 2)
    names, sizes = np.unique(group, return_counts=True)
    for name in names:
        inside = group == name
        rows = X[inside]
        unexplained = np.eye(len(rows)) - rows @ inverse @ rows.T
        if np.linalg.eigvalsh(unexplained)[0] < 1e-9:
            unknown_spreads: tuple[Spread, ...] = (UNKNOWN,) * X.shape[1]
            return unknown_spreads
        score = rows.T @ np.linalg.solve(unexplained, residual[inside])
        meat += np.outer(score, score)
    left = freedom([sizes]) - (X.shape[1] - 1) if len(sizes) > 1 else 0.0
    variances: list[float] = np.diag(inverse @ meat @ inverse).tolist()
    return tuple(Spread(float(np.sqrt(value)), left) for value in variances)


def order_interval(
    value: float, influence: Array, group: Array, events: int, side: Array | None = None
) -> Interval:
    """Return the interval of a concordance, with the influence of each sample (n,).

    `events` are the groups with an event, which the degrees of freedom are in proportion to. Where
    every pair is ordered alike, the interval is that of a share in half as many samples. For `side`
    see `survival.Concordance`.
    """
    if np.isnan(value):
        return NOTHING
    if side is None:
        error, left = influence_spread(influence, group)
        left *= events / len(np.unique(group))
    else:
        paired = side > 0
        error, left = influence_spread(influence[paired], group[paired], side[paired])
    if not left > 0:
        return NOTHING
    return share_limits(value, Spread(error, left).normal_error, max(events // 2, 1))
