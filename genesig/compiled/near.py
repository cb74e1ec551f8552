"""What is known of the genes nearest to one, in each of many sets of samples.

How near is decided in double precision, and where that is in doubt by a sum that has nothing of
the other sets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import plain
from genesig.compiled.lanes import dot
from genesig.compiled.subsets import SHORTS, differences
from genesig.compiled.tiles import COLUMNS, DOUBLES, LINE

Array = np.ndarray[Any, Any]

EVEN = 1e-15  # relative, for each row: sums that differ by less may be in the other order


class Genes(NamedTuple):
    """Genes on all n samples, NaN where a value is missing.

    X (d, n) of size 1 at most; single (d, n) the same less a centre, in single precision; tiles
    (t, n, SHORTS) its rows side by side, NaN beyond them.
    """

    X: Array
    single: Array
    tiles: Array


class Samples(NamedTuple):
    """T sets of samples.

    rows (T, m) in the order of sums, size (T,) how many of them count; inside (n, W) 1 where a
    sample is of a set, T in whole tiles; outside (T, N) 0 for them and NaN for the others; out
    (T, r) int32 the samples that are not of it, n for none; usable (T, t) int64 bits of the genes
    of each tile to choose from.
    """

    rows: Array
    size: Array
    inside: Array
    outside: Array
    out: Array
    usable: Array


class Room(NamedTuple):
    """What is known of one gene in each of T sets.

    number (1, W) of its values there; limit (T,) what the sum of a gene that is among the nearest
    is at most; near (T, k) the nearest so far, least (T, k) how far they are; level (T,) the last
    of these, and some more for rounding; known (t,) int64 bits of the genes that were looked at
    before all; table for sums; gap (m,). Of COLUMNS genes that are looked at in all sets at once:
    which (COLUMNS,), squares (n, COLUMNS) of differences, their sums (W / DOUBLES, COLUMNS,
    DOUBLES) and of how many terms, counts (COLUMNS, W).
    """

    number: Array
    limit: Array
    near: Array
    least: Array
    level: Array
    known: Array
    table: Array
    gap: Array
    which: Array
    squares: Array
    sums: Array
    counts: Array


@plain
def chosen_from(samples: Samples, t: int, j: int) -> bool:
    """Tell whether gene j may be chosen in set t."""
    return bool(samples.usable[t, j // SHORTS] >> (j % SHORTS) & 1)


@plain
def nearer(room: Room, t: int, pair: tuple[float, float]) -> bool:
    """Tell whether a gene so far, (sum, count), may be among the nearest in set t."""
    return pair[0] <= pair[1] * room.level[t] and pair[1] > 0.0


@plain
def taken(least: Array, near: Array, distance: float, j: int, even: float) -> bool:
    """Put gene j among the nearest, if it is; False where that is in doubt."""
    at = len(least)
    while at > 0 and distance <= least[at - 1] * (1.0 + even):
        at -= 1
        if distance >= least[at] * (1.0 - even):
            return False
    if at < len(least):
        insert(least, near, at, distance, j)
    return True


@plain
def take(genes: Genes, samples: Samples, room: Room, t: int, i: int, j: int) -> None:
    """Put gene j among the nearest to gene i in set t, if it is, whatever is in doubt."""
    least, near, at = room.least[t], room.near[t], room.least.shape[1]
    total, count = differences(genes.X, i, j, samples.outside, t)
    while at > 0 and before(
        genes, samples, room, t, i, (total / count, j), (least[at - 1], near[at - 1])
    ):
        at -= 1
    if at < len(least):
        insert(least, near, at, total / count, j)


@plain
def before(
    genes: Genes, samples: Samples, room: Room, t: int, i: int, one: tuple[float, int],
    other: tuple[float, int],
) -> bool:  # fmt: skip
    """Tell whether one comes before the other: about how far from gene i, and the gene."""
    (a, j), (b, k) = one, other
    if np.isinf(b) or abs(a - b) > EVEN * genes.X.shape[1] * b:
        return a < b
    a, b = apart(genes, samples, room, t, i, j), apart(genes, samples, room, t, i, k)
    return a < b or (a == b and j < k)


@plain
def apart(genes: Genes, samples: Samples, room: Room, t: int, i: int, j: int) -> float:
    """Return the mean squared difference over what both have in set t; infinity for nothing."""
    count, size = 0, samples.size[t]
    for p in range(size):
        difference = genes.X[i, samples.rows[t, p]] - genes.X[j, samples.rows[t, p]]
        there = difference == difference
        room.gap[p] = difference if there else 0.0
        count += there
    return float(dot(room.gap[:size], room.gap[:size]) / count) if count > 0 else np.inf


@plain
def insert(distances: Array, genes: Array, place: int, distance: float, gene: int) -> None:
    """Put a gene in this place; the last one goes."""
    for at in range(len(distances) - 1, place, -1):
        distances[at], genes[at] = distances[at - 1], genes[at - 1]
    distances[place], genes[place] = distance, gene


def room_for(genes: Genes, samples: Samples, k: int) -> Room:
    """Return room for k of the nearest in each set."""
    (T, m), (n, W) = samples.rows.shape, samples.inside.shape
    return Room(
        number=np.empty((1, W)), limit=np.empty(T, np.uint16), near=np.empty((T, k), np.int32),
        least=np.empty((T, k)), level=np.empty(T), known=np.zeros(len(genes.tiles), np.int64),
        table=whole_lines((n + 2, SHORTS), np.uint16), gap=np.empty(m),
        which=np.zeros(COLUMNS, np.int64), squares=np.zeros((n, COLUMNS)),
        sums=whole_lines((W // DOUBLES, COLUMNS, DOUBLES), np.float64),
        counts=whole_lines((COLUMNS, W), np.float64),
    )  # fmt: skip


def whole_lines(shape: tuple[int, ...], kind: Any) -> Array:
    """Return zeros (...) that begin where a cache line does."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    room = np.zeros(size + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    found: Array = room[first : first + size].view(kind).reshape(shape)
    return found
