"""A number: 1 - R²."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.optim.adjustment import Adjustment
from genesig.selection.assess.intervals import NOTHING, Interval, mean_t
from genesig.selection.assess.kinds.record import Assessed, Classes, Headline, HeldOut
from genesig.selection.assess.scores import squared_error

Array = np.ndarray[Any, Any]


def _loss(found: HeldOut) -> Array:
    return np.asarray(np.square(found.y[:, None] - found.scores))


def _weights(found: HeldOut, pool: Array) -> Array:
    """1 / Σ (y - ȳ)² over the sample's pool."""
    mean = np.bincount(pool, weights=found.y) / np.maximum(np.bincount(pool), 1)
    total = np.bincount(pool, weights=np.square(found.y - mean[pool]))
    return 1.0 / np.where(total > 0, total, np.nan)[pool]


def _splits(found: HeldOut, loss: Array) -> Array:
    """Mean loss of each split over the variance of all responses: few of one split have little."""
    _, split = np.unique(found.split, return_inverse=True)
    return np.bincount(split, weights=loss) / np.bincount(split) / _variance(found)


def _samples(found: HeldOut, loss: Array) -> Interval:
    return mean_t(found.per_sample(loss)[1] / _variance(found))


def _variance(found: HeldOut) -> float:
    return float(np.var(found.per_sample(found.y)[0]))


def _of_split(y: Array, f: Array) -> tuple[float, ...]:
    return np.nan, np.nan, squared_error(y, f), np.nan


def _decided(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    return {"predicted": f, "wrong": np.full(len(f), None, dtype=object)}


def _alone(fixed: Adjustment, y: Array, rows: Array, left_out: Sequence[Array]) -> Array:
    return np.asarray(fixed.alone(np.tile(y[:, None], rows.shape[1]))[0])


REGRESSION = Assessed(
    headline=Headline(
        name="1 - R²", loss=_loss, weights=_weights, of_splits=_splits, of_samples=_samples,
        highest=np.inf, fewest=5, area=lambda y, f: (np.nan, *NOTHING),
    ),
    errors=("misclassification", "balanced_error", "squared_error", "auc"),
    of_split=_of_split,
    decided=_decided,
    alone=_alone,
)  # fmt: skip
