"""What tells in single precision which features need to be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled.column import Column
from genesig.compiled.working_sets import Found
from genesig.optim.training import TrainingSets

FRAGILE = 10  # a training scale this much above that of all rows makes products inexact
MARGIN = 0.5  # of the strong rule's margin below tau; the check of all features makes it safe
LEAP = 0.8  # share of tau from which features are kept where it leaps: the others may never come
SINGLE = float(np.finfo(np.float32).eps)
NUMBERS = 2**17  # levels at a time, so that they stay in the cache


class Screen(NamedTuple):
    """What all features are screened by, in single precision.

    features (n, d), of root mean square 1; scaled (q, d) what each is multiplied by in a column, as
    a share of top (q,).
    """

    features: Array
    scaled: Array
    top: Array


def in_single(sets: TrainingSets) -> tuple[Array, Array]:
    """Return features of root mean square 1 (n, d), in single precision, and what they were."""
    F = sets.matrix.F
    n = len(sets.X)
    size = np.sqrt(np.einsum("ij,ij->i", F, F) / n)
    single = np.empty(sets.X.shape, dtype=np.float32)
    inverse = 1 / np.where(size > 0, size, 1)
    for i in range(n):
        single[i] = (sets.X[i] - sets.matrix.shift) * inverse
    return single, size


def screen_of(sets: TrainingSets, single: tuple[Array, Array], inverse: Array) -> Screen:
    """Return the features, with their scales in each column as shares of the largest.

    A feature that the rows left out dominate would lose its digits: it gets an infinite scale, so
    it is always looked at.
    """
    scaled = inverse * single[1]
    weights = sets.weights
    fragile = scaled > FRAGILE if sets.unit_variance else np.zeros(scaled.shape, dtype=bool)
    if not (weights == 1).all():
        fragile |= (weights == 0) & (inverse > 0)
        scaled /= np.where(weights > 0, weights, 1)
    scaled[fragile] = 0
    top = scaled.max(axis=1)
    top[top == 0] = 1
    scaled /= top[:, None]
    scaled[fragile] = np.inf
    return Screen(single[0], scaled.astype(np.float32), top)


def scan(many: Column, screen: Screen, todo: Array, strong: Array) -> Found:
    """Find the features of the columns `todo` whose gradients may pass tau or `strong` (q,).

    A product with a residual of length 1, times the feature's share of the `top` scale, is
    ``unit g`` for a gradient g that is off by at most ``(n + 4) eps ||x_j|| ||r||``: enough to
    screen. What comes near tau is computed again; what comes near the strong rule's threshold, if
    that is lower, is to be kept.
    """
    r = many.pull[todo]
    n = many.pull.shape[1]
    length = np.maximum(np.sqrt(np.einsum("qi,qi->q", r, r)), 1e-200)
    R = (r / length[:, None]).astype(np.float32)
    most = 2.0 / many.number[todo, 0] * length * screen.top[todo]
    near = many.at.tau[todo] - (n + 4) * SINGLE * np.sqrt(n) * most
    low = np.minimum(near, strong[todo]) / most
    parts = [
        _above(R @ screen.features[:, part], screen.scaled, todo, part, low)
        for part in _parts(len(screen.scaled[0]), len(todo))
    ]
    column, feature, levels = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(column, kind="stable")
    start = np.searchsorted(column[order], np.arange(len(todo) + 1))
    rest = np.empty(len(todo)), np.empty(len(todo))
    feature = feature[order].astype(np.int32)
    return Found(todo, near / most, start, feature, levels[order], *rest)


def _parts(d: int, columns: int) -> Iterator[slice]:
    size = max(NUMBERS // columns, 64)
    for first in range(0, d, size):
        yield slice(first, min(first + size, d))


def _above(
    level: Array, scaled: Array, todo: Array, part: slice, low: Array
) -> tuple[Array, Array, Array]:
    """Scale products in place; return columns, features and levels of those not below `low`."""
    some = scaled[:, part] if len(todo) == len(scaled) else scaled[todo, part]
    with np.errstate(invalid="ignore", over="ignore"):
        level *= some  # a fragile feature without a product is no number, and looked at
        at = np.flatnonzero(~(np.abs(level, out=level) < low.astype(np.float32)[:, None]))
    column, feature = np.divmod(at, level.shape[1])
    return column, feature + part.start, level.ravel()[at]


def strong_rule(now: Array, then: Array, mu_changes: Array | bool) -> Array:
    """Threshold of the sequential strong rule; a guess, looser, where mu changes or tau leaps."""
    threshold = np.maximum(then - MARGIN * (now - then), LEAP * now)
    threshold = np.where(mu_changes | (then >= now), 0.6 * np.minimum(then, now), threshold)
    return np.where(then == 0, -1.0, threshold)
