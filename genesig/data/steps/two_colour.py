"""Log ratios of two-colour arrays, less a robust curve of the ratio over the brightness."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array


def lowess(x: Array, y: Array, *, span: float, robust: int, delta: float) -> Array:
    """Smooth y over x with local lines and tricube weights.

    At x_i the line minimises ``sum_j t(|x_j - x_i| / h_i) r_j (y_j - a - b x_j)²`` with
    ``t(u) = (1 - u³)³`` and h_i the distance of the furthest of the ``span * n`` nearest points;
    r_j is 1 at first and then the bisquare of the residual over 6 times the median residual.

    x, y (n,) float, n >= 2: finite, in any order.
    span: share of the points that are neighbours.
    robust: how often the residuals give new weights.
    delta: in units of x: fits this far apart are joined by straight lines.

    Returns (n,) float: the curve at each x.

    Source: W. S. Cleveland (1979), J. Am. Stat. Assoc. 74:829; details as in R's ``lowess``.
    """
    order = np.argsort(x, kind="stable")
    x = x[order]
    y = y[order]
    anchors = _choose_anchors(x, delta)
    neighbourhoods = [
        _tricube_window(x, anchor, nearest)
        for anchor, nearest in zip(anchors, _nearest_points(x, anchors, span), strict=True)
    ]
    weights = np.ones(len(x))
    for _ in range(robust + 1):
        fits = [
            _fit_line(x, y, anchor, *neighbourhood, weights)
            for anchor, neighbourhood in zip(anchors, neighbourhoods, strict=True)
        ]
        smooth = np.interp(x, x[anchors], fits)
        residual = np.abs(y - smooth)
        outlier_bound = 6 * np.median(residual)
        if outlier_bound < 1e-7 * residual.mean():  # as in R
            break
        relative_residual = np.divide(
            residual, outlier_bound, out=np.zeros_like(x), where=outlier_bound > 0
        )
        weights = np.where(
            relative_residual <= NEAR,
            1,
            np.where(relative_residual <= FAR, (1 - relative_residual**2) ** 2, 0),
        )
    curve = np.empty(len(x))
    curve[order] = smooth
    return curve


# As in R: weights of relative distances below NEAR are 1, above FAR 0.
NEAR = 0.001
FAR = 0.999
MIN_SPREAD_SHARE = 0.001  # of the range of x: points that are closer get a constant, as in R


def _choose_anchors(x: Array, delta: float) -> list[int]:
    """Return the indices of x at which a line is fitted, `delta` apart where x is dense enough."""
    anchors = [0]
    while x[anchors[-1]] < x[-1]:
        position = x[anchors[-1]]
        last_equal = np.searchsorted(x, position, side="right") - 1
        first_beyond = np.searchsorted(x, position + delta, side="right")
        anchors.append(int(max(last_equal + 1, first_beyond - 1)))
    return anchors


def _nearest_points(x: Array, anchors: list[int], span: float) -> list[tuple[int, int]]:
    """Return the first and last index of the nearest points of each anchor; x (n,) is ascending."""
    n_neighbours = max(2, min(len(x), int(span * len(x) + 1e-7)))
    first_points = np.arange(len(x) - n_neighbours)
    # The window moves on while the point it would gain is nearer than the one it would lose.
    turning_points = x[first_points] + x[first_points + n_neighbours]
    first_of_anchor = np.searchsorted(turning_points, 2 * x[anchors], side="left")
    return [(int(point), int(point) + n_neighbours - 1) for point in first_of_anchor]


def _tricube_window(x: Array, anchor: int, nearest: tuple[int, int]) -> tuple[slice, Array, float]:
    """Return the slice of x with weights above 0, these tricube weights and the half-width h."""
    position = x[anchor]
    half_width = max(position - x[nearest[0]], x[nearest[1]] - position)
    left = np.searchsorted(x, position - FAR * half_width, side="left")
    right = np.searchsorted(x, position + FAR * half_width, side="right")
    points = slice(int(left), int(right))
    relative_distance = np.abs(x[points] - position) / (half_width or 1)  # h is 0: equal points
    tricube = np.where(relative_distance <= NEAR, 1, (1 - relative_distance**3) ** 3)
    return points, tricube, half_width


def _fit_line(
    x: Array,
    y: Array,
    anchor: int,
    points: slice,
    tricube: Array,
    half_width: float,
    robust_weights: Array,
) -> float:
    """Return the value at the anchor of the line fitted to the points with their weights."""
    weights = tricube * robust_weights[points]
    total_weight = weights.sum()
    if total_weight <= 0:
        return float(y[anchor])
    weights = weights / total_weight
    if half_width > 0:
        centred = x[points] - weights @ x[points]
        variance = weights @ centred**2
        if np.sqrt(variance) > MIN_SPREAD_SHARE * (x[-1] - x[0]):
            weights = weights * (1 + (x[anchor] - weights @ x[points]) * centred / variance)
    return float(weights @ y[points])


MAX_GAP_SHARE = 0.01  # of the range of brightness: closer fits are joined by straight lines


def loess_ratios(red: Array, green: Array, *, span: float, iterations: int) -> Array:
    """Return ``M - lowess(M over A)``, M = log2(red / green), A = log2(red green) / 2, by array.

    Nothing is learned across arrays, so this step may come before the splits.

    red, green (n_arrays, n_spots) float: intensities without background. Where one is not positive
        or missing, there is no ratio.
    span: share of an array's spots that count as neighbours; limma's is 0.3.
    iterations: fits of the curve, each with less weight for the outliers of the one before; limma's
        is 4.

    Returns (n_arrays, n_spots) float, log2 units: NaN where there is no ratio.

    Source: Y. H. Yang et al. (2002), Nucleic Acids Res. 30:e15. The same numbers as limma's
    ``normalizeWithinArrays(method="loess")``.
    """
    ratios = np.full(np.shape(red), np.nan)
    for row, (red_spots, green_spots) in enumerate(zip(red, green, strict=True)):
        measured = (
            np.isfinite(red_spots) & np.isfinite(green_spots) & (red_spots > 0) & (green_spots > 0)
        )
        ratios[row, measured] = _subtract_curve(
            np.log2(red_spots[measured]), np.log2(green_spots[measured]), span, iterations
        )
    return ratios


def _subtract_curve(red: Array, green: Array, span: float, iterations: int) -> Array:
    """Return the log ratios (n,) of one array less their lowess curve over the brightness."""
    ratio = red - green
    brightness = (red + green) / 2
    if len(ratio) < max(2, 1 / span):
        return np.zeros_like(ratio)  # less than one neighbour: the curve goes through each spot
    delta = MAX_GAP_SHARE * np.ptp(brightness)
    return np.asarray(
        ratio - lowess(brightness, ratio, span=span, robust=iterations - 1, delta=delta)
    )
