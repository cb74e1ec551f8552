"""The nearest genes of a gene, among all of them, in each of many sets of samples.

Sums of squared differences in whole numbers tell which genes may be near; what is near is decided
in double precision, and where that is in doubt by a sum that has nothing of the other sets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import jit, plain
from genesig.compiled.lanes import LANES, dot
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.screen import SINGLE
from genesig.compiled.subsets import MOST, SHORTS, below, differences, lowest, tabulate
from genesig.compiled.tiles import LINE

Array = np.ndarray[Any, Any]

LEAST = 1e-37  # what one term may lose where single precision has no smaller numbers
EVEN = 1e-15  # relative, for each row: sums that differ by less may be in the other order
SMALLEST, LARGEST = 2.0**-100, 2.0**100  # powers of two for scales


class Genes(NamedTuple):
    """Genes on all n samples, NaN where a value is missing.

    X (d, N) of size 1 at most, NaN to whole lanes; single (d, n) the same less a centre, in single
    precision; tiles (t, n, SHORTS) its rows side by side, NaN beyond them.
    """

    X: Array
    single: Array
    tiles: Array


class Samples(NamedTuple):
    """T sets of samples.

    rows (T, m) in the order of sums, size (T,) how many of them count; outside (T, N) 0 for them
    and NaN for the others; lines (T, blocks) the `subsets.tabulate` lines that add up to each set,
    blocks of `block` samples; usable (T, t) int64 bits of the genes of each tile to choose
    from.
    """

    rows: Array
    size: Array
    outside: Array
    lines: Array
    usable: Array
    block: int


class Room(NamedTuple):
    """What is known of one gene in each of T sets.

    own (T, N) its values there, NaN where missing; number (T,) of them; limit (T,) what the sum of
    a gene that is among the nearest is at most; least (T, k) how far the nearest so far are; known
    (t,) int64 bits of the genes that were looked at before all; table for sums and gap (m,).
    """

    own: Array
    number: Array
    limit: Array
    least: Array
    known: Array
    table: Array
    gap: Array


class Unit(NamedTuple):
    """What sums count in: `scale` of a square, `low` for a term that is missing; ||x||² of all."""

    scale: Any
    low: Any
    square: float


@jit
def nearest(
    genes: Genes, samples: Samples, room: Room, wanted: Array, seeds: Array, near: Array
) -> None:  # fmt: skip
    """Fill near (T, q, k) with the nearest genes to each that is wanted (q,); -1 for none.

    Of equally near ones the earlier is taken. seeds (q, s) are genes that are likely to be near,
    or -1: they change no answer.
    """
    unit = Unit(np.float32(1.0), np.float32(0.0), 0.0)
    for q in range(len(wanted)):
        i = wanted[q]
        know(room, i, seeds[q], True)
        for t in range(len(samples.rows)):
            begin(genes, samples, room, t, i, seeds[q], near[t, q])
        for tile in range(len(genes.tiles)):
            if tile & (tile - 1) == 0:  # more and more seldom, as levels fall more and more slowly
                unit = limits(genes, samples, room, i)
            tabulate(
                genes.single[i], genes.tiles[tile], unit.scale, np.floor(unit.scale * unit.low),
                samples.block, room.table,
            )  # fmt: skip
            for t in range(len(samples.rows)):
                bits = below(room.table, samples.lines, t, room.limit[t])
                bits &= samples.usable[t, tile] & ~room.known[tile]
                if bits != 0:
                    visit(genes, samples, room, t, tile, bits, i, near[t, q])
                    room.limit[t] = limit(samples, room, t, unit)
        know(room, i, seeds[q], False)


@plain
def know(room: Room, i: int, seeds: Array, yes: bool) -> None:
    """Mark gene i and its seeds as known, or not any more."""
    room.known[i // SHORTS] = 1 << (i % SHORTS) if yes else 0
    for j in seeds:
        if j >= 0:
            bits = room.known[j // SHORTS] | 1 << (j % SHORTS)
            room.known[j // SHORTS] = bits if yes else 0


@plain
def begin(
    genes: Genes, samples: Samples, room: Room, t: int, i: int, seeds: Array, near: Array
) -> None:  # fmt: skip
    """Start with gene i in set t, and its seeds; -infinity for a gene that has no neighbours."""
    for p in range(genes.X.shape[1]):
        room.own[t, p] = genes.X[i, p] + samples.outside[t, p]
    room.number[t] = differences(room.own, t, genes.X, i)[1]
    for a in range(len(near)):
        room.least[t, a], near[a] = np.inf if chosen_from(samples, t, i) else -np.inf, -1
    for j in seeds:
        if j >= 0 and j != i and chosen_from(samples, t, j):
            take(genes, samples, room, t, i, j, near)


@plain
def chosen_from(samples: Samples, t: int, j: int) -> bool:
    """Tell whether gene j may be chosen in set t."""
    return bool(samples.usable[t, j // SHORTS] >> (j % SHORTS) & 1)


@plain
def take(
    genes: Genes, samples: Samples, room: Room, t: int, i: int, j: int, near: Array
) -> None:  # fmt: skip
    """Put gene j among the nearest to gene i in set t, if it is."""
    least, at = room.least[t], room.least.shape[1]
    total, count = differences(room.own, t, genes.X, j)
    distance = total / count if count > 0.0 else np.inf
    while at > 0 and before(
        genes, samples, room, t, i, (distance, j), (least[at - 1], near[at - 1])
    ):
        at -= 1
    if at < len(least):
        insert(least, near, at, distance, j)


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
def limits(genes: Genes, samples: Samples, room: Room, i: int) -> Unit:
    """Return the unit that suits the levels that are finite, and set all limits by it."""
    low, top, square, scale = np.inf, 0.0, 0.0, LARGEST
    for t in range(len(room.least)):
        if abs(room.least[t, -1]) < np.inf:
            top, low = larger(top, room.least[t, -1]), smaller(low, room.least[t, -1])
    for value in genes.single[i]:
        if value == value:
            square += np.float64(value) * np.float64(value)
    while scale > SMALLEST and scale * top * samples.rows.shape[1] > MOST - 1.0:
        scale *= 0.5
    unit = Unit(np.float32(scale), np.float32(low if low < np.inf else 0.0), square)
    for t in range(len(room.least)):
        room.limit[t] = limit(samples, room, t, unit)
    return unit


@plain
def limit(samples: Samples, room: Room, t: int, unit: Unit) -> Any:
    """Return what the sum is at most for any y within the level, terms as they are rounded.

    Values lose half an eps: ||fl(x - y)|| is at most ||x - y|| + eps (||x|| + 2 ||x - y||), since
    ||y|| is at most ||x|| + ||x - y||; then the squares are rounded. Terms that are missing count
    no more than the level, but where that has fallen: of what x has, a gene that can be chosen
    lacks no more than half of the samples.
    """
    level, count, size = room.least[t, -1], room.number[t], samples.size[t]
    if np.isinf(level):
        return np.uint16(MOST if level > 0.0 else 0)
    length = (1.0 + 3.0 * SINGLE) * np.sqrt(level * count) + 2.0 * SINGLE * np.sqrt(unit.square)
    most = (1.0 + SINGLE) * length * length + LEAST * count + level * (size - count)
    if unit.low > level:
        most += (unit.low - level) * smaller(size, size - count + size // 2)
    return np.uint16(smaller(unit.scale * most, np.float64(MOST)))


@plain
def visit(
    genes: Genes, samples: Samples, room: Room, t: int, tile: int, bits: int, i: int, near: Array
) -> None:  # fmt: skip
    """Look at the genes of a tile whose bits are set."""
    while bits != 0:
        take(genes, samples, room, t, i, tile * SHORTS + lowest(bits), near)
        bits &= bits - 1


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


@jit
def fill(X: Array, wanted: Array, near: Array, filled: Array) -> None:
    """Put means of the nearest genes (q, k) that have a value where X (n, d) misses one (q,)."""
    k = near.shape[1]
    values, whole = zeros(k, np.float64), k // LANES * LANES
    for row in range(len(X)):
        for q in range(len(wanted)):
            if X[row, wanted[q]] == X[row, wanted[q]]:
                continue
            count = 0
            for a in range(k):
                value = X[row, near[q, a]] if near[q, a] >= 0 else np.nan
                values[a] = value if value == value else 0.0
                count += value == value
            for a in range(LANES, whole):
                values[a % LANES] += values[a]
            for a in range(0, smaller(whole, LANES), 2):
                values[a] += values[a + 1]
            total = values[0] + values[2] + (values[4] + values[6]) if whole else 0.0
            for a in range(whole, k):
                total += values[a]
            if count > 0:
                filled[row, wanted[q]] = total / count


def room_for(genes: Genes, samples: Samples, k: int) -> Room:
    """Return room for k of the nearest in each set."""
    T, m = samples.rows.shape
    number, limit = np.empty(T), np.empty(T, np.uint16)
    table = whole_lines((samples.lines.shape[1] << samples.block, SHORTS), np.uint16)
    return Room(whole_lines((T, genes.X.shape[1]), np.float64), number, limit, np.empty((T, k)),
                np.zeros(len(genes.tiles), np.int64), table, np.empty(m))  # fmt: skip


def whole_lines(shape: tuple[int, ...], kind: Any) -> Array:
    """Return zeros (...) that begin where a cache line does."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    room = np.zeros(size + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    found: Array = room[first : first + size].view(kind).reshape(shape)
    return found
