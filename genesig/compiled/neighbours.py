"""The nearest genes of a gene, among all of them, in each of many sets of samples.

Sums of squared differences in single precision tell which genes may be near; what is near is
decided in double precision, so that the answer has nothing of how the sums were grouped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, jit, plain
from genesig.compiled.lanes import dot
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.screen import SINGLE
from genesig.compiled.subsets import below, lowest, tabulate
from genesig.compiled.tiles import SINGLES

Array = np.ndarray[Any, Any]

LEAST = 1e-37  # what one term may lose where single precision has no smaller numbers


class Genes(NamedTuple):
    """Genes on all n samples, NaN where a value is missing.

    X (d, n) of size 1 at most; single (d, n) the same less a centre, in single precision; tiles
    (t, n, SINGLES) its rows side by side, NaN beyond them.
    """

    X: Array
    single: Array
    tiles: Array


class Samples(NamedTuple):
    """T sets of samples.

    rows (T, m) in the order of sums, size (T,) how many of them count; lines (T, blocks) the
    `subsets.tabulate` lines that add up to each set, blocks of `block` samples; usable (T, d) the
    genes to choose from.
    """

    rows: Array
    size: Array
    lines: Array
    usable: Array
    block: int


class Room(NamedTuple):
    """What is known of one gene in each of T sets.

    own (T, m) its values there, NaN where missing; square, number (T,) of those that it has;
    level (T,) how far a gene may be to be among the nearest, limit (T,) what its sum is at most;
    least (T, k) how far the nearest so far are; table, gap (m,) for sums.
    """

    own: Array
    square: Array
    number: Array
    level: Array
    limit: Array
    least: Array
    table: Array
    gap: Array


@jit
def nearest(genes: Genes, samples: Samples, wanted: Array, seeds: Array, near: Array) -> None:
    """Fill near (T, q, k) with the nearest genes to each that is wanted (q,); -1 for none.

    Of equally near ones the earlier is taken. seeds (q, s) are genes that are likely to be near,
    or -1: they change no answer.
    """
    room, top = room_for(samples, near.shape[2]), np.float32(0.0)
    for q in range(len(wanted)):
        for t in range(len(samples.rows)):
            begin(genes, samples, room, t, wanted[q], seeds[q], near[t, q])
        for tile in range(len(genes.tiles)):
            if tile & (tile - 1) == 0:  # more and more seldom, as levels fall more and more slowly
                top = limits(samples, room)
            tabulate(genes.single[wanted[q]], genes.tiles[tile], top, samples.block, room.table)
            for t in range(len(samples.rows)):
                bits = below(room.table, samples.lines, t, room.limit[t])
                if bits != 0:
                    visit(genes, samples, room, t, tile, bits, wanted[q], near[t, q])
                    room.limit[t] = limit(samples, room, t, top)


@inner
def room_for(samples: Samples, k: int) -> Room:
    """Return room for k of the nearest in each set."""
    T, m = samples.rows.shape
    square, number, level = zeros((3, T), np.float64)
    own, least, gap = zeros((T, m), np.float64), zeros((T, k), np.float64), zeros(m, np.float64)
    table = zeros((samples.lines.shape[1] << samples.block, SINGLES), np.float32)
    return Room(own, square, number, level, zeros(T, np.float32), least, table, gap)


@plain
def begin(
    genes: Genes, samples: Samples, room: Room, t: int, i: int, seeds: Array, near: Array
) -> None:  # fmt: skip
    """Start with gene i in set t: how far the k-th nearest of the seeds is, at the most."""
    room.square[t] = room.number[t] = 0.0
    for p in range(samples.size[t]):
        row = samples.rows[t, p]
        room.own[t, p], value = genes.X[i, row], genes.single[i, row]
        if value == value:
            room.square[t] += np.float64(value) * np.float64(value)
            room.number[t] += 1.0
    forget(room.least[t], near)
    for j in seeds:
        if j >= 0:
            take(genes, samples, room, t, i, j, near)
    room.level[t] = room.least[t, -1] if samples.usable[t, i] else -np.inf
    forget(room.least[t], near)


@plain
def forget(least: Array, near: Array) -> None:
    """Have nothing found."""
    for a in range(len(least)):
        least[a], near[a] = np.inf, -1


@plain
def take(
    genes: Genes, samples: Samples, room: Room, t: int, i: int, j: int, near: Array
) -> None:  # fmt: skip
    """Put gene j among the nearest to gene i in set t, if it is."""
    if j != i and samples.usable[t, j]:
        distance = apart(genes.X[j], samples, room, t)
        if distance < room.least[t, -1]:
            insert(room.least[t], near, distance, j)


@plain
def limits(samples: Samples, room: Room) -> Any:
    """Return the highest level that is finite, or 0, and set all limits by it."""
    top = np.float32(0.0)
    for t in range(len(room.level)):
        if room.level[t] < np.inf:
            top = larger(top, np.float32(room.level[t]))
    for t in range(len(room.level)):
        room.limit[t] = limit(samples, room, t, top)
    return top


@plain
def limit(samples: Samples, room: Room, t: int, top: Any) -> Any:
    """Return what ``Σ ((x - y)² - top)`` is at most for any y within the level, terms as rounded.

    Values lose half an eps: ||fl(x - y)|| is at most ||x - y|| + eps (||x|| + 2 ||x - y||), since
    ||y|| is at most ||x|| + ||x - y||; then the squares are rounded, and their sums. Of what x has
    a gene that can be chosen lacks no more than half of the samples.
    """
    level, count = room.level[t], room.number[t]
    if np.isinf(level):
        return level
    length = (1.0 + 3.0 * SINGLE) * np.sqrt(level * count) + 2.0 * SINGLE * np.sqrt(room.square[t])
    terms, both = samples.lines.shape[1] + samples.block + 10, count - samples.size[t] // 2
    most = length * length - level * count - (top - level) * larger(both, 0.0)
    return most + terms * (SINGLE * (length * length + top * count) + LEAST)


@plain
def visit(
    genes: Genes, samples: Samples, room: Room, t: int, tile: int, bits: int, i: int, near: Array
) -> None:  # fmt: skip
    """Look at the genes of a tile whose bits are set."""
    while bits != 0:
        j = tile * SINGLES + lowest(bits)
        if j < len(genes.X):
            take(genes, samples, room, t, i, j, near)
        bits &= bits - 1
    room.level[t] = smaller(room.level[t], room.least[t, -1])


@plain
def apart(y: Array, samples: Samples, room: Room, t: int) -> float:
    """Return the mean squared difference over what both have in set t; infinity for nothing."""
    count, size = 0, samples.size[t]
    for p in range(size):
        difference = room.own[t, p] - y[samples.rows[t, p]]
        there = difference == difference
        room.gap[p] = difference if there else 0.0
        count += there
    return float(dot(room.gap[:size], room.gap[:size]) / count) if count > 0 else np.inf


@plain
def insert(distances: Array, genes: Array, distance: float, gene: int) -> None:
    """Put a gene in its place, behind those as near as it is; the last one goes."""
    at = len(distances) - 1
    while at > 0 and distances[at - 1] > distance:
        distances[at], genes[at] = distances[at - 1], genes[at - 1]
        at -= 1
    distances[at], genes[at] = distance, gene
