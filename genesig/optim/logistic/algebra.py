"""Sums over samples and small linear systems, in plain numba.

Python may call each of them, and with ``NUMBA_DISABLE_JIT=1`` they run uncompiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

Array = np.ndarray[Any, Any]
F = TypeVar("F", bound=Callable[..., Any])

DEPENDENT = 1e-13
"""Share of its square length below which what is new in a row is rounding."""


def compiled(function: F) -> F:
    """Compile a function, cached on disk where there is a writable place for it.

    Sums may be taken in any order, which is what vectors of a processor need.
    """
    options: dict[str, Any] = {
        "nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"},
    }  # fmt: skip
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except RuntimeError:
        return cast(F, numba.njit(**options)(function))


@compiled
def dot(a: Array, b: Array) -> float:
    """Return a'b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


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
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for i in range(len(b)):
            s0 += A[j, i] * b[i]
            s1 += A[j + 1, i] * b[i]
            s2 += A[j + 2, i] * b[i]
            s3 += A[j + 3, i] * b[i]
        out[j], out[j + 1], out[j + 2], out[j + 3] = s0, s1, s2, s3
    for j in range(whole, last):
        total = 0.0
        for i in range(len(b)):
            total += A[j, i] * b[i]
        out[j] = total


@compiled
def factor(A: Array) -> None:
    """Overwrite the lower triangle of A by its Cholesky factor; ∞ where a column is dependent."""
    for i in range(len(A)):
        for j in range(i):
            A[i, j] = (A[i, j] - row_dot(A, i, A, j, j)) / A[j, j]
        left = A[i, i] - row_dot(A, i, A, i, i)
        A[i, i] = np.sqrt(left) if left > DEPENDENT * A[i, i] else np.inf


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
def solve_by_features(E: Array, ridge: Array, h: Array) -> None:
    """Overwrite h (m,) by ``(E E' + diag ridge)⁻¹ h``, for E (m, n)."""
    A = np.empty((len(E), len(E)))
    for j in range(len(E)):
        products(E, E[j], j + 1, A[j])
        A[j, j] += ridge[j]
    factor(A)
    substitute(A, h)


@compiled
def solve_by_samples(E: Array, ridge: Array, h: Array) -> None:
    """Do what `solve_by_features` does by a system of n, for more features than samples.

    With P = √ridge⁻¹ E of the features that have a ridge and B of the others, ``N = I + P'P``: by
    Woodbury's formula ``B N⁻¹ B' x_B = h_B - B N⁻¹ P' √ridge⁻¹ h``, and the rest follows.
    """
    held, n = ridge > 0.0, E.shape[1]
    P = E[held] / np.sqrt(ridge[held]).reshape(-1, 1)
    short, B, N = h[held] / np.sqrt(ridge[held]), E[~held], np.empty((n, n))
    by_sample, q = np.ascontiguousarray(P.T), np.empty(n)
    for i in range(n):
        products(by_sample, by_sample[i], i + 1, N[i])
        N[i, i] += 1.0
    factor(N)
    products(by_sample, short, n, q)
    substitute(N, q)
    V, free, S = B.copy(), h[~held], np.empty((len(B), len(B)))
    for j in range(len(B)):
        substitute(N, V[j])
        free[j] -= dot(B[j], q)
        products(V, B[j], j + 1, S[j])
    factor(S)
    substitute(S, free)
    for j in range(len(B)):
        q += V[j] * free[j]
    h[held], h[~held] = (short - P @ q) / np.sqrt(ridge[held]), free
