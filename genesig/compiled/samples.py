"""Ridge of a support with more features than samples: ``b = Z (Z'Z + rho I)^-1 y``, n × n.

The samples stand where a group of supports has its core, see `core`; there are no extras.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.core import Asked, Core
from genesig.compiled.known import Known, gather
from genesig.compiled.lanes import LANES, add_row, lanes
from genesig.compiled.moments import BLOCK
from genesig.compiled.operations import smaller, zeros
from genesig.compiled.upper import add_products, clear

Array = np.ndarray[Any, Any]


@inner
def fill_samples(known: Known, Y: Array, A: Array, asked: Asked, room: Core) -> None:
    """Write Z'Z of a support to M, and to W the responses and the products of rows to score."""
    (T, N), R = Y.shape, lanes(len(asked.rows))
    Z, own = zeros((BLOCK, N), np.float64), zeros((BLOCK, lanes(T) + R), np.float64)
    clear(room.M, 0, N)
    clear(room.W, 0, N)
    for start in range(0, len(A), BLOCK):
        number = smaller(BLOCK, len(A) - start)
        gather(known.masked, A, start, number, Z)
        for a in range(number):
            for k in range(len(asked.rows)):
                own[a, lanes(T) + k] = known.Z[A[start + a], asked.rows[k]]
        for i in range(0, N, LANES):
            add_products(1.0, Z, i, i + LANES, Z, i + LANES, number, room.M)
        add_products(1.0, Z, 0, N, own, lanes(T) + R, number, room.W)
    for i in range(N):
        for k in range(i + 1, N):
            room.M[i, k] = room.M[k, i]
        for t in range(T):
            room.W[i, t] = Y[t, i]


@plain
def weights_of_samples(known: Known, A: Array, room: Core, B: Array) -> None:
    """Fill B (m, L) with Z S."""
    clear(B, 0, len(A))
    for a in range(len(A)):
        for i in range(known.masked.shape[1]):
            add_row(known.masked[A[a], i], room.S, i, B, a, 0, B.shape[1])
