"""Projected Newton steps on x >= 0, damped where columns are collinear.

Source: Bertsekas 1982, Projected Newton methods for optimization problems with simple constraints.
The damping is Levenberg's: without it the steps fail where the Hessian is singular.
"""

from __future__ import annotations

from collections.abc import Iterator
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
        diagonal, there = np.diag(hessian).copy(), None
        while there is None and damping <= MOST:
            hessian.flat[:: len(free) + 1] = diagonal * (1 + damping)
            step = np.zeros(len(start))
            step[free] = _solved(hessian, slope[free])
            for x in _ways(start, step):
                trial, steps = problem.at(x), steps + 1
                if _better(trial, here):
                    there = trial
                    break
            damping = max(100 * damping, FIRST) if there is None else max(damping / 30, LEAST)
        here = there or here
    return here, steps


def _solved(hessian: Array, slope: Array) -> Array:
    """Return the Newton step, or that of the diagonal where the Hessian is singular."""
    step: Array
    _, step, failed = lapack.dposv(hessian, slope, lower=1)
    return slope / np.diag(hessian) if failed else step


def _ways(start: Array, step: Array) -> Iterator[Array]:
    """Yield the step held at x >= 0, then as far of it as to the first that gets to 0.

    Where columns are nearly collinear one takes what another loses; the first way cuts the loss off
    and keeps the gain, and goes uphill.
    """
    yield np.maximum(start - step, 0)
    hit = (step > start) & (start > 0)
    if hit.any():
        yield np.maximum(start - float((start[hit] / step[hit]).min()) * step, 0)


def _better(there: Point, here: Point) -> bool:
    """Compare values; within their rounding, the gaps, which feel the square root of a change."""
    level = here.value + ROUNDING * abs(here.value)
    return there.value <= here.value or (there.value <= level and there.gap < here.gap)
