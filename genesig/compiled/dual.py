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
from genesig.compiled import compiled, inner
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
    SOLVE,
    WORKING,
    Found,
    Progress,
    Sets,
    finish_column,
    mark_support,
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
    total, square = 0.0, 0.0
    for w in range(len(work.Z)):
        short = shrink(line.v[w] + alpha * line.move[w], work.cut[w])
        total += short * short
    for i in range(len(line.u)):
        at = line.u[i] + alpha * line.d[i]
        square += at * (0.5 * at - work.y[i])
    return total / (2.0 * work.ridge) + square


@inner
def standardise_all(col: Column, W: Array, rows: Array) -> Array:
    """Return z_j of the features W on the training rows alone, (len(W), len(rows))."""
    n, Z, basis = len(rows), np.empty((len(W), len(rows))), np.empty((len(col.basis), len(rows)))
    for k in range(len(basis)):
        for i in range(n):
            basis[k, i] = col.basis[k, rows[i]]
    for w in range(len(W)):
        j = W[w]
        for i in range(n):
            Z[w, i] = col.mask[rows[i]] * (col.inverse[j] * (col.F[j, rows[i]] - col.mean[j]))
        project(basis, Z[w])
    return Z


@inner
def gather(col: Column, W: Array, rows: Array) -> Working:
    """Gather the features W on the training rows."""
    (cut, ridge), n = summed(col.at, col.number[0]), len(rows)
    Z, y, cuts = standardise_all(col, W, rows), np.empty(n), np.empty(len(W))
    for w in range(len(W)):
        cuts[w] = cut * col.weights[W[w]]
    for i in range(n):
        y[i] = col.y[rows[i]]
    return Working(Z, y, cuts, ridge, np.zeros(len(W), np.uint8), np.zeros((n, n)))


@inner
def add_outer_products(Z: Array, which: Array, sign: Array, gram: Array) -> None:
    """Add ``Σ_w sign_w z_w z_w'`` over rows `which` of Z to the lower triangle of gram.

    Four at a time, since the processor waits for memory; what is left over is added alone.
    """
    whole = len(which) - len(which) % 4
    for k in range(0, whole, 4):
        a, b, c, d = Z[which[k]], Z[which[k + 1]], Z[which[k + 2]], Z[which[k + 3]]
        for i in range(len(gram)):
            row, s, t = gram[i], sign[k] * a[i], sign[k + 1] * b[i]
            u, v = sign[k + 2] * c[i], sign[k + 3] * d[i]
            for e in range(i + 1):
                row[e] += (s * a[e] + t * b[e]) + (u * c[e] + v * d[e])
    for k in range(whole, len(which)):
        a = Z[which[k]]
        for i in range(len(gram)):
            add(sign[k] * a[i], a[: i + 1], gram[i, : i + 1])


@inner
def update_gram(work: Working, a: Array) -> None:
    """Bring Z_A Z_A' up to date for the support A of a."""
    which, sign, count = np.empty(len(a), np.int64), np.empty(len(a)), 0
    for w in range(len(a)):
        coming = a[w] != 0.0
        if coming != (work.counted[w] != 0):
            work.counted[w] = coming
            which[count], sign[count] = w, 1.0 if coming else -1.0
            count += 1
    add_outer_products(work.Z, which[:count], sign, work.gram)


@inner
def factor_by_samples(gram: Array, ridge: float, K: Array) -> None:
    """Fill the lower triangle of K with the Cholesky factor of ``I + gram/ridge``."""
    for i in range(len(K)):
        for k in range(i + 1):
            K[i, k] = gram[i, k] / ridge
        K[i, i] += 1.0
    cholesky(K, len(K))


@inner
def point_uphill(work: Working, line: Line, a: Array, sign: Array) -> None:
    """Set d to minus the gradient, ``y - u - Z'a / ridge``; fill ``a = S(v)`` and its signs."""
    for i in range(len(line.d)):
        line.d[i] = 0.0
    for w in range(len(a)):
        a[w] = shrink(line.v[w], work.cut[w])
        sign[w] = np.sign(a[w])
        if a[w] != 0.0:
            add(a[w], work.Z[w], line.d)
    for i in range(len(line.d)):
        line.d[i] = work.y[i] - line.u[i] - line.d[i] / work.ridge


@inner
def solve_dual(col: Column, W: Array, sign: Array, steps: Array) -> None:
    """Minimise over the features W, starting at the residual; fills it and the signs (len(W),)."""
    rows = places_of(col.mask, True)
    work, n, K = gather(col, W, rows), len(rows), np.empty((len(rows), len(rows)))
    a, gradient = np.empty(len(W)), np.empty(n)
    line = Line(np.empty(n), np.empty(len(W)), np.empty(n), np.empty(len(W)))
    small = 1e-28 * dot(col.y, col.y)
    for i in range(n):
        line.u[i] = col.r[rows[i]]
    for w in range(len(W)):
        # as the check of all features has it
        line.v[w] = col.inverse[W[w]] * dot(col.F[W[w]], col.pull)
    for _ in range(200):
        steps[0] += 1
        point_uphill(work, line, a, sign)
        if dot(line.d, line.d) <= small:
            break
        update_gram(work, a)
        factor_by_samples(work.gram, work.ridge, K)
        for i in range(n):
            gradient[i] = line.d[i]
        solve_lower(K, n, line.d)
        solve_upper(K, n, line.d)
        for w in range(len(W)):
            line.move[w] = dot(work.Z[w], line.d)
        if search_line(work, line, dot(gradient, line.d), sign):
            break
    for i in range(n):
        col.r[rows[i]] = line.u[i]
    settle_residual(col)


@inner
def search_line(work: Working, line: Line, slope: float, sign: Array) -> bool:
    """Step along d, halved until the objective falls; True if a whole step changes no sign."""
    now, alpha = objective(work, line, 0.0), 1.0
    while alpha > 1e-12:
        after = objective(work, line, alpha)
        if after <= now - 1e-4 * alpha * slope + 1e-14 * abs(now):
            break
        alpha *= 0.5
    add(alpha, line.d, line.u)
    add(alpha, line.move, line.v)
    if alpha < 1.0:
        return False
    changed = 0
    for w in range(len(sign)):
        changed += np.sign(shrink(line.v[w], work.cut[w])) != sign[w]
    return changed == 0


@inner
def polish_dual(col: Column, A: Array, sign: Array, b: Array) -> None:
    """Solve for a known support A (sorted) from the start, refine once; fills b and the residual.

    ``(I + Z_A Z_A'/ridge) u = y + Z_A (cut s)/ridge``, ``b = (Z_A'u - cut s)/ridge``.
    """
    rows, (cut, ridge) = places_of(col.mask, True), summed(col.at, col.number[0])
    n, signed, Z = len(rows), np.empty(len(A)), standardise_all(col, A, rows)
    gram, K = np.zeros((n, n)), np.empty((n, n))
    for a in range(len(A)):
        signed[a] = cut * col.weights[A[a]] * sign[a]
        b[a] = -signed[a] / ridge
    add_outer_products(Z, np.arange(len(A)), np.ones(len(A)), gram)
    factor_by_samples(gram, ridge, K)
    u, change = np.zeros(n), np.empty(n)
    subtract_fit(col, Z, b, rows)
    for _ in range(2):
        for i in range(n):
            change[i] = col.r[rows[i]] - u[i]
        solve_lower(K, n, change)
        solve_upper(K, n, change)
        add(1.0, change, u)
        for a in range(len(A)):
            b[a] = (dot(u, Z[a]) - signed[a]) / ridge
        subtract_fit(col, Z, b, rows)


@inner
def subtract_fit(col: Column, Z: Array, b: Array, rows: Array) -> None:
    """Set ``r = y - Z_A b``, for Z_A on the training rows."""
    left = np.empty(len(rows))
    for i in range(len(rows)):
        left[i] = col.y[rows[i]]
    for a in range(len(b)):
        add(-b[a], Z[a], left)
    for i in range(len(rows)):
        col.r[rows[i]] = left[i]
    settle_residual(col)


@compiled
def solve_duals(many: Column, sets: Sets, progress: Progress) -> None:
    """Find supports and their signs, and residuals, of the columns left to the dual.

    The signs stand in the place of the coefficients until `polish_duals`.
    """
    for q in range(len(progress.state)):
        if progress.state[q] != SOLVE or not many.at.dual[q]:
            continue
        col, W, m = column_of(many, q), sets.working[q, : sets.n_working[q]], 0
        mark, value, support, sign = sets.mark[q], sets.value[q], sets.support[q], np.zeros(len(W))
        solve_dual(col, W, sign, progress.steps[q])
        for w in range(len(W)):
            value[W[w]] = sign[w]
        for j in range(len(mark)):
            if mark[j] & WORKING and value[j] != 0.0:
                support[m], value[m] = j, value[j]
                m += 1
        sets.n_support[q] = m
        mark_support(sets, q)
        progress.state[q] = CHECK


@compiled
def polish_duals(many: Column, sets: Sets, progress: Progress, found: Found) -> None:
    """Put coefficients in the place of the signs, and finish these columns."""
    for t in range(len(found.todo)):
        q = found.todo[t]
        if progress.state[q] == POLISH:
            col, m = column_of(many, q), sets.n_support[q]
            sign = sets.value[q, :m].copy()
            polish_dual(col, sets.support[q, :m], sign, sets.value[q, :m])
            record(sets, q, sign, m)
            finish_column(col, sets, q, progress, found, t)
