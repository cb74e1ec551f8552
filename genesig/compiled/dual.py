"""Newton's method on the n-dimensional dual: for lists that are longer than the samples.

With ``u`` the residual and ``S`` the soft threshold at n tau/2, the fixed point of the damped
Landweber map is ``b = S(Z'u) / (n mu)``, and u minimises the strongly convex, piecewise quadratic
``||u||²/2 - y'u + ||S(Z'u)||² / (2 n mu)``. Its generalised Hessian is the n × n (Woodbury) form
``I + Z_A Z_A' / (n mu)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, inner, part
from genesig.compiled.algebra import add, cholesky, dot, places_of, solve_lower, solve_upper
from genesig.compiled.column import (
    Column,
    column_of,
    project,
    settle_residual,
    summed,
)
from genesig.compiled.working_sets import (
    CHECK,
    POLISH,
    POLISHED,
    SELECTED,
    SOLVE,
    WORKING,
    Progress,
    Sets,
    record,
)


class Working(NamedTuple):
    """The problem on the n training rows and the features of a working set, W of them.

    Z (W, n) standardised; y (n,); cut (W,) n tau w_j / 2, ridge n mu. counted (W,) tells the
    features A of gram (n, n) = Z_A Z_A', of which the lower triangle is held.
    """

    Z: Array
    y: Array
    cut: Array
    ridge: float
    counted: Array
    gram: Array


class Line(NamedTuple):
    """A point u (n,) of the dual and a way d (n,) from it; v = Z u, move = Z d (W,)."""

    u: Array
    v: Array
    d: Array
    move: Array


@inner
def shrink(v: float, cut: float) -> float:
    """Return the soft threshold of v."""
    return float(np.sign(v) * max(abs(v) - cut, 0.0))


@inner
def objective(work: Working, line: Line, alpha: float) -> float:
    """Return the dual objective at u + alpha d."""
    total = 0.0
    square = 0.0
    for w in range(len(work.Z)):
        short = shrink(line.v[w] + alpha * line.move[w], work.cut[w])
        total += short * short
    for i in range(len(line.u)):
        at = line.u[i] + alpha * line.d[i]
        square += at * (0.5 * at - work.y[i])
    return total / (2.0 * work.ridge) + square


@part
def standardise_all(col: Column, W: Array, rows: Array) -> Array:
    """Return z_j of the features W on the training rows alone, (len(W), len(rows))."""
    n = len(rows)
    Z = np.empty((len(W), len(rows)))
    basis = np.empty((len(col.basis), len(rows)))
    for k in range(len(basis)):
        for i in range(n):
            basis[k, i] = col.basis[k, rows[i]]
    for w in range(len(W)):
        j = W[w]
        for i in range(n):
            Z[w, i] = col.mask[rows[i]] * (col.inverse[j] * (col.F[j, rows[i]] - col.mean[j]))
        project(basis, Z[w])
    return Z


@part
def gather(col: Column, W: Array, rows: Array, cut: float, ridge: float) -> Working:
    """Gather the features W on the training rows."""
    n = len(rows)
    Z = standardise_all(col, W, rows)
    cuts = np.empty(len(W))
    y = np.empty(n)
    for w in range(len(W)):
        cuts[w] = cut * col.weights[W[w]]
    for i in range(n):
        y[i] = col.y[rows[i]]
    return Working(Z, y, cuts, ridge, np.zeros(len(W)), np.zeros((n, n)))


@inner
def add_outer_products(Z: Array, which: Array, sign: Array, gram: Array) -> None:
    """Add ``Σ_w sign_w z_w z_w'`` over rows `which` of Z to the lower triangle of gram.

    Four at a time, since the processor waits for memory; what is left over is added alone.
    """
    whole = len(which) - len(which) % 4
    for k in range(0, whole, 4):
        a = Z[which[k]]
        b = Z[which[k + 1]]
        c = Z[which[k + 2]]
        d = Z[which[k + 3]]
        for i in range(len(gram)):
            row = gram[i]
            s = sign[k] * a[i]
            t = sign[k + 1] * b[i]
            u = sign[k + 2] * c[i]
            v = sign[k + 3] * d[i]
            for e in range(i + 1):
                row[e] += (s * a[e] + t * b[e]) + (u * c[e] + v * d[e])
    for k in range(whole, len(which)):
        a = Z[which[k]]
        for i in range(len(gram)):
            add(sign[k] * a[i], a[: i + 1], gram[i, : i + 1])


@part
def update_gram(work: Working, sign: Array) -> bool:
    """Bring Z_A Z_A' up to date for the support A of the signs; False if it was."""
    which = np.empty(len(sign), np.int64)
    side = np.empty(len(sign))
    count = 0
    for w in range(len(sign)):
        coming = sign[w] != 0.0
        if coming != (work.counted[w] != 0):
            work.counted[w] = coming
            which[count] = w
            side[count] = 1.0 if coming else -1.0
            count += 1
    add_outer_products(work.Z, which[:count], side, work.gram)
    return count > 0


@inner
def factor_by_samples(gram: Array, ridge: float, K: Array) -> None:
    """Fill the lower triangle of K with the Cholesky factor of ``I + gram/ridge``."""
    for i in range(len(K)):
        for k in range(i + 1):
            K[i, k] = gram[i, k] / ridge
        K[i, i] += 1.0
    cholesky(K, len(K))


@inner
def point_uphill(work: Working, line: Line, a: Array, sign: Array, fixed: bool) -> None:
    """Set d to minus the gradient, ``y - u - Z'a / ridge``; fill ``a = S(v)`` and its signs.

    Where the signs are fixed, a is what it is as long as v keeps them.
    """
    for i in range(len(line.d)):
        line.d[i] = 0.0
    for w in range(len(a)):
        if fixed:
            a[w] = line.v[w] - work.cut[w] * sign[w]
        else:
            a[w] = shrink(line.v[w], work.cut[w])
            sign[w] = np.sign(a[w])
        if a[w] != 0.0:
            add(a[w], work.Z[w], line.d)
    for i in range(len(line.d)):
        line.d[i] = work.y[i] - line.u[i] - line.d[i] / work.ridge


@part
def start_line(col: Column, W: Array, rows: Array, fixed: bool) -> Line:
    """Start at the residual, or, for what is not to depend on the way there, at 0."""
    line = Line(np.zeros(len(rows)), np.zeros(len(W)), np.empty(len(rows)), np.empty(len(W)))
    if not fixed:
        for i in range(len(rows)):
            line.u[i] = col.r[rows[i]]
        for w in range(len(W)):
            # as the check of all features has it
            line.v[w] = col.inverse[W[w]] * dot(col.F[W[w]], col.pull)
    return line


@part
def solve_dual(col: Column, W: Array, sign: Array, value: Array, steps: Array, fixed: bool) -> None:
    """Minimise over the features W; fills signs and coefficients (len(W),) and the residual.

    Where signs are fixed, one step is exact, and a second one refines it.
    """
    rows = places_of(col.mask, True)
    (cut, ridge) = summed(col.at, col.number[0])
    work = gather(col, W, rows, cut, ridge)
    line = start_line(col, W, rows, fixed)
    n = len(rows)
    K = np.empty((n, n))
    gradient = np.empty(n)
    small = 1e-28 * dot(col.y, col.y)
    for step in range(200):
        steps[0] += not fixed
        point_uphill(work, line, value, sign, fixed)
        if (fixed and step == 2) or dot(line.d, line.d) <= small:
            break
        if update_gram(work, sign) or step == 0:
            factor_by_samples(work.gram, work.ridge, K)
        for i in range(n):
            gradient[i] = line.d[i]
        solve_lower(K, n, line.d)
        solve_upper(K, n, line.d)
        for w in range(len(W)):
            line.move[w] = dot(work.Z[w], line.d)
        alpha = 1.0 if fixed else search_line(work, line, dot(gradient, line.d))
        changed = go(work, line, alpha, sign)
        if alpha == 1.0 and changed == 0 and not fixed:
            break
    for w in range(len(W)):
        value[w] /= work.ridge
    set_residual(col, rows, line, fixed)


@part
def search_line(work: Working, line: Line, slope: float) -> float:
    """Return how far to go along d: 1, halved until the objective falls."""
    now = objective(work, line, 0.0)
    alpha = 1.0
    while alpha > 1e-12:
        after = objective(work, line, alpha)
        if after <= now - 1e-4 * alpha * slope + 1e-14 * abs(now):
            break
        alpha *= 0.5
    return alpha


@inner
def go(work: Working, line: Line, alpha: float, sign: Array) -> int:
    """Go along d, and return how many signs change."""
    count = 0
    add(alpha, line.d, line.u)
    add(alpha, line.move, line.v)
    for w in range(len(sign)):
        count += np.sign(shrink(line.v[w], work.cut[w])) != sign[w]
    return count


@inner
def set_residual(col: Column, rows: Array, line: Line, fixed: bool) -> None:
    """Set r = u; where signs are fixed it is what these coefficients leave of y, u + d."""
    for i in range(len(rows)):
        col.r[rows[i]] = line.u[i] + line.d[i] if fixed else line.u[i]
    settle_residual(col)


@compiled
def solve_duals(many: Column, sets: Sets, progress: Progress, fixed: bool) -> None:
    """Find supports and their signs, and residuals, of the columns left to the dual.

    The signs stand in the place of the coefficients until the check has found no violator. Then
    they are `fixed`, and the column is polished: solved for its support from the start.
    """
    for q in range(len(progress.state)):
        if not many.at.dual[q] or progress.state[q] != (POLISH if fixed else SOLVE):
            continue
        col = column_of(many, q)
        m = sets.n_support[q]
        W = sets.support[q, :m] if fixed else sets.working[q, : sets.n_working[q]]
        sign = sets.value[q, :m].copy() if fixed else np.zeros(len(W))
        value = np.empty(len(W))
        solve_dual(col, W, sign, value, progress.steps[q], fixed)
        if fixed:
            keep_values(sets, q, value, sign)
            progress.state[q] = POLISHED
        else:
            keep_signs(sets, q, sign)
            progress.state[q] = CHECK


@inner
def keep_signs(sets: Sets, q: int, sign: Array) -> None:
    """Make the support what has a sign, in ascending order, with the signs as its coefficients."""
    mark = sets.mark[q]
    value = sets.value[q]
    m = 0
    for w in range(len(sign)):
        value[sets.working[q, w]] = sign[w]
    for j in range(len(mark)):
        if mark[j] & WORKING and value[j] != 0.0:
            sets.support[q, m] = j
            value[m] = value[j]
            mark[j] |= SELECTED
            m += 1
    sets.n_support[q] = m


@inner
def keep_values(sets: Sets, q: int, value: Array, sign: Array) -> None:
    """Put coefficients in the place of the signs."""
    sets.n_support[q] = 0
    for a in range(len(value)):
        record(sets, q, sets.support[q, a], value[a], sign[a])
