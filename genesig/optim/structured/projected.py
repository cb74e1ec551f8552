"""Projected Newton steps on x >= 0, damped where columns are collinear.

Source: Bertsekas 1982, Projected Newton methods for optimization problems with simple constraints.
The damping is Levenberg's: without it the steps fail where the Hessian is singular.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.linalg import lapack

Array = np.ndarray[Any, Any]

ZERO = 1e-6  # of the largest x; what is nearer to 0 and pushed there is put there
LEAST, MOST = 1e-12, 1e8  # damping, as a share of the Hessian's diagonal
FIRST = 1e-3  # damping, after a step without that was none
ROUNDING = 1e-13
STEPS = 300


class Point(Protocol):
    """A value of the problem and what it tells."""

    @property
    def x(self) -> Array:
        """Return where it is, (W,)."""

    @property
    def value(self) -> float:
        """Return the value."""

    @property
    def gap(self) -> float:
        """Return a bound on what is left, in units of the caller's goal."""


P = TypeVar("P", bound=Point)


class Problem(Protocol[P]):
    """A convex, smooth function of x >= 0."""

    def at(self, x: Array) -> P:
        """Return what is needed at x."""

    def gradient(self, point: P) -> Array:
        """Return the gradient, (W,)."""

    def hessian(self, point: P, free: Array) -> Array:
        """Return the Hessian of some of the variables."""


def minimise(problem: Problem[P], x: Array, goal: float) -> tuple[P, int]:
    """Go down from x until the gap is at most `goal`, or as far as it goes; and count the steps."""
    here, damping, steps = problem.at(x), LEAST, 0
    while here.gap > goal and steps < STEPS and damping <= MOST:
        slope = problem.gradient(here)
        pushed = (here.x <= ZERO * here.x.max(initial=0)) & (slope > 0)
        free, start = np.flatnonzero(~pushed), np.where(pushed, 0.0, here.x)
        hessian = problem.hessian(here, free)
        diagonal = np.diag(hessian).copy()
        while damping <= MOST:
            hessian.flat[:: len(free) + 1] = diagonal * (1 + damping)
            there = problem.at(_stepped(start, free, hessian, slope))
            steps += 1
            if _better(there, here):
                here, damping = there, max(damping / 30, LEAST)
                break
            damping = max(100 * damping, FIRST)
    return here, steps


def _stepped(start: Array, free: Array, hessian: Array, slope: Array) -> Array:
    """Return where a step in the free variables leads, held at x >= 0."""
    _, step, failed = lapack.dposv(hessian, slope[free], lower=1)
    if failed:
        step = slope[free] / np.diag(hessian)
    x = start.copy()
    x[free] = np.maximum(start[free] - step, 0)
    return x


def _better(there: Point, here: Point) -> bool:
    """Compare values; within their rounding, the gaps, which feel the square root of a change."""
    level = here.value + ROUNDING * abs(here.value)
    return there.value <= here.value or (there.value <= level and there.gap < here.gap)
