"""Newton steps on the fixed point of the Landweber map, from sign pattern to sign pattern.

On a support A with signs s the fixed point solves ``(Z_A'Z_A + n mu I) b = Z_A'y - (n tau/2) s``.
A step goes there, or to the first coefficient that would change its sign, which leaves; when all
signs agree the feature that violates optimality most enters. The objective falls at every step, so
no sign pattern comes twice.
"""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.compiled import inner, part
from genesig.compiled.algebra import cholesky, dot, drop_row, solve_lower, solve_upper
from genesig.compiled.column import (
    Column,
    Known,
    clear_active,
    forget,
    gradient,
    learn,
    residual_of_active,
    summed,
)

SLACK = 1e-11  # a feature enters when its gradient exceeds tau by more than this share
DEPENDENT = 1e-11  # share of a feature's square that is left outside the span of the active ones
SOLVED = 0
NO_ROOM = 1
STUCK = 2
LONG = 3
SHARE = 0.6  # of the largest violation: those that violate optimality by as much enter together
BLOCKED = 4  # bit of a feature's mark, beside those of the sweep


@inner
def remove(known: Known, a: int) -> None:
    """Take the a-th active feature out."""
    m = known.state.active
    f = known.features[known.active[a]]
    f.b = f.sign = 0.0
    f.inside = False
    drop_row(known.L, m, a)
    for i in range(a, m - 1):
        known.active[i] = known.active[i + 1]
    known.state.active = m - 1


@inner
def append(known: Known, p: int, sign: float, ridge: float) -> bool:
    """Let known feature p enter with coefficient 0; False if it depends on the active ones."""
    m = known.state.active
    f = known.features[p]
    row = known.L[m]
    for a in range(m):
        row[a] = known.gram[p, known.active[a]]
    solve_lower(known.L, m, row)
    left = known.gram[p, p] + ridge - dot(row[:m], row[:m])
    if not left > DEPENDENT * known.gram[p, p]:
        return False
    row[m] = np.sqrt(left)
    known.active[m] = p
    f.sign = sign
    f.b = 0.0
    f.inside = True
    known.state.active = m + 1
    return True


@part
def exchange(known: Known, p: int, sign: float, ridge: float) -> bool:
    """Let a dependent feature in: move along the null direction until an active one is 0."""
    m = known.state.active
    move = known.spare
    for a in range(m):
        move[a] = -sign * known.L[m, a]
    solve_upper(known.L, m, move)
    step = np.inf
    out = -1
    for a in range(m):
        f = known.features[known.active[a]]
        if f.sign != 0.0 and move[a] * f.sign < 0.0 and -f.b / move[a] < step:
            step = -f.b / move[a]
            out = a
    if out < 0:
        return False
    for a in range(m):
        known.features[known.active[a]].b += step * move[a]
    remove(known, out)
    if not append(known, p, sign, ridge):
        return False
    known.features[p].b = sign * step
    return True


@inner
def first_turn(active: Array, m: int, b: Array, sign: Array, target: Array) -> tuple[float, int]:
    """Return how far b may go to its target until a sign turns, and which active one; 1, -1: none.

    b, sign are of all; active (m,) are places among them, target (m,) is of the active ones.
    """
    share = 1.0
    out = -1
    for a in range(m):
        p = active[a]
        if sign[p] != 0.0 and target[a] * sign[p] <= 0.0:
            away = b[p] - target[a]
            ratio = b[p] / away if away != 0.0 else 0.0
            if out < 0 or ratio < share:
                share = ratio
                out = a
    return share, out


@part
def newton_step(known: Known, cut: float) -> bool:
    """Go to the fixed point of the sign pattern (True), or to the first sign change (False)."""
    m = known.state.active
    target = known.spare
    for a in range(m):
        f = known.features[known.active[a]]
        target[a] = f.c - cut * f.weight * f.sign
    solve_lower(known.L, m, target)
    solve_upper(known.L, m, target)
    step, out = first_turn(known.active, m, known.features["b"], known.features["sign"], target)
    if out >= 0 and step == 0.0:
        turn_back(known, target)
        return False
    for a in range(m):
        f = known.features[known.active[a]]
        f.b = target[a] if out < 0 else f.b + step * (target[a] - f.b)
    if out >= 0:
        remove(known, out)
    return out < 0


@part
def turn_back(known: Known, target: Array) -> None:
    """Take out all features at 0 that would go against their sign.

    Of those that entered together one at least goes its way: the objective falls along the step.
    """
    for a in range(known.state.active - 1, -1, -1):
        f = known.features[known.active[a]]
        if f.sign != 0.0 and f.b == 0.0 and target[a] * f.sign <= 0.0:
            remove(known, a)


@inner
def sort_active(known: Known) -> None:
    """Put the active features in ascending order; the factor no longer belongs to them."""
    features = known.features
    known.state.ridge = -1.0
    for a in range(1, known.state.active):
        p = known.active[a]
        e = a
        while e > 0 and features[known.active[e - 1]].j > features[p].j:
            known.active[e] = known.active[e - 1]
            e -= 1
        known.active[e] = p


@inner
def factor_active(known: Known, ridge: float) -> bool:
    """Sort the active features and factor their matrix afresh."""
    m = known.state.active
    sort_active(known)
    for a in range(m):
        row = known.L[a]
        gram = known.gram[known.active[a]]
        for e in range(a + 1):
            row[e] = gram[known.active[e]]
        row[a] += ridge
    known.state.ridge = ridge
    return cholesky(known.L, m)


@part
def polish(col: Column, known: Known, cut: float, ridge: float) -> bool:
    """Solve for the found support from the start, in the order of the features, and refine once."""
    if not factor_active(known, ridge):
        return False
    m = known.state.active
    change = known.spare
    for again in range(2):
        for a in range(m):
            f = known.features[known.active[a]]
            change[a] = -cut * f.weight * f.sign
            if again:
                change[a] += dot(known.Z[known.active[a]], col.r) - ridge * f.b
            else:
                change[a] += f.c
        solve_lower(known.L, m, change)
        solve_upper(known.L, m, change)
        for a in range(m):
            f = known.features[known.active[a]]
            f.b = f.b + change[a] if again else change[a]
        residual_of_active(col, known)
    return True


@inner
def violations(col: Column, known: Known, W: Array, mark: Array, excess: Array) -> float:
    """Fill excess (len(W),) with how far each feature outside violates optimality, by its sign.

    Returns the largest size, 0 where nothing is violated.
    """
    most = 0.0
    for w in range(len(W)):
        j = W[w]
        p = known.slot[j]
        excess[w] = 0.0
        if mark[j] & BLOCKED or (p >= 0 and known.features[p].inside) or col.inverse[j] == 0.0:
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
    share = SHARE
    count = limit + 1
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
def unknown(slot: Array, W: Array, way: Array) -> int:
    """Return how many features are to enter that are not known."""
    count = 0
    for w in range(len(W)):
        count += not np.isnan(way[w]) and slot[W[w]] < 0
    return count


@part
def make_room(known: Known, W: Array, way: Array) -> bool:
    """Forget features where those that are to enter find no room; False where they still do not."""
    room = len(known.features)
    if known.state.known + unknown(known.slot, W, way) <= room:
        return True
    forget(known)
    enough: bool = 2 * (known.state.known + unknown(known.slot, W, way)) <= room
    return enough


@part
def enter(col: Column, known: Known, W: Array, way: Array, ridge: float, mark: Array) -> bool:
    """Let features enter, each with the sign in `way`, unless that is NaN; False without room.

    A dependent one comes in only alone: along its null direction the objective falls where all
    others are at their optimum.
    """
    if not make_room(known, W, way):
        return False
    before = known.state.active
    for w in range(len(W)):
        sign = way[w]
        if np.isnan(sign):
            continue
        if known.state.active + 1 >= len(known.features):
            return False
        if known.slot[W[w]] < 0:
            learn(col, known, W[w])
        p = known.slot[W[w]]
        if append(known, p, sign, ridge) or (sign != 0.0 and known.state.active > before):
            continue
        if sign != 0.0 and exchange(known, p, sign, ridge):
            break
        mark[W[w]] |= BLOCKED
    return True


@part
def solve_working_set(col: Column, known: Known, W: Array, mark: Array, steps: Array) -> int:
    """Minimise over the features W, starting at the column's state; steps[0] counts.

    LONG as soon as more features are active than is good for this form. A feature that was entered
    once and thrown out at once would come back for ever: it is BLOCKED in `mark` (d,), one try per
    call; the certificate tells whether that was right.
    """
    (cut, ridge) = summed(col.at, col.number[0])
    way = np.zeros(len(W))
    if known.state.ridge != ridge and not factor_active(known, ridge):
        clear_active(known)
        known.state.ridge = ridge
    for w in range(len(W)):
        j = W[w]
        mark[j] &= 255 - BLOCKED
        free = col.at.tau * col.weights[j] == 0.0 and col.inverse[j] != 0.0
        p = known.slot[j]
        way[w] = 0.0 if free and not (p >= 0 and known.features[p].inside) else np.nan
    entering = True
    for _ in range(1000 + 20 * len(W)):
        if entering and not enter(col, known, W, way, ridge, mark):
            return NO_ROOM
        steps[0] += 1
        entering = newton_step(known, cut)
        if not entering:
            continue
        residual_of_active(col, known)
        if known.state.active > col.at.longest:
            return LONG
        most = violations(col, known, W, mark, way)
        if most == 0.0:
            return SOLVED if polish(col, known, cut, ridge) else STUCK
        choose_entering(way, most, len(col.r))
    return STUCK
