"""Newton steps on the lengths of the rows that are not 0, damped where features are collinear."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.lanes import LANES, dot, lanes
from genesig.compiled.multitask_lengths import Lengths, curve, evaluate, slopes
from genesig.compiled.multitask_narrow import MANY, bend, narrow_step
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.upper import add_times, factor, outer, solve_both, spread

Array = np.ndarray[Any, Any]

STEPS, AGAIN = 60, 8  # most steps; how often what falls below 0 in a step is held at 0
ZERO = 1e-6  # of the largest length; what is nearer to 0 and pushed there is put there
LEAST, MOST, FIRST = 1e-12, 1e8, 1e-3  # damping, as a share of the Hessian's diagonal
QUICK = 0.03  # share of its gap that a step with the factor of another leaves, at the most
ROUNDING = 1e-13
WIDE = 2  # times the samples: with more rows it is less work to factor M than C


@inner
def newton_step(p: Lengths, damping: float) -> None:
    """Fill the step to the least of the damped model over x >= 0, nearly.

    What would fall below 0 is held there, which q tells, and the others are asked again.
    """
    m, held = p.size[0], 0
    for k in range(m):
        p.q[k] = 0.0
    for _ in range(AGAIN):
        good = narrow_step(p, damping, held) if len(p.narrow) > 0 else full_step(p, damping, held)
        if not good:
            break
        before = held
        for k in range(m):
            if p.q[k] == 0.0 and p.step[k] > p.x[k]:
                p.q[k] = 1.0
                held += 1
        if held == before:
            return
    else:
        return
    for k in range(m):
        p.step[k] = p.slope[k] / p.own[k]


@plain
def full_step(p: Lengths, damping: float, held: int) -> bool:
    """Fill the step of the rows that are free; C is room for the Hessian's factor."""
    m, width, q, x, step = p.size[0], lanes(p.size[0]), p.q, p.x, p.step
    for k in range(width):
        row, free = p.C[k], 1.0 - q[k] if k < m else 0.0
        for a in range(larger(k, m), width):
            row[a] = 0.0
        if k < m:
            step[k] = p.slope[k]
            among(free, p.H[k][k:m], q[k:m], row[k:m])
        row[k] = (1.0 + damping) * p.H[k, k] if free > 0.0 else 1.0
    if held > 0:
        hold(p)
    if not factor(p.C, width):
        return False
    solve_both(p.C, m, step)
    for k in range(m if held > 0 else 0):
        step[k] = x[k] if q[k] > 0.0 else step[k]
    return True


@plain
def among(free: float, x: Array, held: Array, out: Array) -> None:
    """Copy what there is of a row of the Hessian among the rows that are free."""
    for a in range(len(out)):
        out[a] = free * (x[a] * (1.0 - held[a]))


@plain
def hold(p: Lengths) -> None:
    """Take off the slope what changes as the rows that are held, where q is 1, go to 0."""
    m, step, gone = p.size[0], p.step, p.trial
    for k in range(m):
        gone[k] = p.q[k] * p.x[k]
    for k in range(m):
        row = p.H[k][k + 1 : m]
        step[k] -= dot(row, gone[k + 1 : m])
        if gone[k] > 0.0:
            add_times(-gone[k], row, step[k + 1 : m])
    for k in range(m):
        step[k] *= 1.0 - p.q[k]


@plain
def way(p: Lengths, cut: bool) -> bool:
    """Fill trial: the step held at x >= 0, or if `cut` as far of it as to the first that gets to 0.

    False where none gets there.
    """
    share, hit = 1.0, False
    for k in range(p.size[0]):
        if p.step[k] > p.x[k] and p.x[k] > 0.0:
            hit = True
            if cut and p.x[k] / p.step[k] < share:
                share = p.x[k] / p.step[k]
    for k in range(p.size[0]):
        p.trial[k] = larger(p.x[k] - share * p.step[k], 0.0)
    return hit or not cut


@plain
def descend(p: Lengths, damping: float) -> float:
    """Take one step from x, whose curve is known; returns the next damping, above MOST if stuck."""
    value, gap = p.found[0], p.found[1]
    level = value + ROUNDING * abs(value)
    while damping <= MOST:
        newton_step(p, damping)
        for cut in range(2):
            if not way(p, cut == 1) or not evaluate(p, p.trial):
                continue
            if p.found[0] <= value or (p.found[0] <= level and p.found[1] < gap):
                for k in range(p.size[0]):
                    p.x[k] = p.trial[k]
                return float(larger(damping / 30.0, LEAST))
        damping = larger(100.0 * damping, FIRST)
    evaluate(p, p.x)
    return damping


@plain
def follow(p: Lengths, gap: float, goal: float) -> None:
    """Go on with the factor of the last step, from the gap before it, while that is quick."""
    m = p.size[0]
    while goal < p.found[1] < QUICK * gap:
        gap = p.found[1]
        slopes(p)
        for k in range(m):
            p.step[k] = p.slope[k]
        solve_both(p.C, m, p.step)
        for k in range(m):
            p.trial[k] = p.x[k] - p.step[k]
            if not p.trial[k] > 0.0:
                return
        if not (evaluate(p, p.trial) and p.found[1] < QUICK * gap):
            evaluate(p, p.x)
            return
        for k in range(m):
            p.x[k] = p.trial[k]


@plain
def drop(p: Lengths, pushed: bool) -> bool:
    """Leave out the rows at 0, and if `pushed` those near it that go there; False if none is."""
    m, kept, top = p.size[0], 0, 0.0
    for k in range(m):
        top = larger(top, p.x[k])
    for k in range(m):
        if p.x[k] == 0.0 or (pushed and p.x[k] <= ZERO * top and p.slope[k] > 0.0):
            continue
        p.row[kept], p.w[kept], p.x[kept] = p.row[k], p.w[k], p.x[k]
        move(p, k, kept)
        kept += 1
    p.size[0] = kept
    return bool(kept < m)


@plain
def move(p: Lengths, k: int, to: int) -> None:
    """Put what is known of row k in the place of another before it."""
    for i in range(p.Z.shape[1]):
        p.Z[to, i], p.turned[i, to] = p.Z[k, i], p.turned[i, k]
    for t in range(p.G.shape[1]):
        p.G[to, t] = p.G[k, t]
    for a in range(smaller(p.size[0], len(p.K))):
        p.K[to, a] = p.K[k, a]
    for a in range(smaller(p.size[0], len(p.K))):
        p.K[a, to] = p.K[a, k]


@inner
def settle(p: Lengths, goal: float) -> Any:
    """Go down until the gap among the rows is at most `goal`, or no further; returns the steps."""
    damping, steps = LEAST, 0
    good = evaluate(p, p.x)
    while good and p.found[1] > goal and steps < STEPS and damping <= MOST:
        slopes(p)
        if drop(p, True):
            good = evaluate(p, p.x)
            continue
        if len(p.narrow) > 0:
            bend(p)
        else:
            curve(p)
        before = p.found[1]
        damping = descend(p, damping)
        steps += 1
        if drop(p, False):
            good = evaluate(p, p.x)
        elif len(p.narrow) == 0 and damping <= MOST:
            follow(p, before, goal)
    return steps


@inner
def newton(at: Any, goal: float, steps: Array) -> None:
    """Minimise over the rows of a `multitask.Joint` that are not 0, starting at their lengths."""
    m, T = 0, len(at.Y)
    place = zeros(len(at.B), np.int64)
    for k in range(len(at.B)):
        total = 0.0
        for t in range(T):
            total += at.B[k, t] * at.B[k, t]
        if total > 0.0:
            place[m] = k
            m += 1
    if m == 0:
        return
    p = lengths(at, place, m)
    p.size[0] = m
    gather(at, p)
    steps[0] += settle(p, goal)
    put_back(at, p)


@inner
def lengths(at: Any, place: Array, m: int) -> Any:
    """Return room for the problem among m rows."""
    (T, N), width, wide, apart = at.Y.shape, lanes(m), spread(m), lanes(len(at.Y))
    c = T * N if m > MANY * T * N else 0
    among = c > 0 or m > WIDE * N
    order, rows, whole = N if among else width, 0 if among else width, 0 if c else width
    lone, line = m if c else 0, zeros((7, m), np.float64)
    square, both = zeros((2, whole, wide), np.float64), zeros((2, c, width), np.float64)
    ends, features = zeros((2, width), np.float64), zeros((2, m, N), np.float64)
    return Lengths(
        zeros(4, np.float64), zeros(1, np.int64), place,
        line[0], line[1], line[2], line[3], line[4], line[5], ends[0], line[6], ends[1],
        features[0], features[1], zeros((N, wide), np.float64),
        zeros((N, apart), np.float64), zeros((width, apart), np.float64),
        zeros((rows, wide), np.float64), zeros((order, spread(order)), np.float64),
        zeros((order, wide), np.float64), zeros((order, apart), np.float64),
        zeros((apart, wide), np.float64), square[0], square[1], zeros(2, np.float64),
        both[0], both[1], zeros(lone, np.float64), zeros((c, c), np.float64), zeros(c, np.float64),
    )  # fmt: skip


@inner
def gather(at: Any, p: Lengths) -> None:
    """Fill the problem among some rows of another."""
    (N, width), m = p.Y.shape, p.size[0]
    p.level[0], p.level[1], p.level[2] = at.tau, at.mu, at.n
    for t in range(len(at.Y)):
        p.level[3] += dot(at.Y[t], at.Y[t])
        for i in range(N):
            p.Y[i, t] = at.Y[t, i]
    for a in range(m):
        k, total = p.row[a], 0.0
        for i in range(N):
            p.Z[a, i] = p.turned[i, a] = at.Z[k, i]
        for t in range(len(at.Y)):
            total += at.B[k, t] * at.B[k, t]
        p.w[a], p.x[a] = at.weight[k], np.sqrt(total)
    for k in range(0, len(p.K), LANES):
        for t in range(0, width, LANES):
            outer(p.turned, k, p.Y, t, 0, N, p.G)
        for a in range(k, len(p.K), LANES):
            outer(p.turned, k, p.turned, a, 0, N, p.K)


@plain
def put_back(at: Any, p: Lengths) -> None:
    """Write the rows found, and 0 to those that were left out."""
    for k in range(len(at.B)):
        for t in range(len(at.Y)):
            at.B[k, t] = 0.0
    for a in range(p.size[0]):
        for t in range(len(at.Y)):
            at.B[p.row[a], t] = p.root[a] * p.A[t, a]
