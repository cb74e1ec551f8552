"""Solvers of problems with penalties on blocks, one interface.

``projection``:

    B <- (I - projection on s tau K)(Y - s grad F(Y)),  s = 1 / (2||X'X||/n + 2 mu)

with F the squared loss and the ridge, K where the dual norm is at most 1, and Y the point ahead of
B as in Nesterov's scheme, which starts again where it goes uphill. A reference: on data with more
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
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.path import block_path
from genesig.optim.structured.penalties import Groups, Penalty, Projected, row_squares
from genesig.optim.structured.solution import (
    Certified,
    DensePath,
    Minimisers,
    Residual,
    duality_gap,
)


def blocks(
    X: Array, Y: Array, penalty: Penalty, tau: Array, mu: float, tolerance: float
) -> Minimisers:
    """Solve for a penalty whose blocks stand apart."""
    if not penalty.apart:
        raise GenesigError(
            "the solver 'blocks' cannot take a penalty whose zeros are a union of blocks;"
            " use the solver 'projection'"
        )
    return block_path(X, Y, penalty.blocks, tau, mu, tolerance=tolerance)


STEPS = 50_000
CHECK = 10  # steps from one certificate to the next
INNER = 1e-6  # of the first inner tolerance; it falls with the third power of the steps


def projection(
    X: Array, Y: Array, penalty: Penalty, tau: Array, mu: float, tolerance: float
) -> Minimisers:
    """Solve for any penalty; its pieces, where they stand apart, on columns of their own."""
    members = penalty.blocks.members
    places = members if penalty.apart else np.arange(X.shape[1])
    norm = cast(Projected, penalty)
    if penalty.apart:
        norm = Groups(replace(penalty.blocks, members=np.arange(len(members))))
    problem = _Problem(X[:, places], Y, norm, mu)
    here = _Here(np.zeros((len(places), Y.shape[1])), None, np.inf, 0)
    fits = []
    for t in tau:
        here = _solve(problem, float(t), here, tolerance)
        fits.append(here)
    coefs = np.zeros((len(tau), X.shape[1], Y.shape[1]))
    for m, fit in enumerate(fits):
        np.add.at(coefs[m], places, fit.B)
    norms = np.array([_norms(penalty.blocks, fit.B) for fit in fits])
    gap = np.array([fit.gap for fit in fits])
    steps = np.array([fit.steps for fit in fits])
    return DensePath.of(tau, coefs, norms, gap, steps, tolerance)


def _norms(blocks: Blocks, B: Array) -> Array:
    return np.sqrt(blocks.sums(row_squares(B)))


@dataclass(frozen=True)
class _Here:
    """Coefficients, the pieces of the last projection, their gap, and the steps to them."""

    B: Array
    pieces: Array | None
    gap: float
    steps: int


@dataclass(frozen=True)
class _Problem:
    """What one path is about: X (n, d), Y (n, T), the penalty and mu."""

    X: Array
    Y: Array
    penalty: Projected
    mu: float

    def step(self) -> float:
        """Return s."""
        gram = self.X @ self.X.T if len(self.X) < self.X.shape[1] else self.X.T @ self.X
        return 1 / (2 * float(np.linalg.norm(gram, 2)) / len(self.X) + 2 * self.mu)

    def descent(self, B: Array) -> Array:
        """Return -grad F(B)."""
        residual = self.Y - self.X @ B
        return np.asarray(2 / len(self.X) * (self.X.T @ residual) - 2 * self.mu * B)

    def gap(self, B: Array, tau: float, pieces: Array | None) -> float:
        """Return the duality gap; the pieces are those of the gradient."""
        r = self.Y - self.X @ B
        g = self.descent(B)
        n = len(self.X)
        found = Certified(
            value=tau * self.penalty.value(B),
            along=float(np.vdot(B, g)),
            dual=self.penalty.dual(g, pieces),
            square=float(np.vdot(B, B)),
        )
        along, square, scale = (
            float(np.vdot(*each)) for each in ((self.Y, r), (r, r), (self.Y, self.Y))
        )
        return duality_gap(found, tau, self.mu, Residual(n, along, square, scale))


def _solve(problem: _Problem, tau: float, start: _Here, tolerance: float) -> _Here:
    """Iterate until the gap is small, or to the last step."""
    s = problem.step()
    B = start.B
    pieces = start.pieces
    t = 1.0
    gap = np.inf
    ahead = B
    for step in range(1, STEPS + 1):
        inner = max(INNER / step**3, 1e-15)
        point = ahead + s * problem.descent(ahead)
        new, pieces = problem.penalty.prox(point, s * tau, pieces, inner)
        uphill = np.vdot(ahead - new, new - B) > 0
        following = 1.0 if uphill else (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead = new + (0.0 if uphill else (t - 1) / following) * (new - B)
        B = new
        t = following
        if step % CHECK == 0:
            gap = problem.gap(B, tau, None if pieces is None else pieces / s)
            if gap <= tolerance:
                break
    return _Here(B, pieces, gap, step)


SOLVERS = {"blocks": blocks, "projection": projection}


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
