"""Proximal Newton steps on Cox's partial likelihood, and how far their end is from the minimum.

``min h(D'x) + ½ Σ_j ridge_j x_j² + Σ_j cut_j |x_j|``, h(η) = -(2/n) l(η).

Source: Lee, Sun and Saunders 2014; the gap: see `cox.certificate`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, jit, plain
from genesig.compiled.cox_model import Fit, Room, model
from genesig.compiled.lanes import LANES
from genesig.compiled.likelihood import Here, Terms, entropy, slope, value
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.products import dots_of_one

Array = np.ndarray[Any, Any]

STEPS = 60  # most Newton steps of a fit
NEARLY = 1.0 - 1e-15  # what is below it times a ratio is below the ratio when it is divided
ARMIJO = 1e-4  # share of the expected decrease that a step must bring


class Features(NamedTuple):
    """All features of a training set: F (d, N) of all samples, mean, inverse, weight (d,).

    rows (n,) int are its samples, in the order of the terms.
    """

    F: Array
    mean: Array
    inverse: Array
    weight: Array
    rows: Array


@plain
def penalty(fit: Fit, x: Array) -> float:
    """Return the penalty of x, which may be longer than the fit."""
    total = 0.0
    for j in range(len(fit.x)):
        total += 0.5 * fit.ridge[j] * x[j] * x[j] + fit.cut[j] * abs(x[j])
    return total


@plain
def search(terms: Terms, fit: Fit, room: Room, promised: float, now: float) -> Any:
    """Go the whole way, half of it, a quarter..., until enough of the promise is kept.

    Returns the objective that is reached from `now`; infinite where none is found.
    """
    share, trial, goal = 1.0, room.line[3], room.line[1]
    while share > 1e-8:
        for i in range(len(trial)):
            trial[i] = goal[i] if share == 1.0 else fit.eta[i] + share * (goal[i] - fit.eta[i])
        for j in range(len(fit.x)):
            whole = share == 1.0
            room.target[j] = room.z[j] if whole else fit.x[j] + share * (room.z[j] - fit.x[j])
        found = value(terms, trial[: len(room.here.e)], room.here) + penalty(fit, room.target)
        if found <= now + ARMIJO * share * promised + 1e-14 * abs(now):
            for i in range(len(trial)):
                fit.eta[i] = trial[i]
            for j in range(len(fit.x)):
                fit.x[j] = room.target[j]
            return found
        share *= 0.5
    return np.inf


@inner
def descend(terms: Terms, fit: Fit, room: Room, slack: float) -> Any:
    """Step until the decrease that the model promises is below `slack`; return the steps.

    Less than 0 where a model could not be solved.
    """
    n = len(room.here.e)
    now = value(terms, fit.eta[:n], room.here) + penalty(fit, fit.x)
    for step in range(1, STEPS + 1):
        slope(terms, room.here)
        if not model(terms, fit, room):
            return -step
        promised = penalty(fit, room.z) - penalty(fit, fit.x)
        for j in range(n):
            promised += room.here.u[j] * (room.line[1, j] - fit.eta[j])
        now = search(terms, fit, room, promised, now)
        if now == np.inf or -promised <= slack:
            return step
    return STEPS


@jit
def minimise(
    terms: Terms, fit: Fit, room: Room, slack: float, last: float, longest: int
) -> tuple[int, int]:
    """Minimise from the point of the fit, see `descend`; the gradient there is in `room.here`.

    Where no more than `longest` x are then not 0, that point is kept as `room.rough`, and the steps
    go on to `last`. Returns the steps before and after, -1 for none after; less than 0 before where
    a model could not be solved.
    """
    steps, more, rough = descend(terms, fit, room, slack), -1, room.rough
    if steps >= 0 and number(fit.x) <= longest:
        fill(terms, fit.eta, room.here)
        for j in range(len(fit.x)):
            rough.x[j] = fit.x[j]
        for i in range(len(fit.eta)):
            rough.eta[i] = fit.eta[i]
        for i in range(len(rough.u)):
            rough.u[i] = room.here.u[i]
        more = descend(terms, fit, room, last)
    fill(terms, fit.eta, room.here)
    return (steps, more) if more >= -1 else (more, -1)


@plain
def number(x: Array) -> int:
    """Return how many are not 0."""
    count = 0
    for value_of in x:
        count += value_of != 0.0
    return count


@plain
def fill(terms: Terms, eta: Array, here: Here) -> Any:
    """Fill `here` with h(η) and its gradient, and return h(η)."""
    found = value(terms, eta[: len(here.e)], here)
    slope(terms, here)
    return found


@jit
def standardised(all_of: Features, features: Array, D: Array) -> None:
    """Fill a row of D (m, N) with each feature on the training samples."""
    standardise(all_of, features, D)


@plain
def standardise(all_of: Features, features: Array, D: Array) -> None:
    """Do as `standardised` says."""
    for a in range(len(features)):
        j = features[a]
        for i in range(len(all_of.rows)):
            D[a, i] = all_of.inverse[j] * (all_of.F[j, all_of.rows[i]] - all_of.mean[j])


@jit
def judge(terms: Terms, eta: Array, here: Here, s: float) -> float:
    """Return h(η) and the bound of its conjugate, see `likelihood.entropy`, together.

    Fills `here` with h(η) and its gradient.
    """
    found = fill(terms, eta, here)
    return float(found + entropy(terms, here, eta, s))


@jit
def certify(
    terms: Terms, eta: Array, here: Here, all_of: Features, b: Array, level: Array, g: Array
) -> Any:  # fmt: skip
    """Return the duality gap of b (d,) over all features, not relative; g (d,) = Z'u here.

    level (4,) = tau, mu, and the `certificate.squares` of what has a ridge alone, tau > 0. Features
    of weight 0 are among these: none is without a penalty. See `certificate.duality_gap`.
    """
    tau, mu = level[0], level[1]
    found = value(terms, eta, here)
    ratio, square, absolute = 1.0, 0.0, 0.0
    for j in range(len(b)):
        cut, steep = tau * all_of.weight[j], abs(g[j] + 2.0 * mu * b[j])
        if cut > 0.0 and not steep < NEARLY * ratio * cut:
            ratio = larger(ratio, steep / cut)
        if b[j] != 0.0:
            square += b[j] * b[j]
            absolute += cut * abs(b[j])
    s = 1.0 / ratio
    found += entropy(terms, here, eta, s) + (1.0 + s * s) * mu * square + absolute
    found += level[2] + s * s * level[3]
    return larger(found, 0.0)


@jit
def beyond(g: Array, weight: Array, outside: Array, tau: float, room: Room, reach: float) -> bool:
    """Tell whether a feature outside may miss its bound, |g_j| <= tau w_j, at `room.rough`.

    Its product with u differs there from g by no more than `reach` times how far u has moved.
    """
    square, found = 0.0, False
    for i in range(len(room.rough.u)):
        square += (room.here.u[i] - room.rough.u[i]) ** 2
    moved = reach * np.sqrt(square)
    for j in range(len(g)):
        found = found or (outside[j] and abs(g[j]) >= tau * weight[j] - moved)
    return found


@jit
def products(F: Array, wide: Array, found: Array) -> None:
    """Fill found (k, d) with F w for each line w of wide (k, N), in one pass over F (d, N)."""
    some = zeros((1, LANES), np.float64)
    for first in range(0, len(F), LANES):
        for k in range(len(wide)):
            dots_of_one(F, first, wide, k, F.shape[1], some, 0)
            for j in range(first, smaller(first + LANES, len(F))):
                found[k, j] = some[0, j - first]
