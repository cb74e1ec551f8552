"""Scores of all samples by ridge Cox regression on selected supports: all of a set in one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.cox.ridge import fitted, refitted
from genesig.optim.cox.training import CoxSets
from genesig.optim.solution import Path

Array = np.ndarray[Any, Any]

WIDE = 2.5
"""Genes for each sample, beyond which a support is first turned into as many as the samples."""


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
        new = {A.tobytes(): A for A in lists if A.tobytes() not in known}
        every = known | _new(sets, k, new, lam[k])
        scores[k] = [every[A.tobytes()] for A in lists]
        known |= {A.tobytes(): scores[k, m] for m, A in enumerate(lists)}  # no copies are kept
    return scores


def _new(sets: CoxSets, k: int, lists: dict[bytes, Array], lam: Array) -> dict[bytes, Array]:
    usual, found = [], {}
    for name, A in lists.items():
        if lam.min() > 0 and len(A) <= WIDE * len(sets.rows[k]) and sets.sets.weights[A].all():
            usual.append(name)
        else:
            found[name] = _alone(sets, k, A, lam)
    of_usual = _together(sets, k, [lists[name] for name in usual], lam)
    return found | dict(zip(usual, of_usual, strict=True))


def _alone(sets: CoxSets, k: int, A: Array, lam: Array) -> Array:
    """Return the scores (L, n) of one list."""
    b = refitted(sets, k, A, lam, certified=False).b
    Z = (sets.sets.X[:, A] - sets.sets.mean[k, A]) * sets.sets.inverse_scale[k, A]
    return _with_covariates(sets, k, (Z @ b[: len(A)]).T, b[len(A) :].T)


def _together(sets: CoxSets, k: int, lists: list[Array], lam: Array) -> Array:
    """Return the scores (S, L, n) of lists whose genes all have a penalty."""
    free, back = sets.span(k)
    rows = sets.by_row(k, np.zeros(0, dtype=np.int64), free)
    out = fitted(sets.risk[k], sets.features(k), rows, lists, lam, sets.ease(k))
    return _with_covariates(sets, k, out.scores[..., : len(sets.sets.X)], out.held @ back.T)


def _with_covariates(sets: CoxSets, k: int, scores: Array, a: Array) -> Array:
    return scores if sets.fixed is None else scores + a @ sets.fixed.basis[k]
