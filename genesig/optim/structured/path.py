r"""The block solver: one algorithm for every penalty that is a sum of norms of blocks.

    min_v (1/n)||Y - sum_k A_k v_k||² + mu sum_k ||v_k||² + tau sum_k w_k ||v_k||

One column a block is the lasso (with several responses the multi-task lasso), a partition the group
lasso, overlapping blocks the latent overlap norm. There mu is on the pieces v_k, not on their sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.errors import GenesigError
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.columns import Columns, Layout
from genesig.optim.structured.solution import BlockPath, Fit
from genesig.optim.structured.walk import Level, Walk

Array = np.ndarray[Any, Any]

ROUNDS = 100
MEMORY = 100e6  # bytes of Gram matrices of all responses that are solved together, about
BLOCKS = 60  # of which a response is taken to have some


def tau_max(X: Array, Y: Array, blocks: Blocks) -> float:
    """Return the smallest tau that selects nothing: ``max_k (2/n)||A_k'Y|| / w_k``."""
    return float(tau_maxima(Columns(X, blocks), _responses(Y)[None])[0])


def tau_maxima(design: Layout, responses: Array) -> Array:
    """Return `tau_max` of each of P responses (P, n, T), (P,)."""
    norms = np.sqrt(design.squares(responses)) / design.weights
    return np.asarray(2 / responses.shape[1] * norms.max(axis=1))


def block_path(
    X: Array, Y: Array, blocks: Blocks, tau: Array, mu: float, *, tolerance: float = 1e-9,
    most: int | None = None,
) -> BlockPath:  # fmt: skip
    """Minimise for falling tau, each fit started at the one before.

    Parameters
    ----------
    X : (n, d) array, centred
    Y : (n,) or (n, T) array, centred
    blocks : Blocks
    tau : (M,) array
        Absolute, positive and falling.
    mu : float
        Absolute.
    tolerance : float
        Largest duality gap, relative to ``||Y||²/n``.
    most : int, optional
        The path ends before its first fit of more blocks than this.

    Raises
    ------
    GenesigError
        For tau that is not positive and falling, or shapes that do not fit.
    """
    Y, tau = _responses(Y), np.asarray(tau, dtype=float)
    design = Columns(X, blocks)
    return block_paths(design, Y[None], tau[None], mu, tolerance=tolerance, most=most)[0]


def block_paths(
    design: Layout, responses: Array, tau: Array, mu: float, *, tolerance: float = 1e-9,
    most: int | None = None,
) -> list[BlockPath]:  # fmt: skip
    """Solve for P responses at once, whose certificates share their products with X.

    Parameters
    ----------
    design : Layout
    responses : (P, n, T) array, centred
    tau : (P, M) array
    mu, tolerance, most
        As in `block_path`.
    """
    if not ((tau > 0).all() and (np.diff(tau) <= 0).all() and mu >= 0):
        raise GenesigError("tau must be positive and falling, and mu >= 0")
    if responses.shape[1] != design.n:
        raise GenesigError(f"X has {design.n} rows, the response {responses.shape[1]}")
    size, paths = max(1, int(MEMORY / (8 * BLOCKS * design.n**2))), []
    for first in range(0, len(responses), size):
        which = range(first, min(first + size, len(responses)))
        walks = [Walk(design, p, responses[p], tolerance) for p in which]
        fits = walk_together(walks, tau[which], np.full((len(which), tau.shape[1]), mu), most)
        paths += [BlockPath.of(design, tau[p], fit, tolerance)
                  for p, fit in zip(which, fits, strict=True)]  # fmt: skip
    return paths


def walk_together(
    walks: list[Walk], tau: Array, mu: Array, most: int | None, groups: Array | None = None
) -> list[list[Fit]]:
    """Take P walks along tau and mu (P, M), each as far as its fits have at most `most` blocks.

    Where one ends, so do the others of its group (P,).
    """
    fits: list[list[Fit]] = [[] for _ in walks]
    going, groups = list(range(len(walks))), np.arange(len(walks)) if groups is None else groups
    for m in range(tau.shape[1]):
        for p in going:
            walks[p].begin(Level(tau[p, m], mu[p, m]))
        _solve([walks[p] for p in going])
        found = {p: walks[p].fit() for p in going}
        long = {groups[p] for p in going if most is not None and len(found[p].blocks) > most}
        going = [p for p in going if groups[p] not in long]
        for p in going:
            fits[p].append(found[p])
    return fits


def _solve(walks: list[Walk]) -> None:
    """Bring each walk to its level: blocks join its working set until the gap is small."""
    for _ in range(ROUNDS):
        if not walks:
            return
        for walk in walks:
            walk.descend()
        alphas, which = np.stack([walk.alpha for walk in walks]), [walk.s for walk in walks]
        q = np.sqrt(walks[0].design.squares(alphas, which))
        walks = [walk for walk, norms in zip(walks, q, strict=True) if not walk.certified(norms)]


def _responses(Y: Array) -> Array:
    Y = np.asarray(Y, dtype=float)
    return Y[:, None] if Y.ndim == 1 else Y
