"""The lengths of the rows that are not 0: value, gap, slope and curvature of what they minimise.

``||b|| = min_rho (||b||²/rho + rho)/2`` leaves one number a row (see `structured.reduced`)::

    P(rho) = tr Y'M^-1 Y + (tau/2) sum w_k rho_k,   M = n I + sum e_k z_k z_k'
    e_k = 2 rho_k / (2 mu rho_k + tau w_k)

With K = ZZ' and C = n I + E^½ K E^½, all that is needed of M^-1 is that of C, of the order of the
rows: E^½ Z M^-1 Y = C^-1 E^½ Z Y and E^½ Z M^-1 Z'E^½ = I - n C^-1. Where there are more rows than
samples M itself is factored.

The Hessian is S (AA' * Z M^-1 Z') S + D, with * entry by entry, S and D diagonal. The rank of the
product is that of T samples at the most: where there are many more rows than that, `narrow` keeps
its factor instead of the Hessian (see `multitask_narrow`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.cholesky import cholesky
from genesig.compiled.dense import backward, forward
from genesig.compiled.lanes import add_row, dot
from genesig.compiled.operations import larger
from genesig.compiled.products import products

Array = np.ndarray[Any, Any]


class Lengths(NamedTuple):
    """The problem among m rows, and room for a point of it.

    level (4,) = tau, mu, n, ||Y||²; size (1,) how many of the m rows are left, which come first;
    row (m,) their places; w, x, trial, e, root = √e, q, slope, step, own (m,), own the Hessian's
    diagonal; K, C, inverse, H (m, m') in whole lanes; G, A (T, m) ``ZY`` and ``E^½ Z M^-1 Y``;
    found (2,) value and gap; Z (m, N) the features, Y (T, N) the responses. U (m, N), turned,
    solved (N, m'), M (N, N) and V (T, N) are empty where there are no more rows than samples; else
    U is ``M^-½ Z'``, row by row, turned ``(E^½ Z)'``, solved ``M^-½`` of it, M the factor and V
    ``M^-1 Y``, and K is empty. Empty but where the factor is kept, and C, inverse, H, U are not:
    narrow, free (TN, m') the factor and what is free of it, lone (m,) D, few (TN, TN), side (TN,).
    """

    level: Array
    size: Array
    row: Array
    w: Array
    x: Array
    trial: Array
    e: Array
    root: Array
    q: Array
    slope: Array
    step: Array
    own: Array
    K: Array
    C: Array
    inverse: Array
    H: Array
    G: Array
    A: Array
    found: Array
    Z: Array
    Y: Array
    U: Array
    turned: Array
    solved: Array
    M: Array
    V: Array
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
    left = among_samples(p) if len(p.M) > 0 else among_rows(p)
    if left < 0.0:
        return False
    for t in range(len(p.G)):
        for k in range(m):
            p.q[k] += p.A[t, k] * p.A[t, k]
    judge(p, x, left)
    return True


@inner
def among_rows(p: Lengths) -> float:
    """Factor C and fill A; returns ``n tr Y'M^-1 Y``, or -1 where C is not definite."""
    m, taken = p.size[0], 0.0
    for k in range(m):
        for a in range(k + 1):
            p.C[k, a] = p.root[k] * p.root[a] * p.K[k, a]
        p.C[k, k] += p.level[2]
    if not cholesky(p.C, m):
        return -1.0
    for t in range(len(p.G)):
        for k in range(m):
            p.A[t, k] = p.root[k] * p.G[t, k]
        forward(p.C, m, p.A[t])
        taken += dot(p.A[t][:m], p.A[t][:m])
        backward(p.C, m, p.A[t])
    return float(larger(p.level[3] - taken, 0.0))


@inner
def among_samples(p: Lengths) -> float:
    """Do as `among_rows` with the factor of M."""
    m, N, left = p.size[0], len(p.M), 0.0
    for k in range(m):
        for i in range(N):
            p.turned[i, k] = p.root[k] * p.Z[k, i]
    products(p.turned, 0, N, p.M)
    for i in range(N):
        p.M[i, i] += p.level[2]
    if not cholesky(p.M, N):
        return -1.0
    for t in range(len(p.G)):
        for i in range(N):
            p.V[t, i] = p.Y[t, i]
        forward(p.M, N, p.V[t])
        left += p.level[2] * dot(p.V[t], p.V[t])
        backward(p.M, N, p.V[t])
        for k in range(m):
            p.A[t, k] = p.root[k] * dot(p.Z[k], p.V[t])
    return left


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


@inner
def curve(p: Lengths) -> None:
    """Fill the slope, and the Hessian's lower triangle, at the point evaluated last."""
    m, T = p.size[0], len(p.G)
    if len(p.M) > 0:
        within_samples(p)
    else:
        within_rows(p)
    slopes(p)
    for k in range(m):
        for a in range(k + 1):
            p.H[k, a] = 0.0
        for t in range(T):
            for a in range(k + 1):
                p.H[k, a] += p.A[t, k] * p.A[t, a]
        for a in range(k + 1):
            p.H[k, a] *= p.step[k] * p.step[a] * p.inverse[k, a]
        p.H[k, k] += alone(p, k)
        p.own[k] = p.H[k, k]


@plain
def slopes(p: Lengths) -> None:
    """Fill the slope, and S into step."""
    tau, mu = p.level[0], p.level[1]
    for k in range(p.size[0]):
        below = 2.0 * mu * p.x[k] + tau * p.w[k]
        p.step[k] = 2.0 * tau * p.w[k] / (below * below)
        p.slope[k] = 0.5 * tau * p.w[k] - p.step[k] * p.q[k] * p.q[k]
        p.step[k] *= np.sqrt(2.0) / p.root[k]


@plain
def alone(p: Lengths, k: int) -> float:
    """Return what D has for a row."""
    tau, mu = p.level[0], p.level[1]
    below = 2.0 * mu * p.x[k] + tau * p.w[k]
    return float(8.0 * mu * tau * p.w[k] * p.q[k] * p.q[k] / (below * below * below))


@inner
def within_rows(p: Lengths) -> None:
    """Fill the lower triangle of ``Z M^-1 Z'`` from the factor of C; H is room."""
    m, n = p.size[0], p.level[2]
    invert(p.C, m, p.H)
    products(p.H, 0, m, p.inverse)
    for k in range(m):
        for a in range(k + 1):
            p.inverse[k, a] *= -n
        p.inverse[k, k] += 1.0
        for a in range(k + 1):
            p.inverse[k, a] /= p.root[k] * p.root[a]


@inner
def within_samples(p: Lengths) -> None:
    """Fill ``Z M^-1 Z'`` from the factor of M, all rows at a time."""
    m = p.size[0]
    halve(p)
    for k in range(m):
        for i in range(len(p.solved)):
            p.U[k, i] = p.solved[i, k] / p.root[k]
    products(p.U, 0, m, p.inverse)


@plain
def halve(p: Lengths) -> None:
    """Fill solved from the factor of M."""
    N, width = p.solved.shape
    for i in range(N):
        for k in range(width):
            p.solved[i, k] = p.turned[i, k]
        for j in range(i):
            add_row(-p.M[i, j], p.solved, j, p.solved, i, 0, width)
        for k in range(width):
            p.solved[i, k] /= p.M[i, i]


@plain
def invert(L: Array, m: int, out: Array) -> None:
    """Fill row j of out (m, m') with column j of the inverse of the factor L."""
    for j in range(m):
        column = out[j]
        for i in range(len(column)):
            column[i] = 0.0
        column[j] = 1.0 / L[j, j]
        for i in range(j + 1, m):
            row = L[i]
            column[i] = -dot(row[j:i], column[j:i]) / row[i]
