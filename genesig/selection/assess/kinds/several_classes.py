"""More than two classes: the mean error of the classes, which all count alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.optim.class_line import probabilities
from genesig.optim.classes import centres, coded, margins, shares
from genesig.selection.assess.kinds.by_class import balanced_error_measure, held_out_area
from genesig.selection.assess.kinds.record import Assessed, Classes, HeldOut
from genesig.selection.assess.several import (
    balanced_error,
    class_sides,
    macro_auc,
    predict_class,
    wrong,
)


def _loss(scored: HeldOut) -> Array:
    return wrong(scored.y, scored.scores)


def _class_numbers(scored: HeldOut) -> tuple[Array, int]:
    return scored.y.astype(np.int64), scored.scores.shape[-1]


def _area(scored: HeldOut, f: Array) -> tuple[float, float, float]:
    return held_out_area(scored, class_sides(scored.y, f))


def _measure_split(y: Array, f: Array) -> tuple[float, ...]:
    error = float(np.mean(wrong(y, f))) if len(y) else np.nan
    return error, balanced_error(y, f, f.shape[-1]), np.nan, macro_auc(y, f)


def _decision_columns(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    names = np.array([*(classes or ()), ""], dtype=object)
    predicted = predict_class(f)
    loss = wrong(y, f)
    is_missing = np.isnan(loss)
    is_wrong = (loss == 1).astype(object) if is_missing.any() else loss == 1
    if is_missing.any():
        is_wrong[is_missing] = None
    return {"predicted": names[predicted], "wrong": is_wrong}


def _score_covariates(
    adjusted: Adjustment, y: Array, rows: Array, inner_folds: Sequence[Array]
) -> Array:
    """Return margins of the class whose mean score in the inner folds is nearest."""
    Y = np.tile(y[:, None], rows.shape[1])
    n_classes = int(y.max()) + 1
    share = shares(Y[:, :1], rows[:, :1], n_classes, np.square(adjusted.root[:, :1]))
    columns = coded(Y, np.repeat(share, rows.shape[1], axis=0))
    f = np.stack([adjusted.covariate_scores(columns[:, :, c]) for c in range(n_classes)], axis=-1)
    if not inner_folds:
        return np.asarray(f[0])
    inner_scores = np.concatenate([f[k, fold] for k, fold in enumerate(inner_folds, 1)])
    return margins(f[0], centres(y[np.concatenate(inner_folds)], inner_scores, n_classes))


def _score_columns(f: Array, classes: Classes) -> dict[str, Array]:
    return {f"score of {name}": f[..., c] for c, name in enumerate(classes or ())}


def _probability_columns(f: Array, lines: Array, classes: Classes) -> dict[str, Array]:
    p = probabilities(f, lines)
    return {f"probability of {name}": p[:, c] for c, name in enumerate(classes or ())}


def _read_scores(table: Any, classes: Classes) -> Array:
    return np.asarray(table[[f"score of {name}" for name in classes or ()]], dtype=float)


SEVERAL_CLASSES = Assessed(
    headline=balanced_error_measure(_loss, _class_numbers, _area),
    errors=("misclassification", "balanced_error", "squared_error", "auc"),
    measure_split=_measure_split,
    decision_columns=_decision_columns,
    score_covariates=_score_covariates,
    score_columns=_score_columns,
    read_scores=_read_scores,
    probability_columns=_probability_columns,
)
