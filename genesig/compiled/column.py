"""What one training set carries along its path: problem, known features, factor, support."""

from __future__ import annotations

from typing import Any, NamedTuple

from genesig.arrays import Array
from genesig.compiled import inner
from genesig.compiled.algebra import dot, products

KNOWN, ACTIVE = 0, 1  # places in `size`


class Point(NamedTuple):
    """Where a column is on its path: a number each (or, of many columns, (q,)).

    tau, mu; dual, whether to solve in the dual; longest, the number of active features from which
    that is the better way; floor, the rounding of a gradient.
    """

    tau: Any
    mu: Any
    dual: Any
    longest: Any
    floor: Any


class Column(NamedTuple):
    """One training set (or, with one axis more, many) at a point of its path.

    F (d, n) features, shared; weights (d,); mask, y, number, basis as in `Rows`; r (n,) residual,
    times √v as y is, pull (n,) = √v r; mean, inverse (d,) standardise. Known features, those that
    were ever active: feature (E,), Z (E, n), gram (E, E), c = Z'y (E,), b, sign (E,), inside (E,)
    bool, slot (d,) place among the known or -1. active (E,) places of the active ones in the order
    of the Cholesky factor L (E, E), whose ridge is ridge[0]; size (2,). spare, place (E,) are
    scratch.
    """

    at: Point
    F: Array
    weights: Array
    mask: Array
    y: Array
    r: Array
    pull: Array
    mean: Array
    inverse: Array
    number: Array
    basis: Array
    feature: Array
    Z: Array
    gram: Array
    c: Array
    b: Array
    sign: Array
    inside: Array
    slot: Array
    active: Array
    L: Array
    ridge: Array
    size: Array
    spare: Array
    place: Array


@inner
def column_of(s: Column, q: int) -> Column:
    """Return column q of many."""
    at = Point(s.at.tau[q], s.at.mu[q], s.at.dual[q], s.at.longest[q], s.at.floor[q])
    return Column(
        at, s.F, s.weights, s.mask[q], s.y[q], s.r[q], s.pull[q], s.mean[q], s.inverse[q],
        s.number[q], s.basis[q], s.feature[q], s.Z[q], s.gram[q], s.c[q], s.b[q], s.sign[q],
        s.inside[q], s.slot[q], s.active[q], s.L[q], s.ridge[q], s.size[q], s.spare[q], s.place[q],
    )  # fmt: skip


@inner
def summed(col: Column) -> tuple[float, float]:
    """Return ``n tau/2`` and ``n mu``: what cuts and what damps where squares are summed."""
    return 0.5 * col.number[0] * col.at.tau, col.number[0] * col.at.mu


@inner
def project(col: Column, x: Array) -> None:
    """Take the covariates out of x (n,), which is times √v."""
    for k in range(len(col.basis)):
        total = 0.0
        for i in range(len(x)):
            total += col.mask[i] * col.basis[k, i] * x[i]
        for i in range(len(x)):
            x[i] -= total * (col.mask[i] * col.basis[k, i])


@inner
def standardise(col: Column, j: int, out: Array) -> None:
    """Write z_j (n,), zero outside the training rows."""
    mean, inverse = col.mean[j], col.inverse[j]
    for i in range(len(out)):
        out[i] = col.mask[i] * (inverse * (col.F[j, i] - mean))
    project(col, out)


@inner
def standardise_rows(col: Column, j: int, rows: Array, out: Array) -> None:
    """Write z_j on the training rows alone, out (len(rows),)."""
    mean, inverse, n = col.mean[j], col.inverse[j], len(rows)
    for i in range(n):
        out[i] = col.mask[rows[i]] * (inverse * (col.F[j, rows[i]] - mean))
    for k in range(len(col.basis)):
        total = 0.0
        for i in range(n):
            total += col.mask[rows[i]] * col.basis[k, rows[i]] * out[i]
        for i in range(n):
            out[i] -= total * (col.mask[rows[i]] * col.basis[k, rows[i]])


@inner
def gradient(col: Column, j: int) -> float:
    """Return ``(2/n) z_j'r``; mean and covariates drop out because r is orthogonal to them."""
    return float(2.0 / col.number[0] * col.inverse[j] * dot(col.F[j], col.pull))


@inner
def learn(col: Column, j: int) -> None:
    """Make feature j known, with its inner products."""
    p = col.size[KNOWN]
    col.size[KNOWN] = p + 1
    col.feature[p], col.slot[j] = j, p
    z, row = col.Z[p], col.gram[p]
    standardise(col, j, z)
    products(col.Z, z, p + 1, row)
    for q in range(p):
        col.gram[q, p] = row[q]
    col.c[p] = dot(z, col.y)
    col.b[p] = col.sign[p] = 0.0
    col.inside[p] = False


@inner
def forget(col: Column) -> None:
    """Keep only the active features among the known ones."""
    kept, place = 0, col.place
    for p in range(col.size[KNOWN]):
        if not col.inside[p]:
            col.slot[col.feature[p]] = place[p] = -1
            continue
        place[p] = kept
        col.feature[kept], col.slot[col.feature[p]] = col.feature[p], kept
        for i in range(len(col.r)):
            col.Z[kept, i] = col.Z[p, i]
        col.c[kept], col.b[kept] = col.c[p], col.b[p]
        col.sign[kept], col.inside[kept] = col.sign[p], True
        for q in range(p + 1):
            if place[q] >= 0:
                col.gram[kept, place[q]] = col.gram[place[q], kept] = col.gram[p, q]
        kept += 1
    for a in range(col.size[ACTIVE]):
        col.active[a] = place[col.active[a]]
    col.size[KNOWN] = kept


@inner
def settle_residual(col: Column) -> None:
    """Take from r what rounding has left of a mean and of the covariates, and weigh it.

    A mean that is left would be multiplied by those of the features.
    """
    r, mask = col.r, col.mask
    mean = dot(mask, r) / col.number[0] if col.number[1] != 0 else 0.0
    for i in range(len(r)):
        r[i] -= mask[i] * mean
    project(col, r)
    for i in range(len(r)):
        col.pull[i] = mask[i] * r[i]


@inner
def residual_of_active(col: Column) -> None:
    """Set ``r = y - Z_A b_A``."""
    for i in range(len(col.r)):
        col.r[i] = col.y[i]
    for a in range(col.size[ACTIVE]):
        p = col.active[a]
        weight, z = col.b[p], col.Z[p]
        for i in range(len(col.r)):
            col.r[i] -= weight * z[i]
    settle_residual(col)


@inner
def clear_active(col: Column) -> None:
    """Start again from b = 0; the residual stays."""
    for a in range(col.size[ACTIVE]):
        p = col.active[a]
        col.b[p] = col.sign[p] = 0.0
        col.inside[p] = False
    col.size[ACTIVE] = 0
    col.ridge[0] = -1.0
