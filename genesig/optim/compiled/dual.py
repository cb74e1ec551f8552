"""Newton's method on the n-dimensional dual: for large mu, where features outnumber samples.

With ``u`` the residual and ``S`` the soft threshold at n tau/2, the fixed point of the damped
Landweber map is ``b = S(Z'u) / (n mu)``, and u minimises the strongly convex, piecewise quadratic
``||u||²/2 - y'u + ||S(Z'u)||² / (2 n mu)``. Its generalised Hessian is the n × n (Woodbury) form
``I + Z_A Z_A' / (n mu)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.optim.compiled import inlined, inner, plain
from genesig.optim.compiled.active_set import SOLVED, STUCK
from genesig.optim.compiled.cholesky import cholesky
from genesig.optim.compiled.column import Column, centred, standardised, summed
from genesig.optim.compiled.dense import backward, forward
from genesig.optim.compiled.lanes import LANES, dot, lanes
from genesig.optim.compiled.moments import BLOCK, add_gram, copy, from_tiles, gram_room

Array = np.ndarray[Any, Any]


class Line(NamedTuple):
    """A point u (N,) of the dual and a way d (N,) from it, with v = Z_W'u, move = Z_W'd (W,)."""

    u: Array
    v: Array
    d: Array
    move: Array


@plain
def shrink(v: float, cut: float) -> Any:
    """Return the soft threshold of v."""
    return np.sign(v) * max(abs(v) - cut, 0.0)


@plain
def add(scale: float, a: Array, out: Array) -> None:
    """Add ``scale a`` to out."""
    for i in range(len(out)):
        out[i] += scale * a[i]


@plain
def value(col: Column, W: Array, line: Line, alpha: float) -> Any:
    """Return the dual objective at u + alpha d."""
    total, square, (cut, ridge) = 0.0, 0.0, summed(col)
    for w in range(len(W)):
        total += shrink(line.v[w] + alpha * line.move[w], cut * col.weights[W[w]]) ** 2
    for i in range(len(line.u)):
        at = line.u[i] + alpha * line.d[i]
        square += at * (0.5 * at - col.y[i])
    return total / (2.0 * ridge) + square


@inner
def newton_factor(K: Array, ridge: float) -> Array:
    """Return the Cholesky factor of ``I + K/ridge``."""
    n = len(K)
    L = np.empty((n, n))
    for i in range(n):
        for k in range(i + 1):
            L[i, k] = K[i, k] / ridge
        L[i, i] += 1.0
    cholesky(L, n)
    return L


@inner
def update_gram(col: Column, W: Array, a: Array) -> None:
    """Bring K = Z_A Z_A' up to date for A = support of a within W."""
    n = len(col.y)
    change = np.empty((n, n))
    for coming in (True, False):
        (Z, tiles), rows = gram_room(n), 0
        for w in range(len(W)):
            j = W[w]
            if (a[w] != 0.0) != coming or (col.counted[j] != 0) == coming:
                continue
            standardised(col, j, Z[rows])
            col.counted[j] = coming
            rows += 1
            if rows == BLOCK:
                add_gram(Z, rows, tiles)
                rows = 0
        add_gram(Z, rows, tiles)
        from_tiles(tiles, change)
        for i in range(n):
            for k in range(i + 1):
                col.K[i, k] += change[i, k] if coming else -change[i, k]


@inlined
def dual_newton(col: Column, W: Array, sign: Array, steps: Array) -> int:
    """Minimise over the features W, starting at the residual; fills the signs (len(W),)."""
    n, (cut, ridge) = len(col.y), summed(col)
    u, v, a, move = col.r, np.empty(len(W)), np.empty(len(W)), np.empty(len(W))
    small = 1e-28 * dot(col.y, col.y)
    for w in range(len(W)):
        v[w] = col.inverse[W[w]] * dot(col.F[W[w]], u)
    for _ in range(200):
        steps[0] += 1
        f, d = np.zeros(n), np.empty(n)
        for w in range(len(W)):
            a[w] = shrink(v[w], cut * col.weights[W[w]])
            sign[w] = np.sign(a[w])
            if a[w] != 0.0:
                add(a[w] * col.inverse[W[w]], col.F[W[w]], f)
        centred(col, f)
        for i in range(n):
            f[i] = d[i] = col.y[i] - u[i] - f[i] / ridge
        if dot(f, f) <= small:
            return SOLVED
        update_gram(col, W, a)
        L = newton_factor(col.K, ridge)
        forward(L, n, d)
        backward(L, n, d)
        centred(col, d)
        for w in range(len(W)):
            move[w] = col.inverse[W[w]] * dot(col.F[W[w]], d)
        if line_search(col, W, Line(u, v, d, move), dot(f, d), sign):
            return SOLVED
    return STUCK


@inlined
def line_search(col: Column, W: Array, line: Line, slope: float, sign: Array) -> bool:
    """Step along d, halved until the objective falls; True if a whole step changes no sign."""
    now, alpha, (cut, _) = value(col, W, line, 0.0), 1.0, summed(col)
    while alpha > 1e-12:
        after = value(col, W, line, alpha)
        if after <= now - 1e-4 * alpha * slope + 1e-14 * abs(now):
            break
        alpha *= 0.5
    add(alpha, line.d, line.u)
    add(alpha, line.move, line.v)
    if alpha < 1.0:
        return False
    changed = 0
    for w in range(len(W)):
        changed += np.sign(shrink(line.v[w], cut * col.weights[W[w]])) != sign[w]
    return changed == 0


@inlined
def dual_polish(col: Column, A: Array, sign: Array, b: Array) -> None:
    """Solve for a known support A (sorted) from the start, refine once; fills b and the residual.

    ``(I + Z_A Z_A'/ridge) u = y + Z_A (cut s)/ridge``, ``b = (Z_A'u - cut s)/ridge``.
    """
    n, (cut, ridge) = len(col.y), summed(col)
    Z, K, (_, tiles) = np.zeros((len(A), lanes(n + LANES))), np.empty((n, n)), gram_room(n)
    for a in range(len(A)):
        standardised(col, A[a], Z[a])
        b[a] = -cut * col.weights[A[a]] * sign[a] / ridge
    add_gram(Z, len(A), tiles)
    from_tiles(tiles, K)
    L, u, change = newton_factor(K, ridge), np.zeros(n), np.empty(n)
    subtract(col, Z, b)
    for _ in range(2):
        for i in range(n):
            change[i] = col.r[i] - u[i]
        forward(L, n, change)
        backward(L, n, change)
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
    centred(col, col.r)
