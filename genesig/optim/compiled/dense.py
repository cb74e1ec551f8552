"""Small dense linear algebra: solves by a factor with one row more or less, tridiagonal form."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.compiled import inlined, plain
from genesig.optim.compiled.lanes import LANES, add_row, dot, lanes

Array = np.ndarray[Any, Any]


@plain
def forward(L: Array, m: int, x: Array) -> None:
    """Solve L x = x in place."""
    for i in range(m):
        row = L[i]
        x[i] = (x[i] - dot(row[:i], x[:i])) / row[i]


@plain
def backward(L: Array, m: int, x: Array) -> None:
    """Solve L'x = x in place."""
    for i in range(m - 1, -1, -1):
        row = L[i]
        x[i] /= row[i]
        for k in range(i):
            x[k] -= row[k] * x[i]


@plain
def drop_row(L: Array, m: int, p: int) -> None:
    """Turn the factor of an m × m matrix into the factor without row and column p (Givens)."""
    for i in range(p, m - 1):
        for k in range(i + 2):
            L[i, k] = L[i + 1, k]
    for k in range(p, m - 1):
        a, b = L[k, k], L[k, k + 1]
        length = np.hypot(a, b)
        c, s = a / length, b / length
        for i in range(k, m - 1):
            a, b = L[i, k], L[i, k + 1]
            L[i, k] = c * a + s * b
            L[i, k + 1] = c * b - s * a


@plain
def tridiagonal(
    M: Array, m: int, diagonal: Array, beside: Array, beta: Array, work: Array
) -> None:  # fmt: skip
    """Reduce the symmetric M[:m, :m] to Q T Q' by Householder reflections.

    Row k of M is left holding the reflector v_k (entries k+1..m-1), Q = H_0 H_1 ... with
    H_k = I - beta_k v_k v_k'. M must be stored in full, its rows filled up with zeros to whole
    lanes; work is two rows as long as those of M.
    """
    width, v = lanes(m), work[1]
    for j in range(len(v)):
        v[j] = work[0, j] = 0.0
    for k in range(m - 1):
        for j in range(width):
            v[j] = M[k, j] if k < j < m else 0.0
        diagonal[k], beside[k], beta[k] = M[k, k], v[k + 1], 0.0
        norm = np.sqrt(dot(v, v))
        if k == m - 2 or norm == 0.0:
            continue
        beside[k] = -norm if v[k + 1] > 0 else norm
        v[k + 1] -= beside[k]
        M[k, k + 1] = v[k + 1]
        beta[k] = 1.0 / (abs(beside[k]) * abs(v[k + 1]))
        reflect_both_sides(M, m, k, width, beta[k], work)
    diagonal[m - 1] = M[m - 1, m - 1]


@inlined
def reflect_both_sides(
    M: Array, m: int, k: int, width: int, beta: float, work: Array
) -> None:  # fmt: skip
    """Apply I - beta v v' from both sides to the rows below k; their part left of k is spoilt."""
    first = k + 1 - (k + 1) % LANES
    p, v = work[0], work[1]
    for j in range(width):
        p[j] = 0.0
    for i in range(k + 1, m):
        add_row(beta * v[i], M, i, work, 0, first, width)
    half = -0.5 * beta * dot(p, v)
    add_row(half, work, 1, work, 0, first, width)
    for i in range(k + 1, m):
        add_row(-v[i], work, 0, M, i, first, width)
        add_row(-p[i], work, 1, M, i, first, width)


@plain
def largest_eigenvalue(M: Array, work: Array) -> Any:
    """Return the largest eigenvalue of a symmetric matrix (destroyed), by Sturm bisection.

    The rows of M and work (5 of them) are whole lanes.
    """
    m, diagonal, beside = len(M), work[2], work[3]
    tridiagonal(M, m, diagonal, beside, work[4], work)
    low, high = diagonal[0], diagonal[0]
    for i in range(m):
        radius = abs(beside[i]) if i < m - 1 else 0.0
        radius += abs(beside[i - 1]) if i > 0 else 0.0
        low, high = max(low, diagonal[i]), max(high, diagonal[i] + radius)
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return high
        pivot = diagonal[0] - middle
        for i in range(1, m):
            if pivot > 0.0:
                break
            pivot = diagonal[i] - middle - beside[i - 1] ** 2 / min(pivot, -1e-300)
        if pivot > 0.0:
            low = middle
        else:
            high = middle
