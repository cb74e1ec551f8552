"""Norms of blocks as penalties, and two solvers of problems with them behind one function.

A penalty is a norm Omega. K = {g: Omega°(g) <= 1} is where its dual norm is at most 1, and the
proximal map at level l is the identity minus the projection on l K (Moreau). So one scheme serves
all of them.

Source: Mosci 2009, section 5.2 and table of section 5.4.

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
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol, cast

import numpy as np

from genesig.arrays import Array, row_squares
from genesig.errors import GenesigError, pick
from genesig.optim.structured.columns import Blocks
from genesig.optim.structured.path import block_path, check_levels
from genesig.optim.structured.solution import (
    DensePath,
    Minimisers,
    PenaltyCertificate,
    ResidualSums,
    duality_gap,
)

MAX_PROX_SWEEPS = 10_000  # largest number of sweeps of the block ascent
MAX_PROJECTION_STEPS = 50_000  # largest number of steps of a fit
STEPS_PER_CHECK = 10  # number of steps from one certificate to the next
INNER_TOLERANCE = 1e-6  # first inner tolerance; it falls with the third power of the steps


class Penalty(Protocol):
    """A norm of coefficients B (d, T)."""

    # whether it is a sum of norms of pieces V_k, one a block, whose sum is B
    separable: ClassVar[bool]

    @property
    def blocks(self) -> Blocks:
        """Return the blocks and their weights."""

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return Omega°(G), or an upper bound from `pieces` whose sum is about G."""


class Projected(Penalty, Protocol):
    """A penalty whose proximal map is known.

    `pieces` (memberships, T) are the parts of a point that belong to the blocks, as the projection
    found them: an iterative projection starts there.
    """

    def value(self, B: Array) -> float:
        """Return Omega(B)."""

    def prox(
        self, Z: Array, level: float, pieces: Array | None = None, tolerance: float = 1e-14
    ) -> tuple[Array, Array | None]:
        """Return argmin_B ||B - Z||²/2 + level Omega(B), and the pieces of the projection."""


@dataclass(frozen=True)
class Groups:
    """``Omega(B) = sum_k w_k ||B_k||`` over disjoint blocks of rows, with Frobenius norms.

    One row a block is the weighted lasso, with several responses the multi-task norm; a partition
    is the group lasso, with several responses over the groups of all tasks together. Rows in no
    block are not in the model.

    Raises GenesigError: for a row in two blocks.
    """

    blocks: Blocks
    separable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        rows, count = np.unique(self.blocks.members, return_counts=True)
        if (count > 1).any():
            raise GenesigError(
                f"column {rows[np.argmax(count)]}, counted from 0, is in {count.max()} groups;"
                " groups that overlap need the penalty 'latent' or 'composite'"
            )

    def value(self, B: Array) -> float:
        """Return the sum of the weighted norms."""
        return float(self.blocks.weights @ self.blocks.norms(B))

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return ``max_k ||G_k|| / w_k``."""
        return _largest_norm(self.blocks, G)

    def prox(
        self, Z: Array, level: float, pieces: Array | None = None, tolerance: float = 1e-14
    ) -> tuple[Array, None]:
        """Return ``(1 - level w_k / ||Z_k||)_+ Z_k``; 0 for rows in no block.

        In closed form, so that pieces and tolerance are not used.
        """
        blocks = self.blocks
        norms = blocks.norms(Z)
        thresholds = level * blocks.weights
        factor = np.maximum(1 - thresholds / np.where(norms > 0, norms, 1), 0)
        B = np.zeros_like(Z)
        B[blocks.members] = Z[blocks.members] * np.repeat(factor, blocks.sizes())[:, None]
        return B, None


@dataclass(frozen=True)
class LatentOverlap:
    r"""The latent overlap norm, of blocks of rows that may overlap: the support is a union of them.

        Omega(B) = min sum_k w_k ||V_k||  over  sum_k V_k = B, V_k on the rows of block k

    Source: Jacob, Obozinski, Vert 2009, Group lasso with overlap and graph lasso.
    """

    blocks: Blocks
    separable: ClassVar[bool] = True

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return ``max_k ||G_k|| / w_k``."""
        return _largest_norm(self.blocks, G)


def _largest_norm(blocks: Blocks, G: Array) -> float:
    """Return ``max_k ||G_k|| / w_k``."""
    return float((blocks.norms(G) / blocks.weights).max())


class DisjointBlocks(NamedTuple):
    """Blocks that do not overlap, so that the ascent can project all of them at once."""

    places: Array  # (p,) rows of the pieces (memberships, T) that belong to these blocks
    rows: Array  # (p,) rows of the coefficients
    starts: Array  # of the blocks, in `places`
    sizes: Array  # of the blocks
    weights: Array  # of the blocks


@dataclass(frozen=True)
class Composite:
    """``Omega(B) = sum_k w_k ||B_k||`` for blocks of the rows of B (d, T) that may overlap.

    Its zeros are a union of blocks: right for trees (a probe only with its gene, a gene only with
    its pathway). Source: Mosci 2009, section 5.4.3, with |b_j| where it prints b_j.
    """

    blocks: Blocks
    separable: ClassVar[bool] = False

    def value(self, B: Array) -> float:
        """Return the sum of the weighted norms."""
        return float(self.blocks.weights @ self._norms(B[self.blocks.members]))

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return a bound on ``min max_k ||U_k|| / w_k over sum U_k = G``.

        Pieces that nearly add up to G share what is missing; without them all of G is missing.

        Raises GenesigError: for a row in no block, where the penalty is no norm.
        """
        members = self.blocks.members
        count = np.bincount(self.blocks.members, minlength=len(G))
        if (count == 0).any():
            raise GenesigError(
                f"column {np.argmin(count)}, counted from 0, is in no group: give it one of its own"
            )
        known_pieces = np.zeros((len(members), G.shape[1])) if pieces is None else pieces
        U = (
            known_pieces
            + ((G - self._sum_of_pieces(known_pieces, len(G))) / count[:, None])[members]
        )
        return float((self._norms(U) / self.blocks.weights).max())

    def prox(
        self, Z: Array, level: float, pieces: Array | None = None, tolerance: float = 1e-14
    ) -> tuple[Array, Array]:
        """Return Z less its projection, a sum of pieces in balls, by exact block ascent.

        ``xi_k <- projection of (Z - sum_{l != k} xi_l)_k on ||.|| <= level w_k``, block after
        block, small ones first: where they are nested, one sweep is exact. It ends when the gap,
        ``level Omega(B) - <B, Z - B>``, is at most the tolerance, relative to ||Z||²/2.
        """
        projected = (
            np.zeros((len(self.blocks.members), Z.shape[1])) if pieces is None else pieces.copy()
        )
        B = Z - self._sum_of_pieces(projected, len(Z))
        absolute_tolerance = tolerance * float(np.vdot(Z, Z)) / 2
        for _ in range(MAX_PROX_SWEEPS):
            for layer in self._disjoint_layers:
                self._project(layer, level, B, projected)
            if level * self.value(B) - float(np.vdot(B, Z - B)) <= absolute_tolerance:
                break
        return B, projected

    def _project(self, layer: DisjointBlocks, level: float, B: Array, projected: Array) -> None:
        """Project the blocks of one layer, which do not overlap: update B and their pieces."""
        free = B[layer.rows] + projected[layer.places]
        norms = np.sqrt(np.add.reduceat(row_squares(free), layer.starts))
        factors = np.minimum(level * layer.weights / np.where(norms > 0, norms, np.inf), 1)
        projected[layer.places] = free * np.repeat(factors, layer.sizes)[:, None]
        B[layer.rows] = free - projected[layer.places]

    def _norms(self, stacked: Array) -> Array:
        """Return the norm of each block of stacked rows (memberships, T)."""
        return np.sqrt(np.add.reduceat(row_squares(stacked), self.blocks.starts[:-1]))

    def _sum_of_pieces(self, pieces: Array, d: int) -> Array:
        """Return the sum of the pieces on d rows, (d, T)."""
        total = np.zeros((d, pieces.shape[1]))
        np.add.at(total, self.blocks.members, pieces)
        return total

    @cached_property
    def _disjoint_layers(self) -> list[DisjointBlocks]:
        """Blocks from small to large, in layers whose blocks do not overlap."""
        blocks = self.blocks
        sizes = self.blocks.sizes()
        depth = np.zeros(blocks.members.max() + 1, dtype=int)
        layers = np.zeros(len(blocks), int)
        for k in np.argsort(sizes, kind="stable"):
            layers[k] = depth[blocks.columns(k)].max()
            depth[blocks.columns(k)] = layers[k] + 1
        return [
            self._disjoint_blocks(np.flatnonzero(layers == layer_number))
            for layer_number in range(layers.max() + 1)
        ]

    def _disjoint_blocks(self, block_numbers: Array) -> DisjointBlocks:
        """Return the record of some blocks."""
        blocks = self.blocks
        sizes = self.blocks.sizes()[block_numbers]
        places = np.concatenate(
            [np.arange(blocks.starts[k], blocks.starts[k + 1]) for k in block_numbers]
        )
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return DisjointBlocks(
            places, blocks.members[places], starts, sizes, blocks.weights[block_numbers]
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
