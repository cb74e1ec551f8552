r"""One number a block: the block problem without its coefficients.

``||v|| = min_rho (||v||²/rho + rho)/2`` takes the coefficients out of the problem and leaves::

    P(rho) = tr Y'M^-1 Y + (tau/2) sum w_k rho_k,   M = n I + sum_k e_k G_k,  rho >= 0
    e_k = 2 rho_k / (2 mu rho_k + tau w_k),   G_k = A_k A_k'

which is convex and smooth. With alpha = M^-1 Y and q_k = ||A_k'alpha|| the coefficients are
v_k = e_k A_k'alpha, and rho_k = ||v_k|| at the minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from genesig.optim.structured.certificate import Norms, block_gap, residual

Array = np.ndarray[Any, Any]

ROOM = 32  # Gram matrices there is room for at first


class Level(NamedTuple):
    """What is fixed at one step of the path: tau and mu, absolute."""

    tau: float
    mu: float


@dataclass
class Chosen:
    """The blocks that may be in the solution: weights (W,), Gram matrices (W, n, n), rho (W,)."""

    weights: Array
    rho: Array
    _room: Array

    @classmethod
    def none(cls, n: int) -> Chosen:
        """Begin with no block, of n samples."""
        return cls(np.zeros(0), np.zeros(0), np.empty((ROOM, n, n)))

    @property
    def grams(self) -> Array:
        """Return the Gram matrices, one behind the other in memory."""
        return self._room[: len(self.rho)]

    def add(self, weights: Array, grams: Sequence[Array]) -> None:
        """Let blocks in, with rho = 0."""
        had, now = len(self.rho), len(self.rho) + len(grams)
        if now > len(self._room):
            more = np.empty((now, *self._room.shape[1:]))
            self._room = np.concatenate([self.grams, more])
        for place, gram in enumerate(grams, had):
            self._room[place] = gram
        self.weights = np.concatenate([self.weights, weights])
        self.rho = np.concatenate([self.rho, np.zeros(len(grams))])

    def only(self, kept: Array) -> Chosen:
        """Leave out all but some, ascending."""
        for place, k in enumerate(kept):
            if place < k:
                self._room[place] = self._room[k]
        return Chosen(self.weights[kept], self.rho[kept], self._room)


@dataclass(frozen=True)
class Point:
    """P and what follows from it at one rho = x."""

    x: Array
    e: Array
    factor: Array
    alpha: Array
    reached: Array
    q: Array
    value: float
    gap: float


class Reduced:
    """P(rho) of the chosen blocks, for a response Y (n, T)."""

    def __init__(self, chosen: Chosen, Y: Array, level: Level) -> None:
        self.chosen, self.Y, self.level = chosen, Y, level

    def at(self, x: Array) -> Point:
        """Return P, alpha, ``G_k alpha`` (W, n, T), q (W,) and the gap among the chosen blocks."""
        (n, T), (tau, mu), w, grams = (
            self.Y.shape,
            self.level,
            self.chosen.weights,
            self.chosen.grams,
        )
        e = 2 * x / (2 * mu * x + tau * w)
        M = (e @ grams.reshape(len(x), n * n)).reshape(n, n)
        M.flat[:: n + 1] += n
        factor, _ = lapack.dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
        alpha, _ = lapack.dpotrs(factor, self.Y, lower=1)
        reached = (grams.reshape(len(x) * n, n) @ alpha).reshape(len(x), n, T)
        q = np.sqrt(np.maximum(np.einsum("kit,it->k", reached, alpha), 0))
        norms = Norms(e * q, 2 * q * (1 - mu * e))
        gap = block_gap(norms, w, tau, mu, residual(self.Y, alpha))
        value = float(np.vdot(self.Y, alpha)) + tau / 2 * float(w @ x)
        return Point(x, e, factor, alpha, reached, q, value, gap)

    def gradient(self, point: Point) -> Array:
        """Return ``tau w_k/2 - e'_k q_k²``."""
        return np.asarray(
            self.level.tau * self.chosen.weights / 2 - self._slope(point) * point.q**2
        )

    def hessian(self, point: Point, free: Array) -> Array:
        """Return ``2 e'_k e'_l tr(alpha'G_k M^-1 G_l alpha)``, and what mu adds to the diagonal."""
        (n, T), (tau, mu), w = self.Y.shape, self.level, self.chosen.weights
        columns = point.reached[free].transpose(1, 0, 2).reshape(n, -1)
        U, _ = lapack.dtrtrs(point.factor, columns, lower=1)
        U = U.reshape(n, len(free), T).transpose(1, 0, 2).reshape(len(free), -1)
        U *= self._slope(point)[free, None]
        hessian: Array = 2 * (U @ U.T)
        curved = 8 * mu * tau * w * point.q**2 / (2 * mu * point.x + tau * w) ** 3
        hessian.flat[:: len(free) + 1] += curved[free]
        return hessian

    def _slope(self, point: Point) -> Array:
        """Return the derivative of e_k in rho_k."""
        (tau, mu), w = self.level, self.chosen.weights
        return np.asarray(2 * tau * w / (2 * mu * point.x + tau * w) ** 2)
