"""Alg1: forward steps on f, each followed by a projection problem for the multipliers.

    f <- prox of Ω/(2σ) at f - (1/2σ) ∇(loss + ν||f||²), σ ≥ λ_max(K)/n + ν

Forward, in weights: α <- (1 - ν/σ) α - (f - y)/(n σ), b = (1 - ν/σ) β. The prox is f - Z*q/(2σ),
β = b - q/(2σ), with q from an accelerated projected gradient over all blocks at once, warm
started, its gradient being the partial derivatives of f - Z*q/(2σ).

The forward step is 1/σ times S*(Sf - y), not 1/(2σ) as printed: the printed iteration solves the
problem with tau doubled. Blocks are coupled, so the printed loop over j around the inner
iteration does not converge to the prox either.

Source: Rosasco et al. (2010), algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.optim.kernels import directional, pull, values
from genesig.optim.nonlinear.instance import Instance
from genesig.optim.nonlinear.metric import MARGIN, largest_eigenvalue
from genesig.optim.nonlinear.multipliers import Multipliers, gap
from genesig.optim.nonlinear.penalties import Penalty
from genesig.optim.nonlinear.problem import Problem

INNER_STEPS = 500
"""Most steps of one inner problem, and the forward steps between two looks at the gap."""
LOOK_EVERY = 5
INNER_LOOK = 10
"""Inner steps between two looks at their gap, each of which must bring it down."""
INNER_SHARE = 1e-3
"""Gap of an inner problem over the gap that is asked for."""


@dataclass(frozen=True)
class _Function:
    """f by its weights α (n,) and β (d, n)."""

    alpha: Array
    beta: Array

    def plus(self, other: _Function, times: float) -> _Function:
        """Return f + times (f - other)."""
        return _Function(
            self.alpha + times * (self.alpha - other.alpha),
            self.beta + times * (self.beta - other.beta),
        )


def projection(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> tuple[Multipliers, int]:
    """Solve for one tau by the accelerated Alg1; kept as the reference it was published as."""
    X, problem = instance.X, instance.problem
    n, nu = problem.n, problem.nu
    sigma = float(problem.eigenvalues[-1]) / n * MARGIN + nu
    inner_step = 2 * sigma / (MARGIN * _gradient_norm(problem, X))
    q = penalty.within(start.dense(X))
    found = _Function(problem.expand(X @ q).alpha, -q / (2 * nu))
    ahead, t, accuracy = found, 1.0, INNER_SHARE * tolerance * instance.scale
    for iteration in range(1, max_iterations + 1):
        f = _values(problem, X, ahead)
        shrunk = _Function(
            (1 - nu / sigma) * ahead.alpha - (f - problem.y) / (n * sigma),
            (1 - nu / sigma) * ahead.beta,
        )
        new = _backward(problem, penalty, X, shrunk, q, sigma, inner_step, accuracy)
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead, t, found = new.plus(found, (t - 1) / following), following, new
        if iteration % LOOK_EVERY == 0:
            if gap(penalty, q, problem.gradient(X, q)) <= tolerance * instance.scale:
                return Multipliers.full(q), iteration
            if iteration % INNER_STEPS == 0:
                ahead, t = found, 1.0
    return Multipliers.full(q), max_iterations


def _backward(
    problem: Problem,
    penalty: Penalty,
    X: Array,
    f: _Function,
    q: Array,
    sigma: float,
    step: float,
    accuracy: float,
) -> _Function:
    """Return the prox of Ω/(2σ) at f; q is the start and is overwritten by its multipliers.

    Accelerated as published, and restarted where a step turns back (O'Donoghue and Candès 2015).
    """
    z, t, before = q.copy(), 1.0, np.inf
    for step_number in range(1, INNER_STEPS + 1):
        phi = _derivatives(problem, X, _Function(f.alpha, f.beta - z / (2 * sigma)))
        new = penalty.prox_conjugate(z + step * phi, step)
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        back = np.vdot(z - new, new - q) > 0
        t, momentum = (1.0, 0.0) if back else (following, (t - 1) / following)
        z = new + momentum * (new - q)
        q[:] = new
        if step_number % INNER_LOOK == 0:
            phi = _derivatives(problem, X, _Function(f.alpha, f.beta - q / (2 * sigma)))
            inner = gap(penalty, q, phi)
            if inner >= 0.99 * before or inner <= accuracy:
                break
            before = inner
    return _Function(f.alpha, f.beta - q / (2 * sigma))


def _direction(problem: Problem, X: Array, f: _Function) -> Array:
    U = X @ f.beta
    return directional(problem.table, U, np.diag(U))


def _values(problem: Problem, X: Array, f: _Function) -> Array:
    return values(problem.table, _direction(problem, X, f), f.alpha)


def _derivatives(problem: Problem, X: Array, f: _Function) -> Array:
    E = pull(problem.table, _direction(problem, X, f), f.alpha)
    if problem.table.stationary:
        E[np.diag_indices(problem.n)] -= E.sum(axis=1)
    out: Array = f.beta @ problem.table.first + X.T @ E.T
    return out


def _gradient_norm(problem: Problem, X: Array) -> float:
    """λ_max(L)."""
    nothing = np.zeros(problem.n)
    return largest_eigenvalue(lambda q: _derivatives(problem, X, _Function(nothing, q)), X)
