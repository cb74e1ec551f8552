"""Ridge on a support for many lam: one tridiagonal form per support, one sweep per lam."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.optim.compiled import inlined, inner, jit, plain
from genesig.optim.compiled.dense import tridiagonal
from genesig.optim.compiled.known import Known, gather, learn
from genesig.optim.compiled.lanes import LANES, add_row, dot, lanes
from genesig.optim.compiled.moments import BLOCK, add_gram, from_tiles, gram_room
from genesig.optim.compiled.singular import by_singular_values
from genesig.optim.compiled.tiles import COLUMNS, DOUBLES, add_products

Array = np.ndarray[Any, Any]

TINY = 1e-9  # below this share of the trace, n lam is left to the singular value decomposition
SAMPLES, SINGULAR = 1, 2
SHARED = 4  # as many features as this times the samples have one Gram matrix for all supports


class Space(NamedTuple):
    """Room for the largest support, of m features, and L values of lam; m, L, N in whole lanes.

    M (s, s), c (s,), solution, ratio (s, L), work (5, s) of the smaller form, s = min(m, N);
    B (m, L) coefficients, line (1, L); Z (m, side) the support's features, tile of scores.
    """

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
def by_features(known: Known, A: Array, y: Array, ridges: Array, space: Space) -> None:
    """Solve in the m × m form."""
    M, m, width = space.M, len(A), lanes(len(A))
    for a in range(m):
        p = A[a]
        space.c[a] = dot(known.masked[p], y)
        for e in range(a + 1):
            q = A[e]
            if len(known.gram) > 0:
                M[a, e] = M[e, a] = known.gram[p, q]
            else:
                M[a, e] = M[e, a] = dot(known.masked[p], known.masked[q])
        for e in range(m, width):
            M[a, e] = 0.0
    shifted_solves(space, m, ridges)
    for a in range(m):
        for e in range(len(ridges)):
            space.B[a, e] = space.solution[a, e]


@inner
def by_samples(known: Known, A: Array, y: Array, ridges: Array, space: Space) -> None:
    """Solve in the n × n form, ``b = Z (Z'Z + ridge I)^-1 y``."""
    n, (Z, tiles) = len(y), gram_room(len(y))
    for start in range(0, len(A), BLOCK):
        rows = min(BLOCK, len(A) - start)
        gather(known.masked, A, start, rows, Z)
        add_gram(Z, rows, tiles)
    from_tiles(tiles, space.M)
    for i in range(n):
        space.c[i] = y[i]
    shifted_solves(space, n, ridges)
    spread(known.masked, A, space)


@plain
def spread(masked: Array, A: Array, space: Space) -> None:
    """Set ``B = Z solution``."""
    for a in range(len(A)):
        for e in range(space.B.shape[1]):
            space.B[a, e] = 0.0
        for i in range(masked.shape[1]):
            add_row(masked[A[a], i], space.solution, i, space.B, a, 0, space.B.shape[1])


@plain
def shifted_solves(space: Space, m: int, shifts: Array) -> None:
    """Fill the solution (m, L) of ``(M + shift I) x = c``; M and c are destroyed."""
    M, c, X, ratio, width = space.M, space.c, space.solution, space.ratio, len(shifts)
    diagonal, beside, beta = space.work[2], space.work[3], space.work[4]
    tridiagonal(M, m, diagonal, beside, beta, space.work)
    for k in range(m - 2):
        total = 0.0
        for i in range(k + 1, m):
            total += M[k, i] * c[i]
        for i in range(k + 1, m):
            c[i] -= beta[k] * total * M[k, i]
    for i in range(m):
        for e in range(width):
            pivot, x = diagonal[i] + shifts[e], c[i]
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
def by_form(known: Known, A: Array, y: Array, ridges: Array, space: Space) -> int:
    """Solve for a support in the form that is due: 0 done, else the one still to be solved in."""
    trace, lowest = 0.0, ridges[0]
    for a in range(len(A)):
        trace += dot(known.masked[A[a]], known.masked[A[a]])
    for e in range(len(ridges)):
        lowest = min(lowest, ridges[e])
    if lowest <= TINY * trace:
        return SINGULAR
    if len(A) > len(y):
        return SAMPLES
    by_features(known, A, y, ridges, space)
    return 0


@plain
def scores(Z: Array, A: Array, offset: float, space: Space, out: Array) -> None:
    """Fill out (L, n) with the scores of the first n rows."""
    L, n = out.shape
    gather(Z, A, 0, len(A), space.Z)
    for e in range(0, L, COLUMNS):
        for i in range(0, n, DOUBLES):
            for c in range(COLUMNS):
                for w in range(DOUBLES):
                    space.tile[c, w] = offset
            add_products(space.B, e, space.Z, i, len(A), space.tile)
            for c in range(min(COLUMNS, L - e)):
                for w in range(min(DOUBLES, n - i)):
                    out[e + c, i + w] = space.tile[c, w]


@plain
def per_unit(
    B: Array, e: int, known: Known, shift: Array, features: Array, A: Array, values: Array
) -> float:  # fmt: skip
    """Fill the coefficients per unit of the caller's X and return the constant they leave."""
    constant = 0.0
    for a in range(len(A)):
        p = A[a]
        values[a] = known.inverse[p] * B[a, e]
        constant -= values[a] * (known.mean[p] + shift[features[p]])
    return constant


@jit
def refit(
    F: Array, shift: Array, indptr: Array, features: Array, places: Array, mask: Array, y: Array,
    number: Array, lam: Array, offset: float, out: Array, values: Array, constant: Array,
) -> None:  # fmt: skip
    """Refit the M supports of one training set for L values of lam, in whole lanes.

    Support f is features[places[indptr[f] : indptr[f + 1]]]. Fills out (M, L', n) with the scores
    of the first n rows, values (L', nnz) with the coefficients per unit of F plus `shift`, and
    constant (M, L') with what these leave, for the first L' of the lam; nnz or n may be 0.
    """
    N, U, most = F.shape[1], len(features), 1
    for f in range(len(indptr) - 1):
        most = max(most, indptr[f + 1] - indptr[f])
    shared = U if U <= SHARED * N else 0
    known = Known(
        np.empty((U, N)), np.empty((U, N)), np.empty((shared, shared)), np.empty(U), np.empty(U)
    )
    learn(F, shift, features, mask, number, known)
    s, L = min(lanes(most), N), len(lam)
    space = Space(
        np.empty((s, s)), np.empty(s), np.empty((s, L)), np.empty((s, L)), np.empty((5, s)),
        np.empty((most, L)), np.empty((1, L)),
        np.zeros((most if out.shape[2] > 0 else 0, lanes(N + LANES))), np.empty((COLUMNS, DOUBLES)),
    )  # fmt: skip
    for f in range(len(indptr) - 1):
        A = places[indptr[f] : indptr[f + 1]]
        if len(A) > 0:
            form = by_form(known, A, y, number[0] * lam, space)
            if form == SINGULAR:
                by_singular_values(known, A, y, number[0] * lam, space.B)
            elif form == SAMPLES:
                by_samples(known, A, y, number[0] * lam, space)
        for e in range(values.shape[0] if values.shape[1] > 0 else 0):
            constant[f, e] = per_unit(
                space.B, e, known, shift, features, A, values[e, indptr[f] : indptr[f + 1]]
            )
        if out.shape[2] > 0:
            scores(known.Z, A, offset, space, out[f])
