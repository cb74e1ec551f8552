"""What one training set carries along its path: problem, known features, factor, support."""

from __future__ import annotations

from typing import Any, NamedTuple

from genesig.arrays import Array
from genesig.compiled import inner
from genesig.compiled.algebra import add, dot, products

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

    F (d, n) features, shared; weights (d,); mask, y, number as in `Rows`; basis (R, n) as there,
    times mask; r (n,) residual, times √v as y is, pull (n,) = √v r; mean, inverse (d,) standardise.
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


class Known(NamedTuple):
    """The features of a column (or, with one axis more, of many) that were ever active.

    feature, weight (E,), Z (E, n), gram (E, E), c = Z'y (E,), b, sign (E,), inside (E,) bool, slot
    (d,) place among the known or -1. active (E,) places of the active ones in the order of the
    Cholesky factor L (E, E), whose ridge is ridge[0]; size (2,). spare, place (E,) are scratch.
    """

    feature: Array
    weight: Array
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
        s.number[q], s.basis[q],
    )  # fmt: skip


@inner
def known_of(s: Known, q: int) -> Known:
    """Return the known features of column q of many."""
    return Known(
        s.feature[q], s.weight[q], s.Z[q], s.gram[q], s.c[q], s.b[q], s.sign[q], s.inside[q],
        s.slot[q], s.active[q], s.L[q], s.ridge[q], s.size[q], s.spare[q], s.place[q],
    )  # fmt: skip


@inner
def summed(at: Point, n: float) -> tuple[float, float]:
    """Return ``n tau/2`` and ``n mu``: what cuts and what damps where squares are summed."""
    return 0.5 * n * at.tau, n * at.mu


@inner
def project(basis: Array, x: Array) -> None:
    """Take the covariates out of x (n,), which is times √v."""
    for k in range(len(basis)):
        add(-dot(basis[k], x), basis[k], x)


@inner
def standardise(col: Column, j: int, out: Array) -> None:
    """Write z_j (n,), zero outside the training rows."""
    mean, inverse = col.mean[j], col.inverse[j]
    for i in range(len(out)):
        out[i] = col.mask[i] * (inverse * (col.F[j, i] - mean))
    project(col.basis, out)


@inner
def gradient(col: Column, j: int) -> float:
    """Return ``(2/n) z_j'r``; mean and covariates drop out because r is orthogonal to them."""
    return float(2.0 / col.number[0] * col.inverse[j] * dot(col.F[j], col.pull))


@inner
def learn(col: Column, known: Known, j: int) -> None:
    """Make feature j known, with its inner products."""
    p = known.size[KNOWN]
    known.size[KNOWN] = p + 1
    known.feature[p], known.weight[p], known.slot[j] = j, col.weights[j], p
    z, row = known.Z[p], known.gram[p]
    standardise(col, j, z)
    products(known.Z, z, p + 1, row)
    for q in range(p):
        known.gram[q, p] = row[q]
    known.c[p] = dot(z, col.y)
    known.b[p] = known.sign[p] = 0.0
    known.inside[p] = False


@inner
def forget(known: Known) -> None:
    """Keep only the active features among the known ones."""
    kept, place = 0, known.place
    for p in range(known.size[KNOWN]):
        if not known.inside[p]:
            known.slot[known.feature[p]] = place[p] = -1
            continue
        place[p] = kept
        known.feature[kept], known.slot[known.feature[p]] = known.feature[p], kept
        for i in range(known.Z.shape[1]):
            known.Z[kept, i] = known.Z[p, i]
        known.weight[kept], known.c[kept], known.b[kept] = known.weight[p], known.c[p], known.b[p]
        known.sign[kept], known.inside[kept] = known.sign[p], True
        for q in range(p + 1):
            if place[q] >= 0:
                known.gram[kept, place[q]] = known.gram[place[q], kept] = known.gram[p, q]
        kept += 1
    for a in range(known.size[ACTIVE]):
        known.active[a] = place[known.active[a]]
    known.size[KNOWN] = kept


@inner
def settle_residual(col: Column) -> None:
    """Take from r what rounding has left of a mean and of the covariates, and weigh it.

    A mean that is left would be multiplied by those of the features.
    """
    r, mask = col.r, col.mask
    if col.number[1] != 0:
        add(-dot(mask, r) / col.number[0], mask, r)
    project(col.basis, r)
    for i in range(len(r)):
        col.pull[i] = mask[i] * r[i]


@inner
def residual_of_active(col: Column, known: Known) -> None:
    """Set ``r = y - Z_A b_A``."""
    for i in range(len(col.r)):
        col.r[i] = col.y[i]
    for a in range(known.size[ACTIVE]):
        p = known.active[a]
        add(-known.b[p], known.Z[p], col.r)
    settle_residual(col)


@inner
def clear_active(known: Known) -> None:
    """Start again from b = 0; the residual stays."""
    for a in range(known.size[ACTIVE]):
        p = known.active[a]
        known.b[p] = known.sign[p] = 0.0
        known.inside[p] = False
    known.size[ACTIVE] = 0
    known.ridge[0] = -1.0
