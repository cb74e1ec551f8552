"""Mean and scale of features on the rows of a training set, and what follows from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, jit, plain
from genesig.compiled.dense import largest_eigenvalue
from genesig.compiled.lanes import dot, lanes
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.tiles import COLUMNS, DOUBLES, add_products

Array = np.ndarray[Any, Any]
BLOCK = 64  # features per block of a Gram matrix
CLEAR = 0.1  # share of the mean square that the variance must be, to be had by subtraction
CONSTANT = 32 * float(np.finfo(float).eps)  # sd, as a share of the mean, that is rounding


class Matrix(NamedTuple):
    """All features of all samples: X (n, d) as given, F (d, N) less shift (d,), feature by feature.

    N >= n is filled up with zeros.
    """

    X: Array
    shift: Array
    F: Array


class Rows(NamedTuple):
    """The samples of one training set (or, with one axis more, of many).

    mask (N,) is √v on them, v their weights, of sum `rows`, 1 unless given; y (N,) their responses
    times √v, orthogonal to √v and to the covariates; number (3,) = rows, centre, scale. basis
    (R, N) spans the covariates: with √v, of length 1 and orthogonal on the training rows.
    """

    mask: Array
    y: Array
    number: Array
    basis: Array


@plain
def copy(a: Array, out: Array) -> None:
    """Write a to out."""
    for i in range(len(out)):
        out[i] = a[i]


@plain
def inverse_scale(mean: float, variance: float, centre: bool, scale: bool) -> float:
    """Return 1/sd, 1 without scaling, 0 for what is constant up to the rounding of its mean."""
    spread = np.sqrt(larger(variance, 0.0))
    if spread <= CONSTANT * abs(mean) and (centre or scale):
        return 0.0
    return 1.0 / spread if scale else 1.0


@plain
def standardise(x: Array, mean: float, inverse: float, mask: Array, out: Array) -> None:
    """Write ``mask_i inverse (x_i - mean)``."""
    for i in range(len(x)):
        out[i] = mask[i] * (inverse * (x[i] - mean))


@plain
def project(basis: Array, mask: Array, x: Array) -> None:
    """Take the covariates out of x (N,), which is times √v and may be longer."""
    for k in range(len(basis)):
        total = 0.0
        for i in range(len(mask)):
            total += mask[i] * basis[k, i] * x[i]
        for i in range(len(mask)):
            x[i] -= total * (mask[i] * basis[k, i])


@plain
def moment(x: Array, shift: float, mask: Array, number: Array, scratch: Array) -> Any:
    """Return (mean, inverse scale) of one feature x, from which `shift` was subtracted."""
    count, centre, scale = number[0], number[1] != 0, number[2] != 0
    standardise(x, 0.0, 1.0, mask, scratch)
    mean = dot(mask, scratch) / count  # scratch may be longer
    standardise(x, mean, 1.0, mask, scratch)
    square = dot(scratch, scratch)
    inverse = inverse_scale(abs(mean) + abs(mean + shift), square / count, centre, scale)
    return (mean if centre else 0.0), inverse


@plain
def tile_sums(
    matrix: Matrix, start: int, masks: Array, Y: Array, x: Array, square: Array, sums: Array
) -> None:  # fmt: skip
    """Fill sums (3, COLUMNS, DOUBLES) of x, x² and xy over the training rows of each set.

    x is X less `shift`, DOUBLES features from `start`; masks = v, Y times √v (N, COLUMNS).
    """
    X, shift = matrix.X, matrix.shift
    for i in range(len(X)):
        for w in range(smaller(DOUBLES, X.shape[1] - start)):
            x[i, w] = X[i, start + w] - shift[start + w]
            square[i, w] = x[i, w] * x[i, w]
    for k in range(3):
        for q in range(COLUMNS):
            for w in range(DOUBLES):
                sums[k, q, w] = 0.0
    add_products(masks, 0, x, 0, len(X), sums[0])
    add_products(masks, 0, square, 0, len(X), sums[1])
    add_products(Y, 0, x, 0, len(X), sums[2])


@plain
def add_gram(A: Array, Z: Array, rows: int, tiles: Array) -> None:
    """Add A[:rows]'Z[:rows] to the lower triangle of a matrix of tiles (see `gram_room`)."""
    for k in range(len(tiles)):
        for i in range(k * DOUBLES // COLUMNS, tiles.shape[1]):
            add_products(A, i * COLUMNS, Z, k * DOUBLES, rows, tiles[k, i])


@plain
def standardised(
    F: Array, start: int, rows: Rows, mean: Array, inverse: Array, seen: Array, line: Array,
    Z: Array,
) -> None:  # fmt: skip
    """Fill the rows of Z with features from `start`, on the samples seen; line (N,) is room."""
    for j in range(len(Z)):
        at = start + j
        standardise(F[at], mean[at], inverse[at], rows.mask, line)
        project(rows.basis, rows.mask, line)
        for i in range(len(seen)):
            Z[j, i] = line[seen[i]]


@plain
def tile_at(tiles: Array, i: int, k: int) -> Any:
    """Return entry (i, k), k <= i."""
    return tiles[k // DOUBLES, i // COLUMNS, i % COLUMNS, k % DOUBLES]


@plain
def fill(tiles: Array, seen: Array, K: Array) -> None:
    """Fill the symmetric K with the entries of the rows seen, 0 elsewhere."""
    for i in range(len(K)):
        for k in range(len(K)):
            K[i, k] = 0.0
    for i in range(len(seen)):
        for k in range(i + 1):
            K[seen[i], seen[k]] = K[seen[k], seen[i]] = tile_at(tiles, i, k)


@plain
def lower_from_tiles(tiles: Array, K: Array) -> None:
    """Fill the lower triangle of K."""
    for k in range(0, len(K), DOUBLES):
        for i in range(k, len(K)):
            tile, row = tiles[k // DOUBLES, i // COLUMNS], i % COLUMNS
            for w in range(smaller(DOUBLES, i - k + 1)):
                K[i, k + w] = tile[row, w]


@inner
def gram_room(n: int) -> Any:
    """Return room for BLOCK features of n samples, and an n × n matrix in tiles, all zero."""
    side = -(-n // DOUBLES)
    tiles = zeros((side, n // COLUMNS, COLUMNS, DOUBLES), np.float64)
    return zeros((BLOCK, side * DOUBLES), np.float64), tiles


@inner
def spectral_norms(F: Array, rows: Rows, mean: Array, inverse: Array, norm: Array) -> None:
    """Fill norm with ``||Z'Z||`` of each set, from the Gram matrix of its rows.

    Features are read once for all sets, block by block; rows held out cost nothing.
    """
    (d, n), sets, most = F.shape, len(norm), 0
    seen, number, line = zeros((sets, n), np.int64), zeros(sets, np.int64), zeros(n, np.float64)
    for q in range(sets):
        for i in range(n):
            if rows.mask[q, i] != 0.0:
                seen[q, number[q]] = i
                number[q] += 1
        most = larger(most, number[q])
    (Z, one), K, work = gram_room(lanes(most)), zeros((n, n), np.float64), zeros((5, n), np.float64)
    tiles = zeros((sets, len(one), one.shape[1], COLUMNS, DOUBLES), np.float64)
    for start in range(0, d, BLOCK):
        part = Z[: smaller(BLOCK, d - start)]
        for q in range(sets):
            own = Rows(rows.mask[q], rows.y[q], rows.number[q], rows.basis[q])
            standardised(F, start, own, mean[q], inverse[q], seen[q, : number[q]], line, part)
            add_gram(part, part, len(part), tiles[q])
    for q in range(sets):
        fill(tiles[q], seen[q, : number[q]], K)
        norm[q] = largest_eigenvalue(K, work)


@jit
def describe(
    matrix: Matrix, rows: Rows, share: Array, mean: Array, inverse: Array, norm: Array,
    tau_max: Array,
) -> None:  # fmt: skip
    """Fill mean and inverse scale of all features for up to COLUMNS training sets.

    Means (q, d) are less `shift`. Where norm (q,) is not empty, fills it with ``||Z'Z|| / n``;
    where tau_max is not, 0 before, with ``(2/n) max_j share_j |z_j'y|``.
    """
    F, shift, number = matrix.F, matrix.shift, rows.number
    (n, d), N, scratch = matrix.X.shape, F.shape[1], zeros(F.shape[1], np.float64)
    masks, Y = zeros((N, COLUMNS), np.float64), zeros((N, COLUMNS), np.float64)
    x, square = zeros((n, DOUBLES), np.float64), zeros((n, DOUBLES), np.float64)
    sums = zeros((3, COLUMNS, DOUBLES), np.float64)
    for q in range(len(mean)):
        for i in range(N):
            root = rows.mask[q, i]
            masks[i, q], Y[i, q] = root * root, root * rows.y[q, i]
    for start in range(0, d, DOUBLES):
        tile_sums(matrix, start, masks, Y, x, square, sums)
        for q in range(len(mean)):
            count, centre, scale = number[q, 0], number[q, 1] != 0, number[q, 2] != 0
            for j in range(start, smaller(d, start + DOUBLES)):
                m, v = sums[0, q, j - start] / count, sums[1, q, j - start] / count
                product = sums[2, q, j - start]
                if v - m * m >= CLEAR * v:
                    size = abs(m) + abs(m + shift[j])
                    inverse[q, j] = inverse_scale(size, v - m * m, centre, scale)
                    mean[q, j] = m if centre else 0.0
                else:
                    mean[q, j], inverse[q, j] = moment(
                        F[j], shift[j], rows.mask[q], number[q], scratch
                    )
                    product = dot(rows.y[q], scratch)
                if len(tau_max) > 0:
                    pull = 2.0 / count * inverse[q, j] * abs(product)
                    tau_max[q] = larger(tau_max[q], share[j] * pull)
    spectral_norms(F, rows, mean, inverse, norm)
    for q in range(len(norm)):
        norm[q] /= number[q, 0]
