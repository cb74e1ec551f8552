"""Step functions along lines, exactly, in time proportional to their length."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, inner


@compiled
def denoise(y: Array, tau: float, f: Array) -> None:
    """Fill f with the minimiser of ``1/2 ||f - y||² + tau sum_i |f_{i+1} - f_i|``."""
    nearest(y, tau, 0.0, f)


@compiled
def fuse(y: Array, starts: Array, level: float, jump: float, f: Array) -> None:
    """Fill f with the minimiser of ``1/2 ||f - y||² + level (sum |f_i| + jump sum |jumps|)``.

    Lines begin at starts; f is 0 beyond their ends, so that these are jumps, too. The l1 term only
    pulls the values of the step function of the jumps to 0.

    Source: Friedman, Hastie, Höfling, Tibshirani 2007, Pathwise coordinate optimization, lemma 1.
    """
    d = len(y)
    for k in range(len(starts)):
        first = starts[k]
        last = starts[k + 1] if k + 1 < len(starts) else d
        nearest(y[first:last], level * jump, level * jump, f[first:last])
    for j in range(d):
        f[j] = max(f[j] - level, 0.0) + min(f[j] + level, 0.0)


@inner
def nearest(y: Array, tau: float, ends: float, f: Array) -> None:
    """Fill f with the minimiser of ``denoise``, and ``ends (|f_0| + |f_{n-1}|)`` more.

    The derivative of the best value of what lies left of i, as a function of f_i, is piecewise
    linear and growing. Clipped to [-tau, tau] it is that of the next one but for ``f - y``. Between
    the pieces with slope 1 on either side, ``left`` and ``right`` in height, knot k adds
    ``slope_k x + height_k``. Knots come and go at both ends, so each is met twice in all. What
    ``ends`` adds is a jump at 0, where a bound of the clipping may lie.

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
    first = n
    last = n
    left = -ends - y[0]
    right = ends - y[0]
    height[n] = 2 * ends
    for i in range(n):
        cut = tau if i < n - 1 else ends
        a = 1.0
        c = left
        least = -np.inf
        while first <= last and a * knot[first] + c <= -cut:
            least = knot[first]
            a = a + slope[first]
            c = c + height[first]
            first = first + 1
        b = 1.0
        e = right
        most = np.inf
        while first <= last and b * knot[last] + e >= cut:
            most = knot[last]
            b = b - slope[last]
            e = e - height[last]
            last = last - 1
        low[i] = max((-cut - c) / a, least)
        high[i] = min((cut - e) / b, most)
        if high[i] < low[i]:  # both within one jump, which the first loop has passed
            high[i] = low[i]
            a = 0.0
            b = 0.0
            c = cut
            e = cut
        if i < n - 1:
            first = first - 1
            last = last + 1
            knot[first] = low[i]
            slope[first] = a
            height[first] = c + cut
            knot[last] = high[i]
            slope[last] = -b
            height[last] = cut - e
            left = -cut - y[i + 1]
            right = cut - y[i + 1]
    f[n - 1] = min(max(0.0, low[n - 1]), high[n - 1])
    for i in range(n - 2, -1, -1):
        f[i] = min(max(f[i + 1], low[i]), high[i])


@compiled
def join(sums: Array, size: Array, opens: Array, gone: Array, cost: Array) -> int:
    """Join the two neighbours whose union costs least, again and again, and return how often.

    Segments have the sums of their values and their sizes; those that open a line stay. Join t ends
    segment ``gone[t]`` and adds ``cost[t]`` to the squared distance of values and means.
    """
    k = len(sums)
    joins = 0
    before = np.zeros(k, np.int64)
    after = np.zeros(k, np.int64)
    price = np.zeros(k)
    for j in range(k):
        before[j], after[j] = j - 1, j + 1
    for j in range(k):
        price[j] = union(sums, size, opens, after, j)
    while True:
        at = 0
        least = np.inf
        for j in range(k):
            if price[j] < least:
                at = j
                least = price[j]
        if least == np.inf:
            return joins
        last = after[at]
        gone[joins] = last
        cost[joins] = least
        price[last] = np.inf
        sums[at], size[at], after[at] = sums[at] + sums[last], size[at] + size[last], after[last]
        if after[at] < k:
            before[after[at]] = at
        price[at] = union(sums, size, opens, after, at)
        if before[at] >= 0:
            price[before[at]] = union(sums, size, opens, after, before[at])
        joins += 1


@inner
def union(sums: Array, size: Array, opens: Array, after: Array, j: int) -> float:
    """Return what joining segment j and the next one adds to the squared distance."""
    k = after[j]
    if k >= len(sums) or opens[k]:
        return np.inf
    step = sums[k] / size[k] - sums[j] / size[j]
    found: float = size[j] * size[k] / (size[j] + size[k]) * step * step
    return found


@compiled
def steepest(g: Array, starts: Array, jump: float) -> float:
    """Return ``max |sum of g over I| / (len(I) + 2 jump)`` over all stretches I of the lines.

    For a ratio t, the stretch with the largest ``|sum| - t (len + 2 jump)`` has a larger ratio, or
    t is the largest (Dinkelbach 1967); that stretch is found in one pass, as its sum is that of the
    best one which ends a feature before, or begins here.
    """
    best = 0.0
    for j in range(len(g)):
        best = max(best, max(g[j], -g[j]))
    best = best / (1 + 2 * jump)
    ratio = 0.0
    while best > ratio:
        ratio = best
        best = max(passed(g, starts, jump, ratio, 1.0), passed(g, starts, jump, ratio, -1.0))
    return ratio


@inner
def passed(g: Array, starts: Array, jump: float, ratio: float, sign: float) -> float:
    """Return the ratio of the stretch that is furthest above this one, or 0."""
    k = 0
    length = 0
    total = 0.0
    far = 0.0
    best = 0.0
    for j in range(len(g)):
        begins = k < len(starts) and starts[k] == j
        if begins:
            k += 1
        if begins or total - ratio * length <= 0:
            length = 0
            total = 0.0
        length = length + 1
        total = total + sign * g[j]
        above = total - ratio * (length + 2 * jump)
        if above > far:
            far = above
            best = total / (length + 2 * jump)
    return best
