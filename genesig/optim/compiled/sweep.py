"""One step of the path for many columns: solve on the working sets, then check all features."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.compiled import inner, jit, plain
from genesig.optim.compiled.active_set import NO_ROOM, SLACK, SOLVED, active_set, sort_active
from genesig.optim.compiled.column import ACTIVE, Column, clear, column_of, gradient, residual
from genesig.optim.compiled.dual import dual_newton, dual_polish, update_gram
from genesig.optim.compiled.lanes import dot
from genesig.optim.compiled.screen import Sets, levels, scan
from genesig.optim.compiled.tiles import COLUMNS, SINGLES

Array = np.ndarray[Any, Any]

WORKING, SELECTED = 1, 2  # bits of `mark`
SOLVE, CHECK, DONE, FIRST = 0, 1, 2, 3  # states of a column; the first scan finds a working set
MOST = 1e38  # in single precision


@jit
def step(
    state: Array, many: Column, sets: Sets, single: Array, scaled: Array, top: Array, tau: Array,
    mu: Array, dual: Array, strong: Array, floor: Array, gap: Array, steps: Array,
) -> bool:  # fmt: skip
    """Minimise every column at its tau and mu; False where room is lacking, to be called again.

    Column by column on the working sets; then all features of all columns are checked, and
    violators join, until there are none. `state` (q,) is where each column stands; steps (q, 2)
    counts Newton steps and scans.
    """
    q, near, tile = len(state), np.empty(len(state)), np.empty((COLUMNS, SINGLES), np.float32)
    todo, low = np.empty(q, np.int64), np.empty(q, np.float32)
    R = np.zeros((single.shape[1], q + COLUMNS), np.float32)
    while True:
        count = solve_all(
            state, many, sets, top, tau, mu, dual, strong, floor, steps, todo, near, low, R
        )
        if count <= 0:
            return count == 0
        scan(single, R, scaled, todo[:count], low, sets, tile)
        check_all(state, many, sets, tau, mu, dual, floor, gap, steps, todo[:count], near)


@plain
def solve_all(
    state: Array, many: Column, sets: Sets, top: Array, tau: Array, mu: Array, dual: Array,
    strong: Array, floor: Array, steps: Array, todo: Array, near: Array, low: Array, R: Array,
) -> int:  # fmt: skip
    """Solve on the working sets; returns how many columns are to be checked, -1 without room."""
    count = 0
    for q in range(len(state)):
        if state[q] == SOLVE:
            if not solve(many, sets, q, tau[q], mu[q], dual[q], floor[q], steps):
                return -1
            state[q] = CHECK
        if state[q] != DONE:
            near[q], low[q] = levels(many, q, top[q], tau[q], strong[q], R, count)
            todo[count] = q
            count += 1
    return count


@plain
def check_all(
    state: Array, many: Column, sets: Sets, tau: Array, mu: Array, dual: Array, floor: Array,
    gap: Array, steps: Array, todo: Array, near: Array,
) -> None:  # fmt: skip
    """Hold the scanned columns against the optimality conditions; sort out what is done."""
    for q in todo:
        steps[q, 1] += 1
        if state[q] == FIRST or check(
            many, sets, q, near[q], tau[q], mu[q], dual[q], floor[q], gap
        ):
            state[q] = DONE
            renew(sets, q, sets.found[q, : sets.n_found[q]])
        else:
            state[q] = SOLVE


@plain
def solve(
    many: Column, sets: Sets, q: int, tau: float, mu: float, dual: bool, floor: float,
    steps: Array,
) -> bool:  # fmt: skip
    """Minimise over the working set of column q; False if it lacks room."""
    col, W, status = column_of(many, q), sets.working[q, : sets.n_working[q]], SOLVED
    for a in range(sets.n_support[q]):
        sets.mark[q, sets.support[q, a]] &= ~SELECTED
    if dual:
        solve_dual(col, sets, q, W, tau, mu, steps[q])
    else:
        status = active_set(col, W, sets.mark[q], tau, mu, floor, steps[q])
        solve_primal(col, sets, q, status)
    for a in range(sets.n_support[q]):
        sets.mark[q, sets.support[q, a]] |= SELECTED
    return status != NO_ROOM


@plain
def check(
    many: Column, sets: Sets, q: int, near: float, tau: float, mu: float, dual: bool, floor: float,
    gap: Array,
) -> bool:  # fmt: skip
    """Tell whether column q meets the optimality conditions of all features.

    Violators join the working set; without any the column gets its duality gap.
    """
    col = column_of(many, q)
    again, ratio, beyond = violators(col, sets, q, near, tau, floor)
    if again:
        return False
    if dual:
        finish_dual(col, sets, q, tau, mu)
    m = sets.n_support[q]
    gap[q] = certificate(col, sets.support[q, :m], sets.value[q, :m], tau, mu, ratio, beyond)
    return True


@inner
def solve_dual(
    col: Column, sets: Sets, q: int, W: Array, tau: float, mu: float, steps: Array
) -> None:  # fmt: skip
    """Find the support and its signs, and the residual, by the dual."""
    clear(col)
    gone, sign, m = np.empty(1, np.int32), np.zeros(max(len(W), 1)), 0
    for j in range(len(col.F)):
        if col.counted[j] and not sets.mark[q, j] & WORKING:
            gone[0] = j
            update_gram(col, gone, sign)
    dual_newton(col, W, tau, mu, sign, steps)
    for w in range(len(W)):
        sets.value[q, W[w]] = sign[w]
    for j in range(len(col.F)):
        if sets.mark[q, j] & WORKING and sets.value[q, j] != 0.0:
            sets.support[q, m], sets.value[q, m] = j, sets.value[q, j]
            m += 1
    sets.n_support[q] = m


@inner
def finish_dual(col: Column, sets: Sets, q: int, tau: float, mu: float) -> None:
    """Put coefficients in the place of the signs that `solve_dual` has left."""
    m = sets.n_support[q]
    sign = sets.value[q, :m].copy()
    dual_polish(col, sets.support[q, :m], sign, tau, mu, sets.value[q, :m])
    record(sets, q, sign, m)


@plain
def solve_primal(col: Column, sets: Sets, q: int, status: int) -> None:
    """Copy the support out of the column."""
    if status != SOLVED:
        sort_active(col)
        residual(col)
    m, sign = col.size[ACTIVE], col.spare
    for a in range(m):
        p = col.active[a]
        sets.support[q, a], sets.value[q, a], sign[a] = col.feature[p], col.b[p], col.sign[p]
    record(sets, q, sign, m)


@plain
def record(sets: Sets, q: int, sign: Array, m: int) -> None:
    """Keep the coefficients that rounding has left on their side of 0."""
    kept = 0
    for a in range(m):
        b = sets.value[q, a]
        if b != 0.0 and b * sign[a] >= 0.0:
            sets.support[q, kept], sets.value[q, kept] = sets.support[q, a], b
            kept += 1
    sets.n_support[q] = kept


@plain
def violators(col: Column, sets: Sets, q: int, near: float, tau: float, floor: float) -> Any:
    """Add the worst violators; returns (any, largest |g|/(tau w), sum of squared excess)."""
    top, ratio, beyond = 0.0, 1.0, 0.0
    found, excess = sets.found[q, : sets.n_found[q]], sets.level[q]
    for f in range(len(found)):
        j, level = found[f], excess[f]
        excess[f] = 0.0
        if sets.mark[q, j] & SELECTED or level < near:
            continue
        g, limit = abs(gradient(col, j)), tau * col.weights[j]
        if g <= limit:
            continue
        beyond += (g - limit) ** 2
        ratio = max(ratio, g / limit if limit > 0.0 else 1.0)
        if not sets.mark[q, j] & WORKING and g > limit * (1.0 + SLACK) + floor:
            excess[f] = g / col.weights[j] if col.weights[j] > 0.0 else MOST
            top = max(top, excess[f])
    if top > 0.0:
        # Far from the solution only the largest are worth having: the others may vanish.
        for f in range(len(found)):
            if excess[f] >= 0.6 * top:
                sets.working[q, sets.n_working[q]] = found[f]
                sets.n_working[q] += 1
                sets.mark[q, found[f]] |= WORKING
    return top > 0.0, ratio, beyond


@plain
def renew(sets: Sets, q: int, found: Array) -> None:
    """Make the working set: the support and the features found."""
    for w in range(sets.n_working[q]):
        sets.mark[q, sets.working[q, w]] = 0
    n = sets.n_support[q]
    for a in range(n):
        sets.mark[q, sets.support[q, a]] = WORKING | SELECTED
        sets.working[q, a] = sets.support[q, a]
    for f in range(len(found)):
        if sets.mark[q, found[f]] == 0:
            sets.mark[q, found[f]] = WORKING
            sets.working[q, n] = found[f]
            n += 1
    sets.n_working[q] = n


@plain
def certificate(
    col: Column, A: Array, b: Array, tau: float, mu: float, ratio: float, beyond: float
) -> Any:
    """Return the duality gap relative to ||y||²/n (see `certificate.duality_gap`).

    Features of weight 0 are left out of the scaling; what their gradient lacks of 0 is added.
    """
    n = col.number[0]
    total, square = 0.0, 0.0
    for a in range(len(A)):
        limit = tau * col.weights[A[a]]
        g = gradient(col, A[a]) - 2.0 * mu * b[a]
        square += b[a] * b[a]
        if limit > 0.0:
            total += limit * abs(b[a]) - b[a] * g
            ratio = max(ratio, abs(g) / limit)
        else:
            total += abs(b[a] * g)
            beyond += g * g
    energy = dot(col.y, col.y) / n
    if energy == 0.0:
        energy = 1.0
    if tau == 0.0 and mu > 0.0:
        return beyond / (4.0 * mu) / energy
    s = 1.0 / ratio
    q = dot(col.r, col.r) + n * mu * square
    total += (1.0 - s) / n * (2.0 * dot(col.y, col.r) - (1.0 + s) * q)
    return max(total, 0.0) / energy
