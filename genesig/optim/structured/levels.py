"""The best levels of given stretches: Newton steps, as far as levels and jumps keep their signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.structured.stretches import Pattern

Array = np.ndarray[Any, Any]

DAMPED = 1e-10
"""Share of the mean of its diagonal that is added to a Hessian without a factor."""
ROUNDING = 1e-14
"""Share of the objective by which a step must make it fall to be one."""


@dataclass
class Levels:
    """``||y - A'c||²/n + mu sum_s l_s c_s² + tau (sum_s l_s |c_s| + jump sum |jumps|)``.

    Attributes
    ----------
    pattern : Pattern
        With the levels c.
    A : (K, n)
        Sums of the features of each stretch.
    y : (n,)
    mu, tau, jump : float
    """

    pattern: Pattern
    A: Array
    y: Array
    mu: float
    tau: float
    jump: float

    def descend(self) -> Pattern:
        """Return the stretches at their best levels, those that came to 0 or met taken together.

        As long as no sign changes, of a level or of a jump, the function is a quadratic one. Where
        the way to its minimum changes some, all levels that would come to 0 are left out, if the
        function falls by it; else the way ends at the first change, which takes a variable away.
        """
        while len(self.pattern.level):
            goal = self._goal()
            share, at, meet = self._first(goal)
            if share >= 1.0:
                self.pattern = self.pattern._replace(level=goal)
                break
            if self._leaps(goal):
                continue
            c = self.pattern.level
            self.pattern = self.pattern._replace(level=c + share * (goal - c))
            if meet:
                self._join(at)
            else:
                self._keep(np.arange(len(c)) != at)
        return self.pattern

    def _leaps(self, goal: Array) -> bool:
        """Go all the way but for the levels that would change their sign, if that goes down."""
        kept = self.pattern.level * goal > 0
        there = self.pattern._replace(level=goal).take(kept)
        here = self._value(self.pattern, self.A)
        if self._value(there, self.A[kept]) >= here - ROUNDING * abs(here):
            return False
        self.pattern, self.A = there, self.A[kept]
        return True

    def _value(self, pattern: Pattern, A: Array) -> float:
        c, size, r = pattern.level, pattern.stop - pattern.first, self.y - A.T @ pattern.level
        before, after = pattern.neighbours()
        # A jump between two stretches is seen from both, one to 0 from one.
        jumps = np.abs(c - before) * np.where(pattern.joined, 0.5, 1.0)
        jumps += np.abs(c - after) * np.where(np.append(pattern.joined[1:], False), 0.5, 1.0)
        rough = size @ np.abs(c) + self.jump * jumps.sum()
        return float(r @ r / len(r) + self.mu * (size @ np.square(c)) + self.tau * rough)

    def _goal(self) -> Array:
        """Return the minimum of the quadratic function; in n variables where these are fewer."""
        c, n = self.pattern.level, len(self.y)
        size, (before, after) = self.pattern.stop - self.pattern.first, self.pattern.neighbours()
        slope = size * np.sign(c) + self.jump * (np.sign(c - before) + np.sign(c - after))
        b = self.A @ self.y - n / 2 * self.tau * slope
        ridge = n * self.mu * size
        if len(c) <= n or self.mu == 0:
            return _solved(self.A @ self.A.T + np.diag(ridge), b)
        M = self.A.T @ (self.A / ridge[:, None]) + np.eye(n)
        return np.asarray((b - self.A @ _solved(M, self.A.T @ (b / ridge))) / ridge)

    def _first(self, goal: Array) -> tuple[float, int, bool]:
        """Return the share of the way to the first change, where it is, and whether two meet."""
        c, joined = self.pattern.level, self.pattern.joined
        share = _shares(c, goal)
        gaps = _shares(np.diff(c, prepend=0.0), np.diff(goal, prepend=0.0))
        gaps[~joined] = np.inf
        one, two = int(np.argmin(share)), int(np.argmin(gaps))
        if gaps[two] < share[one]:
            return float(gaps[two]), two, True
        return float(share[one]), one, False

    def _join(self, s: int) -> None:
        """Make stretch s part of the one before it."""
        first, stop, joined, c = self.pattern
        stop, self.A = stop.copy(), self.A.copy()
        stop[s - 1] = stop[s]
        self.A[s - 1] += self.A[s]
        self.A = np.delete(self.A, s, axis=0)
        self.pattern = Pattern(*(np.delete(each, s) for each in (first, stop, joined, c)))

    def _keep(self, kept: Array) -> None:
        """Leave the others out: they came to 0."""
        self.pattern, self.A = self.pattern.take(kept), self.A[kept]


def _solved(H: Array, b: Array) -> Array:
    from scipy.linalg import lapack

    found: Array
    _, found, failed = lapack.dposv(H, b, lower=1)
    if failed:
        damped = H + DAMPED * np.trace(H) / len(b) * np.eye(len(b))
        _, found, _ = lapack.dposv(damped, b, lower=1)
    return found


def _shares(now: Array, goal: Array) -> Array:
    """Return the share of the way from now to the goal at which 0 lies, infinite if beyond."""
    crossed = now * goal <= 0
    share: Array = np.full(len(now), np.inf)
    np.divide(now, now - goal, out=share, where=crossed & (now != goal))
    return share
