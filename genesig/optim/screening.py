"""Screening of features in single precision: which of them have to be checked exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled.column import LassoFit
from genesig.compiled.working_sets import ScannedFeatures
from genesig.optim.training import TrainingSets

MAX_SCALE_RATIO = 10
"""Training scale, relative to that of all rows, above which single precision is too inexact."""
STRONG_RULE_SHARE = 0.5
"""Share of the strong rule's margin below tau; the check of all features makes it safe."""
LEAP_SHARE = 0.8  # share of tau from which features are kept when tau falls by a large step
SINGLE_EPS = float(np.finfo(np.float32).eps)  # rounding of a number in single precision
BLOCK_LEVELS = 2**17  # levels that are computed at once, so that they stay in the cache


class Screen(NamedTuple):
    """Single-precision features and scales by which all features are screened."""

    features: Array  # (n, d), of root mean square 1
    scaled: Array
    """(q, d) factors of the features in each training set, as shares of `top`.

    ∞ for a feature that is always checked.
    """
    top: Array  # (q,) largest factor


def single_precision(sets: TrainingSets) -> tuple[Array, Array]:
    """Return features scaled to root mean square 1 (n, d) in single precision, and scales (d,)."""
    F = sets.matrix.F
    n = len(sets.X)
    size = np.sqrt(np.einsum("ij,ij->i", F, F) / n)
    single = np.empty(sets.X.shape, dtype=np.float32)
    inverse = 1 / np.where(size > 0, size, 1)
    for i in range(n):
        single[i] = (sets.X[i] - sets.matrix.shift) * inverse
    return single, size


def make_screen(sets: TrainingSets, single: tuple[Array, Array], inverse: Array) -> Screen:
    """Return the screen of q training sets, with inverse scales (q, d).

    A feature that is dominated by left-out rows would lose its digits. It gets an infinite scale,
    so that it is always checked.
    """
    scale = inverse * single[1]
    weights = sets.weights
    is_fragile = (
        scale > MAX_SCALE_RATIO if sets.unit_variance else np.zeros(scale.shape, dtype=bool)
    )
    if not (weights == 1).all():
        is_fragile |= (weights == 0) & (inverse > 0)
        scale /= np.where(weights > 0, weights, 1)
    scale[is_fragile] = 0
    top = scale.max(axis=1)
    top[top == 0] = 1
    scale /= top[:, None]
    scale[is_fragile] = np.inf
    return Screen(single[0], scale.astype(np.float32), top)


def scan_features(
    fits: LassoFit, screen: Screen, set_numbers: Array, strong: Array
) -> ScannedFeatures:
    """Return the features of some training sets whose gradients may exceed tau or `strong` (q,).

    A product with a residual of length 1, times the feature's share of the `top` scale, is the
    gradient over `unit`, up to ``(n + 4) eps ||x_j|| ||r||``: enough to screen. Gradients near tau
    are computed again. If the threshold of the strong rule is lower, features near it are kept as
    well.
    """
    residual = fits.weighted_residual[set_numbers]
    n = fits.weighted_residual.shape[1]
    length = np.maximum(np.sqrt(np.einsum("qi,qi->q", residual, residual)), 1e-200)
    single_residuals = (residual / length[:, None]).astype(np.float32)
    unit = 2.0 / fits.n_rows[set_numbers] * length * screen.top[set_numbers]
    near_tau = fits.point.tau[set_numbers] - (n + 4) * SINGLE_EPS * np.sqrt(n) * unit
    threshold = np.minimum(near_tau, strong[set_numbers]) / unit
    blocks = [
        _levels_above(
            single_residuals @ screen.features[:, columns],
            screen.scaled,
            set_numbers,
            columns,
            threshold,
        )
        for columns in _column_blocks(len(screen.scaled[0]), len(set_numbers))
    ]
    column, feature, levels = map(np.concatenate, zip(*blocks, strict=True))
    order = np.argsort(column, kind="stable")
    start = np.searchsorted(column[order], np.arange(len(set_numbers) + 1))
    ratios = np.empty(len(set_numbers)), np.empty(len(set_numbers))
    feature = feature[order].astype(np.int32)
    return ScannedFeatures(set_numbers, near_tau / unit, start, feature, levels[order], *ratios)


def _column_blocks(d: int, n_sets: int) -> Iterator[slice]:
    """Yield slices of d features for products with n_sets residuals."""
    block_size = max(BLOCK_LEVELS // n_sets, 64)
    for start in range(0, d, block_size):
        yield slice(start, min(start + block_size, d))


def _levels_above(
    level: Array, scales: Array, set_numbers: Array, columns: slice, thresholds: Array
) -> tuple[Array, Array, Array]:
    """Scale products in place.

    Return set position, feature and level of those not below threshold.
    """
    scale = scales[:, columns] if len(set_numbers) == len(scales) else scales[set_numbers, columns]
    with np.errstate(invalid="ignore", over="ignore"):
        level *= scale  # a fragile feature without a product is no number, and looked at
        entries = np.flatnonzero(
            ~(np.abs(level, out=level) < thresholds.astype(np.float32)[:, None])
        )
    column, feature = np.divmod(entries, level.shape[1])
    return column, feature + columns.start, level.ravel()[entries]


def strong_rule(tau: Array, next_tau: Array, mu_changes: Array | bool) -> Array:
    """Return the threshold of the sequential strong rule (Tibshirani et al. 2012).

    A guess, and a looser one where mu changes or tau rises.
    """
    threshold = np.maximum(next_tau - STRONG_RULE_SHARE * (tau - next_tau), LEAP_SHARE * tau)
    threshold = np.where(mu_changes | (next_tau >= tau), 0.6 * np.minimum(next_tau, tau), threshold)
    return np.where(next_tau == 0, -1.0, threshold)
