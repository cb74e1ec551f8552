"""Ridge on a support for many lam: one tridiagonal form per support, one sweep per lam."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inlined, inner, plain
from genesig.compiled.dense import tridiagonal
from genesig.compiled.known import Known, gather, learn
from genesig.compiled.lanes import LANES, add_row, dot, lanes
from genesig.compiled.moments import (
    BLOCK,
    Matrix,
    Rows,
    add_gram,
    copy,
    from_tiles,
    gram_room,
)
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.singular import by_singular_values
from genesig.compiled.tiles import COLUMNS, DOUBLES, add_products

Array = np.ndarray[Any, Any]

TINY = 1e-9  # below this share of the trace, n lam is left to the singular value decomposition
FEATURES, SAMPLES, SINGULAR = 0, 1, 2
SHARED = 4  # as many features as this times the samples have one Gram matrix for all supports


class Supports(NamedTuple):
    """The M supports of one training set: f is features[places[indptr[f] : indptr[f + 1]]].

    indptr (M + 1,), features (U,), places (nnz,).
    """

    indptr: Array
    features: Array
    places: Array


class Refits(NamedTuple):
    """The refits of M supports to T responses for L' values of lam; nnz or n may be 0.

    scores (M, L', n, T) of the first n rows; values (L', nnz, T) the coefficients per unit of the
    caller's X, and constant (M, L', T) what these leave.
    """

    scores: Array
    values: Array
    constant: Array


class Space(NamedTuple):
    """Room for the largest support, of m features, and L values of lam; m, L, N in whole lanes.

    ridges (L,) = n lam; M (s, s), c (s,), solution, ratio (s, L), work (5, s) of the smaller form,
    s = min(m, N); B (m, L) coefficients, line (1, L); Z (m, side) the support's features, tile of
    scores.
    """

    ridges: Array
    M: Array
    c: Array
    solution: Array
    ratio: Array
    work: Array
    B: Array
    line: Array
    Z: Array
    tile: Array


@inlined
def by_features(known: Known, A: Array, space: Space) -> None:
    """Reduce the m × m form."""
    M, m, width = space.M, len(A), lanes(len(A))
    for a in range(m):
        p = A[a]
        for e in range(a + 1):
            q = A[e]
            if len(known.gram) > 0:
                M[a, e] = M[e, a] = known.gram[p, q]
            else:
                M[a, e] = M[e, a] = dot(known.masked[p], known.masked[q])
        for e in range(m, width):
            M[a, e] = 0.0
    reduce(space, m)


@inner
def by_samples(known: Known, A: Array, space: Space) -> None:
    """Reduce the n × n form, ``b = Z (Z'Z + ridge I)^-1 y``."""
    n, (Z, tiles) = len(known.y), gram_room(len(known.y))
    for start in range(0, len(A), BLOCK):
        rows = smaller(BLOCK, len(A) - start)
        gather(known.masked, A, start, rows, Z)
        add_gram(Z, Z, rows, tiles)
    from_tiles(tiles, space.M)
    reduce(space, n)


@plain
def spread(masked: Array, A: Array, space: Space) -> None:
    """Set ``B = Z solution``."""
    for a in range(len(A)):
        for e in range(space.B.shape[1]):
            space.B[a, e] = 0.0
        for i in range(masked.shape[1]):
            add_row(masked[A[a], i], space.solution, i, space.B, a, 0, space.B.shape[1])


@plain
def reduce(space: Space, m: int) -> None:
    """Reduce M to tridiagonal form."""
    tridiagonal(space.M, m, space.work[2], space.work[3], space.work[4], space.work)


@plain
def shifted_solves(space: Space, m: int) -> None:
    """Fill the solution (m, L) of ``(M + ridge I) x = c`` for a reduced M; c is destroyed."""
    M, c, X, ratio, width = space.M, space.c, space.solution, space.ratio, len(space.ridges)
    diagonal, beside, beta = space.work[2], space.work[3], space.work[4]
    for k in range(m - 2):
        total = 0.0
        for i in range(k + 1, m):
            total += M[k, i] * c[i]
        for i in range(k + 1, m):
            c[i] -= beta[k] * total * M[k, i]
    for i in range(m):
        for e in range(width):
            pivot, x = diagonal[i] + space.ridges[e], c[i]
            if i > 0:
                pivot -= beside[i - 1] * ratio[i - 1, e]
                x -= beside[i - 1] * X[i - 1, e]
            inverse = 1.0 / pivot
            X[i, e] = x * inverse
            ratio[i, e] = beside[i] * inverse if i < m - 1 else 0.0
    for i in range(m - 2, -1, -1):
        for e in range(width):
            X[i, e] -= ratio[i, e] * X[i + 1, e]
    for k in range(m - 3, -1, -1):
        for e in range(width):
            space.line[0, e] = 0.0
        for i in range(k + 1, m):
            add_row(M[k, i], X, i, space.line, 0, 0, width)
        for i in range(k + 1, m):
            add_row(-beta[k] * M[k, i], space.line, 0, X, i, 0, width)


@plain
def by_form(known: Known, A: Array, space: Space) -> int:
    """Reduce the form that is due for a support, and return it; SAMPLES is still to be reduced."""
    trace, lowest = 0.0, space.ridges[0]
    for a in range(len(A)):
        trace += dot(known.masked[A[a]], known.masked[A[a]])
    for e in range(len(space.ridges)):
        lowest = smaller(lowest, space.ridges[e])
    if lowest <= TINY * trace:
        return SINGULAR
    if len(A) > len(known.y):
        return SAMPLES
    by_features(known, A, space)
    return FEATURES


@inner
def solve(known: Known, A: Array, form: int, space: Space) -> None:
    """Fill B for the response in `known`, in the form that is reduced."""
    if form == SINGULAR:
        by_singular_values(known, A, space.ridges, space.B)
    elif form == SAMPLES:
        for i in range(len(known.y)):
            space.c[i] = known.y[i]
        shifted_solves(space, len(known.y))
        spread(known.masked, A, space)
    else:
        for a in range(len(A)):
            space.c[a] = dot(known.masked[A[a]], known.y)
        shifted_solves(space, len(A))
        for a in range(len(A)):
            for e in range(len(space.ridges)):
                space.B[a, e] = space.solution[a, e]


@plain
def scores(Z: Array, A: Array, offset: float, space: Space, out: Array, t: int) -> None:
    """Fill response t of out (L, n, T) with the scores of the first n rows."""
    L, n = out.shape[:2]
    gather(Z, A, 0, len(A), space.Z)
    for e in range(0, L, COLUMNS):
        for i in range(0, n, DOUBLES):
            for c in range(COLUMNS):
                for w in range(DOUBLES):
                    space.tile[c, w] = offset
            add_products(space.B, e, space.Z, i, len(A), space.tile)
            for c in range(smaller(COLUMNS, L - e)):
                for w in range(smaller(DOUBLES, n - i)):
                    out[e + c, i + w, t] = space.tile[c, w]


@plain
def per_unit(B: Array, e: int, known: Known, A: Array, values: Array, t: int) -> float:
    """Fill coefficients (m, T) per unit of the caller's X, and return the constant they leave."""
    constant = 0.0
    for a in range(len(A)):
        values[a, t] = known.inverse[A[a]] * B[a, e]
        constant -= values[a, t] * known.mean[A[a]]
    return constant


@inner
def refit(
    matrix: Matrix, rows: Rows, Y: Array, supports: Supports, lam: Array, offset: Array,
    refits: Refits,
) -> None:  # fmt: skip
    """Refit the supports of one training set to Y (T, N) for lam (L,), in whole lanes.

    The first L' are kept. Scores start from `offset` (T,). The responses share one reduced form.
    """
    N, U, L, most = matrix.F.shape[1], len(supports.features), len(lam), 1
    indptr, out = supports.indptr, refits.scores
    for f in range(len(indptr) - 1):
        most = larger(most, indptr[f + 1] - indptr[f])
    shared, s = U if U <= SHARED * N else 0, smaller(lanes(most), N)
    known = Known(
        zeros((U, N), np.float64), zeros((U, N), np.float64), zeros((shared, shared), np.float64),
        zeros(U, np.float64), zeros(U, np.float64), zeros(N, np.float64),
    )  # fmt: skip
    learn(matrix, rows, supports.features, known)
    scored = most if out.shape[2] > 0 else 0
    space = Space(
        zeros(L, np.float64), zeros((s, s), np.float64), zeros(s, np.float64),
        zeros((s, L), np.float64), zeros((s, L), np.float64), zeros((5, s), np.float64),
        zeros((most, L), np.float64), zeros((1, L), np.float64),
        zeros((scored, lanes(N + LANES)), np.float64), zeros((COLUMNS, DOUBLES), np.float64),
    )  # fmt: skip
    for e in range(L):
        space.ridges[e] = rows.number[0] * lam[e]
    for f in range(len(indptr) - 1):
        A = supports.places[indptr[f] : indptr[f + 1]]
        form = by_form(known, A, space) if len(A) > 0 else FEATURES
        if form == SAMPLES:
            by_samples(known, A, space)
        for t in range(len(Y)):
            copy(Y[t], known.y)
            if len(A) > 0:
                solve(known, A, form, space)
            keep(known, A, space, offset[t], refits, f, indptr[f], t)


@plain
def keep(
    known: Known, A: Array, space: Space, offset: float, refits: Refits, f: int, start: int, t: int
) -> None:
    """Write what is asked for of the refit of support f to response t."""
    values, last = refits.values, start + len(A)
    for e in range(values.shape[0] if values.shape[1] > 0 else 0):
        part = values[e, start:last]
        refits.constant[f, e, t] = per_unit(space.B, e, known, A, part, t)
    if refits.scores.shape[2] > 0:
        scores(known.Z, A, offset, space, refits.scores[f], t)
