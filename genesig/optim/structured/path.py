"""The block solver: one algorithm for every penalty that is a sum of norms of blocks.

    min_v (1/n)||Y - sum_k A_k v_k||² + mu sum_k ||v_k||² + tau sum_k w_k ||v_k||

One column a block is the lasso (with several responses the multi-task lasso), a partition the group
lasso, overlapping blocks the latent overlap norm. There mu is on the pieces v_k, not on their sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.leaders import leading_rows
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.columns import Columns, Design, Layout
from genesig.optim.structured.newton import Problem, minimise
from genesig.optim.structured.solution import BlockPath, Fit, Norms, block_gap, residual

FEWEST = 10  # blocks that join at once
ROOM = 32  # blocks there is room for at first
SLACK = 1e-11  # share of tau by which what is missed must exceed it


class Level(NamedTuple):
    """What is fixed at one step of the path: tau and mu, absolute."""

    tau: float
    mu: float


class Walk:
    """The working set, its rho, and how far all blocks are from it.

    Attributes
    ----------
    alpha : (N, T)
        Residuals over n, 0 on samples that are not in the training set; what is not in the working
        set is judged by its ``||A_k'alpha||``.
    """

    def __init__(self, design: Design, s: int, Y: Array, tolerance: float) -> None:
        self.design = design
        self.s = s
        self.Y = Y
        self.tolerance = tolerance
        self.inside = design.inside(s)
        self.alpha = np.zeros((design.n, Y.shape[1]))
        self.alpha[self.inside] = Y / len(Y)
        self.set = np.zeros(0, dtype=np.int64)
        self.level = Level(np.inf, 0.0)
        self.rho, self.e, self.norms = np.zeros((3, 0))
        n = len(Y)
        self.room = np.empty((ROOM, n if design.single else n * (n + 1) // 2))
        self.pieces = np.zeros((0, Y.shape[1]))
        self.q = np.zeros(len(design.weights))
        self.before = np.inf, self.q  # the last but one tau, and rho of all blocks there
        self.steps = 0
        self.gap = np.inf

    def begin(self, level: Level) -> None:
        """Go on to the next level with the blocks chosen, and those that the strong rule expects.

        Each rho starts where the line through its last two values leads, not below half the last.
        """
        kept = np.flatnonzero(self.rho)
        now = np.zeros(len(self.q))
        tau = level.tau
        now[self.set] = self.rho
        last = self.level.tau
        (came, before) = self.before
        self.level = level
        self.steps = 0
        self.before = (last, now)
        self.set, self.rho = self.set[kept], self.rho[kept]
        for place, k in enumerate(kept):
            if place < k:
                self.room[place] = self.room[k]
        if len(kept):
            ahead = now + (now - before) * ((tau - last) / (last - came) if came > last else 0)
            self.rho = np.maximum(ahead, now / 2)[self.set]
            self._admit(2 * self.q > self.design.weights * (2 * tau - last))

    def go_on(self, level: Level, blocks: Array, rho: Array) -> None:
        """Begin at a level with some blocks and their rho."""
        self.level = level
        self._let_in(blocks)
        self.rho = rho

    def descend(self) -> None:
        """Minimise over the working set."""
        parts = self.room[: len(self.set)]
        none = np.zeros((0, 0))
        Y = np.ascontiguousarray(self.Y.T)
        rest = 0.0
        w = self.design.weights[self.set]
        grams, rows = (none, parts) if self.design.single else (parts, none)
        if rows.size and len(rows) < rows.shape[1]:  # the space that they span is enough
            Q, R = np.linalg.qr(rows.T)
            rows = np.ascontiguousarray(R.T)
            turned = Y @ Q
            rest = max(float(np.vdot(Y, Y) - np.vdot(turned, turned)), 0.0)
            Y = turned
        problem = Problem(
            Y, grams, rows, np.ascontiguousarray(rows.T), w, *self.level, float(len(self.Y)), rest
        )
        found, steps = minimise(problem, self.rho, self.tolerance / 2)
        self.rho, self.e, self.steps = found.rho, found.e, self.steps + steps
        self.norms = found.e * found.q
        alpha = found.alpha.T
        if self.design.single:
            self.pieces = found.e[:, None] * found.reached[:, :, 0]
            alpha = (self.Y - parts.T @ self.pieces) / len(self.Y)
        self.alpha[self.inside] = alpha

    def certified(self, q: Array) -> bool:
        """Take ``||A_k'alpha||`` of all blocks (B,); let in more of them unless this is the end."""
        self.q, e, (tau, mu), w = q, np.zeros(len(q)), self.level, self.design.weights
        e[self.set] = self.e
        norms = Norms(e * q, 2 * q * (1 - mu * e))
        self.gap = block_gap(norms, w, tau, mu, residual(self.Y, self.alpha[self.inside]))
        return self.gap <= self.tolerance or not self._admit(2 * q > tau * w * (1 + SLACK))

    def fit(self) -> Fit:
        """Return what has been found, by ascending blocks."""
        order = np.argsort(self.set[: len(self.norms)])  # what joined last was not solved for
        kept = order[self.norms[order] > 0]
        pieces = self.pieces[kept] if self.design.single else self.pieces
        return Fit(
            self.set[kept], self.norms[kept], self.gap, self.steps, self.alpha.copy(), pieces
        )

    def _admit(self, wanted: Array) -> bool:
        """Let in those of the wanted blocks (B,) bool that are nearest to being chosen, or none."""
        wanted[self.set] = False
        outside = np.flatnonzero(wanted)
        w = self.design.weights
        number = max(FEWEST, len(self.set) // 2)
        if len(outside) > number:
            far = np.argpartition(-self.q[outside] / w[outside], number)
            outside = outside[np.sort(far[:number])]
        self._let_in(outside)
        return len(outside) > 0

    def _let_in(self, outside: Array) -> None:
        had = len(self.set)
        now = len(self.set) + len(outside)
        if now > len(self.room):
            more = np.empty((2 * now, self.room.shape[1]))
            self.room = np.concatenate([self.room[:had], more])
        if now > had:
            self.room[had:now] = self.design.parts(self.s, outside)
        self.set = np.concatenate([self.set, outside])
        self.rho = np.concatenate([self.rho, np.zeros(len(outside))])


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
    X: Array,
    Y: Array,
    blocks: Blocks,
    tau: Array,
    mu: float,
    *,
    tolerance: float = 1e-9,
    most: int | None = None,
) -> BlockPath:
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
    Y = _responses(Y)
    tau = np.asarray(tau, dtype=float)
    design = Columns(X, blocks)
    return block_paths(design, Y[None], tau[None], mu, tolerance=tolerance, most=most)[0]


def block_paths(
    design: Layout,
    responses: Array,
    tau: Array,
    mu: float,
    *,
    tolerance: float = 1e-9,
    most: int | None = None,
) -> list[BlockPath]:
    """Solve for P responses at once, whose certificates share their products with X.

    Parameters
    ----------
    design : Layout
    responses : (P, n, T) array, centred
    tau : (P, M) array
    mu, tolerance, most
        As in `block_path`.
    """
    checked_levels(tau, mu)
    if responses.shape[1] != design.n:
        raise GenesigError(f"X has {design.n} rows, the response {responses.shape[1]}")
    size = max(1, int(MEMORY / (8 * BLOCKS * design.n**2)))
    paths = []
    for first in range(0, len(responses), size):
        which = range(first, min(first + size, len(responses)))
        walks = [Walk(design, p, responses[p], tolerance) for p in which]
        fits = walk_together(walks, tau[which], np.full((len(which), tau.shape[1]), mu), most)
        paths += [
            BlockPath.of(design, tau[p], fit, tolerance) for p, fit in zip(which, fits, strict=True)
        ]
    return paths


def checked_levels(tau: Array, mu: float) -> None:
    """Refuse tau (..., M) that is not positive and falling, and mu < 0."""
    if not ((tau > 0).all() and (np.diff(tau) <= 0).all() and mu >= 0):
        raise GenesigError("tau must be positive and falling, and mu >= 0")


def walk_together(
    walks: list[Walk], tau: Array, mu: Array, most: int | None, groups: Array | None = None
) -> list[list[Fit]]:
    """Take P walks along tau and mu (P, M), each as far as its fits have at most `most` blocks.

    Where one ends, so do the others of its group (P,).
    """
    fits: list[list[Fit]] = [[] for _ in walks]
    groups = np.arange(len(walks)) if groups is None else groups
    going = np.ones(len(walks), dtype=bool)
    sizes = np.zeros(len(walks), dtype=np.int64)
    for m in range(tau.shape[1]):
        leading = leading_rows(going, sizes, groups, most)
        level_fits: dict[int, Fit] = {}
        ended = np.zeros(len(walks), dtype=bool)
        for solved in (leading, going & ~leading):
            numbers = np.flatnonzero(solved & ~ended).tolist()
            for p in numbers:
                walks[p].begin(Level(tau[p, m], mu[p, m]))
            solve_together([walks[p] for p in numbers])
            for p in numbers:
                level_fits[p] = walks[p].fit()
                sizes[p] = len(level_fits[p].blocks)
            if most is not None:
                too_long = solved & ~ended & (sizes > most)
                ended |= np.isin(groups, groups[too_long])
        going &= ~ended
        for p in np.flatnonzero(going).tolist():
            fits[p].append(level_fits[p])
    return fits


def solve_together(walks: list[Walk]) -> None:
    """Bring each walk to its level: blocks join its working set until the gap is small."""
    for _ in range(ROUNDS):
        if not walks:
            return
        for walk in walks:
            walk.descend()
        q = np.sqrt(walks[0].design.squares(_stacked(walks), [walk.s for walk in walks]))
        walks = [walk for walk, norms in zip(walks, q, strict=True) if not walk.certified(norms)]


def _stacked(walks: list[Walk]) -> Array:
    """Return the duals of all walks, (P, n, T); 0 in columns that one of lower rank lacks."""
    alphas = np.zeros((len(walks), len(walks[0].alpha), max(w.alpha.shape[1] for w in walks)))
    for p, walk in enumerate(walks):
        alphas[p, :, : walk.alpha.shape[1]] = walk.alpha
    return alphas


def _responses(Y: Array) -> Array:
    Y = np.asarray(Y, dtype=float)
    return Y[:, None] if Y.ndim == 1 else Y
