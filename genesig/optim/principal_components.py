"""Principal component regression in the space of a kernel, for every number of components at once.

Source: Mosci 2009, section 3.2: the same as cutting off the spectrum of the centred kernel matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.optim.kernels import Gaussian, median_distance


def component_regressions(K: Array, y: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return ``alpha_m = sum_{j <= m} u_j u_j'y / s_j`` of the centred kernel matrix U S U'.

    ``f_m(x) = intercept_m + k(x)'alpha_m`` is least squares on the first m components. As U is
    orthogonal to 1, k(x) need not be centred: ``intercept_m`` holds the means of K. With weights v
    all means have them, and U S U' is that of √v K √v', so that √v is in the place of 1.

    Parameters
    ----------
    K : (n, n) array
    y : (n,) array
    weights : (n,) array, optional
        Of the samples.

    Returns
    -------
    alpha, intercept : (n, r + 1), (r + 1,) arrays
        For m = 0 (the mean of y) to the numerical rank r.
    """
    mean = np.average(K, axis=0, weights=weights)
    y_mean = np.average(y, weights=weights)
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    centred = K - mean - mean[:, None] + np.average(mean, weights=weights)
    s, U = np.linalg.eigh(root[:, None] * centred * root)
    kept = np.flatnonzero(s > len(y) * np.finfo(float).eps * np.abs(s).max(initial=0))[::-1]
    U = U[:, kept]
    alpha = np.cumsum(U * (U.T @ (root * (y - y_mean)) / s[kept]), axis=1)
    alpha = root[:, None] * np.hstack([np.zeros((len(y), 1)), alpha])
    return alpha, y_mean - mean @ alpha


@dataclass(frozen=True)
class Points:
    """Inner products of all points with each other, from which every kernel matrix follows."""

    inner: Array

    @classmethod
    def of(cls, X: Array, origin: Array) -> Points:
        """Take the points X (n, d), seen from an origin (d,) among them, where digits are."""
        X = X - origin
        return cls(X @ X.T)

    def kernel(
        self, rows: Array, train: Array, width: float | None, counts: Array | None = None
    ) -> Array:
        """Return k(x, z) of rows x and training points z, (len(rows), len(train)).

        Gaussian of `width` times the median distance of the training points, which occur `counts`
        times each (of all points, (n,)); linear for None.
        """
        inner: Array = self.inner[np.ix_(rows, train)]
        if width is None:
            return inner
        often = None if counts is None else counts[train]
        spread = median_distance(self.inner[np.ix_(train, train)], often) or 1.0
        norms = np.diag(self.inner)
        K: Array = Gaussian(width * spread).tables(inner, norms[rows], norms[train]).value
        return K


@dataclass(frozen=True)
class Chosen:
    """What validation chose: the width (None is linear), m, and scores of the rows left out."""

    width: float | None
    components: int
    left_out: Array


def choose_components(
    points: Points,
    y: Array,
    folds: Sequence[Array],
    widths: Sequence[float | None],
    counts: Array | None = None,
) -> Chosen:
    """Choose width and m >= 1 by the squared error of rows left out: first width, least m at ties.

    Parameters
    ----------
    points : Points
        The first n of them are the training rows.
    y : (n,) array
    folds : sequence of int arrays
        Rows that are left out together.
    widths : sequence of float or None
        As in `Points.kernel`.
    counts : (n,) array, optional
        Weights of the samples, in fits as in errors.
    """
    every = np.arange(len(y))
    often = np.ones(len(y)) if counts is None else counts
    best = np.inf
    chosen = Chosen(widths[0], 0, np.full(len(y), np.nan))
    for width in widths:
        tried = np.full((len(y), len(y)), np.nan)
        for fold in folds:
            rest = np.setdiff1d(every, fold)
            own = None if counts is None else counts[rest]
            K = points.kernel(rest, rest, width, counts)
            alpha, intercept = component_regressions(K, y[rest], own)
            new = points.kernel(fold, rest, width, counts)
            tried[fold, : len(intercept)] = intercept + new @ alpha
        known = np.flatnonzero(~np.isnan(tried[:, 0]) & (often > 0))
        error = np.square(y[known, None] - tried[known])  # NaN beyond the least rank
        error = (often[known, None] * error).sum(axis=0)
        # The mean of y alone, m = 0, would tell no two classes apart.
        m = int(np.argmin(np.where(np.isnan(error), np.inf, error)[1:])) + 1
        if error[m] < best:
            best = error[m]
            chosen = Chosen(width, m, tried[:, m])
    return chosen
