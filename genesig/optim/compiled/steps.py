"""Total variation along a line: the nearest step function, exactly, in time proportional to n."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.compiled import jit
from genesig.optim.compiled.operations import larger, smaller, zeros

Array = np.ndarray[Any, Any]


@jit
def denoise(y: Array, tau: float, f: Array) -> None:
    """Fill f with the minimiser of ``1/2 ||f - y||² + tau sum_i |f_{i+1} - f_i|``.

    The derivative of the best value of what lies left of i, as a function of f_i, is piecewise
    linear and growing. Clipped to [-tau, tau] it is that of the next one but for ``f - y``. Between
    the pieces with slope 1 on either side, ``left`` and ``right`` in height, knot k adds
    ``slope_k x + height_k``. Knots come and go at both ends, so each is met twice in all.

    Source: Johnson 2013, J. Comput. Graph. Stat. 22:246, for the squared error.
    """
    n = len(y)
    knots, bounds = zeros((3, 2 * n), np.float64), zeros((2, n), np.float64)
    knot, slope, height, low, high = knots[0], knots[1], knots[2], bounds[0], bounds[1]
    first, last, left, right = n, n - 1, -y[0], -y[0]
    for i in range(1, n):
        a, c = 1.0, left
        while first <= last and a * knot[first] + c <= -tau:
            a, c, first = a + slope[first], c + height[first], first + 1
        b, e = 1.0, right
        while first <= last and b * knot[last] + e >= tau:
            b, e, last = b - slope[last], e - height[last], last - 1
        low[i - 1], high[i - 1] = (-tau - c) / a, (tau - e) / b
        first, last = first - 1, last + 1
        knot[first], slope[first], height[first] = low[i - 1], a, c + tau
        knot[last], slope[last], height[last] = high[i - 1], -b, tau - e
        left, right = -tau - y[i], tau - y[i]
    a, c = 1.0, left
    while first <= last and a * knot[first] + c <= 0.0:
        a, c, first = a + slope[first], c + height[first], first + 1
    f[n - 1] = -c / a
    for i in range(n - 2, -1, -1):
        f[i] = smaller(larger(f[i + 1], low[i]), high[i])
