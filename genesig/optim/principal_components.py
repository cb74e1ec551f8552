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
    all means have them, and U S U' is that of diag(√v) K diag(√v), and √v is in the place of 1.

    K (n, n). y (n,). weights (n,), optional: of the samples.

    alpha, intercept (n, r + 1), (r + 1,): for m = 0 (the mean of y) to the numerical rank r.
    """
    mean = np.average(K, axis=0, weights=weights)
    y_mean = np.average(y, weights=weights)
    root_weights = np.ones(len(y)) if weights is None else np.sqrt(weights)
    centred = K - mean - mean[:, None] + np.average(mean, weights=weights)
    eigenvalues, U = np.linalg.eigh(root_weights[:, None] * centred * root_weights)
    nonzero = np.flatnonzero(
        eigenvalues > len(y) * np.finfo(float).eps * np.abs(eigenvalues).max(initial=0)
    )[::-1]
    U = U[:, nonzero]
    alpha = np.cumsum(U * (U.T @ (root_weights * (y - y_mean)) / eigenvalues[nonzero]), axis=1)
    alpha = root_weights[:, None] * np.hstack([np.zeros((len(y), 1)), alpha])
    return alpha, y_mean - mean @ alpha


@dataclass(frozen=True)
class Points:
    """Inner products of all points, from which kernel matrices are computed."""

    inner: Array  # (N, N) float

    @classmethod
    def from_rows(cls, X: Array, origin: Array) -> Points:
        """Return the inner products of X (n, d) less an origin (d,) among them, to keep digits."""
        X = X - origin
        return cls(X @ X.T)

    def kernel(
        self, rows: Array, train: Array, width: float | None, counts: Array | None = None
    ) -> Array:
        """Return k(x, z) of rows x and training points z, (len(rows), len(train)).

        Gaussian of `width` times the median distance of the training points, which occur
        `counts[train]` times each (None: once); linear if `width` is None.
        """
        inner: Array = self.inner[np.ix_(rows, train)]
        if width is None:
            return inner
        train_counts = None if counts is None else counts[train]
        typical_distance = median_distance(self.inner[np.ix_(train, train)], train_counts) or 1.0
        norms = np.diag(self.inner)
        return np.asarray(
            Gaussian(width * typical_distance).tables(inner, norms[rows], norms[train]).value
        )


@dataclass(frozen=True)
class ComponentChoice:
    """Chosen width (None is linear), number of components, and held-out scores."""

    width: float | None
    components: int
    left_out: Array  # (n,) float: score of each training row by the fit without its fold


def choose_components(
    points: Points,
    y: Array,
    folds: Sequence[Array],
    widths: Sequence[float | None],
    counts: Array | None = None,
) -> ComponentChoice:
    """Return width and m >= 1 with the smallest squared error of held-out rows.

    Ties go to the first width, then to the smallest m. If no m >= 1 has scores of all held-out
    rows, m is 0 and the scores are NaN.

    points: the first n of them are the training rows. y (n,). folds: rows that are left out
    together. widths: as in `Points.kernel`. counts (n,), optional: weights of the samples, in fits
    as in errors.
    """
    all_rows = np.arange(len(y))
    row_counts = np.ones(len(y)) if counts is None else counts
    smallest_error = np.inf
    choice = ComponentChoice(widths[0], 0, np.full(len(y), np.nan))
    for width in widths:
        held_out_scores = np.full((len(y), len(y)), np.nan)
        for fold in folds:
            train = np.setdiff1d(all_rows, fold)
            train_counts = None if counts is None else counts[train]
            K = points.kernel(train, train, width, counts)
            alpha, intercept = component_regressions(K, y[train], train_counts)
            fold_rows = points.kernel(fold, train, width, counts)
            held_out_scores[fold, : len(intercept)] = intercept + fold_rows @ alpha
        scored_rows = np.flatnonzero(~np.isnan(held_out_scores[:, 0]) & (row_counts > 0))
        residual = y[scored_rows, None] - held_out_scores[scored_rows]  # NaN beyond the least rank
        error = (row_counts[scored_rows, None] * np.square(residual)).sum(axis=0)
        # m = 0, the mean of y, cannot distinguish two classes.
        n_components = int(np.argmin(np.where(np.isnan(error), np.inf, error)[1:])) + 1
        if error[n_components] < smallest_error:
            smallest_error = error[n_components]
            choice = ComponentChoice(width, n_components, held_out_scores[:, n_components])
    return choice
