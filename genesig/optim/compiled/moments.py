"""Mean and scale of features on the rows of a training set, and what follows from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.compiled import inlined, inner, jit, plain
from genesig.optim.compiled.dense import largest_eigenvalue
from genesig.optim.compiled.lanes import dot, dots

Array = np.ndarray[Any, Any]
BLOCK = 128  # features per block of a Gram matrix
CONSTANT = 32 * float(np.finfo(float).eps)  # sd, as a share of the mean, that is rounding


@plain
def copy(a: Array, out: Array) -> None:
    """Write a to out."""
    for i in range(len(out)):
        out[i] = a[i]


@plain
def inverse_scale(mean: float, variance: float, centre: bool, scale: bool) -> float:
    """Return 1/sd, 1 without scaling, 0 for what is constant up to the rounding of its mean."""
    spread = np.sqrt(max(variance, 0.0))
    if spread <= CONSTANT * abs(mean) and (centre or scale):
        return 0.0
    return 1.0 / spread if scale else 1.0


@plain
def standardise(x: Array, mean: float, inverse: float, mask: Array, out: Array) -> None:
    """Write ``mask_i inverse (x_i - mean)``."""
    for i in range(len(x)):
        out[i] = mask[i] * (inverse * (x[i] - mean))


@plain
def moment(
    x: Array, shift: float, mask: Array, count: float, centre: bool, scale: bool, scratch: Array
) -> Any:  # fmt: skip
    """Return (mean, inverse scale) of one feature x, from which `shift` was subtracted."""
    mean = dot(x, mask) / count
    standardise(x, mean, 1.0, mask, scratch)
    square = dot(scratch, scratch)
    inverse = inverse_scale(abs(mean) + abs(mean + shift), square / count, centre, scale)
    return (mean if centre else 0.0), inverse


@plain
def outer_gram(Z: Array, rows: int, K: Array) -> None:
    """Add ``Z[:rows]'Z[:rows]`` to K (n, n), at least to its lower triangle."""
    n = K.shape[0]
    for start in range(0, rows - rows % 8, 8):
        z0, z1, z2, z3 = Z[start], Z[start + 1], Z[start + 2], Z[start + 3]
        z4, z5, z6, z7 = Z[start + 4], Z[start + 5], Z[start + 6], Z[start + 7]
        for i in range(n):
            a0, a1, a2, a3 = z0[i], z1[i], z2[i], z3[i]
            a4, a5, a6, a7 = z4[i], z5[i], z6[i], z7[i]
            row = K[i]
            for k in range(min(n, (i // 16 + 1) * 16)):
                row[k] += (a0 * z0[k] + a1 * z1[k] + a2 * z2[k] + a3 * z3[k]) + (
                    a4 * z4[k] + a5 * z5[k] + a6 * z6[k] + a7 * z7[k]
                )
    for r in range(rows - rows % 8, rows):
        z = Z[r]
        for i in range(n):
            for k in range(i + 1):
                K[i, k] += z[i] * z[k]


@plain
def mirror(K: Array, n: int) -> None:
    """Copy the lower triangle to the upper one."""
    for i in range(n):
        for k in range(i):
            K[k, i] = K[i, k]


@inlined
def inner_gram(Z: Array, K: Array) -> None:
    """Add Z Z' to the lower triangle of K, two by two samples; Z is (even, BLOCK)."""
    for i in range(0, len(Z), 2):
        a0, a1 = Z[i], Z[i + 1]
        for k in range(0, i + 1, 2):
            b0, b1 = Z[k], Z[k + 1]
            s00, s01, s10, s11 = dots(a0, a1, b0, b1)
            K[i, k] += s00
            K[i, k + 1] += s01
            K[i + 1, k] += s10
            K[i + 1, k + 1] += s11


@inner
def block_moments(
    X: Array, rows: Array, start: int, centre: bool, scale: bool, mean: Array, inverse: Array
) -> Any:  # fmt: skip
    """Fill mean and inverse scale (d,) of up to BLOCK features from `start`; return how many."""
    n, width = len(rows), min(BLOCK, X.shape[1] - start)
    m, v, left = mean[start : start + width], inverse[start : start + width], np.zeros(BLOCK)
    for j in range(width):
        m[j] = v[j] = 0.0
    for i in range(n):
        x = X[rows[i], start : start + width]
        for j in range(width):
            m[j] += x[j]
    for j in range(width):
        m[j] /= n
    for i in range(n):
        x = X[rows[i], start : start + width]
        for j in range(width):
            away = x[j] - m[j]
            left[j] += away
            v[j] += away * away
    for j in range(width):
        rest = left[j] / n
        m[j] += rest
        v[j] = inverse_scale(m[j], v[j] / n - rest * rest, centre, scale)
        if not centre:
            m[j] = 0.0
    return width


@jit
def moments(
    X: Array, rows: Array, centre: bool, scale: bool, mean: Array, inverse: Array
) -> None:  # fmt: skip
    """Fill mean and inverse scale (d,) of all features for the training set `rows`."""
    for start in range(0, X.shape[1], BLOCK):
        block_moments(X, rows, start, centre, scale, mean, inverse)


@jit
def describe(
    X: Array, rows: Array, y: Array, centre: bool, scale: bool, mean: Array, inverse: Array
) -> Any:  # fmt: skip
    """Fill the moments; return ``||Z'Z|| / n`` and ``(2/n) max_j |z_j'y|``.

    X (n, d); rows (n_k,) row numbers of the training set; y (n_k,) its response, of sum 0. One
    pass over X; the norm comes from the n_k × n_k Gram matrix.
    """
    n, d = len(rows), X.shape[1]
    even = n + n % 2
    K, Z, largest = np.zeros((even, even)), np.zeros((even, BLOCK)), 0.0
    for start in range(0, d, BLOCK):
        width = block_moments(X, rows, start, centre, scale, mean, inverse)
        m, s = mean[start : start + width], inverse[start : start + width]
        product = np.zeros(BLOCK)
        for i in range(n):
            x, z = X[rows[i], start : start + width], Z[i]
            for j in range(width):
                z[j] = s[j] * (x[j] - m[j])
                product[j] += y[i] * z[j]
            for j in range(width, BLOCK):
                z[j] = 0.0
        for j in range(width):
            largest = max(largest, abs(product[j]))
        inner_gram(Z, K)
    mirror(K, even)
    return largest_eigenvalue(K[:n, :n].copy()) / n, 2.0 * largest / n
