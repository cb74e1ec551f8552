"""Fits of many columns on their working sets, and the check of all features."""

from __future__ import annotations

from typing import NamedTuple

from genesig.arrays import Array
from genesig.compiled import compiled, inner, part
from genesig.compiled.active_set import (
    LONG,
    NO_ROOM,
    SLACK,
    SOLVED,
    solve_working_set,
    sort_active,
)
from genesig.compiled.algebra import dot
from genesig.compiled.column import (
    Column,
    Known,
    clear_active,
    column_of,
    gradient,
    known_of,
    residual_of_active,
)

# bits of `mark`
WORKING = 1
SELECTED = 2
# States of a column; the first scan finds a working set.
SOLVE = 0
CHECK = 1
POLISH = 2
POLISHED = 3
DONE = 4
FIRST = 5
MOST = 1e38  # in single precision


class Sets(NamedTuple):
    """Feature sets of many columns, each (q, d) with its length (q,).

    working W; support A (ascending) with its coefficients; mark (q, d) tells membership of both.
    """

    working: Array
    n_working: Array
    support: Array
    value: Array
    n_support: Array
    mark: Array


class Progress(NamedTuple):
    """How far each of q columns is at a point.

    state (q,) of the columns; gap (q,) its duality gap, relative to ||y||²/n;
    steps (q, 1) counts Newton steps.
    """

    state: Array
    gap: Array
    steps: Array


class Found(NamedTuple):
    """What a scan found in the columns `todo` (c,).

    For the t-th of them feature[start[t] : start[t + 1]], with what single precision tells of their
    gradients, level; near (c,) is the level from which they may be above tau. The check fills in
    ratio (c,), the largest ``|g| / (tau w)``, and beyond (c,), the sum of squares above tau w.
    """

    todo: Array
    near: Array
    start: Array
    feature: Array
    level: Array
    ratio: Array
    beyond: Array


@compiled
def solve_columns(many: Column, known: Known, sets: Sets, progress: Progress) -> bool:
    """Minimise columns on their working sets; False where one lacks room, to be called again.

    Those whose point is `dual` are left to `dual.solve_duals`, and so become those with more active
    features than is good for this form.
    """
    for q in range(len(progress.state)):
        if progress.state[q] != SOLVE:
            continue
        col = column_of(many, q)
        own = known_of(known, q)
        W = sets.working[q, : sets.n_working[q]]
        unmark_support(sets, q)
        status = LONG
        if not many.at.dual[q]:
            status = solve_working_set(col, own, W, sets.mark[q], progress.steps[q])
        if status == LONG:
            many.at.dual[q] = True
            clear_active(own)
            continue
        if status != SOLVED:
            residual_of_active(col, own)
        copy_active(own, sets, q, status)
        if status == NO_ROOM:
            return False
        progress.state[q] = CHECK
    return True


@compiled
def check_columns(many: Column, sets: Sets, progress: Progress, found: Found) -> None:
    """Hold the scanned columns against the optimality conditions; sort out what is done.

    Violators join the working set. Without any a column is done, but for those that are `dual`:
    they are to be polished, and come here once more for their gap.
    """
    for t in range(len(found.todo)):
        q = found.todo[t]
        state = progress.state[q]
        col = column_of(many, q)
        if state == CHECK and join_violators(col, sets, q, found, t):
            state = SOLVE
        elif state == CHECK:
            state = POLISH if many.at.dual[q] else POLISHED
        if state == POLISHED:
            progress.gap[q] = duality_gap(col, sets, q, found.ratio[t], found.beyond[t])
        if state in (POLISHED, FIRST):
            renew(sets, q, found, t)
            state = DONE
        progress.state[q] = state


@part
def unmark_support(sets: Sets, q: int) -> None:
    """Take the mark from the features of the support."""
    for a in range(sets.n_support[q]):
        sets.mark[q, sets.support[q, a]] &= 255 - SELECTED


@part
def copy_active(known: Known, sets: Sets, q: int, status: int) -> None:
    """Copy the support out of the column."""
    if status != SOLVED:
        sort_active(known)
    sets.n_support[q] = 0
    for a in range(known.state.active):
        f = known.features[known.active[a]]
        record(sets, q, f.j, f.b, f.sign)


@inner
def record(sets: Sets, q: int, j: int, b: float, sign: float) -> None:
    """Add feature j to the support, unless rounding has not left its b on its side of 0."""
    if b != 0.0 and b * sign >= 0.0:
        m = sets.n_support[q]
        sets.support[q, m], sets.value[q, m], sets.n_support[q] = j, b, m + 1
        sets.mark[q, j] |= SELECTED


@inner
def join_violators(col: Column, sets: Sets, q: int, found: Found, t: int) -> bool:
    """Add the worst violators to the working set; False if there are none. Fill ratio, beyond."""
    top = 0.0
    ratio = 1.0
    beyond = 0.0
    excess = found.level
    for f in range(found.start[t], found.start[t + 1]):
        j = found.feature[f]
        level = excess[f]
        excess[f] = 0.0
        if sets.mark[q, j] & SELECTED or level < found.near[t]:
            continue
        g = abs(gradient(col, j))
        limit = col.at.tau * col.weights[j]
        if g <= limit:
            continue
        beyond += (g - limit) * (g - limit)
        ratio = max(ratio, g / limit if limit > 0.0 else 1.0)
        if not sets.mark[q, j] & WORKING and g > limit * (1.0 + SLACK) + col.at.floor:
            excess[f] = g / col.weights[j] if col.weights[j] > 0.0 else MOST
            top = max(top, excess[f])
    found.ratio[t] = ratio
    found.beyond[t] = beyond
    if top > 0.0:
        # Far from the solution only the largest are worth having: the others may vanish.
        for f in range(found.start[t], found.start[t + 1]):
            if excess[f] >= 0.6 * top:
                sets.working[q, sets.n_working[q]] = found.feature[f]
                sets.n_working[q] += 1
                sets.mark[q, found.feature[f]] |= WORKING
    return top > 0.0


@inner
def renew(sets: Sets, q: int, found: Found, t: int) -> None:
    """Make the working set: the support and the features found."""
    for w in range(sets.n_working[q]):
        sets.mark[q, sets.working[q, w]] = 0
    n = sets.n_support[q]
    for a in range(n):
        sets.mark[q, sets.support[q, a]] = WORKING | SELECTED
        sets.working[q, a] = sets.support[q, a]
    for f in range(found.start[t], found.start[t + 1]):
        j = found.feature[f]
        if sets.mark[q, j] == 0:
            sets.mark[q, j] = WORKING
            sets.working[q, n] = j
            n += 1
    sets.n_working[q] = n


@inner
def duality_gap(col: Column, sets: Sets, q: int, ratio: float, beyond: float) -> float:
    """Return the duality gap relative to ||y||²/n (see `solution.duality_gap`).

    Features of weight 0 are left out of the scaling; what their gradient lacks of 0 is added.
    """
    n = col.number[0]
    mu = col.at.mu
    total = 0.0
    square = 0.0
    for a in range(sets.n_support[q]):
        j = sets.support[q, a]
        b = sets.value[q, a]
        limit = col.at.tau * col.weights[j]
        g = gradient(col, j) - 2.0 * mu * b
        square += b * b
        if limit > 0.0:
            total += limit * abs(b) - b * g
            ratio = max(ratio, abs(g) / limit)
        else:
            total += abs(b * g)
            beyond += g * g
    energy = dot(col.y, col.y) / n
    if energy == 0.0:
        energy = 1.0
    if col.at.tau == 0.0 and mu > 0.0:
        return float(beyond / (4.0 * mu) / energy)
    s = 1.0 / ratio
    both = dot(col.r, col.r) + n * mu * square
    total += (1.0 - s) / n * (2.0 * dot(col.y, col.r) - (1.0 + s) * both)
    return float(max(total, 0.0) / energy)
