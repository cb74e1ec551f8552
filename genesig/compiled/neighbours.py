"""The nearest genes of a gene, among all of them.

Sums of squared differences in single precision tell which genes may be near; what is near is
decided in double precision, so that the answer has nothing of how the sums were grouped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import jit, plain
from genesig.compiled.lanes import dot
from genesig.compiled.operations import smaller, zeros
from genesig.compiled.screen import SINGLE
from genesig.compiled.tiles import COLUMNS, SINGLES, add_products

Array = np.ndarray[Any, Any]

LEAST = 1e-37  # what one term may lose where single precision has no smaller numbers


@jit
def nearest(
    X: Array, genes: Array, wanted: Array, tiles: Array, columns: Array, near: Array
) -> None:  # fmt: skip
    """Fill near (q, k) with the nearest of `genes` to each that is wanted; -1 where there is none.

    Of equally near ones the earlier is taken. X (d, n) values of size 1 at most, NaN where one is
    missing; genes (g,) those to choose from, ascending; wanted (q,). The squared difference of two
    genes, over the rows that both have, is a product of columns (3n, q') ``v², -2v, here`` of those
    wanted and tiles (t, 3n, SINGLES) ``here, v, v²`` of `genes`, in single precision.
    """
    k, n = near.shape[1], X.shape[1]
    tile, gap = zeros((COLUMNS, SINGLES), np.float32), zeros(n, np.float64)
    least, limit = zeros((COLUMNS, k), np.float64), zeros(COLUMNS, np.float32)
    for first in range(0, len(wanted), COLUMNS):
        count = smaller(COLUMNS, len(wanted) - first)
        least[:], limit[:] = np.inf, np.float32(np.inf)
        for t in range(len(tiles)):
            tile[:] = np.float32(0.0)
            add_products(columns, first, tiles[t], 0, tiles.shape[1], tile)
            start, width = t * SINGLES, smaller(SINGLES, len(genes) - t * SINGLES)
            for c in range(count):
                if not any_below(tile[c], limit[c]):
                    continue
                for w in range(width):
                    j = genes[start + w]
                    if tile[c, w] <= limit[c] and j != wanted[first + c]:
                        distance = apart(X[wanted[first + c]], X[j], gap)
                        if distance < least[c, k - 1]:
                            insert(least[c], near[first + c], distance, j)
                            limit[c] = bound(columns, first + c, least[c, k - 1])


@plain
def any_below(values: Array, limit: float) -> bool:
    """Tell whether one of the values is at most `limit`."""
    count = 0
    for w in range(SINGLES):
        count += values[w] <= limit
    return count > 0


@plain
def apart(a: Array, b: Array, gap: Array) -> float:
    """Return the mean squared difference over what both have; infinity if that is nothing."""
    count = 0
    for i in range(len(gap)):
        difference = a[i] - b[i]
        there = difference == difference
        gap[i] = difference if there else 0.0
        count += there
    return float(dot(gap, gap) / count) if count > 0 else np.inf


@plain
def insert(distances: Array, genes: Array, distance: float, gene: int) -> None:
    """Put a gene in its place, behind those as near as it is; the last one goes."""
    at = len(distances) - 1
    while at > 0 and distances[at - 1] > distance:
        distances[at], genes[at] = distances[at - 1], genes[at - 1]
        at -= 1
    distances[at], genes[at] = distance, gene


@plain
def bound(columns: Array, q: int, distance: float) -> float:
    """Return what a sum in single precision is at most for a gene as near as `distance`.

    Its terms add up to 2 (||a||² + ||b||²) at most, and ||b||² to 2 (||a||² + ||a - b||²).
    """
    n, count, square = len(columns) // 3, 0.0, 0.0
    for i in range(n):
        square += columns[i, q]
        count += columns[2 * n + i, q]
    total, terms = distance * count, 3 * n + 8
    return float(total + terms * (SINGLE * (6.0 * square + 4.0 * total) + LEAST))
