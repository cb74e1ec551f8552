"""Newton's method on the n-dimensional dual: for lists that are longer than the samples.

With ``u`` the residual and ``S`` the soft threshold at n tau/2, the fixed point of the damped
Landweber map is ``b = S(Z'u) / (n mu)``, and u minimises the strongly convex, piecewise quadratic
``||u||²/2 - y'u + ||S(Z'u)||² / (2 n mu)``. Its generalised Hessian is the n × n (Woodbury) form
``I + Z_A Z_A' / (n mu)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inlined, inner, plain
from genesig.compiled.active_set import SOLVED, STUCK
from genesig.compiled.column import Column, settle, standardised, summed
from genesig.compiled.dense import backward, cholesky, forward
from genesig.compiled.lanes import LANES, dot, lanes
from genesig.compiled.moments import (
    BLOCK,
    add_gram,
    copy,
    gram_room,
    lower_from_tiles,
    project,
    standardise,
)
from genesig.compiled.operations import larger, zeros

Array = np.ndarray[Any, Any]


class Working(NamedTuple):
    """The problem on the n training rows and the features of a working set, W of them.

    Z (W, width) standardised, filled up with zeros to whole tiles, as is y (width,); cut (W,) n tau
    w_j / 2, ridge n mu. counted (W,) tells the features A of Z_A Z_A', held in `tiles`; signed and
    plain (BLOCK, width) are room for those that come or go.
    """

    Z: Array
    y: Array
    cut: Array
    ridge: float
    counted: Array
    tiles: Array
    signed: Array
    plain: Array


class Line(NamedTuple):
    """A point u (width,) of the dual and a way d (width,) from it; v = Z u, move = Z d (W,)."""

    u: Array
    v: Array
    d: Array
    move: Array


@plain
def shrink(v: float, cut: float) -> Any:
    """Return the soft threshold of v."""
    return np.sign(v) * larger(abs(v) - cut, 0.0)


@plain
def add(scale: float, a: Array, out: Array) -> None:
    """Add ``scale a`` to out."""
    for i in range(len(out)):
        out[i] += scale * a[i]


@plain
def value(work: Working, line: Line, alpha: float) -> Any:
    """Return the dual objective at u + alpha d."""
    total, square = 0.0, 0.0
    for w in range(len(work.Z)):
        short = shrink(line.v[w] + alpha * line.move[w], work.cut[w])
        total += short * short
    for i in range(len(line.u)):
        at = line.u[i] + alpha * line.d[i]
        square += at * (0.5 * at - work.y[i])
    return total / (2.0 * work.ridge) + square


@inlined
def working(col: Column, W: Array, rows: Array) -> Working:
    """Gather the features W on the training rows."""
    cut, ridge = summed(col)
    (signed, tiles), n = gram_room(lanes(len(rows))), col.number[0]
    width, cuts = signed.shape[1], zeros(len(W), np.float64)
    whole = zeros(len(col.mask), np.float64)
    Z, y = zeros((len(W), width), np.float64), zeros(width, np.float64)
    for w in range(len(W)):
        x, z, inverse = col.F[W[w]], Z[w], col.inverse[W[w]]
        standardise(x, 0.0, 1.0, col.mask, whole)
        mean = dot(whole, col.mask) / n if col.number[1] != 0 else 0.0
        standardise(x, mean, inverse, col.mask, whole)
        project(col.basis, col.mask, whole)
        for i in range(len(rows)):
            z[i] = whole[rows[i]]
        cuts[w] = cut * col.weights[W[w]]
    for i in range(len(rows)):
        y[i] = col.y[rows[i]]
    counted, unsigned = zeros(len(W), np.uint8), zeros((BLOCK, width), np.float64)
    return Working(Z, y, cuts, ridge, counted, tiles, signed, unsigned)


@plain
def update_gram(work: Working, a: Array) -> None:
    """Bring Z_A Z_A' up to date for the support A of a."""
    rows = 0
    for w in range(len(a)):
        coming = a[w] != 0.0
        if coming == (work.counted[w] != 0):
            continue
        work.counted[w], sign = coming, 1.0 if coming else -1.0
        z, to, signed = work.Z[w], work.plain[rows], work.signed[rows]
        for i in range(len(z)):
            to[i] = z[i]
            signed[i] = sign * z[i]
        rows += 1
        if rows == BLOCK:
            add_gram(work.signed, work.plain, rows, work.tiles)
            rows = 0
    add_gram(work.signed, work.plain, rows, work.tiles)


@plain
def newton_factor(K: Array, ridge: float) -> None:
    """Turn the lower triangle of K into the Cholesky factor of ``I + K/ridge``."""
    for i in range(len(K)):
        for k in range(i + 1):
            K[i, k] = K[i, k] / ridge
        K[i, i] += 1.0
    cholesky(K, len(K))


@plain
def uphill(work: Working, line: Line, a: Array, sign: Array) -> None:
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
def training_rows(mask: Array) -> Any:
    """Return the places of the training rows."""
    rows, n = zeros(len(mask), np.int64), 0
    for i in range(len(mask)):
        if mask[i] != 0.0:
            rows[n] = i
            n += 1
    return rows[:n]


@inlined
def dual_newton(col: Column, W: Array, sign: Array, steps: Array) -> int:
    """Minimise over the features W, starting at the residual; fills it and the signs (len(W),)."""
    rows = training_rows(col.mask)
    work, n, K = working(col, W, rows), len(rows), zeros((len(rows), len(rows)), np.float64)
    of_samples, of_features = zeros((3, len(work.y)), np.float64), zeros((3, len(W)), np.float64)
    u, v, a, move = of_samples[0], of_features[0], of_features[1], of_features[2]
    line, small, status = Line(u, v, of_samples[1], move), 1e-28 * dot(col.y, col.y), STUCK
    gradient = of_samples[2]
    for i in range(n):
        u[i] = col.r[rows[i]]
    for w in range(len(W)):
        v[w] = col.inverse[W[w]] * dot(col.F[W[w]], col.pull)  # as the check of all features has it
    for _ in range(200):
        steps[0] += 1
        uphill(work, line, a, sign)
        slope = dot(line.d, line.d)
        if slope <= small:
            status = SOLVED
            break
        update_gram(work, a)
        lower_from_tiles(work.tiles, K)
        newton_factor(K, work.ridge)
        copy(line.d, gradient)
        forward(K, n, line.d)
        backward(K, n, line.d)
        for w in range(len(W)):
            move[w] = dot(work.Z[w], line.d)
        if line_search(work, line, dot(gradient, line.d), sign):
            status = SOLVED
            break
    for i in range(n):
        col.r[rows[i]] = u[i]
    settle(col)
    return status


@plain
def line_search(work: Working, line: Line, slope: float, sign: Array) -> bool:
    """Step along d, halved until the objective falls; True if a whole step changes no sign."""
    now, alpha = value(work, line, 0.0), 1.0
    while alpha > 1e-12:
        after = value(work, line, alpha)
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


@inlined
def dual_polish(col: Column, A: Array, sign: Array, b: Array) -> None:
    """Solve for a known support A (sorted) from the start, refine once; fills b and the residual.

    ``(I + Z_A Z_A'/ridge) u = y + Z_A (cut s)/ridge``, ``b = (Z_A'u - cut s)/ridge``.
    """
    n, (cut, ridge) = len(col.y), summed(col)
    Z, K = zeros((len(A), lanes(n + LANES)), np.float64), zeros((n, n), np.float64)
    _, tiles = gram_room(n)
    for a in range(len(A)):
        standardised(col, A[a], Z[a])
        b[a] = -cut * col.weights[A[a]] * sign[a] / ridge
    add_gram(Z, Z, len(A), tiles)
    lower_from_tiles(tiles, K)
    newton_factor(K, ridge)
    u, change = zeros(n, np.float64), zeros(n, np.float64)
    subtract(col, Z, b)
    for _ in range(2):
        for i in range(n):
            change[i] = col.r[i] - u[i]
        forward(K, n, change)
        backward(K, n, change)
        add(1.0, change, u)
        for a in range(len(A)):
            b[a] = (dot(u, Z[a]) - cut * col.weights[A[a]] * sign[a]) / ridge
        subtract(col, Z, b)


@plain
def subtract(col: Column, Z: Array, b: Array) -> None:
    """Set ``r = y - Z_A b``."""
    copy(col.y, col.r)
    for a in range(len(b)):
        add(-b[a], Z[a], col.r)
    settle(col)
