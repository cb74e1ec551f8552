"""Ridge refits of many training sets, one after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, jit
from genesig.compiled.core import Asked
from genesig.compiled.moments import Matrix, Rows
from genesig.compiled.operations import zeros
from genesig.compiled.ridge import Refits, Supports, refit

Array = np.ndarray[Any, Any]


class Lists(NamedTuple):
    """Supports of k training sets, `number` of each: as in `Path`, one after the other."""

    number: int
    indptr: Array
    indices: Array


@jit
def refit_each(
    matrix: Matrix, rows: Rows, Y: Array, lists: Lists, lam: Array, offset: Array, wanted: Array,
    refits: Refits,
) -> None:  # fmt: skip
    """Refit the supports of each of k training sets to its responses Y (k, T, N), see `refit`.

    Scores, of the rows `wanted` (k, n), start from offset (k, T). lam (k, L) and the arrays of
    refits have one axis more than there, but for the values, which are those of all supports.
    """
    slot, m = zeros(len(matrix.F), np.int64), lists.number
    for i in range(len(Y)):
        indptr = lists.indptr[i * m : (i + 1) * m + 1]
        first, last = indptr[0], indptr[m]
        some = supports(indptr, lists.indices[first:last], slot)
        own = Rows(rows.mask[i], rows.y[i], rows.number[i], rows.basis[i])
        values, left = refits.values[:, first:last], refits.left[i]
        out = Refits(refits.scores[i], values, refits.constant[i], left)
        pulls = zeros((len(some.features), Y.shape[1]), np.float64)
        refit(matrix, own, Y[i], some, lam[i], Asked(marked(wanted[i]), pulls, offset[i]), out)


@inner
def marked(mask: Array) -> Any:
    """Return the places where a mask is true."""
    number = 0
    for i in range(len(mask)):
        number += 1 if mask[i] else 0
    places, number = zeros(number, np.int64), 0
    for i in range(len(mask)):
        if mask[i]:
            places[number] = i
            number += 1
    return places


@inner
def supports(indptr: Array, indices: Array, slot: Array) -> Any:
    """Return the supports of one set; slot (d,) is room of zeros, and left so."""
    start, places, u = zeros(len(indptr), np.int64), zeros(len(indices), np.int64), 0
    for j in indices:
        u += 1 - slot[j]
        slot[j] = 1
    features, u = zeros(u, np.int64), 0
    for j in range(len(slot)):
        if slot[j] != 0:
            features[u], slot[j] = j, u
            u += 1
    for f in range(len(indptr)):
        start[f] = indptr[f] - indptr[0]
    for a in range(len(indices)):
        places[a] = slot[indices[a]]
    for j in features:
        slot[j] = 0
    return Supports(start, features, places)
