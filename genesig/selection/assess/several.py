"""What is measured on held-out samples of several classes.

y holds the number of each sample's class, 0 to T - 1, and f (n, T) a margin for each class; the
prediction is the class of the largest margin. Where two share the largest there is none, and the
sample counts as wrong.
"""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess.clusters import influence_spread
from genesig.selection.assess.intervals import NOTHING, Interval, Z, wilson
from genesig.selection.assess.scores import auc

STEPS = 100
"""Most Newton steps of a slope."""


def predicted(f: Array) -> Array:
    """Return the number of the class with the largest margin, (...,); -1 at a tie or without f."""
    best = np.argmax(np.where(np.isnan(f), -np.inf, f), axis=-1)
    highest = f == np.take_along_axis(f, best[..., None], axis=-1)
    return np.asarray(np.where(highest.sum(axis=-1) == 1, best, -1))


def wrong(y: Array, f: Array) -> Array:
    """Return 1 where the class of y (n,) is not predicted by f (n, ..., T), 0 where it is.

    NaN where f is.
    """
    own = y.reshape(-1, *[1] * (f.ndim - 2))
    return np.where(np.isnan(f).any(axis=-1), np.nan, predicted(f) != own)


def calibration_slope(
    y: Array, p: Array, share: Array, group: Array | None = None
) -> tuple[float, Interval]:
    """Return b of ``π_c (p_c/π_c)^b / Σ π_k (p_k/π_k)^b`` by its likelihood, with its interval.

    1 where the probabilities (n, T), which are for classes of the shares π (T,), are calibrated,
    below 1 where they are too far from each other. Classes count by these shares, and the variance
    is that of unlike weights (White 1982), over groups if samples come in these (n,). NaN without a
    sample of every class, and where all are called rightly: b has no end then.
    """
    from scipy.special import softmax

    T, own = p.shape[1], y.astype(np.int64)
    size = np.bincount(own, minlength=T)
    s, base = np.log(np.maximum(p, 1e-300)) - np.log(share), np.log(share)
    s = s - s[np.arange(len(own)), own][:, None]
    if not size.all() or np.isnan(p).any() or not (s > 0).any() or (s >= 0).all():
        return np.nan, NOTHING
    v, b = share[own] / size[own], 1.0
    for _ in range(STEPS):
        q = softmax(base + b * s, axis=1)
        mean = (q * s).sum(axis=1)
        information = float(v @ ((q * s**2).sum(axis=1) - mean**2))
        step = -float(v @ mean) / information if information > 0 else np.nan
        if not abs(step) > 1e-12 * abs(b):
            break
        b += float(np.clip(step, -1.0, 1.0))
    if not abs(step) <= 1e-6 * max(1.0, abs(b)):
        return np.nan, NOTHING
    if group is not None:
        return b, influence_spread(v * mean / information, group).around(b)
    half = Z * float(np.sqrt(np.square(v * mean).sum())) / information
    return b, (b - half, b + half)


def confusion(y: Array, said: Array, classes: int) -> Array:
    """Return how many samples of each class (rows) are said to be of each (columns), (T, T + 1).

    The last column counts those without a prediction.
    """
    column = np.where(said < 0, classes, said).astype(np.int64)
    table = np.zeros((classes, classes + 1), dtype=np.int64)
    np.add.at(table, (y.astype(np.int64), column), 1)
    return table


def balanced_error(y: Array, f: Array, classes: int) -> float:
    """Return the mean over the classes of the share that is wrong; NaN where one is absent."""
    losses = wrong(y, f)
    inside = [losses[y == c] for c in range(classes)]
    return float(np.mean([each.mean() for each in inside])) if all(map(len, inside)) else np.nan


def sensitivities(y: Array, said: Array, classes: int) -> list[tuple[float, float, float]]:
    """Return the share of each class that is predicted rightly, with Wilson's interval."""
    out = []
    for c in range(classes):
        size = int(np.sum(y == c))
        share = float(np.mean(said[y == c] == c)) if size else np.nan
        out.append((share, *wilson(share, size)))
    return out


def macro_auc(y: Array, f: Array) -> float:
    """Return the mean over the classes of the AUC of its margin against all other samples."""
    return float(np.mean([auc(np.where(y == c, 1.0, -1.0), f[:, c]) for c in range(f.shape[1])]))


def sides(y: Array, f: Array) -> list[tuple[Array, Array]]:
    """Return who is of a class, and the margin of that class, for each of them."""
    return [(y == c, f[:, c]) for c in range(f.shape[1])]
