"""A number: 1 - R²."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.selection.assess.intervals import NOTHING, Interval, error_of_splits, t_quantile
from genesig.selection.assess.kinds.record import Assessed, Classes, Headline, HeldOut
from genesig.selection.assess.scores import squared_error


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


def _limits(found: HeldOut, loss: Array, error: float) -> Interval:
    """Return error ± t √(V_s + V_u) on J - 1 df, see `error_of_splits`.

    Both variances are of u = (l - error (y - ȳ)²)/s², what sample and split add to the ratio: of
    the losses alone the interval would hold that of Σ (y - ȳ)² twice, and cover in 99 to 100 %.
    """
    mean = float(np.mean(found.per_sample(found.y)[0]))
    u = (loss - error * np.square(found.y - mean)) / _variance(found)
    _, split = np.unique(found.split, return_inverse=True)
    splits = np.bincount(split, weights=u) / np.bincount(split)
    influence = found.by_group(u) / len(u)
    freedom = len(splits) - 1 if len(splits) > 1 else len(influence) - 1
    if freedom < 1:
        return NOTHING
    half = t_quantile(freedom) * error_of_splits(splits, found.ratio, influence)
    return max(0.0, error - half), error + half


def _variance(found: HeldOut) -> float:
    return float(np.var(found.per_sample(found.y)[0]))


def _of_split(y: Array, f: Array) -> tuple[float, ...]:
    return np.nan, np.nan, squared_error(y, f), np.nan


def _decided(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    return {"predicted": f, "wrong": np.full(len(f), None, dtype=object)}


def _alone(fixed: Adjustment, y: Array, rows: Array, left_out: Sequence[Array]) -> Array:
    return np.asarray(fixed.covariate_scores(np.tile(y[:, None], rows.shape[1]))[0])


REGRESSION = Assessed(
    headline=Headline(
        name="1 - R²", loss=_loss, weights=_weights, of_splits=_splits, limits=_limits,
        area=lambda y, f: (np.nan, *NOTHING),
    ),
    errors=("misclassification", "balanced_error", "squared_error", "auc"),
    of_split=_of_split,
    decided=_decided,
    alone=_alone,
)  # fmt: skip
