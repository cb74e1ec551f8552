"""Small dense linear algebra: Cholesky with one row more or less, and tridiagonal form."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.compiled import inlined, inner, plain
from genesig.optim.compiled.lanes import dot

Array = np.ndarray[Any, Any]


@plain
def cholesky(M: Array, m: int) -> bool:
    """Overwrite the lower triangle of M[:m, :m] by its factor; False where it is not definite."""
    for i in range(m):
        row = M[i]
        for j in range(i):
            other = M[j]
            row[j] = (row[j] - dot(row[:j], other[:j])) / other[j]
        total = row[i] - dot(row[:i], row[:i])
        if not total > 0.0:
            return False
        row[i] = np.sqrt(total)
    return True


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


@inner
def tridiagonal(M: Array, m: int, diagonal: Array, beside: Array, beta: Array) -> None:
    """Reduce the symmetric M[:m, :m] to Q T Q' by Householder reflections.

    Row k of M is left holding the reflector v_k (entries k+1..m-1), Q = H_0 H_1 ... with
    H_k = I - beta_k v_k v_k'. M must be stored in full.
    """
    p = np.empty(m)
    for k in range(m - 1):
        v = M[k]
        diagonal[k] = v[k]
        norm = np.sqrt(dot(v[k + 1 : m], v[k + 1 : m]))
        beta[k] = 0.0
        beside[k] = v[k + 1]
        if k == m - 2 or norm == 0.0:
            continue
        beside[k] = -norm if v[k + 1] > 0 else norm
        v[k + 1] -= beside[k]
        beta[k] = 1.0 / (abs(beside[k]) * abs(v[k + 1]))
        _reflect_both_sides(M, m, k, beta[k], p)
    diagonal[m - 1] = M[m - 1, m - 1]


@inlined
def _reflect_both_sides(M: Array, m: int, k: int, beta: float, p: Array) -> None:
    v = M[k]
    half = 0.0
    for i in range(k + 1, m):
        p[i] = beta * dot(M[i, k + 1 : m], v[k + 1 : m])
        half += p[i] * v[i]
    half *= 0.5 * beta
    for i in range(k + 1, m):
        p[i] -= half * v[i]
    for i in range(k + 1, m):
        row = M[i]
        a, b = v[i], p[i]
        for j in range(k + 1, m):
            row[j] -= a * p[j] + b * v[j]


@inlined
def largest_eigenvalue(M: Array) -> Any:
    """Return the largest eigenvalue of a symmetric matrix (destroyed), by Sturm bisection."""
    m = len(M)
    diagonal, beside, beta = np.empty(m), np.zeros(m), np.empty(m)
    tridiagonal(M, m, diagonal, beside, beta)
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
