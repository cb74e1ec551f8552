"""Mean and scale of features on the rows of training sets, and what follows from them.

Matrix products over blocks of features, for all sets at once. The last digits depend on how many
sets there are; what is decided by them is decided in `compiled`, one set at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

NUMBERS = 2**17  # of a block of features, so that it stays in the cache
CLEAR = 0.1  # share of the mean square that the variance must be, to be had by subtraction
CONSTANT = 32 * float(np.finfo(float).eps)  # sd, as a share of the mean, that is rounding


class Matrix(NamedTuple):
    """All features of all samples: X (n, d) as given, F (d, n) less shift (d,), by feature."""

    X: Array
    shift: Array
    F: Array


class Rows(NamedTuple):
    """The samples of one training set (or, with one axis more, of many).

    mask (n,) is √v on them, v their weights, of sum `rows`, 1 unless given; y (n,) their responses
    times √v, orthogonal to √v and to the covariates; number (3,) = rows, centre, scale. basis
    (R, n) spans the covariates: with √v, of length 1 and orthogonal on the training rows.
    """

    mask: Array
    y: Array
    number: Array
    basis: Array


class Moments(NamedTuple):
    """Of k training sets.

    mean, inverse scale (k, d), the former less the shift; norm = ``||Z'Z|| / rows`` of those that
    were asked for; tau_max (k,) = ``(2/rows) max_j share_j |z_j'y|``.
    """

    mean: Array
    inverse: Array
    norm: Array
    tau_max: Array


def part_of(rows: Rows, columns: slice | int) -> Rows:
    """Return the rows of some training sets, or of one."""
    return Rows(*(array[columns] for array in rows))


def first_alike(rows: Rows) -> Array:
    """Return the number of the first training set that has the rows and weights of each, (k,).

    Labels that are permuted within studies leave the rows of studies that train as they are.
    """
    first: dict[bytes, int] = {}
    each = zip(rows.mask, rows.number, rows.basis, strict=True)
    keys = [b"".join(part.tobytes() for part in parts) for parts in each]
    return np.array([first.setdefault(key, k) for k, key in enumerate(keys)])


def moments_of(matrix: Matrix, rows: Rows, share: Array, *, spectrum: Sequence[int]) -> Moments:
    """Return the moments of k training sets, with the norms of those numbered by `spectrum`."""
    (k, n), d = rows.mask.shape, len(matrix.F)
    found = Moments(np.empty((k, d)), np.empty((k, d)), np.zeros(len(spectrum)), np.zeros(k))
    seen = [np.flatnonzero(rows.mask[q]) for q in spectrum]
    grams = [np.zeros((len(at), len(at))) for at in seen]
    for part in blocks(d, n):
        some = Matrix(matrix.X[:, part], matrix.shift[part], matrix.F[part])
        mean, inverse, product = _of_block(some, rows)
        found.mean[:, part], found.inverse[:, part] = mean, inverse
        pull = 2.0 / rows.number[:, 0] * (share[part] * inverse * np.abs(product)).max(axis=1)
        np.maximum(found.tau_max, pull, out=found.tau_max)
        for q, at, gram in zip(spectrum, seen, grams, strict=True):
            Z = _training_rows(some, part_of(rows, q), at, mean[q], inverse[q])
            gram += Z @ Z.T
    for number, (q, gram) in enumerate(zip(spectrum, grams, strict=True)):
        found.norm[number] = max(np.linalg.eigvalsh(gram)[-1], 0.0) / rows.number[q, 0]
    return found


def blocks(d: int, n: int) -> Iterator[slice]:
    """Yield the features in blocks that stay in the cache."""
    size = max(NUMBERS // n, 32)
    for first in range(0, d, size):
        yield slice(first, min(first + size, d))


def _of_block(matrix: Matrix, rows: Rows) -> tuple[Array, Array, Array]:
    """Return mean, inverse scale and ``x'y``, each (k, features)."""
    F, count = matrix.F, rows.number[:, :1]
    weight = rows.mask * rows.mask
    with np.errstate(over="ignore", invalid="ignore"):  # squares; then deviations are taken
        mean, square = weight @ F.T / count, weight @ (F * F).T / count
        variance = square - mean * mean
        product = (rows.mask * rows.y) @ F.T
        doubtful = ~(variance >= CLEAR * square)
    for q in np.flatnonzero(doubtful.any(axis=1)):
        at = np.flatnonzero(doubtful[q])
        mean[q, at], variance[q, at], product[q, at] = _by_deviations(F[at], part_of(rows, int(q)))
    centre, scale = rows.number[0, 1:] != 0
    inverse = inverse_scale(np.abs(mean) + np.abs(mean + matrix.shift), variance, centre, scale)
    return mean * centre, inverse, product


def _by_deviations(F: Array, rows: Rows) -> tuple[Array, Array, Array]:
    """Return mean, variance and ``x'y`` of features (d, n) in one set, from deviations."""
    seen = np.flatnonzero(rows.mask)
    F, root = F[:, seen], rows.mask[seen]
    mean = F @ (root * root) / rows.number[0]
    away = root * (F - mean[:, None])
    with np.errstate(over="ignore"):
        square = np.einsum("ji,ji->j", away, away)
    return mean, square / rows.number[0], away @ rows.y[seen]


def inverse_scale(size: Array, variance: Array, centre: bool, scale: bool) -> Array:
    """Return 1/sd, 1 without scaling, 0 for what is constant up to the rounding of its `size`."""
    spread = np.sqrt(np.maximum(variance, 0.0))
    constant = (spread <= CONSTANT * size) & (centre or scale)
    out = np.divide(1.0, spread, out=np.zeros_like(spread), where=~constant & (spread > 0))
    return out if scale else np.where(constant, 0.0, 1.0)


def _training_rows(matrix: Matrix, rows: Rows, seen: Array, mean: Array, inverse: Array) -> Array:
    """Return the training rows of Z, times √v and less what the covariates say of them."""
    Z = matrix.X[seen]
    Z -= matrix.shift
    Z -= mean
    Z *= inverse
    root = rows.mask[seen]
    if (root != 1.0).any():
        Z *= root[:, None]
    Q = root * rows.basis[:, seen]
    if len(Q):
        Z -= Q.T @ (Q @ Z)
    return Z


class Standardised(NamedTuple):
    """Features of one training set: Z (U, n) on all rows, `training` that times √v, 0 elsewhere.

    Both less what the covariates say of them there; mean, in the units of X, and inverse (U,).
    """

    Z: Array
    training: Array
    mean: Array
    inverse: Array


def standardised(matrix: Matrix, rows: Rows, features: Array) -> Standardised:
    """Return some features as one training set has them."""
    F, shift = matrix.F[features], matrix.shift[features]
    mean, variance, _ = _by_deviations(F, rows)
    _, centre, scale = rows.number
    inverse = inverse_scale(np.abs(mean) + np.abs(mean + shift), variance, centre != 0, scale != 0)
    mean = mean * (centre != 0)
    Z = inverse[:, None] * (F - mean[:, None])
    if len(rows.basis):
        Z -= (Z * (rows.mask * rows.mask)) @ rows.basis.T @ rows.basis
    return Standardised(Z, rows.mask * Z, mean + shift, inverse)
