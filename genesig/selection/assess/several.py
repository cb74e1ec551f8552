"""Measures of held-out samples of several classes.

y holds the number of each sample's class, 0 to T - 1, and f (n, T) a margin for each class; the
prediction is the class of the largest margin. Where two share the largest there is none, and the
sample counts as wrong.
"""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess.clusters import influence_spread
from genesig.selection.assess.intervals import NO_INTERVAL, NORMAL_QUANTILE, Interval
from genesig.selection.assess.scores import auc

MAX_NEWTON_STEPS = 100  # largest number of Newton steps of `calibration_slope`


def predict_class(f: Array) -> Array:
    """Return the number of the class with the largest margin f (..., T), (...,).

    -1 at a tie or without f.
    """
    best = np.argmax(np.where(np.isnan(f), -np.inf, f), axis=-1)
    is_highest = f == np.take_along_axis(f, best[..., None], axis=-1)
    return np.asarray(np.where(is_highest.sum(axis=-1) == 1, best, -1))


def wrong(y: Array, f: Array) -> Array:
    """Return 1 where the class of y (n,) is not predicted by f (n, ..., T), 0 where it is.

    NaN where f is.
    """
    true_class = y.reshape(-1, *[1] * (f.ndim - 2))  # (n, 1, ...), as many axes as f less one
    return np.where(np.isnan(f).any(axis=-1), np.nan, predict_class(f) != true_class)


def calibration_slope(
    y: Array, p: Array, share: Array, group: Array | None = None
) -> tuple[float, Interval]:
    """Return b of ``π_c (p_c/π_c)^b / Σ π_k (p_k/π_k)^b`` by its likelihood, with its interval.

    The probabilities p (n, T) hold for classes of the shares π (T,). b is 1 if they are calibrated,
    below 1 if they are too far apart. Classes are weighted by these shares, and the variance allows
    for the unequal weights (White 1982), over groups (n,) if samples come in groups. NaN without a
    sample of every class, and if all predictions are right or all are wrong: then b is infinite.
    """
    from scipy.special import softmax

    T = p.shape[1]
    class_number = y.astype(np.int64)
    class_sizes = np.bincount(class_number, minlength=T)
    base = np.log(share)
    log_ratio = np.log(np.maximum(p, 1e-300)) - base
    # of each class to the sample's own class
    log_ratio = log_ratio - log_ratio[np.arange(len(class_number)), class_number][:, None]
    if (
        not class_sizes.all()
        or np.isnan(p).any()
        or not (log_ratio > 0).any()
        or (log_ratio >= 0).all()
    ):
        return np.nan, NO_INTERVAL
    sample_weight = share[class_number] / class_sizes[class_number]
    b = 1.0
    for _ in range(MAX_NEWTON_STEPS):
        class_probability = softmax(base + b * log_ratio, axis=1)
        mean = (class_probability * log_ratio).sum(axis=1)
        information = float(
            sample_weight @ ((class_probability * log_ratio**2).sum(axis=1) - mean**2)
        )
        step = -float(sample_weight @ mean) / information if information > 0 else np.nan
        if not abs(step) > 1e-12 * abs(b):
            break
        b += float(np.clip(step, -1.0, 1.0))
    if not abs(step) <= 1e-6 * max(1.0, abs(b)):  # not converged, or NaN
        return np.nan, NO_INTERVAL
    if group is not None:
        return b, influence_spread(sample_weight * mean / information, group).around(b)
    half_width = (
        NORMAL_QUANTILE * float(np.sqrt(np.square(sample_weight * mean).sum())) / information
    )
    return b, (b - half_width, b + half_width)


def balanced_error(y: Array, f: Array, n_classes: int) -> float:
    """Return the mean over the classes of their error shares; NaN if a class is absent."""
    losses = wrong(y, f)
    losses_by_class = [losses[y == c] for c in range(n_classes)]
    if not all(map(len, losses_by_class)):
        return np.nan
    return float(np.mean([class_losses.mean() for class_losses in losses_by_class]))


def macro_auc(y: Array, f: Array) -> float:
    """Return the mean over the classes of the AUC of its margin against all other samples."""
    return float(np.mean([auc(np.where(y == c, 1.0, -1.0), f[:, c]) for c in range(f.shape[1])]))


def class_sides(y: Array, f: Array) -> list[tuple[Array, Array]]:
    """Return for each class which samples are of it, and the margin of that class."""
    return [(y == c, f[:, c]) for c in range(f.shape[1])]
