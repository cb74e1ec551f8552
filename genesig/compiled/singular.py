"""Ridge by singular values: where lam is 0 or so small that a Gram matrix would lose it."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.known import Known, gather
from genesig.compiled.lanes import dot
from genesig.compiled.operations import larger, zeros

Array = np.ndarray[Any, Any]

RANK = 1e-12  # singular values below this share of the largest are the rounding of the means
SWEEPS = 60


@inner
def by_singular_values(known: Known, A: Array, ridges: Array, B: Array) -> None:
    """Solve by one-sided Jacobi rotations of the shorter side of Z (m, n)."""
    m, n, y = len(A), len(known.y), known.y
    Z = zeros((m, n), np.float64)
    gather(known.masked, A, 0, m, Z)
    tall = m >= n
    W = transposed(Z) if tall else Z  # rows are made orthogonal
    k = len(W)
    V = zeros((k, k), np.float64)
    for r in range(k):
        V[r, r] = 1.0
    for _ in range(SWEEPS):
        if not rotate_pairs(W, V):
            break
    square, most = zeros(k, np.float64), 0.0
    for r in range(k):
        square[r] = dot(W[r], W[r])
        most = larger(most, square[r])
    least = most * RANK**2
    for a in range(m):
        for e in range(len(ridges)):
            B[a, e] = 0.0
    for r in range(k):
        if not square[r] > least:
            continue
        along = dot(V[r], y) if tall else dot(W[r], y)
        for a in range(m):
            share = (W[r, a] if tall else V[r, a]) * along
            for e in range(len(ridges)):
                B[a, e] += share / (square[r] + ridges[e])


@inner
def transposed(A: Array) -> Any:
    """Return A', row by row."""
    B = zeros((A.shape[1], len(A)), np.float64)
    for i in range(len(A)):
        for j in range(len(B)):
            B[j, i] = A[i, j]
    return B


@plain
def rotate_pairs(A: Array, V: Array) -> bool:
    """Make every pair of rows of A orthogonal once, V alongside; False if all were."""
    turned = False
    for p in range(len(A)):
        for q in range(p + 1, len(A)):
            a, b, c = dot(A[p], A[p]), dot(A[q], A[q]), dot(A[p], A[q])
            if abs(c) <= 1e-15 * np.sqrt(a * b) or c == 0.0:
                continue
            turned = True
            zeta = (b - a) / (2.0 * c)
            t = (1.0 if zeta >= 0 else -1.0) / (abs(zeta) + np.sqrt(1.0 + zeta * zeta))
            cosine = 1.0 / np.sqrt(1.0 + t * t)
            turn(A[p], A[q], cosine, cosine * t)
            turn(V[p], V[q], cosine, cosine * t)
    return turned


@plain
def turn(x: Array, z: Array, c: float, s: float) -> None:
    """Rotate two rows."""
    for i in range(len(x)):
        x[i], z[i] = c * x[i] - s * z[i], s * x[i] + c * z[i]
