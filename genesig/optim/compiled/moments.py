"""Mean and scale of features on the rows of a training set, and what follows from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.compiled import jit
from genesig.optim.compiled.dense import largest_eigenvalue

Array = np.ndarray[Any, Any]
EPSILON = float(np.finfo(float).eps)


@jit
def dot(a: Array, b: Array) -> float:
    """Return a'b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@jit
def copy(a: Array, out: Array) -> None:
    """Write a to out."""
    for i in range(len(out)):
        out[i] = a[i]


@jit
def moment(x: Array, shift: float, mask: Array, count: float, centre: bool, scale: bool) -> Any:
    """Return (mean, inverse scale) of one feature, both 0 scale and mean kept if constant."""
    mean = dot(x, mask) / count
    square = 0.0
    for i in range(len(x)):
        square += mask[i] * (x[i] - mean) ** 2
    spread = np.sqrt(square / count)
    inverse = 1.0
    if spread <= 16 * EPSILON * (abs(mean) + abs(mean + shift)) and (centre or scale):
        inverse = 0.0
    elif scale:
        inverse = 1.0 / spread
    return (mean if centre else 0.0), inverse


@jit
def moments(
    F: Array, shift: Array, mask: Array, count: float, centre: bool, scale: bool, mean: Array,
    inverse: Array,
) -> None:  # fmt: skip
    """Fill mean and inverse scale (d,) of all features for one training set."""
    for j in range(len(F)):
        mean[j], inverse[j] = moment(F[j], shift[j], mask, count, centre, scale)


@jit
def standardise(x: Array, mean: float, inverse: float, mask: Array, out: Array) -> None:
    """Write ``mask_i inverse (x_i - mean)``."""
    for i in range(len(x)):
        out[i] = mask[i] * (inverse * (x[i] - mean))


@jit
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


@jit
def mirror(K: Array, n: int) -> None:
    """Copy the lower triangle to the upper one."""
    for i in range(n):
        for k in range(i):
            K[k, i] = K[i, k]


@jit
def largest_norm(
    F: Array, mean: Array, inverse: Array, mask: Array, count: float, block: int
) -> Any:
    """Return ``||Z'Z|| / n`` from the n × n Gram matrix, `block` features at a time."""
    n = F.shape[1]
    K, Z = np.zeros((n, n)), np.empty((block, n))
    for start in range(0, len(F), block):
        rows = min(block, len(F) - start)
        for r in range(rows):
            standardise(F[start + r], mean[start + r], inverse[start + r], mask, Z[r])
        outer_gram(Z, rows, K)
    mirror(K, n)
    return largest_eigenvalue(K) / count


@jit
def largest_product(F: Array, inverse: Array, y: Array, count: float) -> float:
    """Return ``(2/n) max_j |z_j'y|`` for a response that sums to 0."""
    largest = 0.0
    for j in range(len(F)):
        if inverse[j] != 0.0:
            largest = max(largest, abs(inverse[j] * dot(F[j], y)))
    return 2.0 * largest / count
