"""One response on its way down the path: the working set of its blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.optim.structured.certificate import Norms, block_gap, residual
from genesig.optim.structured.columns import Design
from genesig.optim.structured.newton import Problem, minimise
from genesig.optim.structured.solution import Fit

Array = np.ndarray[Any, Any]

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
        self.design, self.s, self.Y, self.tolerance = design, s, Y, tolerance
        self.inside, self.alpha = design.inside(s), np.zeros((design.n, Y.shape[1]))
        self.alpha[self.inside] = Y / len(Y)
        self.set, self.level = np.zeros(0, dtype=np.int64), Level(np.inf, 0.0)
        self.rho, self.e, self.norms = np.zeros((3, 0))
        n = len(Y)
        self.room = np.empty((ROOM, n if design.single else n * (n + 1) // 2))
        self.pieces = np.zeros((0, Y.shape[1]))
        self.q = np.zeros(len(design.weights))
        self.before = np.inf, self.q  # the last but one tau, and rho of all blocks there
        self.steps, self.gap = 0, np.inf

    def begin(self, level: Level) -> None:
        """Go on to the next level with the blocks chosen, and those that the strong rule expects.

        Each rho starts where the line through its last two values leads, not below half the last.
        """
        kept, now, tau = np.flatnonzero(self.rho), np.zeros(len(self.q)), level.tau
        now[self.set] = self.rho
        last, (came, before) = self.level.tau, self.before
        self.level, self.steps, self.before = level, 0, (last, now)
        self.set, self.rho = self.set[kept], self.rho[kept]
        for place, k in enumerate(kept):
            if place < k:
                self.room[place] = self.room[k]
        if len(kept):
            ahead = now + (now - before) * ((tau - last) / (last - came) if came > last else 0)
            self.rho = np.maximum(ahead, now / 2)[self.set]
            self._admit(2 * self.q > self.design.weights * (2 * tau - last))

    def descend(self) -> None:
        """Minimise over the working set."""
        parts, none = self.room[: len(self.set)], np.zeros((0, 0))
        Y, rest, w = np.ascontiguousarray(self.Y.T), 0.0, self.design.weights[self.set]
        grams, rows = (none, parts) if self.design.single else (parts, none)
        if rows.size and len(rows) < rows.shape[1]:  # the space that they span is enough
            Q, R = np.linalg.qr(rows.T)
            rows, turned = np.ascontiguousarray(R.T), Y @ Q
            rest = max(float(np.vdot(Y, Y) - np.vdot(turned, turned)), 0.0)
            Y = turned
        problem = Problem(Y, grams, rows, np.ascontiguousarray(rows.T), w, *self.level,
                          float(len(self.Y)), rest)  # fmt: skip
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
        outside, w = np.flatnonzero(wanted), self.design.weights
        number = max(FEWEST, len(self.set) // 2)
        if len(outside) > number:
            far = np.argpartition(-self.q[outside] / w[outside], number)
            outside = outside[np.sort(far[:number])]
        had, now = len(self.set), len(self.set) + len(outside)
        if now > len(self.room):
            more = np.empty((2 * now, self.room.shape[1]))
            self.room = np.concatenate([self.room[:had], more])
        if now > had:
            self.room[had:now] = self.design.parts(self.s, outside)
        self.set = np.concatenate([self.set, outside])
        self.rho = np.concatenate([self.rho, np.zeros(len(outside))])
        return len(outside) > 0
