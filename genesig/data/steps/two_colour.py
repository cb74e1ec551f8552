"""Two-colour arrays: log ratios, each array's own trend with brightness taken off."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.data.steps.lowess import lowess

Array = np.ndarray[Any, Any]

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
    M, A = red - green, (red + green) / 2
    if len(M) < max(2, 1 / span):
        return np.zeros_like(M)  # as many curves as spots
    delta = DELTA * np.ptp(A)
    return np.asarray(M - lowess(A, M, span=span, robust=iterations - 1, delta=delta))
