"""The solver for the shape of the data."""

from __future__ import annotations

from genesig.optim.nonlinear.instance import Instance
from genesig.optim.nonlinear.multipliers import Multipliers, certify
from genesig.optim.nonlinear.penalties import Penalty
from genesig.optim.nonlinear.solvers.admm import admm
from genesig.optim.nonlinear.solvers.compressed import compressed

DENSE_LIMIT = 5000
"""Largest n (d + 1) for a dense Cholesky factor: 0.2 GB and a second."""
PATIENCE = 500
"""Iterations of ADMM whose cost quicker steps may spend before their gap has stalled."""


def automatic(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> tuple[Multipliers, int]:
    """Use `compressed`, also for d ≤ n, where it takes fewer steps; `admm` where it stalls."""
    n, d = instance.X.shape
    if n * (d + 1) > DENSE_LIMIT:
        return compressed(instance, penalty, start, tolerance, max_iterations)
    # a solve with the factor takes 2 (n d)² flops, a step 6 n² (features of the step)
    dearer = d * d / (3 * min(d, 2 * n))
    patience = int(min(max(1000, PATIENCE * dearer), max_iterations / 2))
    q, steps = compressed(instance, penalty, start, tolerance, patience)
    squares = q.squares(instance.X)
    found = certify(instance.problem, penalty, instance.X, instance.inner, q, squares)
    if found.gap <= tolerance * instance.scale or steps >= max_iterations:
        return q, steps
    q, more = admm(instance, penalty, q, tolerance, max_iterations - steps)
    return q, steps + more
