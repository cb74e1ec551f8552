"""Two colours of one array: a robust line through their intensities taken away."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array


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
    x = x[order]
    y = y[order]
    anchors = _anchors(x, delta)
    windows = [
        _window(x, at, place) for at, place in zip(anchors, _starts(x, anchors, span), strict=True)
    ]
    weights = np.ones(len(x))
    for _ in range(robust + 1):
        fits = [
            _fit(x, y, at, *window, weights) for at, window in zip(anchors, windows, strict=True)
        ]
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


def _fit(
    x: Array, y: Array, at: int, inside: slice, tricube: Array, h: float, robust: Array
) -> float:
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


DELTA = 0.01  # of the range of brightness: closer fits are joined by straight lines


def loess_ratios(red: Array, green: Array, *, span: float, iterations: int) -> Array:
    """``M - lowess(M over A)``, M = log2(red / green), A = log2(red green) / 2, array by array.

    Nothing is learned across arrays, so it may be done before the splits.

    Parameters
    ----------
    red, green : (n_arrays, n_spots) float
        Intensities without background. Where one is not positive or missing, there is no ratio.
    span : float
        Share of an array's spots that count as neighbours; limma's is 0.3.
    iterations : int
        Fits of the curve, each with less weight for the outliers of the one before; limma's is 4.

    Returns
    -------
    (n_arrays, n_spots) float, log2 units
        NaN where there is no ratio.

    Notes
    -----
    Y. H. Yang et al. (2002), Nucleic Acids Res. 30:e15. The same numbers as limma's
    ``normalizeWithinArrays(method="loess")``.
    """
    ratios = np.full(np.shape(red), np.nan)
    for row, (r, g) in enumerate(zip(red, green, strict=True)):
        there = np.isfinite(r) & np.isfinite(g) & (r > 0) & (g > 0)
        ratios[row, there] = _without_trend(np.log2(r[there]), np.log2(g[there]), span, iterations)
    return ratios


def _without_trend(red: Array, green: Array, span: float, iterations: int) -> Array:
    M = red - green
    A = (red + green) / 2
    if len(M) < max(2, 1 / span):
        return np.zeros_like(M)  # as many curves as spots
    delta = DELTA * np.ptp(A)
    return np.asarray(M - lowess(A, M, span=span, robust=iterations - 1, delta=delta))
