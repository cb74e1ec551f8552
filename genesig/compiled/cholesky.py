"""The Cholesky factor, in blocks of eight rows and columns.

Each entry is what one sum of products after the other would give, to the last bit: whole lanes of
what lies to the left of its block, then the columns of the block one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.lanes import LANES
from genesig.compiled.operations import smaller, zeros
from genesig.compiled.products import dots, fused

Array = np.ndarray[Any, Any]


@inner
def cholesky(M: Array, m: int) -> bool:
    """Overwrite the lower triangle of M[:m, :m] by its factor; False where it is not definite."""
    room = zeros((3, LANES, LANES), np.float64)
    sums, block, corner = room[0], room[1], room[2]
    for first in range(0, m, LANES):
        for i in range(first, m, LANES):
            for c in range(0, LANES, 2):
                dots(M, i, M, first + c, first, sums, c)
            fetch(M, i, first, block)
            if i == first:
                if not on_diagonal(block, sums, smaller(LANES, m - first), corner):
                    return False
            else:
                below(block, sums, corner)
            put_back(M, i, first, m, block)
    return True


@plain
def fetch(M: Array, i: int, first: int, block: Array) -> None:
    """Copy eight rows from i of eight columns, column by column; beyond the last, the last."""
    rows, columns = M.shape
    if i + LANES <= rows and first + LANES <= columns:
        for r in range(LANES):
            for c in range(LANES):
                block[c, r] = M[i + r, first + c]
        return
    for r in range(LANES):
        for c in range(LANES):
            block[c, r] = M[smaller(i + r, rows - 1), smaller(first + c, columns - 1)]


@plain
def put_back(M: Array, i: int, first: int, m: int, block: Array) -> None:
    """Copy what is on or below the diagonal back."""
    if i >= first + LANES and i + LANES <= m:
        for r in range(LANES):
            for c in range(LANES):
                M[i + r, first + c] = block[c, r]
        return
    for r in range(smaller(LANES, m - i)):
        for c in range(smaller(LANES, i + r - first + 1)):
            M[i + r, first + c] = block[c, r]


@plain
def on_diagonal(block: Array, sums: Array, m: int, corner: Array) -> bool:
    """Factor a block on the diagonal, less the sums to its left; corner keeps it row by row."""
    for c in range(m):
        for k in range(c):
            for r in range(c, m):
                sums[c, r] = fused(block[k, r], block[k, c], sums[c, r])
        left = block[c, c] - sums[c, c]
        if not left > 0.0:
            return False
        block[c, c] = corner[c, c] = np.sqrt(left)
        for r in range(c + 1, m):
            block[c, r] = (block[c, r] - sums[c, r]) / block[c, c]
            corner[r, c] = block[c, r]
    return True


@plain
def below(block: Array, sums: Array, corner: Array) -> None:
    """Divide a block below the diagonal, less the sums to its left, by the corner above it."""
    for c in range(LANES):
        for k in range(c):
            for r in range(LANES):
                sums[c, r] = fused(block[k, r], corner[c, k], sums[c, r])
        for r in range(LANES):
            block[c, r] = (block[c, r] - sums[c, r]) / corner[c, c]
