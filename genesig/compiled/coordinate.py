"""Kernels of coordinate descent for a quadratic with an l1 norm, over a few coordinates.

ST(v, t) = sign(v) max(|v| - t, 0) is the soft threshold.
"""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled
from genesig.compiled.algebra import dot

MAX_DESCENT_SWEEPS = 10_000  # largest number of sweeps over the coordinates


@compiled
def descend_quadratic(
    K: Array,
    k_y: Array,
    diagonal: Array,
    b: Array,
    threshold: float,
    nonnegative: bool,
    max_move: float,
) -> None:
    """Overwrite b (m,) by the minimum of ``½ b'Db - k_y'b + threshold ||b||_1``.

        b_q <- ST(k_y_q - Σ_{p≠q} K_qp b_p, threshold) / diagonal_q

    in turn. D is K (m, m) with `diagonal` (m,) > 0 on its diagonal; with `nonnegative`, b >= 0. The
    sweeps end once no change of b_q times its diagonal exceeds `max_move`, a size of k_y.
    """
    for _ in range(MAX_DESCENT_SWEEPS):
        largest_move = 0.0
        for q in range(len(b)):
            previous = b[q]
            target = k_y[q] - dot(K[q], b) + K[q, q] * previous
            size = (target if nonnegative else abs(target)) - threshold
            b[q] = np.sign(target) * size / diagonal[q] if size > 0.0 else 0.0
            largest_move = max(largest_move, abs(b[q] - previous) * diagonal[q])
        if largest_move <= max_move:
            break


@compiled
def sweep_lasso(
    Z: Array, thresholds: Array, ridge: float, r: Array, b: Array, n_sweeps: int
) -> None:
    """Move b (d,) towards the minimum of ``½||y - Z'b||² + ½ ridge ||b||² + Σ threshold_j |b_j|``.

        b_j <- ST(z_j'r + ||z_j||² b_j, threshold_j) / (||z_j||² + ridge)

    in turn, `n_sweeps` times over all features. Each row of Z (d, n) is a feature; r (n,) is
    ``y - Z'b``, before as after.
    """
    for _ in range(n_sweeps):
        for j in range(len(b)):
            square = dot(Z[j], Z[j])
            if square == 0.0:
                b[j] = 0.0
                continue
            target = dot(Z[j], r) + square * b[j]
            size = abs(target) - thresholds[j]
            updated = np.sign(target) * size / (square + ridge) if size > 0.0 else 0.0
            if updated != b[j]:
                move = b[j] - updated
                for i in range(len(r)):
                    r[i] += move * Z[j, i]
                b[j] = updated
