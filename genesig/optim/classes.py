"""Several classes as responses: their columns, and the class whose mean score is nearest.

Class c is a column of 1 inside and 0 outside, over the square root of its share, so that rare
classes count: the mean square of a centred column is then 1 less the share. A sample is of the
class whose mean of out-of-fold scores is nearest; with two classes that is the side of the
midpoint, because both columns, and so all scores, lie on one line.
"""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array


def shares(y: Array, rows: Array, n_classes: int, weights: Array | None = None) -> Array:
    """Return the share of each class among the training rows of k sets, (k, T).

    y (n, k) float: numbers of the classes, 0 to T - 1. rows (n, k) bool: training rows.
    n_classes: T. weights (n, k) float, optional: of the samples, 0 outside the training rows:
    shares are then of their sum.
    """
    if weights is not None:  # one set at a time, so that no sum depends on the other sets
        sums = [
            np.bincount(labels, label_weights, n_classes)
            for labels, label_weights in zip(y.astype(int).T, weights.T, strict=True)
        ]
        return np.stack([class_sums / class_sums.sum() for class_sums in sums])
    membership = y[:, :, None] == np.arange(n_classes)
    return np.asarray((membership & rows[:, :, None]).sum(axis=0) / rows.sum(axis=0)[:, None])


def coded(y: Array, share: Array) -> Array:
    """Return the columns (n, k, T), not centred, of numbers y (n, k) and shares (k, T).

    The inner folds of a training set have its shares, so that their scores can be put together. A
    class without a share has a column of 0.
    """
    membership = (y[:, :, None] == np.arange(share.shape[1])).astype(float)
    return np.asarray(membership / np.sqrt(np.where(share > 0, share, np.inf)))


def centres(y: Array, scores: Array, n_classes: int) -> Array:
    """Return the mean of scores (..., n, T) in each class of the numbers y (n,), (..., T, T)."""
    membership = (y == np.arange(n_classes)[:, None]).astype(float)
    class_sizes = np.maximum(membership.sum(axis=1, keepdims=True), 1.0)
    return np.asarray((membership / class_sizes) @ scores)


def margins(scores: Array, means: Array) -> Array:
    """Return how much nearer each class's mean is than the average mean, (..., n, T).

    scores (..., n, T): f of each sample; means (..., T, T): mean m_c of each class c. The result is
    ``f'm_c - ||m_c||²/2``, which falls with the distance of f from m_c, less its mean over c.
    """
    slopes, constant = discriminant(means)
    return np.asarray(scores @ slopes + constant[..., None, :])


def discriminant(means: Array) -> tuple[Array, Array]:
    """Return slopes (..., T, T) and constants (..., T) of the linear map from scores to `margins`.

    means (..., T, T): mean score of each class, one class a row.
    """
    constant = -np.square(means).sum(axis=-1) / 2
    slopes = np.swapaxes(means, -1, -2)
    return (
        np.asarray(slopes - slopes.mean(axis=-1, keepdims=True)),
        np.asarray(constant - constant.mean(axis=-1, keepdims=True)),
    )
