"""Scores of all samples by ridge Cox regression on selected supports."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.cox.ridge import refitted
from genesig.optim.cox.training import CoxSets
from genesig.optim.solution import Path

Array = np.ndarray[Any, Any]


def ridge_scores(sets: CoxSets, path: Path, lam: Array | float) -> Array:
    """Return the scores ``z_A'b`` (k, m, L, n) of all rows.

    Features of weight 0 are not penalised here either; covariates are in the scores of every row. A
    support is fitted once.

    Parameters
    ----------
    sets : CoxSets
    path : Path
        Supports A of (k, m) fits. An empty one scores 0.
    lam : float or array that broadcasts to (k, L)
        Absolute.
    """
    lam = np.atleast_2d(np.asarray(lam, dtype=float))
    lam = np.broadcast_to(lam, (len(sets.risk), lam.shape[1]))
    scores = np.zeros((*path.shape, lam.shape[1], len(sets.sets.X)))
    for k in range(len(scores)):
        lists = [path.coef(k, m)[0] for m in range(path.shape[1])]
        known: dict[bytes, Array] = sets.once(("scores", k, lam[k].tobytes()), dict)
        for m, A in enumerate(lists):
            if (name := A.tobytes()) not in known:
                scores[k, m] = _scores(sets, k, A, lam[k])
                known[name] = scores[k, m]  # no copies are kept
            scores[k, m] = known[name]
    return scores


def _scores(sets: CoxSets, k: int, A: Array, lam: Array) -> Array:
    """Return the scores (L, n) of one list."""
    own, b = sets.sets, refitted(sets, k, A, lam).b
    scores = ((own.X[:, A] - own.mean[k, A]) * own.inverse_scale[k, A]) @ b[: len(A)]
    if sets.fixed is not None:
        scores += sets.fixed.basis[k].T @ b[len(A) :]
    return np.asarray(scores.T)
