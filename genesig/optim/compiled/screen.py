"""Single-precision products of all features with the residuals of many columns, scanned at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.optim.compiled import plain
from genesig.optim.compiled.column import Column
from genesig.optim.compiled.lanes import dot
from genesig.optim.compiled.tiles import COLUMNS, SINGLES, add_products, any_above

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


@plain
def levels(
    many: Column, q: int, top: float, tau: float, strong: float, R: Array, c: int
) -> Any:  # fmt: skip
    """Write the residual of column q, of length 1, to R[:, c]; return the levels to look from.

    A product with it, times the feature's share of the `top` scale, is ``unit g`` for a gradient g
    that is off by at most ``(N + 4) eps ||x_j|| ||r||``: enough to screen. What comes near tau is
    computed again (the first level); what comes near the strong rule's threshold is to be kept.
    """
    r = many.r[q]
    n = len(r)
    length = max(np.sqrt(dot(r, r)), 1e-200)
    for i in range(n):
        R[i, c] = r[i] / length
    most = 2.0 / many.number[q, 0] * length * top
    near = tau - (n + 4) * SINGLE * np.sqrt(n) * most
    return near / most, min(near, strong) / most


@plain
def scan(
    single: Array, R: Array, scaled: Array, todo: Array, low: Array, sets: Sets, tile: Array
) -> None:  # fmt: skip
    """Find the features of each column in `todo` whose level is not below its `low`."""
    for q in todo:
        sets.n_found[q] = 0
    for t in range(len(single)):
        for first in range(0, len(todo), COLUMNS):
            for c in range(COLUMNS):
                for w in range(SINGLES):
                    tile[c, w] = np.float32(0.0)
            add_products(R, first, single[t], 0, single.shape[1], tile)
            for c in range(min(COLUMNS, len(todo) - first)):
                for w in range(0, SINGLES, LINE):
                    q, j = todo[first + c], t * SINGLES + w
                    if any_above(tile, c, w, scaled, q, j, low[q]):
                        keep(sets, q, j, tile[c, w : w + LINE], low[q])


@plain
def keep(sets: Sets, q: int, j: int, level: Array, low: float) -> None:
    """Add those features of a line whose level is not below `low` to the found ones."""
    n = sets.n_found[q]
    for w in range(min(LINE, sets.mark.shape[1] - j)):
        if not level[w] < low:
            sets.found[q, n], sets.level[q, n] = j + w, level[w]
            n += 1
    sets.n_found[q] = n
