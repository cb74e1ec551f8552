"""The features of all supports of one training set, standardised once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import plain
from genesig.compiled.moments import Matrix, Rows, moment
from genesig.compiled.products import products

Array = np.ndarray[Any, Any]


class Known(NamedTuple):
    """Features of all supports of one training set, standardised.

    Z (U, N) on all rows, masked (U, N) on its training rows, times √v, both less what the
    covariates say of them there; gram (U, U) of the latter or (0, 0)
    where the supports are so large that each has its own; mean in the units of the caller's X,
    inverse (U,); y (N,) the response.
    """

    Z: Array
    masked: Array
    gram: Array
    mean: Array
    inverse: Array
    y: Array


@plain
def learn(matrix: Matrix, rows: Rows, features: Array, known: Known) -> None:
    """Fill the known features."""
    F, shift, mask = matrix.F, matrix.shift, rows.mask
    for p in range(len(features)):
        j, z = features[p], known.masked[p]
        mean, inverse = moment(F[j], shift[j], mask, rows.number, known.Z[p])
        known.mean[p], known.inverse[p] = mean + shift[j], inverse
        for i in range(len(mask)):
            known.Z[p, i] = inverse * (F[j, i] - mean)
            z[i] = mask[i] * known.Z[p, i]
        explained(rows, known.Z[p], z)
    if len(known.gram) > 0:
        products(known.masked, 0, len(features), known.gram)


@plain
def explained(rows: Rows, Z: Array, z: Array) -> None:
    """Take from Z, on all rows, what the covariates say of it by the training rows; z = √v Z."""
    basis, mask = rows.basis, rows.mask
    for k in range(len(basis)):
        total = 0.0
        for i in range(len(z)):
            total += mask[i] * basis[k, i] * z[i]
        for i in range(len(z)):
            Z[i] -= total * basis[k, i]
            z[i] = mask[i] * Z[i]


@plain
def gather(rows: Array, A: Array, start: int, count: int, Z: Array) -> None:
    """Copy rows A[start : start + count] to the first rows of Z, which may be wider."""
    for a in range(count):
        for i in range(rows.shape[1]):
            Z[a, i] = rows[A[start + a], i]
