"""Two classes: the balanced error, both classes counting alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.optim.class_line import probabilities, two_columns
from genesig.selection.assess.kinds.by_class import balanced_error_measure, held_out_area
from genesig.selection.assess.kinds.record import Assessed, Classes, HeldOut
from genesig.selection.assess.scores import (
    auc,
    balanced_error,
    misclassification,
    squared_error,
    wrong,
    zero_one_loss,
)


def _loss(scored: HeldOut) -> Array:
    """Return 1 for each misclassified sample, else 0, at each column of scores, (t, m)."""
    return zero_one_loss(scored.y[:, None], scored.scores)


def _class_numbers(scored: HeldOut) -> tuple[Array, int]:
    return (scored.y > 0).astype(np.int64), 2


def _measure_split(y: Array, f: Array) -> tuple[float, ...]:
    return misclassification(y, f), balanced_error(y, f), squared_error(y, f), auc(y, f)


def _decision_columns(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    negative, positive = classes or ("", "")
    predicted = np.select([f > 0, f < 0], [positive, negative], default="").astype(object)
    is_wrong = wrong(y, f)
    is_missing = np.isnan(f)
    if is_missing.any():
        is_wrong = is_wrong.astype(object)
        is_wrong[is_missing] = None
    return {"predicted": predicted, "wrong": is_wrong}


def _probability_columns(f: Array, lines: Array, classes: Classes) -> dict[str, Array]:
    _, positive = classes or ("", "")
    return {f"probability of {positive}": probabilities(two_columns(f), lines)[:, 1]}


def _score_covariates(
    adjusted: Adjustment, y: Array, rows: Array, inner_folds: Sequence[Array]
) -> Array:
    """Return scores less the midpoint of the class means of the inner folds' scores."""
    f = adjusted.covariate_scores(np.tile(y[:, None], rows.shape[1]))
    if not inner_folds:
        return np.asarray(f[0])
    inner_y = y[np.concatenate(inner_folds)]
    inner_scores = np.concatenate([f[k, fold] for k, fold in enumerate(inner_folds, 1)])
    return np.asarray(
        f[0] - np.mean([inner_scores[inner_y == class_code].mean() for class_code in (-1.0, 1.0)])
    )


CLASSIFICATION = Assessed(
    headline=balanced_error_measure(
        _loss, _class_numbers, lambda found, f: held_out_area(found, [(found.y > 0, f)])
    ),
    errors=("misclassification", "balanced_error", "squared_error", "auc"),
    measure_split=_measure_split,
    decision_columns=_decision_columns,
    score_covariates=_score_covariates,
    probability_columns=_probability_columns,
)
