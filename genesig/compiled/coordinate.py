"""Coordinate descent for a quadratic with an l1 norm, over a few coordinates."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled
from genesig.compiled.algebra import dot

SWEEPS = 10_000
"""Most sweeps over the coordinates."""


@compiled
def descend(
    K: Array, k_y: Array, diagonal: Array, b: Array, half: float, nonnegative: bool, small: float
) -> None:
    """b_q <- ST(k_q - Σ_{p≠q} K_qp b_p, half) / diagonal_q, in turn, until no move is large.

    `small` is the largest move, times the diagonal, that ends it.
    """
    for _ in range(SWEEPS):
        moved = 0.0
        for q in range(len(b)):
            old = b[q]
            target = k_y[q] - dot(K[q], b) + K[q, q] * old
            size = (target if nonnegative else abs(target)) - half
            b[q] = np.sign(target) * size / diagonal[q] if size > 0.0 else 0.0
            moved = max(moved, abs(b[q] - old) * diagonal[q])
        if moved <= small:
            break


@compiled
def sweep(Z: Array, cut: Array, ridge: float, r: Array, b: Array, times: int) -> None:
    """b_j <- ST(z_j'r + ||z_j||² b_j, cut_j) / (||z_j||² + ridge), in turn, and r = y - Z'b.

    Z (d, n) has a feature in each row; b and r are overwritten, so many times over.
    """
    for _ in range(times):
        for j in range(len(b)):
            square = dot(Z[j], Z[j])
            if square == 0.0:
                b[j] = 0.0
                continue
            target = dot(Z[j], r) + square * b[j]
            size = abs(target) - cut[j]
            after = np.sign(target) * size / (square + ridge) if size > 0.0 else 0.0
            if after != b[j]:
                move = b[j] - after
                for i in range(len(r)):
                    r[i] += move * Z[j, i]
                b[j] = after
