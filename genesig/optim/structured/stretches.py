"""Stretches of a genome: neighbours that share a weight, few at once (the sparse fused lasso).

    min_b (1/n)||y - Zb||² + mu ||b||² + tau Omega(b)
    Omega(b) = sum_j |b_j| + jump sum_j |b_{j+1} - b_j|,  b = 0 beyond the ends of a chromosome

A stretch of l features and height h costs (l + 2 jump) |h|, so that it is worth its ends: the norm
is that of the atoms ``± 1_I / (len(I) + 2 jump)``, and its dual norm the largest of them.

A proximal step of all features cuts stretches, begins new ones and never goes uphill; the best
levels of what it finds follow exactly. The gap of the dual norm over all stretches ends it.

Source: Tibshirani et al. 2005, Sparsity and smoothness via the fused lasso.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled.steps import fuse, steepest
from genesig.genome.order import Genome
from genesig.optim.solution import Path
from genesig.optim.structured.solution import Certified, Residual, duality_gap
from genesig.optim.training import TrainingSets


@dataclass(frozen=True)
class Stretches:
    """The norm of coefficients b (d,) in the order of the genome; ``jump >= 0``."""

    genome: Genome
    jump: float

    def value(self, b: Array) -> float:
        """Return Omega(b)."""
        parts = np.split(b, self.genome.starts[1:])
        jumps = sum(np.abs(np.diff(part, prepend=0.0, append=0.0)).sum() for part in parts)
        return float(np.abs(b).sum() + self.jump * jumps)

    def dual(self, g: Array) -> float:
        """Return ``max_I |sum of g over I| / (len(I) + 2 jump)``, I a stretch of a chromosome."""
        return float(steepest(np.ascontiguousarray(g), self.genome.starts, float(self.jump)))

    def prox(self, z: Array, level: float) -> Array:
        """Return ``argmin_b ||b - z||²/2 + level Omega(b)``."""
        b = np.empty(len(z))
        fuse(np.ascontiguousarray(z), self.genome.starts, float(level), float(self.jump), b)
        return b

    def pattern(self, b: Array) -> Pattern:
        """Return the stretches of b on which it is not 0."""
        begins = np.concatenate([[True], b[1:] != b[:-1]])
        begins[self.genome.starts] = True
        first = np.flatnonzero(begins)
        stop = np.append(first[1:], len(b))
        there = b[first] != 0
        chromosome = np.zeros(len(b), dtype=bool)
        chromosome[self.genome.starts] = True
        first = first[there]
        stop = stop[there]
        joined = (first == np.concatenate([[-1], stop[:-1]])) & ~chromosome[first]
        return Pattern(first, stop, joined, b[first])


class Pattern(NamedTuple):
    """K stretches of coefficients that are not 0.

    Attributes
    ----------
    first, stop : (K,) int
        Features of each, ``first <= j < stop``, in the order of the genome.
    joined : (K,) bool
        Whether it touches the one before it, on the same chromosome.
    level : (K,) float
    """

    first: Array
    stop: Array
    joined: Array
    level: Array

    def spread(self, d: int) -> Array:
        """Return the coefficients, (d,)."""
        b = np.zeros(d)
        size = self.stop - self.first
        offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        b[np.repeat(self.first, size) + offset] = np.repeat(self.level, size)
        return b

    def neighbours(self) -> tuple[Array, Array]:
        """Return the level before and after each stretch, 0 where it touches none."""
        c = self.level
        joined = self.joined
        before = np.where(joined, np.concatenate([[0.0], c[:-1]]), 0.0)
        after = np.where(np.append(joined[1:], False), np.append(c[1:], 0.0), 0.0)
        return before, after

    def take(self, kept: Array) -> Pattern:
        """Return some of the stretches, (K,) bool; what is left out is 0."""
        before = np.concatenate([[False], kept[:-1]])
        joined = self.joined & before
        return Pattern(self.first[kept], self.stop[kept], joined[kept], self.level[kept])


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
        c = pattern.level
        size = pattern.stop - pattern.first
        r = self.y - A.T @ pattern.level
        before, after = pattern.neighbours()
        # A jump between two stretches is seen from both, one to 0 from one.
        jumps = np.abs(c - before) * np.where(pattern.joined, 0.5, 1.0)
        jumps += np.abs(c - after) * np.where(np.append(pattern.joined[1:], False), 0.5, 1.0)
        rough = size @ np.abs(c) + self.jump * jumps.sum()
        return float(r @ r / len(r) + self.mu * (size @ np.square(c)) + self.tau * rough)

    def _goal(self) -> Array:
        """Return the minimum of the quadratic function; in n variables where these are fewer."""
        c = self.pattern.level
        n = len(self.y)
        size = self.pattern.stop - self.pattern.first
        (before, after) = self.pattern.neighbours()
        slope = size * np.sign(c) + self.jump * (np.sign(c - before) + np.sign(c - after))
        b = self.A @ self.y - n / 2 * self.tau * slope
        ridge = n * self.mu * size
        if len(c) <= n or self.mu == 0:
            return _solved(self.A @ self.A.T + np.diag(ridge), b)
        M = self.A.T @ (self.A / ridge[:, None]) + np.eye(n)
        return np.asarray((b - self.A @ _solved(M, self.A.T @ (b / ridge))) / ridge)

    def _first(self, goal: Array) -> tuple[float, int, bool]:
        """Return the share of the way to the first change, where it is, and whether two meet."""
        c = self.pattern.level
        joined = self.pattern.joined
        share = _shares(c, goal)
        gaps = _shares(np.diff(c, prepend=0.0), np.diff(goal, prepend=0.0))
        gaps[~joined] = np.inf
        one = int(np.argmin(share))
        two = int(np.argmin(gaps))
        if gaps[two] < share[one]:
            return float(gaps[two]), two, True
        return float(share[one]), one, False

    def _join(self, s: int) -> None:
        """Make stretch s part of the one before it."""
        first, stop, joined, c = self.pattern
        stop = stop.copy()
        self.A = self.A.copy()
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


ROUNDS = 500
FEWEST = 10
"""New stretches apart from others that join at once; half as many as there are, if that is more."""


def along(sets: TrainingSets, norm: Stretches) -> TrainingSets:
    """Return the training sets with the norm in the place of l1, and its tau_max."""
    tau_max = np.empty(len(sets.norm))
    for k in range(len(tau_max)):
        part = _training(sets, k, norm.genome)
        tau_max[k] = 2 / len(part.y) * norm.dual(part.F @ part.y)
    return replace(sets, tau_max=tau_max, stretches=norm)


def stretch_path(
    sets: TrainingSets, tau: Array, mu: Array, tolerance: float, longest: int | None = None
) -> Path:
    """Solve for each training set at its tau and mu (k, m), each fit started at the one before.

    A row ends after its first fit of more than `longest` features.
    """
    norm = sets.stretches or Stretches(Genome.from_columns(sets.X.shape[1], None, None), 0.0)
    coefs = []
    gap = np.full(tau.shape, np.nan)
    rounds = np.full(tau.shape, -1, dtype=np.int64)
    for k in range(len(tau)):
        part = _training(sets, k, norm.genome)
        pattern = norm.pattern(np.zeros(sets.X.shape[1]))
        for m in range(tau.shape[1]):
            pattern, gap[k, m], rounds[k, m] = _fit(
                norm, part, pattern, Goal(tau[k, m], mu[k, m], tolerance)
            )
            coefs.append(_by_feature(pattern, norm.genome))
            if longest is not None and len(coefs[-1][0]) > longest:
                coefs += [(np.zeros(0, dtype=np.int64), np.zeros(0))] * (tau.shape[1] - m - 1)
                break
    return Path.of(tau.shape, coefs, gap, rounds, tolerance)


class Training(NamedTuple):
    """Features (d, n) along the genome on the n training rows, y (n,), and ||F F'||/n."""

    F: Array
    y: Array
    norm: float


class Goal(NamedTuple):
    """Absolute tau and mu, and the relative gap that is wanted."""

    tau: float
    mu: float
    tolerance: float


def _training(sets: TrainingSets, k: int, genome: Genome) -> Training:
    Z, y = sets.problem(k)
    return Training(np.ascontiguousarray(Z.T[genome.order]), y, float(sets.norm[k]))


def _fit(
    norm: Stretches, part: Training, pattern: Pattern, goal: Goal
) -> tuple[Pattern, float, int]:
    """Return the stretches of one fit, its gap and the rounds it took."""
    tau, mu, tolerance = goal
    step = 1 / (2 * (part.norm + mu))
    F = part.F
    n = len(part.y)
    pattern = _levelled(norm, part, pattern, goal)
    for rounds in range(1, ROUNDS + 1):  # noqa: B007 - it is returned
        b = pattern.spread(len(F))
        r = part.y - _sums(F, pattern).T @ pattern.level
        g = 2 / n * (F @ r) - 2 * mu * b
        found = Certified(tau * norm.value(b), float(b @ g), norm.dual(g), float(b @ b))
        left = Residual(n, float(part.y @ r), float(r @ r), float(part.y @ part.y))
        gap = duality_gap(found, tau, mu, left)
        if gap <= tolerance:
            break
        moved = norm.pattern(norm.prox(b + step * g, step * tau))
        pattern = _levelled(norm, part, _admitted(moved, b), goal)
    return pattern, gap, rounds


def _admitted(moved: Pattern, before: Array) -> Pattern:
    """Leave out of what a proximal step found the new stretches that stand alone, but the largest.

    They would have come to 0 by a step of the others alone, which goes down, too.
    """
    there = np.concatenate([[0], np.cumsum(before != 0)])
    new = there[moved.stop] == there[moved.first]
    alone = new & ~moved.joined & ~np.append(moved.joined[1:], False)
    most = max(FEWEST, int(np.sum(~alone)) // 2)
    places = np.flatnonzero(alone)
    if len(places) <= most:
        return moved
    size = moved.level[places] ** 2 * (moved.stop - moved.first)[places]
    kept = np.ones(len(alone), dtype=bool)
    kept[places[np.argsort(-size, kind="stable")[most:]]] = False
    return moved.take(kept)


def _levelled(norm: Stretches, part: Training, pattern: Pattern, goal: Goal) -> Pattern:
    if not len(pattern.level):
        return pattern
    A = _sums(part.F, pattern)
    return Levels(pattern, A, part.y, goal.mu, goal.tau, norm.jump).descend()


def _sums(F: Array, pattern: Pattern) -> Array:
    """Return the sum of the features of each stretch, (K, n)."""
    sums = [F[first:stop].sum(axis=0) for first, stop, *_ in zip(*pattern, strict=True)]
    return np.array(sums).reshape(len(sums), F.shape[1])


def _by_feature(pattern: Pattern, genome: Genome) -> tuple[Array, Array]:
    """Return the features of all stretches, ascending, and their coefficients."""
    b = pattern.spread(len(genome.order))
    at = np.flatnonzero(b)
    features = genome.order[at]
    ascending = np.argsort(features)
    return features[ascending], b[at][ascending]
