"""Sums over samples and small linear systems."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, inner

DEPENDENT = 1e-13
"""Share of its square length below which what is new in a row is rounding."""


@compiled
def dot(a: Array, b: Array) -> float:
    """Return a'b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@inner
def add(scale: float, a: Array, out: Array) -> None:
    """Add ``scale a`` to out."""
    for i in range(len(out)):
        out[i] += scale * a[i]


@compiled
def row_dot(A: Array, i: int, B: Array, k: int, n: int) -> float:
    """Return the product of the first n of a row of A with those of a row of B."""
    total = 0.0
    for p in range(n):
        total += A[i, p] * B[k, p]
    return total


@compiled
def products(A: Array, b: Array, last: int, out: Array) -> None:
    """Fill out with A[:last] b; four rows at a time, since the processor waits for memory."""
    whole = last - last % 4
    for j in range(0, whole, 4):
        s0 = 0.0
        s1 = 0.0
        s2 = 0.0
        s3 = 0.0
        for i in range(len(b)):
            s0 += A[j, i] * b[i]
            s1 += A[j + 1, i] * b[i]
            s2 += A[j + 2, i] * b[i]
            s3 += A[j + 3, i] * b[i]
        out[j] = s0
        out[j + 1] = s1
        out[j + 2] = s2
        out[j + 3] = s3
    for j in range(whole, last):
        total = 0.0
        for i in range(len(b)):
            total += A[j, i] * b[i]
        out[j] = total


@compiled
def places_of(values: Array, positive: bool) -> Array:
    """Return where values are above 0, or where they are not."""
    found = np.empty(len(values), np.int64)
    count = 0
    for j in range(len(values)):
        if (values[j] > 0.0) == positive:
            found[count] = j
            count += 1
    return found[:count]


@compiled
def factor(A: Array) -> None:
    """Overwrite the lower triangle of A by its Cholesky factor; ∞ where a column is dependent."""
    line = np.empty(len(A))
    for j in range(len(A)):
        products(A[j:], A[j, :j], len(A) - j, line)
        left = A[j, j] - line[0]
        A[j, j] = np.sqrt(left) if left > DEPENDENT * A[j, j] else np.inf
        for i in range(j + 1, len(A)):
            A[i, j] = (A[i, j] - line[i - j]) / A[j, j]


@compiled
def cholesky(M: Array, m: int) -> bool:
    """Overwrite the lower triangle of M[:m, :m] by its factor; False where it is not definite."""
    line = np.empty(m)
    for j in range(m):
        products(M[j:], M[j, :j], m - j, line)
        left = M[j, j] - line[0]
        if not left > 0.0:
            return False
        M[j, j] = np.sqrt(left)
        for i in range(j + 1, m):
            M[i, j] = (M[i, j] - line[i - j]) / M[j, j]
    return True


@compiled
def solve_lower(L: Array, m: int, x: Array) -> None:
    """Solve ``L[:m, :m] x = x`` in place."""
    for i in range(m):
        total = 0.0
        for k in range(i):
            total += L[i, k] * x[k]
        x[i] = (x[i] - total) / L[i, i]


@compiled
def solve_upper(L: Array, m: int, x: Array) -> None:
    """Solve ``L[:m, :m]'x = x`` in place."""
    for i in range(m - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@compiled
def drop_row(L: Array, m: int, p: int) -> None:
    """Turn the factor of an m × m matrix into the factor without row and column p (Givens)."""
    for i in range(p, m - 1):
        for k in range(i + 2):
            L[i, k] = L[i + 1, k]
    for k in range(p, m - 1):
        a = L[k, k]
        b = L[k, k + 1]
        length = np.hypot(a, b)
        c = a / length
        s = b / length
        for i in range(k, m - 1):
            a = L[i, k]
            b = L[i, k + 1]
            L[i, k] = c * a + s * b
            L[i, k + 1] = c * b - s * a


@compiled
def forward(L: Array, X: Array) -> None:
    """Overwrite the rows x of X (m, n) by ``L^-1 x``."""
    line = np.empty(len(X))
    for i in range(len(L)):
        products(X, L[i, :i], len(X), line)
        for a in range(len(X)):
            X[a, i] = (X[a, i] - line[a]) / L[i, i]


@compiled
def substitute(L: Array, b: Array) -> None:
    """Overwrite b by the solution of ``L L' x = b``; 0 for what is dependent."""
    for i in range(len(b)):
        total = b[i]
        for j in range(i):
            total -= L[i, j] * b[j]
        b[i] = total / L[i, i]
    for i in range(len(b) - 1, -1, -1):
        b[i] /= L[i, i]
        for j in range(i):
            b[j] -= L[i, j] * b[i]


@compiled
def solve_by_features(D: Array, HD: Array, ridge: Array, h: Array) -> None:
    """Overwrite h (m,) by ``(D H D' + diag ridge)⁻¹ h``, for D and D H (m, n)."""
    A = np.empty((len(D), len(D)))
    for j in range(len(D)):
        products(HD, D[j], j + 1, A[j])
        A[j, j] += ridge[j]
    factor(A)
    substitute(A, h)


@compiled
def solve_by_samples(E: Array, ridge: Array, h: Array) -> None:
    """Overwrite h (m,) by ``(E E' + diag ridge)⁻¹ h`` by a system of n, for E (m, n).

    With P = √ridge⁻¹ E of the features that have a ridge and B of the others, ``N = I + P'P``: by
    Woodbury's formula ``B N⁻¹ B' x_B = h_B - B N⁻¹ P' √ridge⁻¹ h``, and the rest follows.
    """
    n = E.shape[1]
    held = places_of(ridge, True)
    free = places_of(ridge, False)
    P = np.zeros((n, len(held)))
    short = np.empty(len(held))
    N = np.empty((n, n))
    q = np.empty(n)
    B = np.empty((len(free), n))
    V = np.empty((len(free), n))
    x = np.empty(len(free))
    S = np.empty((len(free), len(free)))
    for j in range(len(held)):
        root = np.sqrt(ridge[held[j]])
        short[j] = h[held[j]] / root
        for i in range(n):
            P[i, j] = E[held[j], i] / root
    for i in range(n):
        products(P, P[i], i + 1, N[i])
        N[i, i] += 1.0
    factor(N)
    products(P, short, n, q)
    substitute(N, q)
    for j in range(len(free)):
        for i in range(n):
            B[j, i] = V[j, i] = E[free[j], i]
        substitute(N, V[j])
        x[j] = h[free[j]] - dot(B[j], q)
        products(V, B[j], j + 1, S[j])
    factor(S)
    substitute(S, x)
    for j in range(len(free)):
        h[free[j]] = x[j]
        for i in range(n):
            q[i] += V[j, i] * x[j]
    for j in range(len(held)):
        for i in range(n):
            short[j] -= P[i, j] * q[i]
        h[held[j]] = short[j] / np.sqrt(ridge[held[j]])
