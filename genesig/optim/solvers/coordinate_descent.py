"""``coordinate-descent``: one coefficient after the other, as in the lecture; for reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from genesig.arrays import Array
from genesig.compiled.coordinate import sweep_lasso
from genesig.optim.solution import Path, duality_gap
from genesig.optim.solvers.landweber import each_problem, nonzero_entries
from genesig.optim.training import TrainingSets

MAX_SWEEPS = 10_000  # number of sweeps over all features after which a fit is given up
SWEEPS_PER_CHECK = 10  # number of sweeps from one check of the gap to the next


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
    for index, Z, y in each_problem(sets, shape):
        b, gap[index], iterations[index] = _descend_one(
            Z, y, float(tau[index]), float(mu[index]), sets.weights, tolerance
        )
        coefs.append(nonzero_entries(b))
    path = Path.from_coefs(shape, coefs, gap, iterations, tolerance)
    n_given_up = int(((iterations >= MAX_SWEEPS) & ~path.converged).sum())
    if not n_given_up:
        return path
    message = f"coordinate descent was stopped after {MAX_SWEEPS} sweeps in {n_given_up} fits"
    return replace(path, message="; ".join([message, path.message]))


def _descend_one(
    Z: Array, y: Array, tau: float, mu: float, weights: Array, tolerance: float
) -> tuple[Array, float, int]:
    """Return b, gap and number of sweeps of one fit, for Z (n, d) standardised and y (n,)."""
    n = len(y)
    start_ridge = n * (tau + mu) or 1.0
    b = Z.T @ np.linalg.solve(Z @ Z.T + start_ridge * np.eye(n), y)
    r = y - Z @ b
    features = np.ascontiguousarray(Z.T)
    for sweeps in range(0, MAX_SWEEPS, SWEEPS_PER_CHECK):
        gap = duality_gap(Z, y, b, tau, mu, weights)
        if gap <= tolerance:
            return b, gap, sweeps
        sweep_lasso(features, n * tau * weights / 2, n * mu, r, b, SWEEPS_PER_CHECK)
    return b, duality_gap(Z, y, b, tau, mu, weights), MAX_SWEEPS
