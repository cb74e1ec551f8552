"""Cleveland's lowess: a robust line through each point's neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def lowess(x: Array, y: Array, *, span: float, robust: int, delta: float) -> Array:
    """Smooth y over x with local lines and tricube weights.

    At x_i the line minimises ``sum_j t(|x_j - x_i| / h_i) r_j (y_j - a - b x_j)²`` with
    ``t(u) = (1 - u³)³`` and h_i the distance of the furthest of the ``span * n`` nearest points;
    r_j is 1 at first and then the bisquare of the residual over 6 times the median residual.

    Parameters
    ----------
    x, y : (n,) float, n >= 2
        Finite, in any order.
    span : float
        Share of the points that are neighbours.
    robust : int
        How often the residuals give new weights.
    delta : float
        In units of x: fits this far apart are joined by straight lines.

    Returns
    -------
    (n,) float
        The curve at each x.

    Notes
    -----
    W. S. Cleveland (1979), J. Am. Stat. Assoc. 74:829; details as in R's ``lowess``.
    """
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    anchors = _anchors(x, delta)
    windows = [_window(x, at, place) for at, place in zip(anchors, _starts(x, anchors, span),
               strict=True)]  # fmt: skip
    weights = np.ones(len(x))
    for _ in range(robust + 1):
        fits = [_fit(x, y, at, *window, weights) for at, window in zip(anchors, windows,
                strict=True)]  # fmt: skip
        smooth = np.interp(x, x[anchors], fits)
        residual = np.abs(y - smooth)
        bound = 6 * np.median(residual)
        if bound < 1e-7 * residual.mean():
            break
        share = np.divide(residual, bound, out=np.zeros_like(x), where=bound > 0)
        weights = np.where(share <= 0.001, 1, np.where(share <= 0.999, (1 - share**2) ** 2, 0))
    curve = np.empty(len(x))
    curve[order] = smooth
    return curve


def _anchors(x: Array, delta: float) -> list[int]:
    """Choose the points that get a line of their own, at most `delta` apart where they can be."""
    anchors = [0]
    while x[anchors[-1]] < x[-1]:
        here = x[anchors[-1]]
        last = np.searchsorted(x, here, side="right") - 1
        beyond = np.searchsorted(x, here + delta, side="right")
        anchors.append(int(max(last + 1, beyond - 1)))
    return anchors


def _starts(x: Array, anchors: list[int], span: float) -> list[tuple[int, int]]:
    """Find first and last of the nearest points of each anchor."""
    count = max(2, min(len(x), int(span * len(x) + 1e-7)))
    middles = np.arange(len(x) - count)
    # The window moves on while the point it would gain is nearer than the one it would lose.
    turns = x[middles] + x[middles + count]
    first = np.searchsorted(turns, 2 * x[anchors], side="left")
    return [(int(left), int(left) + count - 1) for left in first]


def _window(x: Array, at: int, place: tuple[int, int]) -> tuple[slice, Array, float]:
    """Return the points with weight, their tricube weights and the half-width h."""
    here = x[at]
    h = max(here - x[place[0]], x[place[1]] - here)
    left = np.searchsorted(x, here - 0.999 * h, side="left")
    right = np.searchsorted(x, here + 0.999 * h, side="right")
    inside = slice(int(min(left, at)), int(max(right, at + 1)))
    share = np.abs(x[inside] - here) / h if h > 0 else np.zeros(inside.stop - inside.start)
    return inside, np.where(share <= 0.001, 1, (1 - share**3) ** 3), h


def _fit(x: Array, y: Array, at: int, inside: slice, tricube: Array, h: float,
         robust: Array) -> float:  # fmt: skip
    w = tricube * robust[inside]
    total = w.sum()
    if total <= 0:
        return float(y[at])
    w = w / total
    if h > 0:
        centred = x[inside] - w @ x[inside]
        spread = w @ centred**2
        if np.sqrt(spread) > 0.001 * (x[-1] - x[0]):
            w = w * (1 + (x[at] - w @ x[inside]) * centred / spread)
    return float(w @ y[inside])
