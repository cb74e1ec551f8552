"""Ridge on a support for many lam: one tridiagonal form per support, one sweep per lam."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.compiled import inlined, inner, jit, plain
from genesig.optim.compiled.dense import tridiagonal
from genesig.optim.compiled.lanes import dot
from genesig.optim.compiled.moments import mirror, moment, outer_gram, standardise

Array = np.ndarray[Any, Any]

TINY = 1e-9  # below this share of the trace, n lam is left to the singular value decomposition
RANK = 1e-12  # singular values below this share of the largest are the rounding of the means
SWEEPS = 60


@inner
def ridge(Z: Array, mask: Array, y: Array, ridges: Array, B: Array) -> None:
    """Fill B (m, L) with ``(Z Z' + ridge I)^-1 Z y`` for features Z (m, N) on the rows of `mask`.

    A ridge of 0, or a tiny one, is solved by singular values, those that are rounding left
    out: the minimum-norm solution.
    """
    m, n = Z.shape
    rows = np.empty((m, n))
    trace = 0.0
    for a in range(m):
        for i in range(n):
            rows[a, i] = mask[i] * Z[a, i]
        trace += dot(rows[a], rows[a])
    lowest = np.inf
    for e in range(len(ridges)):
        lowest = min(lowest, ridges[e])
    if lowest <= TINY * trace:
        by_singular_values(rows, y, ridges, B)
    elif m <= n:
        by_features(rows, y, ridges, B)
    else:
        by_samples(rows, y, ridges, B)


@inlined
def by_features(Z: Array, y: Array, ridges: Array, B: Array) -> None:
    """Solve in the m × m form."""
    m = len(Z)
    M, c = np.empty((m, m)), np.empty(m)
    for a in range(m):
        c[a] = dot(Z[a], y)
        for e in range(a + 1):
            M[a, e] = M[e, a] = dot(Z[a], Z[e])
    shifted_solves(M, c, ridges, B)


@inlined
def by_samples(Z: Array, y: Array, ridges: Array, B: Array) -> None:
    """Solve in the n × n form, ``b = Z (Z'Z + ridge I)^-1 y``."""
    m, n = Z.shape
    K, c, alpha = np.zeros((n, n)), y.copy(), np.empty((n, len(ridges)))
    outer_gram(Z, m, K)
    mirror(K, n)
    shifted_solves(K, c, ridges, alpha)
    for a in range(m):
        for e in range(len(ridges)):
            B[a, e] = 0.0
        for i in range(n):
            for e in range(len(ridges)):
                B[a, e] += Z[a, i] * alpha[i, e]


@inner
def shifted_solves(M: Array, c: Array, shifts: Array, X: Array) -> None:
    """Fill X (m, L) with ``(M + shift I)^-1 c``; M and c are destroyed."""
    m = len(M)
    diagonal, beside, beta = np.empty(m), np.zeros(m), np.zeros(m)
    tridiagonal(M, m, diagonal, beside, beta)
    for k in range(m - 2):
        total = dot(M[k, k + 1 : m], c[k + 1 : m])
        for i in range(k + 1, m):
            c[i] -= beta[k] * total * M[k, i]
    pivot, L = np.empty(len(shifts)), len(shifts)
    ratio = np.empty((m, L))
    for i in range(m):
        for e in range(L):
            pivot[e] = diagonal[i] + shifts[e]
            X[i, e] = c[i]
        if i > 0:
            for e in range(L):
                pivot[e] -= beside[i - 1] * ratio[i - 1, e]
                X[i, e] -= beside[i - 1] * X[i - 1, e]
        for e in range(L):
            X[i, e] /= pivot[e]
            ratio[i, e] = beside[i] / pivot[e]
    for i in range(m - 2, -1, -1):
        for e in range(L):
            X[i, e] -= ratio[i, e] * X[i + 1, e]
    for k in range(m - 3, -1, -1):
        reflect(M[k], beta[k], k + 1, X, pivot)


@inlined
def reflect(v: Array, beta: float, first: int, X: Array, total: Array) -> None:
    """Apply I - beta v v' to the rows of X from `first` on."""
    for e in range(len(total)):
        total[e] = 0.0
    for i in range(first, len(X)):
        for e in range(len(total)):
            total[e] += v[i] * X[i, e]
    for i in range(first, len(X)):
        for e in range(len(total)):
            X[i, e] -= beta * v[i] * total[e]


@inlined
def by_singular_values(Z: Array, y: Array, ridges: Array, B: Array) -> None:
    """Solve by one-sided Jacobi rotations of the shorter side of Z (m, n), which is destroyed."""
    m, n = Z.shape
    tall = m >= n
    A = Z.T.copy() if tall else Z  # rows are made orthogonal
    k = len(A)
    V = np.eye(k)
    for _ in range(SWEEPS):
        if not rotate_pairs(A, V):
            break
    square, most = np.empty(k), 0.0
    for r in range(k):
        square[r] = dot(A[r], A[r])
        most = max(most, square[r])
    least = most * RANK**2
    for a in range(m):
        for e in range(len(ridges)):
            B[a, e] = 0.0
    for r in range(k):
        if not square[r] > least:
            continue
        along = dot(V[r], y) if tall else dot(A[r], y)
        for a in range(m):
            share = (A[r, a] if tall else V[r, a]) * along
            for e in range(len(ridges)):
                B[a, e] += share / (square[r] + ridges[e])


@inlined
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


@inlined
def support_matrix(
    F: Array, shift: Array, A: Array, mask: Array, number: Array, Z: Array, mean: Array,
    inverse: Array,
) -> None:  # fmt: skip
    """Fill Z (m, N) with the standardised features A on all rows, and their moments."""
    ones = np.ones(F.shape[1])
    for a in range(len(A)):
        j = A[a]
        mean[a], inverse[a] = moment(
            F[j], shift[j], mask, number[0], number[1] != 0, number[2] != 0, Z[a]
        )
        standardise(F[j], mean[a], inverse[a], ones, Z[a])


@plain
def per_unit(
    B: Array, e: int, mean: Array, inverse: Array, shift: Array, A: Array, values: Array
) -> float:  # fmt: skip
    """Fill the coefficients per unit of the caller's X and return the constant they leave."""
    constant = 0.0
    for a in range(len(A)):
        values[a] = inverse[a] * B[a, e]
        constant -= values[a] * (mean[a] + shift[A[a]])
    return constant


@jit
def refit(
    F: Array, shift: Array, indptr: Array, indices: Array, mask: Array, y: Array, number: Array,
    lam: Array, offset: float, out: Array, values: Array, constant: Array,
) -> None:  # fmt: skip
    """Refit the M supports of one training set for L values of lam.

    Fills out (M, L, n) with the scores of the first n rows, values (L, nnz) with the coefficients
    per unit of F plus `shift`, and constant (M, L) with what these leave; nnz or n may be 0.
    """
    for f in range(len(indptr) - 1):
        first = indptr[f] - indptr[0]
        A = indices[indptr[f] : indptr[f + 1]]
        m, wide = len(A), np.zeros(F.shape[1])
        Z, B = np.empty((m, F.shape[1])), np.empty((m, len(lam)))
        mean, inverse = np.empty(m), np.empty(m)
        support_matrix(F, shift, A, mask, number, Z, mean, inverse)
        if m > 0:
            ridge(Z, mask, y, number[0] * lam, B)
        for e in range(len(lam)):
            if values.shape[1] > 0:
                share = values[e, first : first + m]
                constant[f, e] = per_unit(B, e, mean, inverse, shift, A, share)
            if out.shape[2] > 0:
                for i in range(len(wide)):
                    wide[i] = offset
                for a in range(m):
                    weight = B[a, e]
                    for i in range(len(wide)):
                        wide[i] += weight * Z[a, i]
                for i in range(out.shape[2]):
                    out[f, e, i] = wide[i]
