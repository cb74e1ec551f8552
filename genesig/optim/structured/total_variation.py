"""Step functions nearest to values along a line: total variation, and segments pruned by BIC.

    min_f 1/2 ||f - y||² + tau sum_i |f_{i+1} - f_i|

Source: Mosci 2009, chapter 5; the solver is that of Johnson (2013).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.compiled.steps import denoise

Array = np.ndarray[Any, Any]

LEVELS = (2.0, 4.0, 8.0, 16.0)
"""Values of tau that `segmented` tries, in standard deviations of the noise."""


def tau_max(y: Array) -> float:
    """Return ``max_i |sum_{j <= i} (y_j - mean y)|``: the smallest tau of one single level."""
    return float(np.abs(np.cumsum(y - y.mean())[:-1]).max(initial=0.0))


def total_variation(y: Array, tau: float) -> Array:
    """Return the minimiser f (n,) for values y (n,) and tau >= 0, n >= 1.

    Levels are computed anew from the segments, ``mean + tau (sign of the next jump - sign of the
    last one) / length``, so that no sum along the line leaves its rounding in them.
    """
    y = np.ascontiguousarray(y, dtype=float)
    f = np.empty(len(y))
    centre = float(y.mean())
    denoise(y - centre, float(tau), f)
    starts = segment_starts(f)
    length = np.diff(np.append(starts, len(y)))
    jump = np.concatenate([[0.0], np.sign(np.diff(f[starts])), [0.0]])
    level = np.add.reduceat(y - centre, starts) / length + tau * np.diff(jump) / length
    return np.asarray(centre + np.repeat(level, length))


def segment_starts(f: Array) -> Array:
    """Return where the segments of a step function begin, the first at 0."""
    return np.concatenate([[0], np.flatnonzero(np.diff(f)) + 1])


def variation_gap(y: Array, f: Array, tau: float) -> float:
    """Bound the objective at f less the smallest one, relative to ``1/2 ||y - mean y||²``.

    The dual point is the residual, centred and scaled until its sums are within tau.
    """
    y, f = y - y.mean(), f - y.mean()
    r = y - f
    theta = r - r.mean()
    theta *= tau / (max(tau, float(np.abs(np.cumsum(theta)[:-1]).max(initial=0.0))) or 1.0)
    primal = r @ r / 2 + tau * np.abs(np.diff(f)).sum()
    return max(float(primal - (y @ theta - theta @ theta / 2)), 0.0) / (float(y @ y) / 2 or 1.0)


def pruned(y: Array, starts: Array) -> Array:
    """Return the starts of the segments that BIC keeps, of those given.

    From all segments on, the two neighbours whose union costs least are joined, and the number of
    segments k with the smallest ``n log(RSS/n) + (2k - 1) log n`` is taken: k means and k - 1
    places.
    """
    n, left = len(y), starts.tolist()
    y = y - y.mean()
    sums = np.add.reduceat(y, starts)
    size = np.diff([*left, n]).astype(float)
    rss, floor = float(y @ y - (sums**2 / size).sum()), _floor(y)
    best, kept = _bic(rss, len(left), n, floor), list(left)
    while len(left) > 1:
        cost = size[1:] * size[:-1] / (size[1:] + size[:-1]) * np.square(np.diff(sums / size))
        k = int(np.argmin(cost))
        rss += float(cost[k])
        sums[k], size[k] = sums[k] + sums[k + 1], size[k] + size[k + 1]
        sums, size = np.delete(sums, k + 1), np.delete(size, k + 1)
        del left[k + 1]
        if (found := _bic(rss, len(left), n, floor)) <= best:
            best, kept = found, list(left)
    return np.array(kept)


def _floor(y: Array) -> float:
    """Return the residual sum of squares below which it is rounding."""
    return float(np.finfo(float).eps * np.square(y - y.mean()).sum()) or 1.0


def _bic(rss: float, segments: int, n: int, floor: float) -> float:
    return n * float(np.log(max(rss, floor) / n)) + (2 * segments - 1) * float(np.log(n))


def means(y: Array, starts: Array) -> Array:
    """Return the step function of the means of y between the starts, (n,)."""
    length = np.diff(np.append(starts, len(y)))
    return np.repeat(np.add.reduceat(y, starts) / length, length)


def noise(y: Array) -> float:
    """Return the standard deviation of noise: differences of neighbours, jumps left aside."""
    steps = np.diff(y)
    middle = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) if len(steps) else 0.0
    return (middle or (float(steps.std()) if len(steps) else 0.0)) / 2**0.5


def segmented(y: Array) -> Array:
    """Return the means of the segments that BIC keeps of those of some tau, (n,).

    Total variation alone has many small steps about each jump, and levels drawn together.
    """
    sd = noise(y)
    if sd == 0.0:
        return np.array(y, dtype=float)
    kept = [pruned(y, segment_starts(total_variation(y, sd * level))) for level in LEVELS]
    fits = [means(y, starts) for starts in kept]
    floor = _floor(y)
    scores = [
        _bic(float(np.sum(np.square(y - f))), len(s), len(y), floor)
        for f, s in zip(fits, kept, strict=True)
    ]
    return fits[int(np.argmin(scores))]
