"""Small dense linear algebra: the factor, solves by one with a row more or less, tridiagonal form.

The Cholesky factor goes by blocks of eight rows and columns. Each entry is what one sum of products
after the other would give, to the last bit: whole lanes of what lies to the left of its block, then
the columns of the block one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import inlined, inner, plain
from genesig.compiled.lanes import LANES, add_row, dot, lanes
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.products import dots, fused, reflect_four, reflect_one

Array = np.ndarray[Any, Any]


@inner
def cholesky(M: Array, m: int) -> bool:
    """Overwrite the lower triangle of M[:m, :m] by its factor; False where it is not definite."""
    room = zeros((3, LANES, LANES), np.float64)
    sums, block, corner = room[0], room[1], room[2]
    for first in range(0, m, LANES):
        for i in range(first, m, LANES):
            for c in range(0, LANES, 2):
                dots(M, i, M, first + c, first, sums, c)
            fetch(M, i, first, block)
            if i == first:
                if not on_diagonal(block, sums, smaller(LANES, m - first), corner):
                    return False
            else:
                below(block, sums, corner)
            put_back(M, i, first, m, block)
    return True


@plain
def fetch(M: Array, i: int, first: int, block: Array) -> None:
    """Copy eight rows from i of eight columns, column by column; beyond the last, the last."""
    rows, columns = M.shape
    if i + LANES <= rows and first + LANES <= columns:
        for r in range(LANES):
            for c in range(LANES):
                block[c, r] = M[i + r, first + c]
        return
    for r in range(LANES):
        for c in range(LANES):
            block[c, r] = M[smaller(i + r, rows - 1), smaller(first + c, columns - 1)]


@plain
def put_back(M: Array, i: int, first: int, m: int, block: Array) -> None:
    """Copy what is on or below the diagonal back."""
    if i >= first + LANES and i + LANES <= m:
        for r in range(LANES):
            for c in range(LANES):
                M[i + r, first + c] = block[c, r]
        return
    for r in range(smaller(LANES, m - i)):
        for c in range(smaller(LANES, i + r - first + 1)):
            M[i + r, first + c] = block[c, r]


@plain
def on_diagonal(block: Array, sums: Array, m: int, corner: Array) -> bool:
    """Factor a block on the diagonal, less the sums to its left; corner keeps it row by row."""
    for c in range(m):
        for k in range(c):
            for r in range(c, m):
                sums[c, r] = fused(block[k, r], block[k, c], sums[c, r])
        left = block[c, c] - sums[c, c]
        if not left > 0.0:
            return False
        block[c, c] = corner[c, c] = np.sqrt(left)
        for r in range(c + 1, m):
            block[c, r] = (block[c, r] - sums[c, r]) / block[c, c]
            corner[r, c] = block[c, r]
    return True


@plain
def below(block: Array, sums: Array, corner: Array) -> None:
    """Divide a block below the diagonal, less the sums to its left, by the corner above it."""
    for c in range(LANES):
        for k in range(c):
            for r in range(LANES):
                sums[c, r] = fused(block[k, r], corner[c, k], sums[c, r])
        for r in range(LANES):
            block[c, r] = (block[c, r] - sums[c, r]) / corner[c, c]


NONE = 1e-140  # squares of what is smaller have no inverse


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
def first_turn(
    active: Array, m: int, b: Array, sign: Array, target: Array
) -> tuple[float, int]:  # fmt: skip
    """Return how far b may go to its target until a sign turns, and which active one; 1, -1: none.

    b, sign are of all; active (m,) are places among them, target (m,) is of the active ones.
    """
    share, out = 1.0, -1
    for a in range(m):
        p = active[a]
        if sign[p] != 0.0 and target[a] * sign[p] <= 0.0:
            away = b[p] - target[a]
            ratio = b[p] / away if away != 0.0 else 0.0
            if out < 0 or ratio < share:
                share, out = ratio, a
    return share, out


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
def tridiagonal(
    M: Array, m: int, diagonal: Array, beside: Array, beta: Array, work: Array
) -> None:  # fmt: skip
    """Reduce the symmetric M[:m, :m] to Q T Q' by Householder reflections.

    Row k of M is left holding the reflector v_k (entries k+1..m-1), Q = H_0 H_1 ... with
    H_k = I - beta_k v_k v_k'. M must be stored in full, its rows filled up with zeros to whole
    lanes; work is two rows as long as those of M.
    """
    width = lanes(m)
    both, scales = zeros((4, width), np.float64), zeros((3, LANES), np.float64)
    now, after = 0, 2
    reflector(M, m, 0, both[now + 1], diagonal, beside, beta)
    for i in range(1, m):
        add_row(beta[0] * both[now + 1, i], M, i, both, now, 0, width)
    for k in range(m - 1):
        first, p, v = k + 1 - (k + 1) % LANES, both[now], both[now + 1]
        add_row(-0.5 * beta[k] * dot(p, v), both, now + 1, both, now, first, width)
        add_row(-v[k + 1], both, now, M, k + 1, first, width)
        add_row(-p[k + 1], both, now + 1, M, k + 1, first, width)
        u = both[after + 1]
        reflector(M, m, k + 1, u, diagonal, beside, beta)
        for j in range(width):
            both[after, j] = 0.0
        for i in range(k + 2, m, 4):
            rows = smaller(4, m - i)
            for r in range(rows):
                scales[0, r], scales[1, r] = -v[i + r], -p[i + r]
                scales[2, r] = beta[k + 1] * u[i + r]
            reflect(M, i, rows, both, now, scales, first)
        now, after = after, now


@inlined
def reflect(
    M: Array, i: int, rows: int, both: Array, now: int, scales: Array, first: int
) -> None:  # fmt: skip
    """Reflect up to four rows, and add them up for the next reflection."""
    width = both.shape[1]
    if rows == 4:
        reflect_four(M, i, both, now, scales, first, width)
        return
    for r in range(rows):
        for k in range(3):
            scales[k, 0] = scales[k, r]
        reflect_one(M, i + r, both, now, scales, first, width)


@plain
def reflector(
    M: Array, m: int, k: int, v: Array, diagonal: Array, beside: Array, beta: Array
) -> None:  # fmt: skip
    """Fill v with the reflector that clears row k, and what is left of the row; none: beta_k 0."""
    for j in range(len(v)):
        v[j] = M[k, j] if k < j < m else 0.0
    diagonal[k], beta[k] = M[k, k], 0.0
    if k == m - 1:
        return
    norm, beside[k] = np.sqrt(dot(v, v)), v[k + 1]
    if k == m - 2 or norm < NONE:
        for j in range(len(v)):
            v[j] = 0.0
        return
    beside[k] = -norm if v[k + 1] > 0 else norm
    v[k + 1] -= beside[k]
    M[k, k + 1] = v[k + 1]
    beta[k] = 1.0 / (abs(beside[k]) * abs(v[k + 1]))


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
        low, high = larger(low, diagonal[i]), larger(high, diagonal[i] + radius)
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return high
        pivot = diagonal[0] - middle
        for i in range(1, m):
            if pivot > 0.0:
                break
            pivot = diagonal[i] - middle - beside[i - 1] * beside[i - 1] / smaller(pivot, -1e-300)
        if pivot > 0.0:
            low = middle
        else:
            high = middle
