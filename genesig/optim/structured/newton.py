r"""Projected Newton steps on one number a block.

``||v|| = min_rho (||v||²/rho + rho)/2`` takes the coefficients out of the problem and leaves::

    P(rho) = tr Y'M^-1 Y + (tau/2) sum w_k rho_k,   M = n I + sum_k e_k G_k,  rho >= 0
    e_k = 2 rho_k / (2 mu rho_k + tau w_k),   G_k = A_k A_k'

which is convex and smooth. With alpha = M^-1 Y and q_k = ||A_k'alpha|| the coefficients are
v_k = e_k A_k'alpha, and rho_k = ||v_k|| at the minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from genesig.optim.structured.certificate import Norms, block_gap

Array = np.ndarray[Any, Any]

ZERO = 1e-6  # of the largest rho; one that is nearer to 0 and pushed there is put there
LEAST, MOST = 1e-12, 1e8  # damping, as a share of the Hessian's diagonal
FIRST = 1e-3  # damping, after a step without that was none
ROUNDING = 1e-13
STEPS = 300
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

    def add(self, weight: float, gram: Array) -> None:
        """Let a block in, with rho = 0."""
        if len(self.rho) == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[len(self.rho)] = gram
        self.weights, self.rho = np.append(self.weights, weight), np.append(self.rho, 0.0)

    def only(self, kept: Array) -> Chosen:
        """Leave out all but some, ascending."""
        for place, k in enumerate(kept):
            self._room[place] = self._room[k]
        return Chosen(self.weights[kept], self.rho[kept], self._room)


@dataclass(frozen=True)
class Point:
    """P and what follows from it at one rho."""

    rho: Array
    e: Array
    factor: Array
    alpha: Array
    reached: Array
    q: Array
    value: float
    gap: float


def evaluate(chosen: Chosen, rho: Array, Y: Array, level: Level) -> Point:
    """Return P, alpha, ``G_k alpha`` (W, n, T), q (W,) and the gap among the chosen blocks."""
    (n, T), (tau, mu), w, size = Y.shape, level, chosen.weights, len(rho)
    e = 2 * rho / (2 * mu * rho + tau * w)
    M = (e @ chosen.grams.reshape(size, n * n)).reshape(n, n)
    M.flat[:: n + 1] += n
    factor, _ = lapack.dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
    alpha, _ = lapack.dpotrs(factor, Y, lower=1)
    reached = (chosen.grams.reshape(size * n, n) @ alpha).reshape(size, n, T)
    q = np.sqrt(np.maximum(np.einsum("kit,it->k", reached, alpha), 0))
    along = float(np.vdot(Y, alpha))
    response = np.array([n, n * along, n * n * np.vdot(alpha, alpha), np.vdot(Y, Y)])
    gap = block_gap(Norms(e * q, 2 * q * (1 - mu * e)), w, tau, mu, response)
    return Point(rho, e, factor, alpha, reached, q, along + tau / 2 * float(w @ rho), gap)


def descend(chosen: Chosen, Y: Array, level: Level, goal: float) -> tuple[Point, int]:
    """Go down P until the gap among the chosen blocks is at most `goal`, or as far as it goes."""
    here, damping, steps = evaluate(chosen, chosen.rho, Y, level), LEAST, 0
    while here.gap > goal and steps < STEPS and damping <= MOST:
        start, free, gradient, hessian = _model(here, chosen.weights, level)
        diagonal = np.diag(hessian).copy()
        while damping <= MOST:
            hessian.flat[:: len(free) + 1] = diagonal * (1 + damping)
            rho, steps = start.copy(), steps + 1
            rho[free] = np.maximum(start[free] - _solved(hessian, gradient), 0)
            there = evaluate(chosen, rho, Y, level)
            if _better(there, here):
                here, damping = there, max(damping / 30, LEAST)
                break
            damping = max(100 * damping, FIRST)
    return here, steps


def _better(there: Point, here: Point) -> bool:
    """Compare P; within its rounding, the gap, which feels the square root of a change of P."""
    level = here.value * (1 + ROUNDING)
    return there.value <= here.value or (there.value <= level and there.gap < here.gap)


def _model(here: Point, w: Array, level: Level) -> tuple[Array, Array, Array, Array]:
    """Return rho without what is pushed to 0, the free blocks, gradient and Hessian in them."""
    tau, mu = level
    below = 2 * mu * here.rho + tau * w
    slope = 2 * tau * w / below**2
    gradient = tau * w / 2 - slope * here.q**2
    pushed = (here.rho <= ZERO * here.rho.max(initial=0)) & (gradient > 0)
    free = np.flatnonzero(~pushed)
    n, T = here.alpha.shape
    columns = here.reached[free].transpose(1, 0, 2).reshape(n, -1)
    U, _ = lapack.dtrtrs(here.factor, columns, lower=1)
    U = U.reshape(n, len(free), T).transpose(1, 0, 2).reshape(len(free), -1)
    U *= slope[free, None]
    hessian = 2 * (U @ U.T)
    curved = 8 * mu * tau * w * here.q**2 / below**3
    hessian.flat[:: len(free) + 1] += curved[free]
    return np.where(pushed, 0.0, here.rho), free, gradient[free], hessian


def _solved(hessian: Array, gradient: Array) -> Array:
    step: Array
    _, step, info = lapack.dposv(hessian, gradient, lower=1)
    return step if info == 0 else gradient / np.diag(hessian)
