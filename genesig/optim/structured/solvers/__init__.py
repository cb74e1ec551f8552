"""Solvers of problems with a penalty on blocks, one interface: ``structured_path``."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError, pick
from genesig.optim.structured.penalties import Penalty
from genesig.optim.structured.solution import Minimisers
from genesig.optim.structured.solvers.blocks import blocks
from genesig.optim.structured.solvers.projection import projection

SOLVERS = {"blocks": blocks, "projection": projection}


def structured_path(
    X: Array, Y: Array, penalty: Penalty, tau: Array, mu: float, *, solver: str = "blocks",
    tolerance: float = 1e-9,
) -> Minimisers:  # fmt: skip
    """Minimise ``(1/n)||Y - X B||² + mu ||B||² + tau Omega(B)`` for falling tau.

    Parameters
    ----------
    X : (n, d) array, centred
    Y : (n,) or (n, T) array, centred
    penalty : Penalty
        Where its blocks overlap and stand apart (latent overlap), mu is on the pieces.
    tau : (M,) array
        Absolute, positive and falling.
    mu : float
        Absolute.
    solver : str
        A name in `SOLVERS`: ``blocks`` is the exact default; ``projection`` the accelerated
        iterative projection of the thesis, the one for composite penalties.
    tolerance : float
        Largest duality gap, relative to ``||Y||²/n``, at which a fit counts as converged.

    Raises
    ------
    GenesigError
        For an unknown solver, or one that cannot take the penalty; for tau, mu or shapes that make
        no problem.
    """
    solve = pick("solver", SOLVERS, solver)
    X, Y, tau = (np.asarray(each, dtype=float) for each in (X, Y, tau))
    Y = Y[:, None] if Y.ndim == 1 else Y
    if len(X) != len(Y):
        raise GenesigError(f"X has {len(X)} rows, the response {len(Y)}")
    penalty.blocks.check(X.shape[1])
    if not ((tau > 0).all() and (np.diff(tau) <= 0).all() and mu >= 0):
        raise GenesigError("tau must be positive and falling, and mu >= 0")
    return solve(X, Y, penalty, tau, mu, tolerance)
