"""Ridge of a support that shares nothing: more features than samples, or next to no penalty."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.core import Core, spread, sweep, turn_form
from genesig.compiled.known import Known, gather
from genesig.compiled.lanes import LANES, add_row, lanes
from genesig.compiled.moments import BLOCK, add_gram, from_tiles, gram_room
from genesig.compiled.operations import smaller
from genesig.compiled.singular import by_singular_values
from genesig.compiled.turn import turn
from genesig.compiled.upper import outer

Array = np.ndarray[Any, Any]
FEATURES, SAMPLES, SINGULAR = 0, 1, 2
TINY = 1e-9  # below this share of the trace, n lam is left to the singular value decomposition


class Alone(NamedTuple):
    """Room for a support: coefficients B (m, L), Z (m, R) of rows to score, products (R, L).

    R, L in whole lanes.
    """

    B: Array
    Z: Array
    out: Array


@plain
def form(squares: Array, A: Array, lowest: float, samples: int) -> int:
    """Return how a support is solved, for the lowest n lam and all z_j'z_j (U,)."""
    trace = 0.0
    for p in A:
        trace += squares[p]
    if len(A) > 0 and lowest <= TINY * trace:
        return SINGULAR
    return SAMPLES if len(A) > samples else FEATURES


@inner
def by_samples(known: Known, A: Array, Y: Array, room: Core) -> None:
    """Reduce the n × n form, ``b = Z (Z'Z + rho I)^-1 y``, for all responses."""
    n, (Z, tiles) = len(known.y), gram_room(len(known.y))
    for start in range(0, len(A), BLOCK):
        rows = smaller(BLOCK, len(A) - start)
        gather(known.masked, A, start, rows, Z)
        add_gram(Z, Z, rows, tiles)
    from_tiles(tiles, room.M)
    for i in range(n):
        for t in range(lanes(len(Y))):
            room.W[i, t] = Y[t, i] if t < len(Y) else 0.0
    turn_form(room, n, lanes(len(Y)))


@inner
def solve_alone(known: Known, A: Array, by: int, t: int, room: Core, B: Array) -> None:
    """Fill B for response t, which is in `known`."""
    if by == SINGULAR:
        by_singular_values(known, A, room.ridges, B)
        return
    n, width = len(known.y), len(room.ridges)
    spread(room, n, t)
    sweep(room, n)
    turn(room.M, n, room.work[4], room.S, width, room.panel, True)
    for a in range(len(A)):
        for e in range(width):
            B[a, e] = 0.0
        for i in range(n):
            add_row(known.masked[A[a], i], room.S, i, B, a, 0, width)


@plain
def score_alone(known: Known, A: Array, rows: Array, alone: Alone) -> None:
    """Fill the products of rows to score with the coefficients."""
    for a in range(len(A)):
        for k in range(len(rows)):
            alone.Z[a, k] = known.Z[A[a], rows[k]]
    for k in range(0, alone.Z.shape[1], LANES):
        for e in range(0, alone.B.shape[1], LANES):
            outer(alone.Z, k, alone.B, e, 0, len(A), alone.out)
