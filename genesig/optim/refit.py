"""Ridge refit (regularised least squares) on selected supports."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.solution import Path
from genesig.optim.training import TrainingSets

Array = np.ndarray[Any, Any]


def refit_scores(sets: TrainingSets, path: Path, lam: Array | float) -> Array:
    """Return ``f(x) = y_mean + z_A'b`` with ``b = (Z_A'Z_A + n lam I)^+ Z_A'y`` for every lam.

    Parameters
    ----------
    sets : TrainingSets
    path : Path
        Supports A of (k, m) fits.
    lam : float or array that broadcasts to (k, L)
        Absolute; 0 gives the minimum-norm least squares solution.

    Returns
    -------
    (k, m, L, n) array
        Scores of all n rows, training or not. An empty support predicts y_mean.

    Source: Mosci 2009, eq. 4.2, closed form with the factor n (section 4.5).
    """
    k, m = path.shape
    lam = np.atleast_2d(np.asarray(lam, float))
    lam = np.broadcast_to(lam, (k, lam.shape[1]))
    scores = np.empty((k, m, lam.shape[1], len(sets.X)))
    for i in range(k):
        for j in range(m):
            Z, B = _refit(sets, path, i, j, lam[i])
            scores[i, j] = sets.y_mean[i] + (Z @ B).T
    return scores


def refit_coef(sets: TrainingSets, path: Path, lam: Array | float) -> tuple[Array, Array]:
    """Return (values, intercept) of the refit, in the units of X.

    ``f(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path.

    Parameters
    ----------
    sets : TrainingSets
    path : Path
    lam : float, (k,) or (k, m) array
        Absolute.

    Returns
    -------
    values : (nnz,) array
        Aligned with `path.indices`.
    intercept : (k, m) array
    """
    k, m = path.shape
    lam = np.asarray(lam, float)
    lam = np.broadcast_to(lam[:, None] if lam.ndim == 1 else lam, (k, m))
    values, intercept = np.zeros(len(path.values)), np.tile(sets.y_mean[:, None], (1, m))
    for i in range(k):
        for j in range(m):
            A = path.coef(i, j)[0]
            coef = sets.inverse_scale[i, A] * _refit(sets, path, i, j, lam[i, j : j + 1])[1][:, 0]
            values[path.indptr[i * m + j] : path.indptr[i * m + j + 1]] = coef
            intercept[i, j] -= sets.mean[i, A] @ coef
    return values, intercept


def _refit(sets: TrainingSets, path: Path, k: int, m: int, lam: Array) -> tuple[Array, Array]:
    A, rows = path.coef(k, m)[0], sets.rows[:, k]
    Z = (sets.X[:, A] - sets.mean[k, A]) * sets.inverse_scale[k, A]
    U, s, Vt = np.linalg.svd(Z[rows], full_matrices=False)
    keep = s > s.max(initial=0.0) * max(Z.shape) * np.finfo(float).eps
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    shrunk = s[:, None] / (s[:, None] ** 2 + rows.sum() * lam[None, :])
    return Z, Vt.T @ (shrunk * (U.T @ sets.Y[rows, k])[:, None])
