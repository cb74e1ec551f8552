"""Screening of features in single precision: which of them have to be checked exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled.column import LassoFit
from genesig.compiled.working_sets import ScannedFeatures
from genesig.optim.training import TrainingSets, feature_blocks

MAX_SCALE_RATIO = 10  # training scale over that of all rows, above which float32 is inexact
LEAP_SHARE = 0.8
"""Share of tau from which features are kept when tau falls by a large step.

It saves 11 to 47 % of the nested cross-validation of studies with 38 to 168 samples.
"""
LOOSE_SHARE = 0.6  # share of the smaller tau from which features are kept where no rule holds
SINGLE_EPS = float(np.finfo(np.float32).eps)  # rounding of a number in single precision


class SingleFeatures(NamedTuple):
    """All features less their shift, in single precision."""

    features: Array  # (n, d) float32, each feature over its size
    size: Array  # (d,) root mean square of each feature


class Screen(NamedTuple):
    """Features in single precision, and their scales in q training sets."""

    features: Array  # (n, d) as in `SingleFeatures`
    # (q, d) size over training scale and l1 weight, as shares of `top`; ∞ if always checked
    scaled: Array
    top: Array  # (q,) largest of these factors


def single_precision(sets: TrainingSets) -> SingleFeatures:
    """Return all features in single precision, scaled so that no digits are lost."""
    F = sets.matrix.F
    n = len(sets.X)
    size = np.sqrt(np.einsum("ij,ij->i", F, F) / n)
    features = np.empty(sets.X.shape, dtype=np.float32)
    inverse = 1 / np.where(size > 0, size, 1)
    for i in range(n):
        features[i] = (sets.X[i] - sets.matrix.shift) * inverse
    return SingleFeatures(features, size)


def make_screen(sets: TrainingSets, single: SingleFeatures, inverse: Array) -> Screen:
    """Return the screen of q training sets, from the inverse scales (q, d) of their features.

    A feature that is dominated by left-out rows would lose its digits. It gets an infinite scale,
    so that it is always checked, and so does a feature without an l1 term.
    """
    scale = inverse * single.size
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
    return Screen(single.features, scale.astype(np.float32), top)


def scan_features(
    fits: LassoFit, screen: Screen, set_numbers: Array, min_gradient: Array
) -> ScannedFeatures:
    """Return the features of some training sets whose gradients may exceed tau or `min_gradient`.

    fits: of q sets. set_numbers (c,): the sets to scan. min_gradient (q,): threshold of the strong
    rule. It is often below tau, so that features join which the next point is likely to need.

    A product with a residual of length 1, times the feature's share of the `top` scale, is the
    gradient over `unit`, up to ``(n + 4) eps ||x_j|| ||r||``: enough to screen. Compiled code
    computes gradients near tau exactly.
    """
    residual = fits.weighted_residual[set_numbers]
    n = fits.weighted_residual.shape[1]
    length = np.maximum(np.sqrt(np.einsum("qi,qi->q", residual, residual)), 1e-200)
    single_residuals = (residual / length[:, None]).astype(np.float32)
    unit = 2.0 / fits.n_rows[set_numbers] * length * screen.top[set_numbers]
    near_tau = fits.point.tau[set_numbers] - (n + 4) * SINGLE_EPS * np.sqrt(n) * unit
    threshold = np.minimum(near_tau, min_gradient[set_numbers]) / unit
    blocks = [
        _levels_above(
            single_residuals @ screen.features[:, feature_slice],
            screen.scaled,
            set_numbers,
            feature_slice,
            threshold,
        )
        for feature_slice in feature_blocks(len(screen.scaled[0]), len(set_numbers))
    ]
    position, feature, levels = map(np.concatenate, zip(*blocks, strict=True))
    order = np.argsort(position, kind="stable")
    start = np.searchsorted(position[order], np.arange(len(set_numbers) + 1))
    return ScannedFeatures(
        set_numbers=set_numbers,
        near_tau=near_tau / unit,
        start=start,
        feature=feature[order].astype(np.int32),
        level=levels[order],
        largest_ratio=np.empty(len(set_numbers)),
        excess_squares=np.empty(len(set_numbers)),
    )


def _levels_above(
    levels: Array, scales: Array, set_numbers: Array, feature_slice: slice, thresholds: Array
) -> tuple[Array, Array, Array]:
    """Return set position, feature and level of all levels that are not below their threshold.

    levels (c, block) are products with residuals; they are scaled in place. scales (q, d) are those
    of all training sets, thresholds (c,) those of the scanned ones.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        # 0 ∞ of a feature that is always checked is NaN, which passes.
        levels *= scales[set_numbers, feature_slice]
        entries = np.flatnonzero(
            ~(np.abs(levels, out=levels) < thresholds.astype(np.float32)[:, None])
        )
    position, feature = np.divmod(entries, levels.shape[1])
    return position, feature + feature_slice.start, levels.ravel()[entries]


def strong_rule(tau: Array, next_tau: Array, mu_changes: Array | bool) -> Array:
    """Return the gradient, (q, M), that a feature needs at tau to be kept for `next_tau`.

    The sequential strong rule, a guess: the check of all features finds what it misses. If mu
    changes or tau rises the rule does not hold, and more features are kept; at tau 0 all are.

    Source: Tibshirani et al. 2012, J. R. Stat. Soc. B 74:245.
    """
    threshold = np.maximum(2 * next_tau - tau, LEAP_SHARE * tau)
    loose_threshold = LOOSE_SHARE * np.minimum(next_tau, tau)
    threshold = np.where(mu_changes | (next_tau >= tau), loose_threshold, threshold)
    return np.where(next_tau == 0, -1.0, threshold)
