"""One step of the path for many columns: solve on the working sets, then check all features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.optim.compiled import inlined, jit, plain
from genesig.optim.compiled.active_set import NO_ROOM, SLACK, SOLVED, active_set, sort_active
from genesig.optim.compiled.column import ACTIVE, Column, clear, column_of, gradient, residual
from genesig.optim.compiled.dual import dual_newton, dual_polish, update_gram
from genesig.optim.compiled.lanes import dot

Array = np.ndarray[Any, Any]

WORKING, SELECTED = 1, 2  # bits of `mark`


class Sets(NamedTuple):
    """Feature sets of many columns, each (q, d) with its length (q,).

    working W, support A (ascending) with its coefficients; mark (q, d) tells membership of both.
    """

    working: Array
    n_working: Array
    support: Array
    value: Array
    n_support: Array
    mark: Array


@jit
def solve(
    todo: Array, many: Column, sets: Sets, tau: Array, mu: Array, dual: Array, floor: Array,
    steps: Array,
) -> Array:  # fmt: skip
    """Minimise over the working set of every column in `todo`; tells which lack room."""
    short = np.zeros(len(todo), np.bool_)
    for i in range(len(todo)):
        q = todo[i]
        col, W = column_of(many, q), sets.working[q, : sets.n_working[q]]
        for a in range(sets.n_support[q]):
            sets.mark[q, sets.support[q, a]] &= ~SELECTED
        if dual[q]:
            solve_dual(col, sets, q, W, tau[q], mu[q], steps[q])
        else:
            status = active_set(col, W, tau[q], mu[q], floor[q], steps[q])
            short[i] = status == NO_ROOM
            solve_primal(col, sets, q, status)
        for a in range(sets.n_support[q]):
            sets.mark[q, sets.support[q, a]] |= SELECTED
    return short


@inlined
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


@inlined
def finish_dual(col: Column, sets: Sets, q: int, tau: float, mu: float) -> None:
    """Put coefficients in the place of the signs that `solve_dual` has left."""
    m = sets.n_support[q]
    sign = sets.value[q, :m].copy()
    dual_polish(col, sets.support[q, :m], sign, tau, mu, sets.value[q, :m])
    record(sets, q, sign, m)


@inlined
def solve_primal(col: Column, sets: Sets, q: int, status: int) -> None:
    """Copy the support out of the column."""
    sign = np.empty(col.size[ACTIVE])
    if status != SOLVED:
        sort_active(col)
        residual(col)
    m = col.size[ACTIVE]
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
def scan(products: Array, scale: Array, low: float, found: Array) -> int:
    """List the features with ``|product scale| >= low``, or infinite scale; returns how many."""
    limit, one, none = np.float32(low), np.int32(1), np.int32(0)
    count, width = 0, 64
    for start in range(0, len(products), width):
        block, scales = products[start : start + width], scale[start : start + width]
        hits = none  # counted in 32 bits: as wide as the products, so the loop is vectorised
        for j in range(len(block)):
            hits += none if abs(block[j] * scales[j]) < limit else one
        if hits == none:
            continue
        for j in range(len(block)):
            if not abs(block[j] * scales[j]) < limit:
                found[count] = start + j
                count += 1
    return count


@jit
def check(
    todo: Array, products: Array, scaled: Array, unit: Array, error: Array, many: Column,
    sets: Sets, tau: Array, mu: Array, dual: Array, strong: Array, floor: Array, gap: Array,
) -> Array:  # fmt: skip
    """Check all features of every column in `todo` against the optimality conditions.

    A product times `scaled` is ``unit g`` for a gradient g that is off by at most `error`: enough
    to screen; whatever comes near tau is computed again. Violators join the working set and the
    column is to be solved again (True); the others get their duality gap and, for the step that
    follows, the working set of the strong rule.
    """
    again = np.zeros(len(todo), np.bool_)
    found = np.empty(len(many.F), np.int32)
    for i in range(len(todo)):
        q = todo[i]
        col = column_of(many, q)
        near = tau[q] - error[i]
        n_found = scan(products[i], scaled[q], unit[i] * min(near, strong[q]), found)
        again[i], ratio, beyond = violators(
            col, sets, q, found[:n_found], products[i], scaled[q], unit[i] * near, tau[q], floor[q]
        )
        if not again[i]:
            if dual[q]:
                finish_dual(col, sets, q, tau[q], mu[q])
            m = sets.n_support[q]
            gap[q] = certificate(
                col, sets.support[q, :m], sets.value[q, :m], tau[q], mu[q], ratio, beyond
            )
            renew(sets, q, found[:n_found])
    return again


@inlined
def violators(
    col: Column, sets: Sets, q: int, found: Array, products: Array, scaled: Array, near: float,
    tau: float, floor: float,
) -> Any:  # fmt: skip
    """Add the worst violators; returns (any, largest |g|/(tau w), sum of squared excess)."""
    top, ratio, beyond = 0.0, 1.0, 0.0
    excess = np.zeros(len(found))
    for f in range(len(found)):
        j = found[f]
        if sets.mark[q, j] & SELECTED or abs(products[j] * scaled[j]) < near:
            continue
        g, limit = abs(gradient(col, j)), tau * col.weights[j]
        if g <= limit:
            continue
        beyond += (g - limit) ** 2
        ratio = max(ratio, g / limit if limit > 0.0 else 1.0)
        if not sets.mark[q, j] & WORKING and g > limit * (1.0 + SLACK) + floor:
            excess[f] = g / col.weights[j] if col.weights[j] > 0.0 else 1e300
            top = max(top, excess[f])
    if top > 0.0:
        # Far from the solution only the largest are worth having: the others may vanish.
        for f in range(len(found)):
            if excess[f] >= 0.6 * min(top, 1e299) and excess[f] > 0.0:
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


@jit
def start(
    products: Array, scaled: Array, unit: Array, sets: Sets, strong: Array
) -> None:  # fmt: skip
    """Make the first working sets, at b = 0."""
    found = np.empty(products.shape[1], np.int32)
    for q in range(len(products)):
        renew(sets, q, found[: scan(products[q], scaled[q], unit[q] * strong[q], found)])


@inlined
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
