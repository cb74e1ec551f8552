"""A number: 1 - R²."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.selection.assess.intervals import (
    NO_INTERVAL,
    Interval,
    standard_error_over_splits,
    t_quantile,
)
from genesig.selection.assess.kinds.record import Assessed, Classes, Headline, HeldOut
from genesig.selection.assess.scores import squared_error


def _loss(scored: HeldOut) -> Array:
    return np.asarray(np.square(scored.y[:, None] - scored.scores))


def _weights(scored: HeldOut, pool: Array) -> Array:
    """Return 1 / Σ (y - ȳ)² over the sample's pool."""
    mean = np.bincount(pool, weights=scored.y) / np.maximum(np.bincount(pool), 1)
    total = np.bincount(pool, weights=np.square(scored.y - mean[pool]))
    return 1.0 / np.where(total > 0, total, np.nan)[pool]


def _split_errors(scored: HeldOut, loss: Array) -> Array:
    """Return the mean loss of each split over the variance of all responses.

    The variance within a small split would be too uncertain.
    """
    _, split = np.unique(scored.split, return_inverse=True)
    return np.bincount(split, weights=loss) / np.bincount(split) / _variance(scored)


def _limits(scored: HeldOut, loss: Array, error: float) -> Interval:
    """Return error ± t √(V_s + V_u) on J - 1 df, see `standard_error_over_splits`.

    Both variances are of u = (l - error (y - ȳ)²)/s², what sample and split add to the ratio: of
    the losses alone the interval would hold that of Σ (y - ȳ)² twice, and cover in 99 to 100 %.
    """
    mean = float(np.mean(scored.sample_means(scored.y)[0]))
    u = (loss - error * np.square(scored.y - mean)) / _variance(scored)
    _, split = np.unique(scored.split, return_inverse=True)
    splits = np.bincount(split, weights=u) / np.bincount(split)
    influence = scored.sum_by_group(u) / len(u)
    degrees_of_freedom = len(splits) - 1 if len(splits) > 1 else len(influence) - 1
    if degrees_of_freedom < 1:
        return NO_INTERVAL
    half_width = t_quantile(degrees_of_freedom) * standard_error_over_splits(
        splits, scored.ratio, influence
    )
    return max(0.0, error - half_width), error + half_width


def _variance(scored: HeldOut) -> float:
    return float(np.var(scored.sample_means(scored.y)[0]))


def _measure_split(y: Array, f: Array) -> tuple[float, ...]:
    return np.nan, np.nan, squared_error(y, f), np.nan


def _decision_columns(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    return {"predicted": f, "wrong": np.full(len(f), None, dtype=object)}


def _score_covariates(
    adjusted: Adjustment, y: Array, rows: Array, inner_folds: Sequence[Array]
) -> Array:
    return np.asarray(adjusted.covariate_scores(np.tile(y[:, None], rows.shape[1]))[0])


REGRESSION = Assessed(
    headline=Headline(
        name="1 - R²",
        loss=_loss,
        weights=_weights,
        split_errors=_split_errors,
        limits=_limits,
        area=lambda y, f: (np.nan, *NO_INTERVAL),
    ),
    errors=("misclassification", "balanced_error", "squared_error", "auc"),
    measure_split=_measure_split,
    decision_columns=_decision_columns,
    score_covariates=_score_covariates,
)
