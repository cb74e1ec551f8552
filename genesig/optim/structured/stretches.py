"""Stretches of a genome: neighbours that share a weight, few at once (the sparse fused lasso).

    min_b (1/n)||y - Zb||² + mu ||b||² + tau Omega(b)
    Omega(b) = sum_j |b_j| + jump sum_j |b_{j+1} - b_j|,  b = 0 beyond the ends of a chromosome

A stretch of l features and height h costs (l + 2 jump) |h|: the norm is that of the atoms ``± 1_I
/ (len(I) + 2 jump)``, and its dual norm the largest product with them.

A proximal step of all features splits and begins stretches and never increases the objective; the
best levels of these stretches follow exactly. The gap of the dual norm over all stretches ends it.

Source: Tibshirani et al. 2005, Sparsity and smoothness via the fused lasso.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np

from genesig.arrays import Array
from genesig.compiled.steps import fuse, largest_stretch_ratio
from genesig.genome import Genome
from genesig.optim.solution import NOT_COMPUTED, Path
from genesig.optim.structured.solution import PenaltyCertificate, ResidualSums, duality_gap
from genesig.optim.training import TrainingSets


@dataclass(frozen=True)
class Stretches:
    """The norm of coefficients b (d,) in the order of the genome; ``jump >= 0``."""

    genome: Genome
    jump: float

    def value(self, b: Array) -> float:
        """Return Omega(b)."""
        lines = np.split(b, self.genome.starts[1:])
        jumps = sum(np.abs(np.diff(line, prepend=0.0, append=0.0)).sum() for line in lines)
        return float(np.abs(b).sum() + self.jump * jumps)

    def dual(self, g: Array) -> float:
        """Return ``max_I |sum of g over I| / (len(I) + 2 jump)``, I a stretch of a chromosome."""
        return float(
            largest_stretch_ratio(np.ascontiguousarray(g), self.genome.starts, float(self.jump))
        )

    def prox(self, z: Array, level: float) -> Array:
        """Return ``argmin_b ||b - z||²/2 + level Omega(b)``."""
        b = np.empty(len(z))
        fuse(np.ascontiguousarray(z), self.genome.starts, float(level), float(self.jump), b)
        return b

    def pattern(self, b: Array) -> Pattern:
        """Return the stretches of b on which it is not 0."""
        is_start = np.concatenate([[True], b[1:] != b[:-1]])
        is_start[self.genome.starts] = True
        first = np.flatnonzero(is_start)
        stop = np.append(first[1:], len(b))
        is_nonzero = b[first] != 0
        begins_chromosome = np.zeros(len(b), dtype=bool)
        begins_chromosome[self.genome.starts] = True
        first = first[is_nonzero]
        stop = stop[is_nonzero]
        joined = (first == np.concatenate([[-1], stop[:-1]])) & ~begins_chromosome[first]
        return Pattern(first, stop, joined, b[first])


class Pattern(NamedTuple):
    """K stretches of coefficients that are not 0."""

    first: Array  # (K,) int, first feature of each, in the order of the genome
    stop: Array  # (K,) int, first feature after it
    joined: Array  # (K,) bool, whether it touches the one before, on the same chromosome
    level: Array  # (K,) coefficient

    def spread(self, d: int) -> Array:
        """Return the coefficients, (d,)."""
        b = np.zeros(d)
        size = self.stop - self.first
        offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        b[np.repeat(self.first, size) + offset] = np.repeat(self.level, size)
        return b

    def neighbours(self) -> tuple[Array, Array]:
        """Return the levels before and after each stretch, 0 if it touches none."""
        c = self.level
        joined = self.joined
        before = np.where(joined, np.concatenate([[0.0], c[:-1]]), 0.0)
        after = np.where(np.append(joined[1:], False), np.append(c[1:], 0.0), 0.0)
        return before, after

    def take(self, selected: Array) -> Pattern:
        """Return the selected stretches, (K,) bool; the others become 0."""
        before_selected = np.concatenate([[False], selected[:-1]])
        joined = self.joined & before_selected
        return Pattern(
            self.first[selected], self.stop[selected], joined[selected], self.level[selected]
        )


HESSIAN_DAMPING_SHARE = 1e-10  # of the mean diagonal, added to a Hessian without a factor
OBJECTIVE_DECREASE_SHARE = 1e-14  # share of the objective by which a step must decrease it


@dataclass
class LevelSolver:
    """Minimise ``||y - A'c||²/n + mu Σ_s l_s c_s² + tau (Σ_s l_s |c_s| + jump Σ |jumps|)``."""

    pattern: Pattern  # with the levels c
    A: Array  # (K, n) sums of the features of each stretch
    y: Array  # (n,)
    mu: float
    tau: float
    jump: float

    def descend(self) -> Pattern:
        """Return the stretches at their best levels.

        Those that came to 0 or met are removed or joined. As long as no level and no jump changes
        its sign, the function is quadratic. If the way to its minimum changes some signs, all
        levels that would come to 0 are left out, if that decreases the function. Else the way ends
        at the first change, which removes a variable.
        """
        while len(self.pattern.level):
            minimum = self._minimum()
            share, position, joins = self._first_change(minimum)
            if share >= 1.0:
                self.pattern = self.pattern._replace(level=minimum)
                break
            if self._drop_changed_signs(minimum):
                continue
            c = self.pattern.level
            self.pattern = self.pattern._replace(level=c + share * (minimum - c))
            if joins:
                self._join_with_previous(position)
            else:
                self._select(np.arange(len(c)) != position)
        return self.pattern

    def _drop_changed_signs(self, minimum: Array) -> bool:
        """Go to the minimum without the levels that would change sign, if the function falls.

        Return whether it does.
        """
        keeps_sign = self.pattern.level * minimum > 0
        pattern = self.pattern._replace(level=minimum).take(keeps_sign)
        value = self._value(self.pattern, self.A)
        if self._value(pattern, self.A[keeps_sign]) >= value - OBJECTIVE_DECREASE_SHARE * abs(
            value
        ):
            return False
        self.pattern, self.A = pattern, self.A[keeps_sign]
        return True

    def _value(self, pattern: Pattern, A: Array) -> float:
        """Return the function at the levels of a pattern."""
        c = pattern.level
        size = pattern.stop - pattern.first
        r = self.y - A.T @ pattern.level
        before, after = pattern.neighbours()
        # A jump between two stretches is seen from both, one to 0 from one.
        jumps = np.abs(c - before) * np.where(pattern.joined, 0.5, 1.0)
        jumps += np.abs(c - after) * np.where(np.append(pattern.joined[1:], False), 0.5, 1.0)
        rough = size @ np.abs(c) + self.jump * jumps.sum()
        return float(r @ r / len(r) + self.mu * (size @ np.square(c)) + self.tau * rough)

    def _minimum(self) -> Array:
        """Return the levels (K,) that minimise the function if no level and no jump changes sign.

        It is quadratic then. With more stretches than samples, and mu > 0, n linear equations are
        solved instead of K, by Woodbury's identity.
        """
        levels = self.pattern.level
        n = len(self.y)
        size = self.pattern.stop - self.pattern.first
        (before, after) = self.pattern.neighbours()
        slope = size * np.sign(levels) + self.jump * (
            np.sign(levels - before) + np.sign(levels - after)
        )
        right_side = self.A @ self.y - n / 2 * self.tau * slope
        ridge = n * self.mu * size
        if len(levels) <= n or self.mu == 0:
            return _solve_definite(self.A @ self.A.T + np.diag(ridge), right_side)
        M = self.A.T @ (self.A / ridge[:, None]) + np.eye(n)
        correction = self.A @ _solve_definite(M, self.A.T @ (right_side / ridge))
        return np.asarray((right_side - correction) / ridge)

    def _first_change(self, minimum: Array) -> tuple[float, int, bool]:
        """Return the share of the way to the first sign change, where, and whether two meet.

        The share is ∞ if no sign changes. Stretches meet if the jump to the one before comes to 0.
        """
        c = self.pattern.level
        joined = self.pattern.joined
        zero_shares = _shares_to_zero(c, minimum)
        join_shares = _shares_to_zero(np.diff(c, prepend=0.0), np.diff(minimum, prepend=0.0))
        join_shares[~joined] = np.inf
        first_zero = int(np.argmin(zero_shares))
        first_join = int(np.argmin(join_shares))
        if join_shares[first_join] < zero_shares[first_zero]:
            return float(join_shares[first_join]), first_join, True
        return float(zero_shares[first_zero]), first_zero, False

    def _join_with_previous(self, s: int) -> None:
        """Join stretch s with the one before it."""
        stop = self.pattern.stop.copy()
        stop[s - 1] = stop[s]
        joined = self.pattern._replace(stop=stop)
        self.pattern = Pattern(*(np.delete(values, s) for values in joined))
        self.A = self.A.copy()
        self.A[s - 1] += self.A[s]
        self.A = np.delete(self.A, s, axis=0)

    def _select(self, selected: Array) -> None:
        """Leave out all but the selected stretches."""
        self.pattern, self.A = self.pattern.take(selected), self.A[selected]


def _solve_definite(H: Array, b: Array) -> Array:
    """Return ``H^-1 b``; of a singular H with a small ridge."""
    from scipy.linalg import lapack

    solution: Array
    _, solution, status = lapack.dposv(H, b, lower=1)
    if status:
        damped = H + HESSIAN_DAMPING_SHARE * np.trace(H) / len(b) * np.eye(len(b))
        _, solution, _ = lapack.dposv(damped, b, lower=1)
    return solution


def _shares_to_zero(current: Array, target: Array) -> Array:
    """Return the share of the way from current to target at which 0 is, ∞ if there is none."""
    crosses = current * target <= 0
    share: Array = np.full(len(current), np.inf)
    np.divide(current, current - target, out=share, where=crosses & (current != target))
    return share


MAX_STRETCH_ROUNDS = 500  # largest number of proximal steps of a fit
MIN_NEW_STRETCHES = 10
"""New isolated stretches that join at once at least; half as many as there are, if that is more."""


def with_stretches(sets: TrainingSets, norm: Stretches) -> TrainingSets:
    """Return the training sets with the norm instead of l1, and its tau_max."""
    tau_max = np.empty(len(sets.norm))
    for k in range(len(tau_max)):
        training = _training_data(sets, k, norm.genome)
        tau_max[k] = 2 / len(training.y) * norm.dual(training.F @ training.y)
    return replace(sets, tau_max=tau_max, stretches=norm)


def stretch_path(
    sets: TrainingSets, tau: Array, mu: Array, tolerance: float, longest: int | None = None
) -> Path:
    """Return the path of each training set at tau and mu (k, m).

    Each fit starts at the one before. A row ends after its first fit of more than `longest`
    features, which `solvers.path` then leaves out.
    """
    norm = cast(Stretches, sets.stretches)  # `solvers.path` calls this for sets that have them
    coefs = []
    gap = np.full(tau.shape, np.nan)
    n_rounds = np.full(tau.shape, NOT_COMPUTED, dtype=np.int64)
    for k in range(len(tau)):
        training = _training_data(sets, k, norm.genome)
        pattern = norm.pattern(np.zeros(sets.X.shape[1]))
        for m in range(tau.shape[1]):
            pattern, gap[k, m], n_rounds[k, m] = _fit(
                norm, training, pattern, StretchTarget(tau[k, m], mu[k, m], tolerance)
            )
            coefs.append(_coefs_by_feature(pattern, norm.genome))
            if longest is not None and len(coefs[-1][0]) > longest:
                coefs += [(np.zeros(0, dtype=np.int64), np.zeros(0))] * (tau.shape[1] - m - 1)
                break
    return Path.from_coefs(tau.shape, coefs, gap, n_rounds, tolerance)


class StretchTraining(NamedTuple):
    """One training set along the genome."""

    F: Array  # (d, n) features on the n training rows
    y: Array  # (n,)
    norm: float  # ``||F F'||/n``


class StretchTarget(NamedTuple):
    """A point of the path, and the relative gap to reach."""

    tau: float  # absolute
    mu: float  # absolute
    tolerance: float  # relative gap


def _training_data(sets: TrainingSets, k: int, genome: Genome) -> StretchTraining:
    """Return training set k along the genome."""
    Z, y = sets.problem(k)
    return StretchTraining(np.ascontiguousarray(Z.T[genome.order]), y, float(sets.norm[k]))


def _fit(
    norm: Stretches, training: StretchTraining, pattern: Pattern, target: StretchTarget
) -> tuple[Pattern, float, int]:
    """Return the stretches of one fit, its gap and its number of rounds."""
    tau, mu, tolerance = target
    step = 1 / (2 * (training.norm + mu))
    F = training.F
    n = len(training.y)
    pattern = _best_levels(norm, training, pattern, target)
    for n_rounds in range(1, MAX_STRETCH_ROUNDS + 1):  # noqa: B007 - it is returned
        b = pattern.spread(len(F))
        r = training.y - _stretch_sums(F, pattern).T @ pattern.level
        g = 2 / n * (F @ r) - 2 * mu * b
        certificate = PenaltyCertificate(
            tau * norm.value(b), float(b @ g), norm.dual(g), float(b @ b)
        )
        sums = ResidualSums(n, float(training.y @ r), float(r @ r), float(training.y @ training.y))
        gap = duality_gap(certificate, tau, mu, sums)
        if gap <= tolerance:
            break
        proposal = norm.pattern(norm.prox(b + step * g, step * tau))
        pattern = _best_levels(norm, training, _limit_new_stretches(proposal, b), target)
    return pattern, gap, n_rounds


def _limit_new_stretches(proposal: Pattern, before: Array) -> Pattern:
    """Return the proposal of a proximal step with only the largest new isolated stretches.

    before (d,): the coefficients before the step. A stretch is new if they are 0 on it, isolated
    if it touches no other. Small new ones would mostly come to 0 again once the others are fitted.
    """
    n_nonzero = np.concatenate([[0], np.cumsum(before != 0)])
    is_new = n_nonzero[proposal.stop] == n_nonzero[proposal.first]
    is_alone = is_new & ~proposal.joined & ~np.append(proposal.joined[1:], False)
    max_added = max(MIN_NEW_STRETCHES, int(np.sum(~is_alone)) // 2)
    positions = np.flatnonzero(is_alone)
    if len(positions) <= max_added:
        return proposal
    size = proposal.level[positions] ** 2 * (proposal.stop - proposal.first)[positions]
    selected = np.ones(len(is_alone), dtype=bool)
    selected[positions[np.argsort(-size, kind="stable")[max_added:]]] = False
    return proposal.take(selected)


def _best_levels(
    norm: Stretches, training: StretchTraining, pattern: Pattern, target: StretchTarget
) -> Pattern:
    """Return the pattern at its best levels."""
    if not len(pattern.level):
        return pattern
    A = _stretch_sums(training.F, pattern)
    return LevelSolver(pattern, A, training.y, target.mu, target.tau, norm.jump).descend()


def _stretch_sums(F: Array, pattern: Pattern) -> Array:
    """Return the sum of the features of each stretch, (K, n)."""
    sums = [F[first:stop].sum(axis=0) for first, stop, *_ in zip(*pattern, strict=True)]
    return np.array(sums).reshape(len(sums), F.shape[1])


def _coefs_by_feature(pattern: Pattern, genome: Genome) -> tuple[Array, Array]:
    """Return the features of all stretches, ascending, and their coefficients."""
    b = pattern.spread(len(genome.order))
    nonzero = np.flatnonzero(b)
    features = genome.order[nonzero]
    ascending = np.argsort(features)
    return features[ascending], b[nonzero][ascending]
