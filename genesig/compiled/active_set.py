"""Newton steps on the fixed point of the Landweber map, from sign pattern to sign pattern.

On a support A with signs s the fixed point solves ``(Z_A'Z_A + n mu I) b = Z_A'y - (n tau/2) s``.
A step goes there, or to the first coefficient that would change its sign, which leaves; when all
signs agree the feature that violates optimality most enters. The objective falls at every step, so
no sign pattern comes twice.
"""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.compiled import inner
from genesig.compiled.algebra import cholesky, dot, drop_row, solve_lower, solve_upper
from genesig.compiled.column import (
    ACTIVE,
    KNOWN,
    Column,
    clear_active,
    forget,
    gradient,
    learn,
    residual_of_active,
    summed,
)

SLACK = 1e-11  # a feature enters when its gradient exceeds tau by more than this share
DEPENDENT = 1e-11  # share of a feature's square that is left outside the span of the active ones
SOLVED, NO_ROOM, STUCK, LONG = 0, 1, 2, 3
SHARE = 0.6  # of the largest violation: those that violate optimality by as much enter together
BLOCKED = 4  # bit of a feature's mark, beside those of the sweep


@inner
def remove(col: Column, a: int) -> None:
    """Take the a-th active feature out."""
    m, p = col.size[ACTIVE], col.active[a]
    col.b[p] = col.sign[p] = 0.0
    col.inside[p] = False
    drop_row(col.L, m, a)
    for i in range(a, m - 1):
        col.active[i] = col.active[i + 1]
    col.size[ACTIVE] = m - 1


@inner
def append(col: Column, p: int, sign: float, ridge: float) -> bool:
    """Let known feature p enter with coefficient 0; False if it depends on the active ones."""
    m = col.size[ACTIVE]
    row = col.L[m]
    for a in range(m):
        row[a] = col.gram[p, col.active[a]]
    solve_lower(col.L, m, row)
    left = col.gram[p, p] + ridge - dot(row[:m], row[:m])
    if not left > DEPENDENT * col.gram[p, p]:
        return False
    row[m] = np.sqrt(left)
    col.active[m] = p
    col.sign[p], col.b[p], col.inside[p] = sign, 0.0, True
    col.size[ACTIVE] = m + 1
    return True


@inner
def exchange(col: Column, p: int, sign: float, ridge: float) -> bool:
    """Let a dependent feature in: move along the null direction until an active one is 0."""
    m, move = col.size[ACTIVE], col.spare
    for a in range(m):
        move[a] = -sign * col.L[m, a]
    solve_upper(col.L, m, move)
    step, out = np.inf, -1
    for a in range(m):
        q = col.active[a]
        if col.sign[q] != 0.0 and move[a] * col.sign[q] < 0.0 and -col.b[q] / move[a] < step:
            step, out = -col.b[q] / move[a], a
    if out < 0:
        return False
    for a in range(m):
        col.b[col.active[a]] += step * move[a]
    remove(col, out)
    if not append(col, p, sign, ridge):
        return False
    col.b[p] = sign * step
    return True


@inner
def first_turn(
    active: Array, m: int, b: Array, sign: Array, target: Array
) -> tuple[float, int]:  # fmt: skip
    """Return how far b may go to its target until a sign turns, and which active one; 1, -1: none.

    b, sign are of all; active (m,) are places among them, target (m,) is of the active ones.
    """
    share, out = 1.0, -1
    for a in range(m):
        p = active[a]
        if sign[p] != 0.0 and target[a] * sign[p] <= 0.0:
            away = b[p] - target[a]
            ratio = b[p] / away if away != 0.0 else 0.0
            if out < 0 or ratio < share:
                share, out = ratio, a
    return share, out


@inner
def newton_step(col: Column, cut: float) -> bool:
    """Go to the fixed point of the sign pattern (True), or to the first sign change (False)."""
    m, target = col.size[ACTIVE], col.spare
    for a in range(m):
        p = col.active[a]
        target[a] = col.c[p] - cut * col.weights[col.feature[p]] * col.sign[p]
    solve_lower(col.L, m, target)
    solve_upper(col.L, m, target)
    step, out = first_turn(col.active, m, col.b, col.sign, target)
    if out >= 0 and step == 0.0:
        turn_back(col, target)
        return False
    for a in range(m):
        p = col.active[a]
        col.b[p] = target[a] if out < 0 else col.b[p] + step * (target[a] - col.b[p])
    if out >= 0:
        remove(col, out)
    return out < 0


@inner
def turn_back(col: Column, target: Array) -> None:
    """Take out all features at 0 that would go against their sign.

    Of those that entered together one at least goes its way: the objective falls along the step.
    """
    for a in range(col.size[ACTIVE] - 1, -1, -1):
        p = col.active[a]
        if col.sign[p] != 0.0 and col.b[p] == 0.0 and target[a] * col.sign[p] <= 0.0:
            remove(col, a)


@inner
def sort_active(col: Column) -> None:
    """Put the active features in ascending order; the factor no longer belongs to them."""
    col.ridge[0] = -1.0
    for a in range(1, col.size[ACTIVE]):
        p, e = col.active[a], a
        while e > 0 and col.feature[col.active[e - 1]] > col.feature[p]:
            col.active[e] = col.active[e - 1]
            e -= 1
        col.active[e] = p


@inner
def factor_active(col: Column, ridge: float) -> bool:
    """Sort the active features and factor their matrix afresh."""
    m = col.size[ACTIVE]
    sort_active(col)
    for a in range(m):
        row, gram = col.L[a], col.gram[col.active[a]]
        for e in range(a + 1):
            row[e] = gram[col.active[e]]
        row[a] += ridge
    col.ridge[0] = ridge
    return cholesky(col.L, m)


@inner
def polish(col: Column, cut: float, ridge: float) -> bool:
    """Solve for the found support from the start, in the order of the features, and refine once."""
    if not factor_active(col, ridge):
        return False
    m, change = col.size[ACTIVE], col.spare
    for again in range(2):
        for a in range(m):
            p = col.active[a]
            change[a] = -cut * col.weights[col.feature[p]] * col.sign[p]
            if again:
                change[a] += dot(col.Z[p], col.r) - ridge * col.b[p]
            else:
                change[a] += col.c[p]
        solve_lower(col.L, m, change)
        solve_upper(col.L, m, change)
        for a in range(m):
            p = col.active[a]
            col.b[p] = col.b[p] + change[a] if again else change[a]
        residual_of_active(col)
    return True


@inner
def violations(col: Column, W: Array, mark: Array, excess: Array) -> float:
    """Fill excess (len(W),) with how far each feature outside violates optimality, by its sign.

    Returns the largest size, 0 where nothing is violated.
    """
    most = 0.0
    for w in range(len(W)):
        j = W[w]
        p, excess[w] = col.slot[j], 0.0
        if mark[j] & BLOCKED or (p >= 0 and col.inside[p]) or col.inverse[j] == 0.0:
            continue
        g = gradient(col, j)
        beyond = abs(g) - col.at.tau * col.weights[j] * (1.0 + SLACK) - col.at.floor
        if beyond > 0.0:
            excess[w] = beyond * np.sign(g)
            most = max(most, beyond)
    return most


@inner
def choose_entering(way: Array, most: float, limit: int) -> None:
    """Put the signs of those that enter together in place of their excess, NaN for the others.

    No more than there are samples: where genes go together, thousands are beyond their share of
    the largest, hardly any of which stays, and all would take room for their inner products.
    """
    share, count = SHARE, limit + 1
    while count > limit and share < 1.0 - SLACK:
        count = 0
        for excess in way:
            count += abs(excess) >= share * most
        share = share if count <= limit else 0.5 * (1.0 + share)
    count = 0
    for w in range(len(way)):
        enters = count < limit and abs(way[w]) >= share * most
        way[w] = np.sign(way[w]) if enters else np.nan
        count += enters


@inner
def unknown(col: Column, W: Array, way: Array) -> int:
    """Return how many features are to enter that are not known."""
    count = 0
    for w in range(len(W)):
        count += not np.isnan(way[w]) and col.slot[W[w]] < 0
    return count


@inner
def learn_all(col: Column, W: Array, way: Array) -> bool:
    """Make the features known that are to enter; False without room."""
    count, room = unknown(col, W, way), len(col.feature)
    if col.size[KNOWN] + count > room:
        forget(col)
        count = unknown(col, W, way)
        if 2 * (col.size[KNOWN] + count) > room:
            return False
    for w in range(len(W)):
        if not np.isnan(way[w]) and col.slot[W[w]] < 0:
            learn(col, W[w])
    return True


@inner
def enter(col: Column, W: Array, way: Array, ridge: float, mark: Array) -> bool:
    """Let features enter, each with the sign in `way`, unless that is NaN; False without room.

    A dependent one comes in only alone: along its null direction the objective falls where all
    others are at their optimum.
    """
    if not learn_all(col, W, way):
        return False
    before = col.size[ACTIVE]
    for w in range(len(W)):
        sign = way[w]
        if np.isnan(sign):
            continue
        if col.size[ACTIVE] + 1 >= len(col.feature):
            return False
        p = col.slot[W[w]]
        if append(col, p, sign, ridge) or (sign != 0.0 and col.size[ACTIVE] > before):
            continue
        if sign != 0.0 and exchange(col, p, sign, ridge):
            break
        mark[W[w]] |= BLOCKED
    return True


@inner
def solve_working_set(col: Column, W: Array, mark: Array, steps: Array) -> int:
    """Minimise over the features W, starting at the column's state; steps[0] counts.

    LONG as soon as more features are active than is good for this form. A feature that was entered
    once and thrown out at once would come back for ever: it is BLOCKED in `mark` (d,), one try per
    call; the certificate tells whether that was right.
    """
    (cut, ridge), way = summed(col), np.zeros(len(W))
    if col.ridge[0] != ridge and not factor_active(col, ridge):
        clear_active(col)
        col.ridge[0] = ridge
    for w in range(len(W)):
        j = W[w]
        mark[j] &= 255 - BLOCKED
        free, p = col.at.tau * col.weights[j] == 0.0 and col.inverse[j] != 0.0, col.slot[j]
        way[w] = 0.0 if free and not (p >= 0 and col.inside[p]) else np.nan
    if not enter(col, W, way, ridge, mark):
        return NO_ROOM
    for _ in range(1000 + 20 * len(W)):
        steps[0] += 1
        if not newton_step(col, cut):
            continue
        residual_of_active(col)
        if col.size[ACTIVE] > col.at.longest:
            return LONG
        most = violations(col, W, mark, way)
        if most == 0.0:
            return SOLVED if polish(col, cut, ridge) else STUCK
        choose_entering(way, most, len(col.r))
        if not enter(col, W, way, ridge, mark):
            return NO_ROOM
    return STUCK
