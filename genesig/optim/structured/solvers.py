"""Solvers of problems with penalties on blocks, one interface.

``projection``:

    B <- (I - projection on s tau K)(Y - s grad F(Y)),  s = 1 / (2||X'X||/n + 2 mu)

F is the squared loss with the ridge, K the set where the dual norm is at most 1, and Y the point
ahead of B as in Nesterov's scheme, which restarts if it goes uphill. It is a reference: with more
columns than samples it takes thousands of steps where the block solver takes ten.

Source: Mosci 2009, Algorithm 3 (its Algorithms 4, 5, 6, 8 and 9 are the cases), with tau/n for its
2 tau; of Algorithm 6 the projection goes on from where it was, instead of from 0. Restart:
O'Donoghue, Candès 2015.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError, pick
from genesig.optim.structured.path import block_path, check_levels
from genesig.optim.structured.penalties import Groups, Penalty, Projected
from genesig.optim.structured.solution import (
    DensePath,
    Minimisers,
    PenaltyCertificate,
    ResidualSums,
    duality_gap,
)


def solve_blocks(
    X: Array, Y: Array, penalty: Penalty, tau: Array, mu: float, tolerance: float
) -> Minimisers:
    """Return the minimisers of a separable penalty, by the block solver."""
    if not penalty.separable:
        raise GenesigError(
            "the solver 'blocks' cannot take a penalty whose zeros are a union of blocks;"
            " use the solver 'projection'"
        )
    return block_path(X, Y, penalty.blocks, tau, mu, tolerance=tolerance)


MAX_PROJECTION_STEPS = 50_000  # largest number of steps of a fit
STEPS_PER_CHECK = 10  # number of steps from one certificate to the next
INNER_TOLERANCE = 1e-6  # first inner tolerance; it falls with the third power of the steps


def solve_by_projection(
    X: Array, Y: Array, penalty: Penalty, tau: Array, mu: float, tolerance: float
) -> Minimisers:
    """Return the minimisers of any penalty; pieces of a separable one have columns of their own."""
    members = penalty.blocks.members
    columns = members if penalty.separable else np.arange(X.shape[1])
    norm = cast(Projected, penalty)
    if penalty.separable:
        norm = Groups(replace(penalty.blocks, members=np.arange(len(members))))
    problem = _Problem(X[:, columns], Y, norm, mu)
    solution = _Iterate(np.zeros((len(columns), Y.shape[1])), None, np.inf, 0)
    fits = []
    for tau_value in tau:
        solution = _solve(problem, float(tau_value), solution, tolerance)
        fits.append(solution)
    coefs = np.zeros((len(tau), X.shape[1], Y.shape[1]))
    for m, fit in enumerate(fits):
        np.add.at(coefs[m], columns, fit.B)
    norms = np.array([norm.blocks.norms(fit.B) for fit in fits])
    gap = np.array([fit.gap for fit in fits])
    steps = np.array([fit.steps for fit in fits])
    return DensePath.from_coefs(tau, coefs, norms, gap, steps, tolerance)


@dataclass(frozen=True)
class _Iterate:
    """A point of the iteration."""

    B: Array  # (d, T) coefficients
    pieces: Array | None  # pieces of the last projection
    gap: float  # relative
    steps: int  # number of steps so far


@dataclass(frozen=True)
class _Problem:
    """The problem of one path."""

    X: Array  # (n, d)
    Y: Array  # (n, T)
    penalty: Projected
    mu: float

    def step(self) -> float:
        """Return the step size s."""
        gram = self.X @ self.X.T if len(self.X) < self.X.shape[1] else self.X.T @ self.X
        return 1 / (2 * float(np.linalg.norm(gram, 2)) / len(self.X) + 2 * self.mu)

    def descent(self, B: Array) -> Array:
        """Return -grad F(B), (d, T)."""
        residual = self.Y - self.X @ B
        return np.asarray(2 / len(self.X) * (self.X.T @ residual) - 2 * self.mu * B)

    def gap(self, B: Array, tau: float, pieces: Array | None) -> float:
        """Return the duality gap; `pieces` are those of the gradient."""
        r = self.Y - self.X @ B
        g = self.descent(B)
        n = len(self.X)
        certificate = PenaltyCertificate(
            value=tau * self.penalty.value(B),
            b_g=float(np.vdot(B, g)),
            dual=self.penalty.dual(g, pieces),
            square=float(np.vdot(B, B)),
        )
        y_r, r_r, y_y = (float(np.vdot(*pair)) for pair in ((self.Y, r), (r, r), (self.Y, self.Y)))
        return duality_gap(certificate, tau, self.mu, ResidualSums(n, y_r, r_r, y_y))


def _solve(problem: _Problem, tau: float, start: _Iterate, tolerance: float) -> _Iterate:
    """Return the iterate at which the gap is small, or after the last step."""
    step_size = problem.step()
    B = start.B
    pieces = start.pieces
    momentum = 1.0
    gap = np.inf
    extrapolated = B
    for step in range(1, MAX_PROJECTION_STEPS + 1):
        inner_tolerance = max(INNER_TOLERANCE / step**3, 1e-15)
        point = extrapolated + step_size * problem.descent(extrapolated)
        new_B, pieces = problem.penalty.prox(point, step_size * tau, pieces, inner_tolerance)
        goes_uphill = np.vdot(extrapolated - new_B, new_B - B) > 0
        next_momentum = 1.0 if goes_uphill else (1 + np.sqrt(1 + 4 * momentum * momentum)) / 2
        extrapolated = new_B + (0.0 if goes_uphill else (momentum - 1) / next_momentum) * (
            new_B - B
        )
        B = new_B
        momentum = next_momentum
        if step % STEPS_PER_CHECK == 0:
            gap = problem.gap(B, tau, None if pieces is None else pieces / step_size)
            if gap <= tolerance:
                break
    return _Iterate(B, pieces, gap, step)


BLOCK_SOLVERS = {"blocks": solve_blocks, "projection": solve_by_projection}


def structured_path(
    X: Array,
    Y: Array,
    penalty: Penalty,
    tau: Array,
    mu: float,
    *,
    solver: str = "blocks",
    tolerance: float = 1e-9,
) -> Minimisers:
    """Minimise ``(1/n)||Y - X B||² + mu ||B||² + tau Omega(B)`` for falling tau.

    X (n, d), centred.
    Y (n,) or (n, T), centred.
    penalty: where its blocks overlap and stand apart (latent overlap), mu is on the pieces.
    tau (M,): absolute, positive and falling.
    mu: absolute.
    solver: a name in `BLOCK_SOLVERS`: ``blocks`` is the exact default; ``projection`` is the
        accelerated iterative projection of the thesis, for composite penalties.
    tolerance: largest duality gap, relative to ``||Y||²/n``, at which a fit counts as converged.

    Raises GenesigError: for an unknown solver, or one that cannot take the penalty; for tau, mu or
    shapes that make no problem.
    """
    solver_function = pick("solver", BLOCK_SOLVERS, solver)
    X, Y, tau = (np.asarray(array, dtype=float) for array in (X, Y, tau))
    Y = Y[:, None] if Y.ndim == 1 else Y
    if len(X) != len(Y):
        raise GenesigError(f"X has {len(X)} rows, the response {len(Y)}")
    penalty.blocks.check(X.shape[1])
    check_levels(tau, mu)
    return solver_function(X, Y, penalty, tau, mu, tolerance)
