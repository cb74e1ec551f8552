"""Kernels of one training set along its path, and of coordinate descent on a few columns.

The problem is ``(1/n)||y - Zb||² + mu ||b||² + tau Σ_j w_j |b_j|``, Z standardised and free of the
covariates. A record with one more axis holds many training sets, numbered by `q`; `fit_of_set` and
`pool_of_set` return those of one. `j` numbers features, `p` and `e` those of the pool. The two
functions of coordinate descent state their own problems.

ST(v, t) = sign(v) max(|v| - t, 0) is the soft threshold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, jit_inline, jitable
from genesig.compiled.algebra import add_scaled, add_scaled_rows, dot, multiply_rows

FEATURE_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("coef", float),
                ("sign", float),  # of the coefficient; 0 for a feature without an l1 term
                ("weight", float),  # of its l1 term
                ("z_y", float),  # z'y
                ("number", np.int32),  # column of X
                ("is_active", bool),
            ],
            align=True,
        ),
    )
)
"""A feature in a `FeaturePool`."""
COUNTS_DTYPE = np.dtype(
    (
        np.record,
        [
            ("n_features", int),  # in the pool
            ("n_active", int),
            ("ridge", float),  # on the diagonal of the factored matrix; `NO_FACTOR` without one
        ],
    )
)
"""Counts of a `FeaturePool`."""
NO_FACTOR = -1.0  # the ridge of a pool whose `factor` does not belong to its active features
NOT_IN_POOL = -1  # the position of a feature that is not in the pool
MAX_DESCENT_SWEEPS = 10_000  # largest number of sweeps over the coordinates


class PathPoint(NamedTuple):
    """A point of the path: a number each or, for many training sets, (q,) arrays."""

    tau: Any
    mu: Any
    by_dual: Any  # bool, whether to solve in the dual
    max_active: Any  # number of active features above which the dual is faster
    gradient_rounding: Any  # rounding error of a gradient


class LassoFit(NamedTuple):
    """One training set at a point of its path or, with one more axis (q, ...), many.

    Residuals and responses are times the root weights, so that their products are weighted sums.
    """

    point: PathPoint
    F: Array  # (d, n) features less a shift; shared by all training sets
    weights: Array  # (d,) of the l1 terms; shared by all training sets
    root_weights: Array  # (n,) √v of the sample weights v, 0 for samples outside the training set
    y: Array  # (n,) responses times √v
    residual: Array  # (n,) ``√v (y - Zb)``
    # (n,) √v times the residual: its product with raw features is their gradient
    weighted_residual: Array
    mean: Array  # (d,) training means of F, 0 without centring
    inverse_scale: Array  # (d,) 0 for a constant feature, which is never selected
    n_rows: Any  # sum of the sample weights
    centre: Any  # bool, whether features are centred
    basis: Array  # (R, n) orthonormal covariates times √v


class FeaturePool(NamedTuple):
    """Features that were ever active in a training set or, with one more axis, in many.

    Their standardised values and inner products are computed once. E is the capacity.
    """

    features: Array  # (E,) of FEATURE_DTYPE
    Z: Array  # (E, n) standardised features
    gram: Array  # (E, E) inner products
    position: Array  # (d,) position of each feature in the pool, or `NOT_IN_POOL`
    active: Array  # (E,) positions of the active features, in the order of the factor's rows
    factor: Array  # (E, E) lower Cholesky factor of ``Z_A Z_A' + ridge I`` of the active features A
    scratch: Array  # (E,) free for each kernel to overwrite
    counts: Any  # of COUNTS_DTYPE


@jitable
def fit_of_set(fits: LassoFit, q: int) -> LassoFit:
    """Return training set q of many."""
    point = PathPoint(
        fits.point.tau[q],
        fits.point.mu[q],
        fits.point.by_dual[q],
        fits.point.max_active[q],
        fits.point.gradient_rounding[q],
    )
    return LassoFit(
        point,
        fits.F,
        fits.weights,
        fits.root_weights[q],
        fits.y[q],
        fits.residual[q],
        fits.weighted_residual[q],
        fits.mean[q],
        fits.inverse_scale[q],
        fits.n_rows[q],
        fits.centre[q],
        fits.basis[q],
    )


@jit_inline
def pool_of_set(pools: FeaturePool, q: int) -> FeaturePool:
    """Return the feature pool of training set q of many."""
    return FeaturePool(
        pools.features[q],
        pools.Z[q],
        pools.gram[q],
        pools.position[q],
        pools.active[q],
        pools.factor[q],
        pools.scratch[q],
        pools.counts[q],
    )


@jitable
def summed_penalties(point: PathPoint, n_rows: float) -> tuple[float, float]:
    """Return ``n tau/2`` and ``n mu``: threshold and ridge of the problem times n/2."""
    return 0.5 * n_rows * point.tau, n_rows * point.mu


@jitable
def subtract_covariates(basis: Array, x: Array) -> None:
    """Subtract from x (n,), which is times √v, its projection on the covariates basis (R, n)."""
    for k in range(len(basis)):
        add_scaled(-dot(basis[k], x), basis[k], x)


@jitable
def fill_standardised(fit: LassoFit, j: int, out: Array) -> None:
    """Fill out (n,) with feature j, standardised, times √v and free of the covariates."""
    mean = fit.mean[j]
    inverse = fit.inverse_scale[j]
    for i in range(len(out)):
        out[i] = fit.root_weights[i] * (inverse * (fit.F[j, i] - mean))
    subtract_covariates(fit.basis, out)


@compiled
def fill_standardised_rows(
    X: Array, rows: Array, mean: Array, inverse_scale: Array, out: Array
) -> None:
    """Fill out (m, d) with the rows of X (n, d) that `rows` (m,) lists, standardised.

    `out` may be in single precision. Unlike in `fill_standardised`, values are not multiplied by
    √v, and the covariates stay in them.
    """
    for a in range(len(rows)):
        values = X[rows[a]]
        standardised = out[a]
        for j in range(len(values)):
            standardised[j] = (values[j] - mean[j]) * inverse_scale[j]


@jitable
def residual_product(fit: LassoFit, j: int) -> float:
    """Return the product of the raw values of feature j and the weighted residual."""
    total = 0.0  # in a loop: a slice that is passed to `dot` costs more than a short sum
    for i in range(len(fit.weighted_residual)):
        total += fit.F[j, i] * fit.weighted_residual[i]
    return total


@jitable
def feature_gradient(fit: LassoFit, j: int) -> float:
    """Return ``(2/n) z_j'r`` of feature j from its raw values.

    Its mean and the covariates drop out, because r is orthogonal to them.
    """
    return float(2.0 / fit.n_rows * fit.inverse_scale[j] * residual_product(fit, j))


@jit_inline
def add_to_pool(fit: LassoFit, pool: FeaturePool, j: int) -> None:
    """Add feature j to the pool, which lacks it and has room: inactive, with inner products."""
    p = pool.counts.n_features
    pool.counts.n_features = p + 1
    pool.position[j] = p
    z = pool.Z[p]
    row = pool.gram[p]
    fill_standardised(fit, j, z)
    multiply_rows(pool.Z, z, p + 1, row)
    for e in range(p):
        pool.gram[e, p] = row[e]
    feature = pool.features[p]
    feature.number = j
    feature.weight = fit.weights[j]
    feature.z_y = dot(z, fit.y)
    feature.is_active = False
    feature.coef = feature.sign = 0.0


@jitable
def drop_inactive(pool: FeaturePool) -> None:
    """Remove the inactive features from the pool, in place; the others keep their order."""
    n_kept = 0
    features = pool.features
    for p in range(pool.counts.n_features):
        if not features[p].is_active:
            pool.position[features[p].number] = NOT_IN_POOL
            continue
        pool.position[features[p].number] = n_kept
        k = 0
        for i in range(pool.Z.shape[1]):
            pool.Z[n_kept, i] = pool.Z[p, i]
        for e in range(p + 1):
            if features[e].is_active:
                pool.gram[n_kept, k] = pool.gram[k, n_kept] = pool.gram[p, e]
                k += 1
        n_kept += 1
    for a in range(pool.counts.n_active):
        pool.active[a] = pool.position[features[pool.active[a]].number]
    for p in range(pool.counts.n_features):
        if features[p].is_active:
            features[pool.position[features[p].number]] = features[p]
    pool.counts.n_features = n_kept


@jitable
def centre_residual(fit: LassoFit) -> None:
    """Remove rounding from the residual along √v and the covariates; set the weighted residual.

    A mean that is left would be multiplied by the means of the features.
    """
    residual = fit.residual
    root_weights = fit.root_weights
    if fit.centre:
        add_scaled(-dot(root_weights, residual) / fit.n_rows, root_weights, residual)
    subtract_covariates(fit.basis, residual)
    for i in range(len(residual)):
        fit.weighted_residual[i] = root_weights[i] * residual[i]


@jitable
def update_residual(fit: LassoFit, pool: FeaturePool) -> None:
    """Set the residual to ``y - Z_A b_A`` of the active features A, and the weighted one."""
    residual = fit.residual
    residual[:] = 0.0
    active = pool.active[: pool.counts.n_active]
    add_scaled_rows(pool.Z, active, pool.features["coef"], residual)
    for i in range(len(residual)):
        residual[i] = fit.y[i] - residual[i]
    centre_residual(fit)


@jitable
def clear_active(pool: FeaturePool) -> None:
    """Make all features inactive with coefficient 0; the residual stays."""
    for a in range(pool.counts.n_active):
        feature = pool.features[pool.active[a]]
        feature.coef = feature.sign = 0.0
        feature.is_active = False
    pool.counts.n_active = 0
    pool.counts.ridge = NO_FACTOR


@compiled
def descend_quadratic(
    K: Array,
    k_y: Array,
    diagonal: Array,
    b: Array,
    threshold: float,
    nonnegative: bool,
    max_move: float,
) -> None:
    """Overwrite b (m,) by the minimum of ``½ b'Db - k_y'b + threshold ||b||_1``.

        b_j <- ST(k_y_j - Σ_{k≠j} K_jk b_k, threshold) / diagonal_j

    in turn. D is K (m, m) with `diagonal` (m,) > 0 on its diagonal; with `nonnegative`, b >= 0. The
    sweeps end once no change of b_j times its diagonal exceeds `max_move`, a size of k_y.
    """
    for _ in range(MAX_DESCENT_SWEEPS):
        largest_move = 0.0
        for j in range(len(b)):
            previous = b[j]
            target = k_y[j] - dot(K[j], b) + K[j, j] * previous
            size = (target if nonnegative else abs(target)) - threshold
            b[j] = np.sign(target) * size / diagonal[j] if size > 0.0 else 0.0
            largest_move = max(largest_move, abs(b[j] - previous) * diagonal[j])
        if largest_move <= max_move:
            break


@compiled
def sweep_lasso(
    Z: Array, thresholds: Array, ridge: float, r: Array, b: Array, n_sweeps: int
) -> None:
    """Move b (d,) towards the minimum of ``½||y - Z'b||² + ½ ridge ||b||² + Σ threshold_j |b_j|``.

        b_j <- ST(z_j'r + ||z_j||² b_j, threshold_j) / (||z_j||² + ridge)

    in turn, `n_sweeps` times over all features. Each row of Z (d, n) is a feature; r (n,) is
    ``y - Z'b``, before as after.
    """
    for _ in range(n_sweeps):
        for j in range(len(b)):
            square = dot(Z[j], Z[j])
            if square == 0.0:
                b[j] = 0.0
                continue
            target = dot(Z[j], r) + square * b[j]
            size = abs(target) - thresholds[j]
            updated = np.sign(target) * size / (square + ridge) if size > 0.0 else 0.0
            if updated != b[j]:
                move = b[j] - updated
                for i in range(len(r)):
                    r[i] += move * Z[j, i]
                b[j] = updated
