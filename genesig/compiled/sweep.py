"""One step of the path for many columns: solve on the working sets, then check all features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.active_set import LONG, NO_ROOM, SLACK, SOLVED, active_set, sort_active
from genesig.compiled.column import ACTIVE, Column, clear, column_of, gradient, residual
from genesig.compiled.dual import dual_newton, dual_polish
from genesig.compiled.lanes import dot
from genesig.compiled.moments import copy
from genesig.compiled.operations import larger, zeros
from genesig.compiled.screen import Scan, Screen, Sets, enlist, scan
from genesig.compiled.tiles import COLUMNS, SINGLES

Array = np.ndarray[Any, Any]

WORKING, SELECTED = 1, 2  # bits of `mark`
SOLVE, CHECK, DONE, FIRST = 0, 1, 2, 3  # states of a column; the first scan finds a working set
MOST = 1e38  # in single precision


class Progress(NamedTuple):
    """How far each of q columns is in a step.

    state (q,) one of SOLVE, CHECK, DONE, FIRST; gap (q,) its duality gap, relative to ||y||²/n;
    steps (q, 2) counts Newton steps and scans.
    """

    state: Array
    gap: Array
    steps: Array


@inner
def step(many: Column, sets: Sets, screen: Screen, progress: Progress) -> bool:
    """Minimise every column at its point; False where room is lacking, to be called again.

    Column by column on the working sets; then all features of all columns are checked, and
    violators join, until there are none.
    """
    q, N = len(progress.state), screen.tiles.shape[1]
    room = Scan(
        zeros(q, np.int64), zeros(q, np.float64), zeros(q, np.float32),
        zeros((N, q + COLUMNS), np.float32), zeros((COLUMNS, SINGLES), np.float32),
    )  # fmt: skip
    while True:
        count = solve_all(many, sets, screen, progress, room)
        if count <= 0:
            return count == 0
        scan(screen, room, count, sets)
        check_all(many, sets, progress, room, count)


@plain
def solve_all(
    many: Column, sets: Sets, screen: Screen, progress: Progress, room: Scan
) -> int:  # fmt: skip
    """Solve on the working sets; returns how many columns are to be checked, -1 without room."""
    count, state = 0, progress.state
    for q in range(len(state)):
        if state[q] == SOLVE:
            if not solve(many, sets, q, progress.steps[q]):
                return -1
            state[q] = CHECK
        if state[q] != DONE:
            enlist(many, screen, q, room, count)
            count += 1
    return count


@plain
def check_all(many: Column, sets: Sets, progress: Progress, room: Scan, count: int) -> None:
    """Hold the scanned columns against the optimality conditions; sort out what is done."""
    for q in room.todo[:count]:
        progress.steps[q, 1] += 1
        if progress.state[q] == FIRST or check(many, sets, q, room.near[q], progress.gap):
            progress.state[q] = DONE
            renew(sets, q, sets.found[q, : sets.n_found[q]])
        else:
            progress.state[q] = SOLVE


@plain
def solve(many: Column, sets: Sets, q: int, steps: Array) -> bool:
    """Minimise over the working set of column q; False if it lacks room."""
    col, W, status = column_of(many, q), sets.working[q, : sets.n_working[q]], SOLVED
    for a in range(sets.n_support[q]):
        sets.mark[q, sets.support[q, a]] &= ~SELECTED
    if not col.at.dual:
        status = active_set(col, W, sets.mark[q], steps)
        many.at.dual[q] = status == LONG
    if many.at.dual[q]:
        solve_dual(col, sets, q, W, steps)
    else:
        solve_primal(col, sets, q, status)
    for a in range(sets.n_support[q]):
        sets.mark[q, sets.support[q, a]] |= SELECTED
    return status != NO_ROOM


@plain
def check(many: Column, sets: Sets, q: int, near: float, gap: Array) -> bool:
    """Tell whether column q meets the optimality conditions of all features.

    Violators join the working set; without any the column gets its duality gap.
    """
    col = column_of(many, q)
    again, ratio, beyond = violators(col, sets, q, near)
    if again:
        return False
    if col.at.dual:
        finish_dual(col, sets, q)
    m = sets.n_support[q]
    gap[q] = certificate(col, sets.support[q, :m], sets.value[q, :m], ratio, beyond)
    return True


@inner
def solve_dual(col: Column, sets: Sets, q: int, W: Array, steps: Array) -> None:
    """Find the support and its signs, and the residual, by the dual."""
    clear(col)
    sign, m = zeros(len(W), np.float64), 0
    mark, value, support = sets.mark[q], sets.value[q], sets.support[q]
    dual_newton(col, W, sign, steps)
    for w in range(len(W)):
        value[W[w]] = sign[w]
    for j in range(len(mark)):
        if mark[j] & WORKING and value[j] != 0.0:
            support[m], value[m] = j, value[j]
            m += 1
    sets.n_support[q] = m


@inner
def finish_dual(col: Column, sets: Sets, q: int) -> None:
    """Put coefficients in the place of the signs that `solve_dual` has left."""
    m = sets.n_support[q]
    sign = zeros(m, np.float64)
    copy(sets.value[q, :m], sign)
    dual_polish(col, sets.support[q, :m], sign, sets.value[q, :m])
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
def violators(col: Column, sets: Sets, q: int, near: float) -> Any:
    """Add the worst violators; returns (any, largest |g|/(tau w), sum of squared excess)."""
    top, ratio, beyond = 0.0, 1.0, 0.0
    found, excess = sets.found[q, : sets.n_found[q]], sets.level[q]
    for f in range(len(found)):
        j, level = found[f], excess[f]
        excess[f] = 0.0
        if sets.mark[q, j] & SELECTED or level < near:
            continue
        g, limit = abs(gradient(col, j)), col.at.tau * col.weights[j]
        if g <= limit:
            continue
        beyond += (g - limit) * (g - limit)
        ratio = larger(ratio, g / limit if limit > 0.0 else 1.0)
        if not sets.mark[q, j] & WORKING and g > limit * (1.0 + SLACK) + col.at.floor:
            excess[f] = g / col.weights[j] if col.weights[j] > 0.0 else MOST
            top = larger(top, excess[f])
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
def certificate(col: Column, A: Array, b: Array, ratio: float, beyond: float) -> Any:
    """Return the duality gap relative to ||y||²/n (see `certificate.duality_gap`).

    Features of weight 0 are left out of the scaling; what their gradient lacks of 0 is added.
    """
    n, mu = col.number[0], col.at.mu
    total, square = 0.0, 0.0
    for a in range(len(A)):
        limit = col.at.tau * col.weights[A[a]]
        g = gradient(col, A[a]) - 2.0 * mu * b[a]
        square += b[a] * b[a]
        if limit > 0.0:
            total += limit * abs(b[a]) - b[a] * g
            ratio = larger(ratio, abs(g) / limit)
        else:
            total += abs(b[a] * g)
            beyond += g * g
    energy = dot(col.y, col.y) / n
    if energy == 0.0:
        energy = 1.0
    if col.at.tau == 0.0 and mu > 0.0:
        return beyond / (4.0 * mu) / energy
    s = 1.0 / ratio
    q = dot(col.r, col.r) + n * mu * square
    total += (1.0 - s) / n * (2.0 * dot(col.y, col.r) - (1.0 + s) * q)
    return larger(total, 0.0) / energy
