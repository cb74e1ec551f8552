"""Solvers of the l1-l2 problem, one interface: ``path``."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError, pick
from genesig.optim.solution import Path
from genesig.optim.solvers.newton import landweber_newton
from genesig.optim.solvers.reference import coordinate_descent, landweber, landweber_nested
from genesig.optim.structured.stretches import stretch_path
from genesig.optim.training import TrainingSets

SOLVERS = {
    "coordinate-descent": coordinate_descent,
    "landweber": landweber,
    "landweber-nested": landweber_nested,
    "landweber-newton": landweber_newton,
}


def path(
    sets: TrainingSets,
    tau: Array | float,
    mu: Array | float,
    *,
    solver: str,
    tolerance: float,
    longest: int | None = None,
) -> Path:
    """Minimise ``(1/n)||y - Zb||² + mu ||b||² + tau sum_j w_j |b_j|`` for every training set.

    Where the sets have an order of their features, the norm is that of its stretches instead.

    tau, mu (broadcast to (k, m)): absolute; the weights w are those of the sets. landweber-newton
        starts each fit at the solution of the one before it in its row. The other solvers start
        each fit alone, as published: from 0 or from ridge.
    solver: a name in `SOLVERS`; stretches have a solver of their own.
    tolerance: largest duality gap, relative to ``||y||²/n``, at which a fit counts as converged.
    longest, optional: a training set's row ends before its first fit of more features than this.
        What follows is left out; landweber-newton does not even compute it.

    Raises GenesigError: for an unknown solver, or tau and mu that leave the problem undetermined.
    """
    solver_function = pick("solver", SOLVERS, solver) if sets.stretches is None else stretch_path
    tau, mu = broadcast_levels(sets, tau, mu)
    return solver_function(sets, tau, mu, tolerance, longest).end_rows(longest)


def broadcast_levels(
    sets: TrainingSets, tau: Array | float, mu: Array | float
) -> tuple[Array, Array]:
    """Return tau and mu, each (k, m); raise if they leave the problem undetermined."""
    k = len(sets.y_mean)
    tau = np.atleast_2d(np.asarray(tau, float))
    mu = np.atleast_2d(np.asarray(mu, float))
    m = np.broadcast_shapes(tau.shape, mu.shape)[1]
    tau = np.broadcast_to(tau, (k, m))
    mu = np.broadcast_to(mu, (k, m))
    if not ((tau >= 0).all() and (mu >= 0).all() and np.isfinite(tau + mu).all()):
        raise GenesigError("tau and mu must be finite numbers >= 0")
    if ((tau == 0) & (mu == 0) & (sets.tau_max[:, None] > 0)).any():
        raise GenesigError("tau = 0 with mu = 0 leaves the coefficients undetermined: raise one")
    return tau, mu
