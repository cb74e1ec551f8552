"""Ridge refit (regularised least squares) on selected supports."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled.lanes import LANES
from genesig.compiled.ridge import Lists, Refits, refit_each
from genesig.compiled.singular import refit_singular
from genesig.optim.solution import Path
from genesig.optim.training import TrainingSets, part_of

Array = np.ndarray[Any, Any]


def refit_scores(
    sets: TrainingSets, path: Path, lam: Array | float, rows: Array | None = None
) -> Array:  # fmt: skip
    """Return ``f(x) = y_mean + z_A'b`` with ``b = (Z_A'Z_A + n lam I)^+ Z_A'y`` for every lam.

    Parameters
    ----------
    sets : TrainingSets
    path : Path
        Supports A of (k, m) fits.
    lam : float or array that broadcasts to (k, L)
        Absolute; 0 gives the minimum-norm least squares solution.
    rows : (n, k) bool, optional
        The rows to score, training or not, of each training set: all, unless given.

    Returns
    -------
    (k, m, L, n) array
        NaN for rows that are not to be scored. An empty support predicts y_mean. Covariates of the
        sets, which have no penalty, are in the scores of every row.

    Source: Mosci 2009, eq. 4.2, closed form with the factor n (section 4.5).
    """
    k, m = path.shape
    lam = np.atleast_2d(np.asarray(lam, float))
    lam = np.broadcast_to(lam, (k, lam.shape[1])).copy()
    scores, wanted = room_for_scores((k, m, lam.shape[1], len(sets.X), 1), rows)
    refit_all(sets, sets.padded.y[:, None], path, lam, sets.y_mean[:, None], scores, wanted)
    if sets.adjustment is not None:
        scores += sets.adjustment.scores(sets.of_y)[:, None, None, :, None]
    return scores[..., 0]


def room_for_scores(shape: tuple[int, ...], rows: Array | None) -> tuple[Array, Array]:
    """Return room for scores (k, m, L, n, T), and which rows are wanted, (k, n), from (n, k)."""
    if rows is None:
        return np.empty(shape), np.ones((shape[0], shape[3]), dtype=bool)
    return np.full(shape, np.nan), np.ascontiguousarray(rows.T)


def refit_all(
    sets: TrainingSets, Y: Array, path: Path, lam: Array, offset: Array, scores: Array,
    wanted: Array,
) -> None:  # fmt: skip
    """Fill scores (k, m, L, n, T) with refits to Y (k, T, N), which start from offset (k, T)."""
    lam, none = np.pad(lam, ((0, 0), (0, -lam.shape[1] % LANES)), mode="edge"), np.empty((0, 0, 1))
    out = Refits(scores, none, np.empty((len(lam), 0, 0, 1)), _left(path))
    _refit(sets, Y, path, lam, offset, wanted, out)


def refit_coef(sets: TrainingSets, path: Path, lam: Array | float) -> tuple[Array, Array]:
    """Return (values, intercept) of the refit, in the units of X.

    ``f(x) = intercept[k, m] + x[indices] @ values`` with the indices of the path; for samples with
    the mean of each covariate, see `covariate_coef`.

    Parameters
    ----------
    sets : TrainingSets
    path : Path
    lam : float or (k,) array
        Absolute.

    Returns
    -------
    values : (nnz,) array
        Aligned with `path.indices`.
    intercept : (k, m) array
    """
    values, constant = coef_all(sets, sets.padded.y[:, None], path, lam)
    return values[:, 0], sets.y_mean[:, None] + constant[:, :, 0]


def coef_all(sets: TrainingSets, Y: Array, path: Path, lam: Array | float) -> tuple[Array, Array]:
    """Return coefficients (nnz, T) and the constants (k, m, T) they leave, for Y (k, T, N)."""
    (k, m), T = path.shape, Y.shape[1]
    lam = np.repeat(np.broadcast_to(np.asarray(lam, float), (k,))[:, None], LANES, axis=1)
    out = Refits(
        np.empty((k, m, 0, 0, T)), np.empty((1, len(path.indices), T)), np.zeros((k, m, 1, T)),
        _left(path),
    )  # fmt: skip
    none, offset = np.zeros((k, 0), dtype=bool), np.zeros((k, T))
    _refit(sets, Y, path, lam, offset, none, out)
    return out.values[0], out.constant[:, :, 0]


def covariate_coef(
    sets: TrainingSets, path: Path, values: Array, of_y: Array | None = None
) -> Array:  # fmt: skip
    """Return gamma (k, m, q), what is added to a score being ``(c - mean) @ gamma[k, m]``.

    Least squares of what the features, with the `values` of `refit_coef`, leave of the response;
    mean (k, q) is that of the adjustment. Without covariates, q is 0. With values (nnz, T) of
    several responses `of_y` (k, q, T) is what the covariates say of these, and gamma (k, m, q, T).
    """
    (k, m), fixed = path.shape, sets.adjustment
    of_y = sets.of_y if of_y is None else of_y
    gamma = np.zeros((k, m, *of_y.shape[1:]))
    if fixed is None:
        return gamma
    for i in range(k):
        Q = fixed.columns(i)
        for j in range(m):
            part = slice(*path.indptr[i * m + j :][:2])
            seen = (fixed.root[:, i] * (sets.X[:, path.indices[part]] @ values[part]).T).T
            gamma[i, j] = fixed.turn[i] @ (of_y[i] - Q.T @ seen)
    return gamma


def _refit(
    sets: TrainingSets, Y: Array, path: Path, lam: Array, offset: Array, wanted: Array, out: Refits
) -> None:  # fmt: skip
    """Refit all supports; by singular values those for which some lam is next to nothing."""
    m = path.shape[1]
    refit_each(
        sets.matrix, sets.padded, Y, Lists(m, path.indptr, path.indices), lam, offset, wanted, out
    )
    for i, f in np.argwhere(out.left):
        part = slice(*path.indptr[i * m + f :][:2])
        one = Refits(
            out.scores[i, f : f + 1], out.values[:, part], out.constant[i, f : f + 1], out.left[i]
        )
        refit_singular(
            sets.matrix, part_of(sets.padded, i), Y[i], path.indices[part], lam[i], offset[i],
            wanted[i], one,
        )  # fmt: skip


def _left(path: Path) -> Array:
    return np.zeros(path.shape, dtype=np.int64)
