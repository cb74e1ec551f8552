"""Step functions nearest to values along a line: total variation, and segments pruned by BIC.

    min_f 1/2 ||f - y||² + tau sum_i |f_{i+1} - f_i|

Source: Mosci 2009, chapter 5; the solver is that of Johnson (2013).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from genesig.arrays import Array
from genesig.compiled.steps import denoise, join

LEVELS = (2.0, 4.0, 8.0, 16.0)
"""Values of tau that `segmented` tries, in standard deviations of the noise."""

ONE = np.zeros(1, dtype=np.int64)
"""Where lines begin, if there is one."""


def tau_max(y: Array) -> float:
    """Return ``max_i |sum_{j <= i} (y_j - mean y)|``: the smallest tau of one single level."""
    return float(np.abs(np.cumsum(y - y.mean())[:-1]).max(initial=0.0))


def total_variation(y: Array, tau: float, lines: Array = ONE) -> Array:
    """Return the minimiser f (n,) for values y (n,), n >= 1, and tau >= 0, along each line.

    Lines begin at `lines`, the first at 0; no difference across their ends is counted. Levels are
    computed anew from the segments, ``mean + tau (sign of the next jump - sign of the last one) /
    length``, so that no sum along a line leaves its rounding in them.
    """
    y = np.ascontiguousarray(y, dtype=float)
    f = np.empty(len(y))
    centre = float(y.mean())
    for first, last in pairwise([*lines.tolist(), len(y)]):
        denoise(y[first:last] - centre, float(tau), f[first:last])
    starts = segment_starts(f, lines)
    length = np.diff(np.append(starts, len(y)))
    jump = np.append(np.sign(np.diff(f[starts], prepend=f[0])), 0.0)
    jump[:-1][np.isin(starts, lines)] = 0.0
    level = np.add.reduceat(y - centre, starts) / length + tau * np.diff(jump) / length
    return np.asarray(centre + np.repeat(level, length))


def segment_starts(f: Array, lines: Array = ONE) -> Array:
    """Return where the segments of a step function begin, those of every line among them."""
    return np.union1d(lines, np.flatnonzero(np.diff(f)) + 1)


def pruned(y: Array, starts: Array, lines: Array = ONE) -> Array:
    """Return the starts of the segments that BIC keeps, of those given.

    From all segments on, the two neighbours on a line whose union costs least are joined, and the
    number of segments k with the smallest ``n log(RSS/n) + (2k - number of lines) log n`` is taken:
    k means, and a place for each segment that does not begin its line.
    """
    n = len(y)
    y = y - y.mean()
    sums = np.add.reduceat(y, starts)
    size = np.diff(np.append(starts, n)).astype(float)
    rss = float(y @ y - (sums**2 / size).sum())
    floor = _floor(y)
    gone = np.zeros(len(starts), dtype=np.int64)
    cost = np.zeros(len(starts))
    joins = join(sums, size, np.isin(starts, lines), gone, cost)
    left = [rss, *(rss + np.cumsum(cost[:joins]))]
    scores = [_bic(each, len(starts) - k, len(lines), n, floor) for k, each in enumerate(left)]
    best = joins - int(np.argmin(scores[::-1]))
    return np.delete(starts, gone[:best])


def _floor(y: Array) -> float:
    """Return the residual sum of squares below which it is rounding."""
    return float(np.finfo(float).eps * np.square(y - y.mean()).sum()) or 1.0


def _bic(rss: float, segments: int, lines: int, n: int, floor: float) -> float:
    return n * float(np.log(max(rss, floor) / n)) + (2 * segments - lines) * float(np.log(n))


def means(y: Array, starts: Array) -> Array:
    """Return the step function of the means of y between the starts, (n,)."""
    length = np.diff(np.append(starts, len(y)))
    return np.repeat(np.add.reduceat(y, starts) / length, length)


def noise(y: Array, lines: Array = ONE) -> float:
    """Return the standard deviation of noise: differences of neighbours, jumps left aside.

    It is 0 where more than half of the neighbours are equal: nothing of the rest is known as noise.
    """
    steps = np.delete(np.diff(y), lines[1:] - 1)
    middle = float(np.median(np.abs(steps - np.median(steps)))) if len(steps) else 0.0
    return 1.4826 * middle / 2**0.5


def segmented(y: Array, lines: Array = ONE) -> Array:
    """Return the means of the segments that BIC keeps of those of some tau, (n,).

    Total variation alone has many small steps about each jump, and levels drawn together. Values
    without noise stay as they are.
    """
    sd = noise(y, lines)
    if sd == 0.0:
        return np.array(y, dtype=float)
    found = (segment_starts(total_variation(y, sd * level, lines), lines) for level in LEVELS)
    kept = [pruned(y, starts, lines) for starts in found]
    fits = [means(y, starts) for starts in kept]
    floor = _floor(y)
    scores = [
        _bic(float(np.sum(np.square(y - f))), len(s), len(lines), len(y), floor)
        for f, s in zip(fits, kept, strict=True)
    ]
    return fits[int(np.argmin(scores))]


def denoised(y: Array, lines: Array, tau: float | None) -> Array:
    """Return the step function of a sample, (n,): tau in its noise, or `segmented` where None."""
    if tau is None:
        return segmented(y, lines)
    level = tau * noise(y, lines)
    return total_variation(y, level, lines) if level else np.array(y, dtype=float)
