"""Ridge by singular values: where lam is 0 or so small that a Gram matrix would lose it."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import inner, jit, plain
from genesig.compiled.core import Known, gather, learn
from genesig.compiled.lanes import dot
from genesig.compiled.moments import Matrix, Rows, copy
from genesig.compiled.operations import larger, zeros
from genesig.compiled.ridge import Refits, Supports, keep_values

Array = np.ndarray[Any, Any]

RANK = 1e-12  # singular values below this share of the largest are the rounding of the means
SWEEPS = 60


@jit
def refit_singular(
    matrix: Matrix, rows: Rows, Y: Array, A: Array, lam: Array, offset: Array, wanted: Array,
    refits: Refits,
) -> None:  # fmt: skip
    """Refit one support, features A (m,), of a training set to Y (T, N), as `ridge.refit` does."""
    m, N, ridges = len(A), matrix.F.shape[1], zeros(len(lam), np.float64)
    known = Known(
        zeros((m, N), np.float64), zeros((m, N), np.float64), zeros((0, 0), np.float64),
        zeros(m, np.float64), zeros(m, np.float64), zeros(N, np.float64),
    )  # fmt: skip
    learn(matrix, rows, A, known)
    for e in range(len(lam)):
        ridges[e] = rows.number[0] * lam[e]
    B, ends, places = zeros((m, len(lam)), np.float64), zeros(2, np.int64), zeros(m, np.int64)
    ends[1] = m
    for a in range(m):
        places[a] = a
    for t in range(len(Y)):
        copy(Y[t], known.y)
        by_singular_values(known, places, ridges, B)
        keep_values(known, Supports(ends, A, places), 0, t, B, refits)
        for e in range(refits.scores.shape[1]):
            for i in range(len(wanted)):
                if wanted[i]:
                    refits.scores[0, e, i, t] = scored(known, B, e, i, offset[t])


@plain
def scored(known: Known, B: Array, e: int, i: int, offset: float) -> float:
    """Return the score of row i by column e of B."""
    total = offset
    for a in range(len(B)):
        total += known.Z[a, i] * B[a, e]
    return total


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
