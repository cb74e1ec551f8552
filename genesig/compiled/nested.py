"""Which supports of a path are solved together: neighbours that share most of their features.

Their tridiagonal form is that of the core, the features of all of them. What a support has beside
it, its extras, is solved by the Schur complement of the core.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.operations import zeros

Array = np.ndarray[Any, Any]
TOGETHER = 16  # supports of a group
EXTRAS = 128  # features that not all of them have
SLOW = 2.5  # what a product takes while a matrix is reduced, in products of a whole block


@plain
def cost(core: int, extras: int, number: int, beside: int, lam: int) -> float:
    """Return about how many products a group takes; `beside`: rows and responses."""
    c, x, reduced = float(core), float(extras), 1.4 * float(core) ** 3 * SLOW
    turned = 2.0 * c * c * (x + beside)
    solved = lam * (c * x * (x + 18.0) + x * x * x * number / 9.0)
    return reduced + turned + solved + lam * c * 2.0 * (x + beside + 4.0) * number


@inner
def plan(indptr: Array, places: Array, alone: Array, count: Array, beside: int, lam: int) -> Any:
    """Return where the groups of supports start that cost least, and the number of supports.

    alone (M,) is 0 where a support may be solved with others; count (U,) is room of zeros, and
    left so.
    """
    number = len(indptr) - 1
    best, before = zeros(number + 1, np.float64), zeros(number + 1, np.int64)
    for j in range(1, number + 1):
        best[j] = np.inf
    for i in range(number):
        core, union, j = 0, 0, i
        while j < number and j - i < TOGETHER and (j == i or alone[i] + alone[j] == 0):
            core = 0
            for a in range(indptr[j], indptr[j + 1]):
                p = places[a]
                union += 1 if count[p] == 0 else 0
                core += 1 if count[p] == j - i else 0
                count[p] += 1
            if j > i and union - core > EXTRAS:
                j += 1
                break
            found = best[i] + cost(core, union - core, j - i + 1, beside, lam)
            if found < best[j + 1]:
                best[j + 1], before[j + 1] = found, i
            j += 1
        for a in range(indptr[i], indptr[j]):
            count[places[a]] = 0
    return steps_to(before)


@inner
def steps_to(before: Array) -> Any:
    """Return the way from 0 to the last place, of which each was reached from `before`."""
    number, at = 1, len(before) - 1
    while at > 0:
        number, at = number + 1, before[at]
    way, at = zeros(number, np.int64), len(before) - 1
    for g in range(number - 1, -1, -1):
        way[g], at = at, before[at]
    return way


@plain
def members(indptr: Array, places: Array, count: Array, found: Array) -> tuple[int, int]:
    """Fill `found` with the features of a group of supports, and return how many of two kinds.

    First those of all of them, then those of some; both in their order. count (U,) is room of
    zeros, and left so.
    """
    number, core, extras = len(indptr) - 1, 0, 0
    for a in range(indptr[0], indptr[number]):
        count[places[a]] += 1
    for p in range(len(count)):
        if count[p] == number:
            found[core] = p
            core += 1
    for p in range(len(count)):
        if 0 < count[p] < number:
            found[core + extras] = p
            extras += 1
        count[p] = 0
    return core, extras
