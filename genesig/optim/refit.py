"""Ridge refit (regularised least squares) on selected supports."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.compiled import ridge
from genesig.optim.compiled.lanes import LANES
from genesig.optim.solution import Path
from genesig.optim.training import TrainingSets, padded

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
    lam = np.broadcast_to(lam, (k, lam.shape[1])).copy()
    masks, responses, number = _columns(sets)
    scores, none = np.empty((k, m, lam.shape[1], len(sets.X))), np.empty((0, 0))
    lam = np.pad(lam, ((0, 0), (0, -lam.shape[1] % LANES)), mode="edge")
    for i in range(k):
        indptr, features, places = _supports(path, i * m, (i + 1) * m)
        ridge.refit(
            sets.features, sets.shift, indptr, features, places, masks[i], responses[i], number[i],
            lam[i], sets.y_mean[i], scores[i], none, none,
        )  # fmt: skip
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
    masks, responses, number = _columns(sets)
    values, intercept = np.zeros((1, len(path.values))), np.tile(sets.y_mean[:, None], (1, m))
    none, constant = np.empty((0, 0, 0)), np.empty((1, 1))
    for (i, j), weight in np.ndenumerate(lam):
        first, last = path.indptr[i * m + j :][:2]
        if first < last:
            ridge.refit(
                sets.features, sets.shift, *_supports(path, i * m + j, i * m + j + 1), masks[i],
                responses[i], number[i], np.full(LANES, weight), 0.0, none,
                values[:, first:last], constant,
            )  # fmt: skip
            intercept[i, j] += constant[0, 0]
    return values[0], intercept


def _supports(path: Path, first: int, last: int) -> tuple[Array, Array, Array]:
    """Return indptr, the features of some fits, and the places of each support among them."""
    indptr = path.indptr[first : last + 1]
    features, places = np.unique(path.indices[indptr[0] : indptr[-1]], return_inverse=True)
    return indptr - indptr[0], features, places


def _columns(sets: TrainingSets) -> tuple[Array, Array, Array]:
    """Return masks and responses (k, N) and (rows, centre, scale) (k, 3)."""
    width = sets.features.shape[1]
    number = np.tile([0.0, sets.centre, sets.unit_variance], (len(sets.y_mean), 1))
    number[:, 0] = sets.counts
    return padded(sets.rows.T, width), padded(sets.Y.T, width), number
