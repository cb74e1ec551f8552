"""``coordinate-descent``: one coefficient after the other, as in the lecture; for reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from genesig.arrays import Array
from genesig.compiled.coordinate import sweep
from genesig.optim.solution import Path, duality_gap
from genesig.optim.solvers.landweber import problems, sparse
from genesig.optim.training import TrainingSets

LONGEST = 10_000  # sweeps over all features after which the gap is given up
BETWEEN = 10  # sweeps from one look at the gap to the next


def coordinate_descent(
    sets: TrainingSets, tau: Array, mu: Array, tolerance: float, longest: int | None = None
) -> Path:
    """Solve every fit from its ridge solution, until the duality gap is within the tolerance.

    `longest` is not looked at: every fit starts by itself, and `path` leaves out what is too long.

    Source: de Freitas 2012, lecture on sparse regularization, whose delta² is n tau; mu, weights
    and the gap, in place of "until converged", are added, and constant features are skipped.
    """
    coefs = []
    shape = tau.shape
    gap = np.empty(shape)
    iterations = np.empty(shape, dtype=np.int64)
    for at, Z, y in problems(sets, shape):
        b, gap[at], iterations[at] = _descend(
            Z, y, float(tau[at]), float(mu[at]), sets.weights, tolerance
        )
        coefs.append(sparse(b))
    path = Path.of(shape, coefs, gap, iterations, tolerance)
    given_up = int(((iterations >= LONGEST) & ~path.converged).sum())
    if not given_up:
        return path
    sentence = f"coordinate descent was stopped after {LONGEST} sweeps in {given_up} fits"
    return replace(path, message="; ".join([sentence, path.message]))


def _descend(
    Z: Array, y: Array, tau: float, mu: float, weights: Array, tolerance: float
) -> tuple[Array, float, int]:
    """Return (b, gap, sweeps) of one fit, Z (n, d) standardised, y (n,)."""
    n = len(y)
    start = n * (tau + mu) or 1.0
    b = Z.T @ np.linalg.solve(Z @ Z.T + start * np.eye(n), y)
    r = y - Z @ b
    by_feature = np.ascontiguousarray(Z.T)
    for sweeps in range(0, LONGEST, BETWEEN):
        gap = duality_gap(Z, y, b, tau, mu, weights)
        if gap <= tolerance:
            return b, gap, sweeps
        sweep(by_feature, n * tau * weights / 2, n * mu, r, b, BETWEEN)
    return b, duality_gap(Z, y, b, tau, mu, weights), LONGEST
