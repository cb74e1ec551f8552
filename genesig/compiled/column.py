"""What one training set carries along its path: problem, known features, factor, support."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import inner, part
from genesig.compiled.algebra import add, dot, products

FEATURE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("b", float),
                ("sign", float),
                ("weight", float),
                ("c", float),
                ("j", np.int32),
                ("inside", bool),
            ],
            align=True,
        ),
    )
)
"""A known feature: its coefficient, sign, weight, ``c = z'y``, its number among all, and whether it
is active."""
STATE = np.dtype((np.record, [("known", int), ("active", int), ("ridge", float)]))
"""How many features are known, and active; the ridge of their factor, or -1."""


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

    features (E,), of FEATURE; Z (E, n), gram (E, E); slot (d,) place among the known or -1.
    active (E,) places of the active ones in the order of the Cholesky factor L (E, E); spare (E,)
    is scratch; state, of STATE.
    """

    features: Array
    Z: Array
    gram: Array
    slot: Array
    active: Array
    L: Array
    spare: Array
    state: Any


@inner
def column_of(s: Column, q: int) -> Column:
    """Return column q of many."""
    at = Point(s.at.tau[q], s.at.mu[q], s.at.dual[q], s.at.longest[q], s.at.floor[q])
    return Column(
        at,
        s.F,
        s.weights,
        s.mask[q],
        s.y[q],
        s.r[q],
        s.pull[q],
        s.mean[q],
        s.inverse[q],
        s.number[q],
        s.basis[q],
    )


@part
def known_of(s: Known, q: int) -> Known:
    """Return the known features of column q of many."""
    return Known(
        s.features[q],
        s.Z[q],
        s.gram[q],
        s.slot[q],
        s.active[q],
        s.L[q],
        s.spare[q],
        s.state[q],
    )


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
    mean = col.mean[j]
    inverse = col.inverse[j]
    for i in range(len(out)):
        out[i] = col.mask[i] * (inverse * (col.F[j, i] - mean))
    project(col.basis, out)


@inner
def gradient(col: Column, j: int) -> float:
    """Return ``(2/n) z_j'r``; mean and covariates drop out because r is orthogonal to them."""
    return float(2.0 / col.number[0] * col.inverse[j] * dot(col.F[j], col.pull))


@part
def learn(col: Column, known: Known, j: int) -> None:
    """Make feature j known, with its inner products."""
    p = known.state.known
    known.state.known = p + 1
    known.slot[j] = p
    z = known.Z[p]
    row = known.gram[p]
    standardise(col, j, z)
    products(known.Z, z, p + 1, row)
    for q in range(p):
        known.gram[q, p] = row[q]
    new = known.features[p]
    new.j = j
    new.weight = col.weights[j]
    new.c = dot(z, col.y)
    new.inside = False
    new.b = new.sign = 0.0


@inner
def forget(known: Known) -> None:
    """Keep only the active features among the known ones."""
    kept = 0
    features = known.features
    for p in range(known.state.known):
        if not features[p].inside:
            known.slot[features[p].j] = -1
            continue
        known.slot[features[p].j] = kept
        k = 0
        for i in range(known.Z.shape[1]):
            known.Z[kept, i] = known.Z[p, i]
        for q in range(p + 1):
            if features[q].inside:
                known.gram[kept, k] = known.gram[k, kept] = known.gram[p, q]
                k += 1
        kept += 1
    for a in range(known.state.active):
        known.active[a] = known.slot[features[known.active[a]].j]
    for p in range(known.state.known):
        if features[p].inside:
            features[known.slot[features[p].j]] = features[p]
    known.state.known = kept


@inner
def settle_residual(col: Column) -> None:
    """Take from r what rounding has left of a mean and of the covariates, and weigh it.

    A mean that is left would be multiplied by those of the features.
    """
    r = col.r
    mask = col.mask
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
    for a in range(known.state.active):
        p = known.active[a]
        add(-known.features[p].b, known.Z[p], col.r)
    settle_residual(col)


@inner
def clear_active(known: Known) -> None:
    """Start again from b = 0; the residual stays."""
    for a in range(known.state.active):
        f = known.features[known.active[a]]
        f.b = f.sign = 0.0
        f.inside = False
    known.state.active = 0
    known.state.ridge = -1.0
