"""What a function of a kernel's derivatives does to the samples, from X q, in one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import jit
from genesig.compiled.lanes import dot

Array = np.ndarray[Any, Any]


class Sums(NamedTuple):
    """Tables `first`, `second` (n, n) of the kernel, (K + n ν I)⁻¹ (n, n), y (n,).

    scale (2,) = -1/2ν and whether the kernel is stationary.
    """

    first: Array
    second: Array
    inverse: Array
    y: Array
    scale: Array


@jit
def pull_in_place(sums: Sums, U: Array, work: Array) -> None:
    """Overwrite U = X q (n, n) by the R of `Expansion`; work (3, n)."""
    n, half, stationary = len(U), sums.scale[0], sums.scale[1] != 0.0
    anchor, rest, alpha = work[0], work[1], work[2]
    for i in range(n):
        anchor[i] = U[i, i] if stationary else 0.0
    for i in range(n):
        for j in range(n):
            U[i, j] = half * (U[i, j] - anchor[j])
        rest[i] = sums.y[i] - dot(sums.first[i], U[i])
    for i in range(n):
        alpha[i] = dot(sums.inverse[i], rest)
    for i in range(n):
        for j in range(n):
            U[i, j] = sums.first[i, j] * alpha[j] + sums.second[i, j] * U[i, j]
        if stationary:
            total = 0.0
            for j in range(n):
                total += U[i, j]
            U[i, i] -= total
