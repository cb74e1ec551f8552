r"""The block solver: one algorithm for every penalty that is a sum of norms of blocks.

    min_v (1/n)||Y - sum_k A_k v_k||² + mu sum_k ||v_k||² + tau sum_k w_k ||v_k||

One column a block is the lasso (with several responses the multi-task lasso), a partition the group
lasso, overlapping blocks the latent overlap norm. There mu is on the pieces v_k, not on their sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.errors import GenesigError
from genesig.optim.solution import not_converged
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.certificate import Norms, block_gap
from genesig.optim.structured.columns import Columns, Design
from genesig.optim.structured.newton import Chosen, Level, Point, descend
from genesig.optim.structured.solution import BlockPath

Array = np.ndarray[Any, Any]

FEWEST = 10  # blocks that join the working set at once
ROUNDS = 100


def tau_max(X: Array, Y: Array, blocks: Blocks) -> float:
    """Return the smallest tau that selects nothing: ``max_k (2/n)||A_k'Y|| / w_k``."""
    design = Columns(X, blocks)
    norms = np.sqrt(design.squares(_responses(X, Y)))
    return float(2 / len(X) * (norms / design.weights).max())


def block_path(
    X: Array, Y: Array, blocks: Blocks, tau: Array, mu: float, *, tolerance: float = 1e-9,
    most: int | None = None,
) -> BlockPath:  # fmt: skip
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
    X, Y, tau = np.asarray(X, dtype=float), _responses(X, Y), np.asarray(tau, dtype=float)
    if not ((tau > 0).all() and (np.diff(tau) <= 0).all() and mu >= 0):
        raise GenesigError("tau must be positive and falling, and mu >= 0")
    if blocks.members.max() >= X.shape[1]:
        raise GenesigError(f"blocks name column {blocks.members.max()} of {X.shape[1]}")
    columns = Columns(X, blocks)
    walk = _Walk(columns, Y, mu, tolerance)
    fits = []
    for t in tau:
        fits.append(walk.solve(float(t)))
        if most is not None and len(fits[-1][0]) > most:
            fits.pop()
            break
    return _record(columns, tau[: len(fits)], fits, tolerance)


class _Walk:
    """The state that goes down one path: the working set and its rho."""

    def __init__(self, design: Design, Y: Array, mu: float, tolerance: float) -> None:
        self.design, self.Y, self.mu, self.tolerance = design, Y, mu, tolerance
        self.set = np.zeros(0, dtype=np.int64)
        n = len(Y)
        self.chosen = Chosen(np.zeros(0), np.zeros((0, n, n)), np.zeros(0))

    def solve(self, tau: float) -> tuple[Array, Array, float, int, Array]:
        """Return blocks, their norms, gap, steps and alpha of one fit."""
        level, total = Level(tau, self.mu), 0
        for _ in range(ROUNDS):
            point, steps = descend(self.chosen, self.Y, level, self.tolerance / 2)
            self.chosen.rho, total = point.rho, total + steps
            q = np.sqrt(self.design.squares(point.alpha))
            norms, gap = self._certified(point, q, level)
            outside = 2 * q > tau * self.design.weights
            outside[self.set] = False
            if gap <= self.tolerance or not outside.any():
                break
            self._admit(np.flatnonzero(outside), q)
        kept = norms > 0
        return self.set[kept], norms[kept], gap, total, point.alpha

    def _certified(self, point: Point, q: Array, level: Level) -> tuple[Array, float]:
        """Return the norms of the working set and the gap over all blocks."""
        e, v = np.zeros(len(q)), np.zeros(len(q))
        e[self.set] = point.e
        v[self.set] = point.e * q[self.set]
        n, along = len(self.Y), np.vdot(self.Y, point.alpha)
        size = n * n * np.vdot(point.alpha, point.alpha)
        response = np.array([n, n * along, size, np.vdot(self.Y, self.Y)])
        norms = Norms(v, 2 * q * (1 - level.mu * e))
        return v[self.set], block_gap(norms, self.design.weights, *level, response)

    def _admit(self, outside: Array, q: Array) -> None:
        """Let in those that violate optimality most."""
        number, w = max(FEWEST, len(self.set) // 2), self.design.weights
        new = outside[np.argsort(-q[outside] / w[outside], kind="stable")[:number]]
        self.set, had = np.concatenate([self.set, new]), self.chosen
        grams = np.stack([self.design.gram(int(k)) for k in new])
        self.chosen = Chosen(
            w[self.set],
            np.concatenate([had.grams, grams]),
            np.concatenate([had.rho, np.zeros(len(new))]),
        )


def _responses(X: Array, Y: Array) -> Array:
    Y = np.asarray(Y, dtype=float)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or len(Y) != len(X):
        raise GenesigError(f"X has {len(X)} rows, the response {len(Y)}")
    return Y


def _record(
    columns: Columns, tau: Array, fits: list[tuple[Array, Array, float, int, Array]],
    tolerance: float,
) -> BlockPath:  # fmt: skip
    from scipy.sparse import csr_array

    sets, norms, gaps, steps, alphas = zip(*fits, strict=True) if fits else ((),) * 5
    indptr = np.concatenate([[0], np.cumsum([len(each) for each in sets])]).astype(np.int64)
    values = np.concatenate([np.zeros(0), *norms])
    indices = np.concatenate([np.zeros(0, np.int64), *sets])
    gap = np.array(gaps, dtype=float)
    return BlockPath(
        columns=columns,
        tau=tau,
        norms=csr_array((values, indices, indptr), shape=(len(tau), len(columns.blocks))),
        gap=gap,
        steps=np.array(steps, dtype=np.int64),
        converged=gap <= tolerance,
        alpha=np.array(alphas).reshape(len(tau), len(columns.X), -1),
        message=not_converged(gap, tolerance),
    )
