"""Step functions along lines: kernels, and the step functions that are nearest to values.

A line is a run of neighbouring entries, such as a chromosome. Values y of several lines stand one
after the other; `lines` are the indices at which they begin, the first 0. The functions in Python
minimise 1/2 ||f - y||² + tau sum_i |f_{i+1} - f_i|, without differences between lines; `starts` are
the indices at which the segments of a step function begin. `jump` is the cost of each end of a
stretch, a run of entries of one line, beside 1 for each entry: the setting ``linear.jump``.

Source: Mosci 2009, chapter 5; the solver is that of Johnson (2013).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, jitable

TAU_LEVELS = (2.0, 4.0, 8.0, 16.0)
"""Values of tau that `choose_segments` tries, in standard deviations of the noise."""

SINGLE_LINE = np.zeros(1, dtype=np.int64)  # starts of lines if there is a single line


@compiled
def denoise(y: Array, tau: float, values: Array) -> None:
    """Fill values (n,) with the minimiser of ``1/2 ||f - y||² + tau sum_i |f_{i+1} - f_i|``."""
    fill_nearest_steps(y, tau, ends=0.0, values=values)


@compiled
def fuse(y: Array, lines: Array, level: float, jump: float, values: Array) -> None:
    """Fill values (d,) with the minimiser of ``½||f - y||² + level (Σ|f_i| + jump Σ|jumps|)``.

    f is 0 beyond the ends of lines, so that their ends count as jumps. The l1
    term only shrinks the step function of the jumps towards 0.

    Source: Friedman, Hastie, Höfling, Tibshirani 2007, Pathwise coordinate optimization, lemma 1.
    """
    d = len(y)
    for line in range(len(lines)):
        begin = lines[line]
        end = lines[line + 1] if line + 1 < len(lines) else d
        fill_nearest_steps(y[begin:end], level * jump, level * jump, values[begin:end])
    for j in range(d):
        values[j] = max(values[j] - level, 0.0) + min(values[j] + level, 0.0)


@jitable
def fill_nearest_steps(y: Array, tau: float, ends: float, values: Array) -> None:
    """Fill values (n,) with the minimiser of `denoise` with ``ends (|f_0| + |f_{n-1}|)`` added.

    Dynamic programming from left to right. The derivative of the best objective of entries up to
    i, as a function of f_i, is piecewise linear and increasing. Clipped to [-tau, tau] it is the
    derivative for entry i + 1 without its ``f - y``. Outside its knots it has slope 1 and the
    constants ``left_height`` and ``right_height``; knot k adds ``slope_k x + height_k``. Knots are
    added and removed at both ends only, so each is met twice in all. `ends` adds a jump at 0, at
    which a bound of the clipping may lie.

    Source: Johnson 2013, J. Comput. Graph. Stat. 22:246, for the squared error.
    """
    n = len(y)
    knots = np.zeros((3, 2 * n + 1))
    bounds = np.zeros((2, n))
    knot = knots[0]
    slope = knots[1]
    height = knots[2]
    low = bounds[0]
    high = bounds[1]
    left_knot = n
    right_knot = n
    left_height = -ends - y[0]
    right_height = ends - y[0]
    height[n] = 2 * ends
    for i in range(n):
        bound = tau if i < n - 1 else ends
        # The derivative of entry i is left_slope x + left_constant below its first knot.
        left_slope = 1.0
        left_constant = left_height
        left_root = -np.inf
        while left_knot <= right_knot and left_slope * knot[left_knot] + left_constant <= -bound:
            left_root = knot[left_knot]
            left_slope = left_slope + slope[left_knot]
            left_constant = left_constant + height[left_knot]
            left_knot = left_knot + 1
        right_slope = 1.0
        right_constant = right_height
        right_root = np.inf
        while left_knot <= right_knot and right_slope * knot[right_knot] + right_constant >= bound:
            right_root = knot[right_knot]
            right_slope = right_slope - slope[right_knot]
            right_constant = right_constant - height[right_knot]
            right_knot = right_knot - 1
        low[i] = max((-bound - left_constant) / left_slope, left_root)
        high[i] = min((bound - right_constant) / right_slope, right_root)
        if high[i] < low[i]:  # both within one jump, which the first loop has passed
            high[i] = low[i]
            left_slope = 0.0
            right_slope = 0.0
            left_constant = bound
            right_constant = bound
        if i < n - 1:
            left_knot = left_knot - 1
            right_knot = right_knot + 1
            knot[left_knot] = low[i]
            slope[left_knot] = left_slope
            height[left_knot] = left_constant + bound
            knot[right_knot] = high[i]
            slope[right_knot] = -right_slope
            height[right_knot] = bound - right_constant
            left_height = -bound - y[i + 1]
            right_height = bound - y[i + 1]
    values[n - 1] = min(max(0.0, low[n - 1]), high[n - 1])
    # Each value follows from the next one.
    for i in range(n - 2, -1, -1):
        values[i] = min(max(values[i + 1], low[i]), high[i])


@compiled
def merge_segments(
    sums: Array, sizes: Array, opens_line: Array, merged: Array, increase: Array
) -> int:
    """Merge neighbouring segments, the cheapest pair first, up to one a line; return the merges.

    sums, sizes (k,): sum of the values and number of entries of each segment, overwritten;
    opens_line (k,): whether it is the first of its line, and so stays apart from the one before.
    Fill merged and increase (k,): merge t puts segment ``merged[t]`` into the one before it, and
    adds ``increase[t]`` to the squared distance of values and means.
    """
    n_segments = len(sums)
    n_merges = 0
    previous = np.arange(n_segments) - 1
    next_segment = np.arange(n_segments) + 1
    increases = np.zeros(n_segments)
    for j in range(n_segments):
        increases[j] = merge_increase(sums, sizes, opens_line, next_segment, j)
    while True:
        cheapest = int(np.argmin(increases))
        if not increases[cheapest] < np.inf:
            return n_merges
        following = next_segment[cheapest]
        merged[n_merges] = following
        increase[n_merges] = increases[cheapest]
        increases[following] = np.inf
        sums[cheapest] += sums[following]
        sizes[cheapest] += sizes[following]
        next_segment[cheapest] = next_segment[following]
        if next_segment[cheapest] < n_segments:
            previous[next_segment[cheapest]] = cheapest
        increases[cheapest] = merge_increase(sums, sizes, opens_line, next_segment, cheapest)
        if previous[cheapest] >= 0:
            increases[previous[cheapest]] = merge_increase(
                sums, sizes, opens_line, next_segment, previous[cheapest]
            )
        n_merges += 1


@jitable
def merge_increase(
    sums: Array, sizes: Array, opens_line: Array, next_segment: Array, j: int
) -> float:
    """Return how much the squared distance grows if segment j is merged with the next.

    ∞ if it has no next one, or this opens a line.
    """
    following = next_segment[j]
    if following >= len(sums) or opens_line[following]:
        return np.inf
    step = sums[following] / sizes[following] - sums[j] / sizes[j]
    added: float = sizes[j] * sizes[following] / (sizes[j] + sizes[following]) * step * step
    return added


@compiled
def largest_stretch_ratio(g: Array, lines: Array, jump: float) -> float:
    """Return ``max |sum of g over I| / (len(I) + 2 jump)`` over all stretches I of the lines.

    It is the dual norm of the penalty of `fuse`. For a ratio t, the stretch with the
    largest ``|sum| - t (len + 2 jump)`` has a larger ratio, or t is the largest.

    Source: Dinkelbach 1967, Management Science 13:492.
    """
    best = 0.0
    for j in range(len(g)):
        best = max(best, max(g[j], -g[j]))
    best = best / (1 + 2 * jump)
    ratio = 0.0
    while best > ratio:
        ratio = best
        best = ratio_above(g, lines, jump, ratio, sign=1.0)
        best = max(best, ratio_above(g, lines, jump, ratio, sign=-1.0))
    return ratio


@jitable
def ratio_above(g: Array, lines: Array, jump: float, ratio: float, sign: float) -> float:
    """Return the ratio of the stretch that exceeds `ratio` most, or 0; sums are of ``sign g``.

    One pass: the best stretch that ends here continues the best one that ended before, or begins
    here.
    """
    line = 0
    length = 0
    total = 0.0
    largest_excess = 0.0
    best_ratio = 0.0
    for j in range(len(g)):
        begins = line < len(lines) and lines[line] == j
        if begins:
            line += 1
        if begins or total - ratio * length <= 0:
            length = 0
            total = 0.0
        length = length + 1
        total = total + sign * g[j]
        excess = total - ratio * (length + 2 * jump)
        if excess > largest_excess:
            largest_excess = excess
            best_ratio = total / (length + 2 * jump)
    return best_ratio


def total_variation(y: Array, tau: float, lines: Array = SINGLE_LINE) -> Array:
    """Return the minimiser f (n,) for values y (n,), n >= 1, and tau >= 0, along each line.

    Levels are computed again from the segments, ``mean + tau (sign of the next jump - sign of the
    last one) / length``, so that they have no rounding errors of sums along a line.
    """
    y = np.ascontiguousarray(y, dtype=float)
    step_function = np.empty(len(y))
    centre = float(y.mean())
    for line_start, line_end in pairwise([*lines.tolist(), len(y)]):
        denoise(y[line_start:line_end] - centre, float(tau), step_function[line_start:line_end])
    starts = find_segment_starts(step_function, lines)
    length = np.diff(np.append(starts, len(y)))
    jump_signs = np.append(np.sign(np.diff(step_function[starts], prepend=step_function[0])), 0.0)
    jump_signs[:-1][np.isin(starts, lines)] = 0.0  # a line begins without a jump
    levels = np.add.reduceat(y - centre, starts) / length + tau * np.diff(jump_signs) / length
    return np.asarray(centre + np.repeat(levels, length))


def find_segment_starts(f: Array, lines: Array = SINGLE_LINE) -> Array:
    """Return the index at which each segment of a step function begins; each line begins one."""
    return np.union1d(lines, np.flatnonzero(np.diff(f)) + 1)


def prune_segments(y: Array, starts: Array, lines: Array = SINGLE_LINE) -> Array:
    """Return the starts of the segments that are left after pruning by BIC.

    Starting with all segments, the two neighbours on a line with the smallest increase of the RSS
    are merged, again and again. The number of segments k minimises ``n log(RSS/n) + (2k - number of
    lines) log n``: k means, and a position for each segment that does not begin its line.
    """
    n = len(y)
    y = y - y.mean()
    sums = np.add.reduceat(y, starts)
    lengths = np.diff(np.append(starts, n)).astype(float)
    rss = float(y @ y - (sums**2 / lengths).sum())
    rss_floor = _rss_floor(y)
    # `merge_segments` fills these in: the segment that each merge removes, the increase of the RSS.
    merged_segments = np.zeros(len(starts), dtype=np.int64)
    rss_increases = np.zeros(len(starts))
    n_merges = merge_segments(sums, lengths, np.isin(starts, lines), merged_segments, rss_increases)
    residual_sums = [rss, *(rss + np.cumsum(rss_increases[:n_merges]))]
    scores = [
        _bic(residual_sum, len(starts) - n_merged, len(lines), n, rss_floor)
        for n_merged, residual_sum in enumerate(residual_sums)
    ]
    best_merge = n_merges - int(np.argmin(scores[::-1]))  # of equal scores the most merges
    return np.delete(starts, merged_segments[:best_merge])


def _rss_floor(y: Array) -> float:
    """Return the residual sum of squares below which it is a rounding error; 1 for constant y."""
    return float(np.finfo(float).eps * np.square(y - y.mean()).sum()) or 1.0


def _bic(rss: float, n_segments: int, n_lines: int, n: int, rss_floor: float) -> float:
    """Return Schwarz' criterion of a step function with so many segments on so many lines."""
    return n * float(np.log(max(rss, rss_floor) / n)) + (2 * n_segments - n_lines) * float(
        np.log(n)
    )


def segment_means(y: Array, starts: Array) -> Array:
    """Return the step function of the means of y between the starts, (n,)."""
    length = np.diff(np.append(starts, len(y)))
    return np.repeat(np.add.reduceat(y, starts) / length, length)


def noise_sd(y: Array, lines: Array = SINGLE_LINE) -> float:
    """Return the standard deviation of the noise, by the MAD of the differences of neighbours.

    The MAD ignores jumps. It is 0 if more than half of the neighbours are equal.
    """
    steps = np.delete(np.diff(y), lines[1:] - 1)
    median_deviation = float(np.median(np.abs(steps - np.median(steps)))) if len(steps) else 0.0
    return 1.4826 * median_deviation / 2**0.5  # normal noise; differences have twice its variance


def choose_segments(y: Array, lines: Array = SINGLE_LINE) -> Array:
    """Return the best step function by BIC over several tau, with pruned segments, (n,).

    Total variation alone has many small steps around each jump, and levels shrunken towards each
    other: so segments are pruned, and each gets its mean. Values without noise stay as they are.
    """
    sd = noise_sd(y, lines)
    if sd == 0.0:
        return np.array(y, dtype=float)
    candidate_starts = (
        find_segment_starts(total_variation(y, sd * tau, lines), lines) for tau in TAU_LEVELS
    )
    kept_starts = [prune_segments(y, starts, lines) for starts in candidate_starts]
    fits = [segment_means(y, starts) for starts in kept_starts]
    rss_floor = _rss_floor(y)
    scores = [
        _bic(
            float(np.sum(np.square(y - step_function))),
            len(segments),
            len(lines),
            len(y),
            rss_floor,
        )
        for step_function, segments in zip(fits, kept_starts, strict=True)
    ]
    return fits[int(np.argmin(scores))]


def denoise_sample(y: Array, lines: Array, tau: float | None) -> Array:
    """Return the step function of a sample, (n,): tau in units of its noise; None chooses it."""
    if tau is None:
        return choose_segments(y, lines)
    absolute_tau = tau * noise_sd(y, lines)
    return total_variation(y, absolute_tau, lines) if absolute_tau else np.array(y, dtype=float)
