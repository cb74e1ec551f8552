"""What tells in single precision which features need to be looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled.screen import Screen
from genesig.compiled.tiles import SINGLES
from genesig.optim.training import TrainingSets

Array = np.ndarray[Any, Any]

FRAGILE = 10  # a training scale this much above that of all rows makes products inexact
MARGIN = 0.5  # of the strong rule's margin below tau; the check of all features makes it safe
LEAP = 0.8  # share of tau from which features are kept where it leaps: the others may never come


def in_single(sets: TrainingSets) -> tuple[Array, Array]:
    """Return features of root mean square 1 in tiles (t, N, SINGLES), and what they were.

    In single precision; the tiles hold SINGLES features each, the last one filled up with zeros.
    """
    F, n, (d, width) = sets.matrix.F, len(sets.X), sets.matrix.F.shape
    size = np.sqrt(np.einsum("ij,ij->i", F, F) / n)
    single = np.zeros((-(-d // SINGLES), width, SINGLES), dtype=np.float32)
    inverse, row = 1 / np.where(size > 0, size, 1), np.zeros(single.shape[0] * SINGLES)
    for i in range(n):
        np.subtract(sets.X[i], sets.matrix.shift, out=row[:d])
        row[:d] *= inverse
        single[:, i] = row.reshape(-1, SINGLES)
    return single, size


def screen_of(sets: TrainingSets, single: tuple[Array, Array], inverse: Array) -> Screen:
    """Return the features, with their scales in each column as shares of the largest.

    A feature that the rows left out dominate would lose its digits: it gets an infinite scale, so
    it is always looked at.
    """
    scaled, weights = inverse * single[1], sets.weights
    fragile = scaled > FRAGILE if sets.unit_variance else np.zeros(scaled.shape, dtype=bool)
    if not (weights == 1).all():
        fragile |= (weights == 0) & (inverse > 0)
        scaled /= np.where(weights > 0, weights, 1)
    scaled[fragile] = 0
    top = scaled.max(axis=1)
    top[top == 0] = 1
    scaled /= top[:, None]
    scaled[fragile] = np.inf
    wide = np.zeros((len(scaled), -(-scaled.shape[1] // SINGLES) * SINGLES), dtype=np.float32)
    wide[:, : scaled.shape[1]] = scaled
    return Screen(single[0], wide, top)


def strong_rule(now: Array, then: Array, mu_changes: Array | bool) -> Array:
    """Threshold of the sequential strong rule; a guess, looser, where mu changes or tau leaps."""
    threshold = np.maximum(then - MARGIN * (now - then), LEAP * now)
    threshold = np.where(mu_changes | (then >= now), 0.6 * np.minimum(then, now), threshold)
    return np.where(then == 0, -1.0, threshold)
