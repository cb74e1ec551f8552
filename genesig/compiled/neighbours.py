"""The nearest genes of a gene, among all of them, in each of many sets of samples.

Sums of squared differences in whole numbers tell which genes may be near; these are looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import jit, plain
from genesig.compiled.lanes import LANES, add_row
from genesig.compiled.near import (
    EVEN,
    Genes,
    Room,
    Samples,
    chosen_from,
    nearer,
    take,
    taken,
)
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.screen import SINGLE
from genesig.compiled.subsets import MOST, SHORTS, below, differences, lowest, tabulate
from genesig.compiled.tiles import COLUMNS, DOUBLES, add_products

Array = np.ndarray[Any, Any]

LEAST = 1e-37  # what one term may lose where single precision has no smaller numbers
SMALLEST, LARGEST = 2.0**-100, 2.0**100  # powers of two for scales
TERM = 6.0  # what a term counts at most, in means of those within the limits


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
    most = np.float32(TERM * mean(samples))
    unit = Unit(np.float32(1.0), np.float32(0.0), 0.0)
    for q in range(len(wanted)):
        i = wanted[q]
        know(room, i, seeds[q], True)
        begin(genes, samples, room, i)
        begin_with(genes, samples, room, i, seeds[q])
        for tile in range(len(genes.tiles)):
            if tile & (tile - 1) == 0:  # more and more seldom, as levels fall more and more slowly
                unit = limits(genes, samples, room, i)
            tabulate(
                genes.single, i, genes.tiles[tile], unit.scale, np.floor(unit.scale * unit.low),
                most, room.table,
            )  # fmt: skip
            for t in range(len(samples.rows)):
                bits = below(room.table, samples.out, t, room.limit[t])
                bits &= samples.usable[t, tile] & ~room.known[tile]
                if bits != 0:
                    visit(genes, samples, room, unit, t, tile, bits, i)
        know(room, i, seeds[q], False)
        for t in range(len(near)):
            for a in range(near.shape[2]):
                near[t, q, a] = room.near[t, a]


@plain
def mean(samples: Samples) -> float:
    """Return what a term may be on average, so that no sum that decides passes the largest."""
    return float((MOST - 1.0) / (samples.rows.shape[1] + TERM * samples.out.shape[1]))


@plain
def know(room: Room, i: int, seeds: Array, yes: bool) -> None:
    """Mark gene i and its seeds as known, or not any more."""
    room.known[i // SHORTS] = 1 << (i % SHORTS) if yes else 0
    for j in seeds:
        if j >= 0:
            bits = room.known[j // SHORTS] | 1 << (j % SHORTS)
            room.known[j // SHORTS] = bits if yes else 0


@plain
def begin(genes: Genes, samples: Samples, room: Room, i: int) -> None:
    """Start with gene i in all sets; at -infinity where it is not chosen from itself."""
    for w in range(room.number.shape[1]):
        room.number[0, w] = 0.0
    for p in range(genes.X.shape[1]):
        if genes.X[i, p] == genes.X[i, p]:
            add_row(1.0, samples.inside, p, room.number, 0, 0, room.number.shape[1])
    for t in range(len(room.near)):
        room.level[t] = np.inf if chosen_from(samples, t, i) else -np.inf
        for a in range(room.near.shape[1]):
            room.least[t, a], room.near[t, a] = room.level[t], -1


@plain
def begin_with(genes: Genes, samples: Samples, room: Room, i: int, seeds: Array) -> None:
    """Take seeds among the nearest to gene i in all sets."""
    count = 0
    for a in range(len(seeds)):
        if seeds[a] >= 0 and seeds[a] != i:
            hold(genes, samples, room, i, seeds[a], count)
            count += 1
        if count == COLUMNS or a + 1 == len(seeds):
            take_all(genes, samples, room, i, count)
            count = 0


@plain
def hold(genes: Genes, samples: Samples, room: Room, i: int, j: int, c: int) -> None:
    """Make gene j the c-th of those that are looked at in all sets."""
    room.which[c] = j
    for w in range(room.counts.shape[1]):
        room.counts[c, w] = room.number[0, w]
    for p in range(len(room.squares)):
        gap = genes.X[i, p] - genes.X[j, p]
        room.squares[p, c] = gap * gap if gap == gap else 0.0
        if gap != gap and genes.X[i, p] == genes.X[i, p]:
            add_row(-1.0, samples.inside, p, room.counts, c, 0, room.counts.shape[1])


@plain
def take_all(genes: Genes, samples: Samples, room: Room, i: int, count: int) -> None:
    """Take genes that are held among the nearest to gene i in all sets."""
    for w in range(len(room.sums)):
        for c in range(COLUMNS):
            for t in range(DOUBLES):
                room.sums[w, c, t] = 0.0
        add_products(room.squares, 0, samples.inside, w * DOUBLES, len(room.squares), room.sums[w])
    even = EVEN * genes.X.shape[1]
    for c in range(count):
        j = room.which[c]
        for t in range(len(room.near)):
            pair = room.sums[t // DOUBLES, c, t % DOUBLES], room.counts[c, t]
            if nearer(room, t, pair) and chosen_from(samples, t, j):
                if not taken(room.least[t], room.near[t], pair[0] / pair[1], j, even):
                    take(genes, samples, room, t, i, j)
                room.level[t] = (1.0 + 2.0 * even) * room.least[t, -1]


@plain
def visit(
    genes: Genes, samples: Samples, room: Room, unit: Unit, t: int, tile: int, bits: int, i: int
) -> None:  # fmt: skip
    """Look at the genes of a tile whose bits are set."""
    even = EVEN * genes.X.shape[1]
    while bits != 0:
        j = tile * SHORTS + lowest(bits)
        pair = differences(genes.X, i, j, samples.outside, t)
        if nearer(room, t, pair):
            if not taken(room.least[t], room.near[t], pair[0] / pair[1], j, even):
                take(genes, samples, room, t, i, j)
            room.level[t] = (1.0 + 2.0 * even) * room.least[t, -1]
            room.limit[t] = limit(samples, room, t, unit)
        bits &= bits - 1


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
    while scale > SMALLEST and scale * top > mean(samples):
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
    level, count, size = room.least[t, -1], room.number[0, t], samples.size[t]
    if np.isinf(level):
        return np.uint16(MOST if level > 0.0 else 0)
    length = (1.0 + 3.0 * SINGLE) * np.sqrt(level * count) + 2.0 * SINGLE * np.sqrt(unit.square)
    most = (1.0 + SINGLE) * length * length + LEAST * count + level * (size - count)
    if unit.low > level:
        most += (unit.low - level) * smaller(size, size - count + size // 2)
    return np.uint16(smaller(unit.scale * most, np.float64(MOST)))


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
