"""Step functions nearest to values along a line: total variation, and segments pruned by BIC.

    min_f 1/2 ||f - y||² + tau sum_i |f_{i+1} - f_i|

Values y of several lines, such as chromosomes, follow one another; the lines begin at the indices
`lines`, the first at 0, and differences between them do not count.

Source: Mosci 2009, chapter 5; the solver is that of Johnson (2013).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from genesig.arrays import Array
from genesig.compiled.steps import denoise, join_segments

TAU_LEVELS = (2.0, 4.0, 8.0, 16.0)
"""Values of tau that `choose_segments` tries, in standard deviations of the noise."""

SINGLE_LINE = np.zeros(1, dtype=np.int64)  # starts of lines if there is a single line


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
    # `join_segments` fills these in: the segment that each merge removes, the increase of the RSS.
    merged_segments = np.zeros(len(starts), dtype=np.int64)
    rss_increases = np.zeros(len(starts))
    n_joins = join_segments(sums, lengths, np.isin(starts, lines), merged_segments, rss_increases)
    residual_sums = [rss, *(rss + np.cumsum(rss_increases[:n_joins]))]
    scores = [
        _bic(residual_sum, len(starts) - n_merged, len(lines), n, rss_floor)
        for n_merged, residual_sum in enumerate(residual_sums)
    ]
    best_merge = n_joins - int(np.argmin(scores[::-1]))  # of equal scores the most merges
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
