"""The lengths of the rows that are not 0: value, gap, slope and curvature of what they minimise.

``||b|| = min_rho (||b||²/rho + rho)/2`` leaves one number a row (see `structured.reduced`)::

    P(rho) = tr Y'M^-1 Y + (tau/2) sum w_k rho_k,   M = n I + sum e_k z_k z_k'
    e_k = 2 rho_k / (2 mu rho_k + tau w_k)

With K = ZZ' and C = n I + E^½ K E^½, all that is needed of M^-1 is that of C, of the order of the
rows: E^½ Z M^-1 Y = C^-1 E^½ Z Y and E^½ Z M^-1 Z'E^½ = I - n C^-1. Where there are many more rows
than samples M itself is factored.

The Hessian is S (AA' * E^½ Z M^-1 Z'E^½) S + D, with * entry by entry, S and D diagonal. The rank
of the product is that of T samples at the most: where there are many more rows than that, `narrow`
keeps its factor instead of the Hessian (see `multitask_narrow`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.lanes import LANES, dot, lanes
from genesig.compiled.operations import larger
from genesig.compiled.upper import factor, invert_left, outer, solve_left, solve_right

Array = np.ndarray[Any, Any]


class Lengths(NamedTuple):
    """The problem among m rows, and room for a point of it.

    level (4,) = tau, mu, n, ||Y||²; size (1,) how many of the m rows are left, which come first;
    row (m,) their places; w, x, trial, e, q, slope, step, own (m,), own the Hessian's diagonal;
    root (m',) = √e, in whole lanes, 0 beyond the rows that are left; Z (m, N) the features, scaled
    these times e, turned (N, m') their transpose; Y (N, T') the responses, G (m', T') = ZY; K (m',
    m') the upper triangle of ZZ', empty where M is factored; U the factor of C or M, half ``U'^-1``
    or ``U'^-1 Z'E^½``, V (·, T') what is solved for all responses, A (T', m') ``Y'M^-1 Z'E^½``;
    H, C (m', m') the Hessian's upper triangle and room; found (2,) value and gap. Empty but where
    the factor is kept, and H, C are not: narrow, free (TN, m') the factor and what is free of it,
    lone (m,) D, few (TN, TN), side (TN,).
    """

    level: Array
    size: Array
    row: Array
    w: Array
    x: Array
    trial: Array
    e: Array
    q: Array
    slope: Array
    step: Array
    own: Array
    root: Array
    Z: Array
    scaled: Array
    turned: Array
    Y: Array
    G: Array
    K: Array
    U: Array
    half: Array
    V: Array
    A: Array
    H: Array
    C: Array
    found: Array
    narrow: Array
    free: Array
    lone: Array
    few: Array
    side: Array


@inner
def evaluate(p: Lengths, x: Array) -> bool:
    """Fill e, the factor of C or of M, A, q, value and gap at x; False where it is not definite."""
    m = p.size[0]
    for k in range(m):
        p.e[k] = 2.0 * x[k] / (2.0 * p.level[1] * x[k] + p.level[0] * p.w[k])
        p.root[k], p.q[k] = np.sqrt(p.e[k]), 0.0
    for k in range(m, len(p.root)):
        p.root[k] = 0.0
    left = among_rows(p) if len(p.K) > 0 else among_samples(p)
    if left < 0.0:
        return False
    for t in range(len(p.A)):
        row, q = p.A[t], p.q[:m]
        for k in range(len(q)):
            q[k] += row[k] * row[k]
    judge(p, x, left)
    return True


@plain
def among_rows(p: Lengths) -> float:
    """Factor C and fill A; returns ``n tr Y'M^-1 Y``, or -1 where C is not definite."""
    m, width, taken = lanes(p.size[0]), p.V.shape[1], 0.0
    for k in range(m):
        first = k // LANES * LANES
        times(p.root[k], p.root[first:m], p.K[k][first:m], p.U[k][first:m])
        p.U[k, k] += p.level[2]
        for t in range(width):
            p.V[k, t] = p.root[k] * p.G[k, t]
    if not factor(p.U, m):
        return -1.0
    solve_left(p.U, m, p.V, width)
    for k in range(m):
        taken += dot(p.V[k], p.V[k])
    solve_right(p.U, m, p.V, width)
    for k in range(m):
        for t in range(width):
            p.A[t, k] = p.V[k, t]
    return float(larger(p.level[3] - taken, 0.0))


@plain
def among_samples(p: Lengths) -> float:
    """Do as `among_rows` with the factor of M."""
    m, (N, width), left = p.size[0], p.Y.shape, 0.0
    for k in range(m):
        row, other, own = p.scaled[k], p.Z[k], p.e[k]
        for i in range(N):
            row[i] = own * other[i]
    for i in range(0, N, LANES):
        for j in range(i, N, LANES):
            outer(p.scaled, i, p.Z, j, 0, m, p.U)
    for i in range(N):
        p.U[i, i] += p.level[2]
        for t in range(width):
            p.V[i, t] = p.Y[i, t]
    if not factor(p.U, N):
        return -1.0
    solve_left(p.U, N, p.V, width)
    for i in range(N):
        left += p.level[2] * dot(p.V[i], p.V[i])
    solve_right(p.U, N, p.V, width)
    for t in range(0, width, LANES):
        for k in range(0, m, LANES):
            outer(p.V, t, p.turned, k, 0, N, p.A)
    for t in range(width):
        times(1.0, p.root, p.A[t][: len(p.root)], p.A[t])
    return left


@plain
def times(scale: float, x: Array, y: Array, out: Array) -> None:
    """Fill the first numbers of out, as many as x has, with ``scale x y``, entry by entry."""
    for a in range(len(x)):
        out[a] = scale * (x[a] * y[a])


@plain
def judge(p: Lengths, x: Array, along: float) -> None:
    """Fill q, the value and the gap, from the squares of A and ``n tr Y'M^-1 Y``."""
    tau, mu, n, energy = p.level[0], p.level[1], p.level[2], p.level[3]
    total, ratio, square, lost, lengths = 0.0, 1.0, 0.0, 0.0, 0.0
    for k in range(p.size[0]):
        v = np.sqrt(p.e[k] * p.q[k])
        p.q[k] = np.sqrt(p.q[k] / p.e[k]) if p.e[k] > 0.0 else 0.0
        g = 2.0 * p.q[k] * (1.0 - mu * p.e[k])
        total += (tau * p.w[k] - g) * v
        ratio = larger(ratio, g / (tau * p.w[k]))
        square += v * v
        lost += n * v * v / p.e[k] if p.e[k] > 0.0 else 0.0
        lengths += p.w[k] * x[k]
    s = 1.0 / ratio
    left = along - lost + n * mu * square
    p.found[0] = along / n + 0.5 * tau * lengths
    total += (1.0 - s) / n * (2.0 * along - (1.0 + s) * left)
    p.found[1] = larger(total, 0.0) / (energy / n if energy > 0.0 else 1.0)


@plain
def curve(p: Lengths) -> None:
    """Fill the Hessian's upper triangle at the point whose slopes were found last."""
    m, width = lanes(p.size[0]), len(p.A)
    halve(p)
    for k in range(0, m, LANES):
        for a in range(k, m, LANES):
            first = a if len(p.K) > 0 else 0
            last = m if len(p.K) > 0 else len(p.U)
            outer(p.half, k, p.half, a, first, last, p.H)
            outer(p.A, k, p.A, a, 0, width, p.C)
    share, one = (-p.level[2], -1.0 / p.level[2]) if len(p.K) > 0 else (1.0, 0.0)
    m = p.size[0]
    for k in range(m):
        row, other, step, scale = p.H[k][k:m], p.C[k][k:m], p.step[k:m], share * p.step[k]
        row[0] += one
        for a in range(len(row)):
            row[a] *= scale * (other[a] * step[a])
        row[0] += alone(p, k)
        p.own[k] = row[0]


@plain
def slopes(p: Lengths) -> None:
    """Fill the slope, and S into step."""
    tau, mu = p.level[0], p.level[1]
    for k in range(p.size[0]):
        below = 2.0 * mu * p.x[k] + tau * p.w[k]
        p.step[k] = 2.0 * tau * p.w[k] / (below * below)
        p.slope[k] = 0.5 * tau * p.w[k] - p.step[k] * p.q[k] * p.q[k]
        p.step[k] *= np.sqrt(2.0) / p.e[k]


@plain
def alone(p: Lengths, k: int) -> float:
    """Return what D has for a row."""
    tau, mu = p.level[0], p.level[1]
    below = 2.0 * mu * p.x[k] + tau * p.w[k]
    return float(8.0 * mu * tau * p.w[k] * p.q[k] * p.q[k] / (below * below * below))


@plain
def halve(p: Lengths) -> None:
    """Fill half, from the factor."""
    m, N = lanes(p.size[0]), len(p.U)
    if len(p.K) > 0:
        invert_left(p.U, m, p.half)
        return
    for i in range(N):
        times(1.0, p.root[:m], p.turned[i], p.half[i])
    solve_left(p.U, N, p.half, m)
