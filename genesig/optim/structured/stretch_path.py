"""The sparse fused lasso of many training sets: proximal steps find stretches, Newton their levels.

    min_b (1/n)||y - Zb||² + mu ||b||² + tau Omega(b),  Omega as in `stretches`

A proximal step of all features cuts stretches, begins new ones and never goes uphill; the best
levels of what it finds follow exactly. The gap of the dual norm over all stretches ends it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from genesig.genome.order import Genome
from genesig.optim.solution import Path
from genesig.optim.structured.certificate import Certified, Residual, duality_gap
from genesig.optim.structured.levels import Levels
from genesig.optim.structured.stretches import Pattern, Stretches
from genesig.optim.training import TrainingSets

Array = np.ndarray[Any, Any]

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
    norm, coefs = sets.stretches or Stretches(Genome.of(sets.X.shape[1], None, None), 0.0), []
    gap, rounds = np.full(tau.shape, np.nan), np.full(tau.shape, -1, dtype=np.int64)
    for k in range(len(tau)):
        part, pattern = _training(sets, k, norm.genome), norm.pattern(np.zeros(sets.X.shape[1]))
        for m in range(tau.shape[1]):
            pattern, gap[k, m], rounds[k, m] = _solved(
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


def _solved(
    norm: Stretches, part: Training, pattern: Pattern, goal: Goal
) -> tuple[Pattern, float, int]:
    """Return the stretches of one fit, its gap and the rounds it took."""
    tau, mu, tolerance = goal
    step, F, n = 1 / (2 * (part.norm + mu)), part.F, len(part.y)
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
