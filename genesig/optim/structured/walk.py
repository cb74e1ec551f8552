"""One response on its way down the path: the working set of its blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.structured.certificate import Norms, block_gap, residual
from genesig.optim.structured.columns import Design
from genesig.optim.structured.projected import minimise
from genesig.optim.structured.reduced import Chosen, Level, Reduced
from genesig.optim.structured.solution import Fit

Array = np.ndarray[Any, Any]

FEWEST = 10  # blocks that join at once


class Walk:
    """The working set, its rho, and how far all blocks are from it.

    Attributes
    ----------
    alpha : (n, T)
        Of the last point; what is not in the working set is judged by its ``||A_k'alpha||``.
    """

    def __init__(self, design: Design, Y: Array, mu: float, tolerance: float) -> None:
        self.design, self.Y, self.mu, self.tolerance = design, Y, mu, tolerance
        self.set, self.level, n = np.zeros(0, dtype=np.int64), Level(np.inf, mu), len(Y)
        self.chosen = Chosen.none(n)
        self.point = Reduced(self.chosen, Y, self.level).at(self.chosen.rho)
        self.q = np.zeros(len(design.weights))
        self.before = np.inf, self.q  # the last but one tau, and rho of all blocks there
        self.steps, self.gap = 0, np.inf

    @property
    def alpha(self) -> Array:
        """Return alpha of the last point, (n, T)."""
        return self.point.alpha

    def begin(self, tau: float) -> None:
        """Go on to the next tau with the blocks chosen, and those that the strong rule expects.

        Each rho starts where the line through its last two values leads, not below half the last.
        """
        kept, now = np.flatnonzero(self.chosen.rho), np.zeros(len(self.q))
        now[self.set] = self.chosen.rho
        last, (came, before) = self.level.tau, self.before
        self.level, self.steps, self.before = Level(tau, self.mu), 0, (last, now)
        self.set, self.chosen = self.set[kept], self.chosen.only(kept)
        if len(kept):
            ahead = now + (now - before) * ((tau - last) / (last - came) if came > last else 0)
            self.chosen.rho = np.maximum(ahead, now / 2)[self.set]
            self._admit(2 * self.q > self.design.weights * (2 * tau - last))

    def descend(self) -> None:
        """Minimise over the working set."""
        problem = Reduced(self.chosen, self.Y, self.level)
        self.point, steps = minimise(problem, self.chosen.rho, self.tolerance / 2)
        self.chosen.rho, self.steps = self.point.x, self.steps + steps

    def certified(self, q: Array) -> bool:
        """Take ``||A_k'alpha||`` of all blocks (B,); let in more of them unless this is the end."""
        self.q, e, (tau, mu), w = q, np.zeros(len(q)), self.level, self.design.weights
        e[self.set] = self.point.e
        norms = Norms(e * q, 2 * q * (1 - mu * e))
        self.gap = block_gap(norms, w, tau, mu, residual(self.Y, self.alpha))
        return self.gap <= self.tolerance or not self._admit(2 * q > tau * w)

    def fit(self) -> Fit:
        """Return what has been found."""
        norms = self.point.e * self.point.q  # of this response alone, whatever is solved beside it
        kept = np.flatnonzero(norms)
        return Fit(self.set[kept], norms[kept], self.gap, self.steps, self.alpha)

    def _admit(self, wanted: Array) -> bool:
        """Let in those of the wanted blocks (B,) bool that are nearest to being chosen, or none."""
        wanted[self.set] = False
        outside, w = np.flatnonzero(wanted), self.design.weights
        number = max(FEWEST, len(self.set) // 2)
        if len(outside) > number:
            far = np.argpartition(-self.q[outside] / w[outside], number)
            outside = outside[np.sort(far[:number])]
        self.chosen.add(w[outside], [self.design.gram(int(k)) for k in outside])
        self.set = np.concatenate([self.set, outside])
        return len(outside) > 0
