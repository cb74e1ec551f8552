"""Single-precision products of all features with the residuals of many columns, scanned at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import plain
from genesig.compiled.column import Column
from genesig.compiled.lanes import dot
from genesig.compiled.operations import larger, smaller
from genesig.compiled.tiles import COLUMNS, SINGLES, add_products, any_above

Array = np.ndarray[Any, Any]

SINGLE = float(np.finfo(np.float32).eps)
LINE = 16  # levels in a cache line


class Sets(NamedTuple):
    """Feature sets of many columns, each (q, d) with its length (q,).

    working W; support A (ascending) with its coefficients; the features that the last scan found,
    with their level there; mark (q, d) tells membership of W and A.
    """

    working: Array
    n_working: Array
    support: Array
    value: Array
    n_support: Array
    mark: Array
    found: Array
    level: Array
    n_found: Array


class Screen(NamedTuple):
    """What all features are screened by, in single precision.

    tiles (t, N, SINGLES) the features, of root mean square 1; scaled (q, t SINGLES) what each is
    multiplied by in a column, as a share of top (q,).
    """

    tiles: Array
    scaled: Array
    top: Array


class Scan(NamedTuple):
    """Room for one scan of q columns.

    todo (q,) the columns; near, low (q,) the levels to look from in each; R (N, q + COLUMNS) their
    residuals, of length 1, in the order of `todo`; tile (COLUMNS, SINGLES) the products.
    """

    todo: Array
    near: Array
    low: Array
    R: Array
    tile: Array


@plain
def enlist(many: Column, screen: Screen, q: int, room: Scan, c: int) -> None:
    """Make column q the c-th of the scan: its residual, and the levels to look from.

    A product with it, times the feature's share of the `top` scale, is ``unit g`` for a gradient g
    that is off by at most ``(N + 4) eps ||x_j|| ||r||``: enough to screen. What comes near tau is
    computed again; what comes near the strong rule's threshold, if that is lower, is to be kept.
    """
    r = many.pull[q]
    n = len(r)
    length = larger(np.sqrt(dot(r, r)), 1e-200)
    for i in range(n):
        room.R[i, c] = r[i] / length
    most = 2.0 / many.number[q, 0] * length * screen.top[q]
    near = many.at.tau[q] - (n + 4) * SINGLE * np.sqrt(n) * most
    room.todo[c], room.near[q] = q, near / most
    room.low[q] = smaller(near, many.at.strong[q]) / most


@plain
def scan(screen: Screen, room: Scan, count: int, sets: Sets) -> None:
    """Find the features of the first `count` columns in `todo` whose level is not below `low`."""
    tiles, todo, low, tile = screen.tiles, room.todo, room.low, room.tile
    for c in range(count):
        sets.n_found[todo[c]] = 0
    for t in range(len(tiles)):
        for first in range(0, count, COLUMNS):
            for c in range(COLUMNS):
                for w in range(SINGLES):
                    tile[c, w] = np.float32(0.0)
            add_products(room.R, first, tiles[t], 0, tiles.shape[1], tile)
            for c in range(smaller(COLUMNS, count - first)):
                for w in range(0, SINGLES, LINE):
                    q, j = todo[first + c], t * SINGLES + w
                    if any_above(tile, c, w, screen.scaled, q, j, low[q]):
                        keep(
                            sets.found[q],
                            sets.level[q],
                            sets.n_found,
                            q,
                            j,
                            tile[c, w : w + LINE],
                            low[q],
                        )


@plain
def keep(
    features: Array, levels: Array, number: Array, q: int, j: int, line: Array, low: float
) -> None:  # fmt: skip
    """Add those of a line of features from j whose level is not below `low` to the found ones.

    Found are number[q] of them, features (d,) with their levels (d,).
    """
    n = number[q]
    for w in range(smaller(LINE, len(features) - j)):
        if not line[w] < low:
            features[n], levels[n] = j + w, line[w]
            n += 1
    number[q] = n
