"""Two classes: the balanced error, both classes counting alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.optim.class_line import probabilities, two_columns
from genesig.selection.assess.kinds.by_class import balanced, held_out_area
from genesig.selection.assess.kinds.record import Assessed, Classes, HeldOut
from genesig.selection.assess.scores import (
    auc,
    balanced_error,
    misclassification,
    squared_error,
    wrong,
    zero_one_loss,
)


def _loss(found: HeldOut) -> Array:
    return zero_one_loss(found.y[:, None], found.scores)


def _number(found: HeldOut) -> tuple[Array, int]:
    return (found.y > 0).astype(np.int64), 2


def _of_split(y: Array, f: Array) -> tuple[float, ...]:
    return misclassification(y, f), balanced_error(y, f), squared_error(y, f), auc(y, f)


def _decided(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    negative, positive = classes or ("", "")
    predicted = np.select([f > 0, f < 0], [positive, negative], default="").astype(object)
    said, unknown = wrong(y, f), np.isnan(f)
    if unknown.any():
        said = said.astype(object)
        said[unknown] = None
    return {"predicted": predicted, "wrong": said}


def _told(f: Array, lines: Array, classes: Classes) -> dict[str, Array]:
    _, positive = classes or ("", "")
    return {f"probability of {positive}": probabilities(two_columns(f), lines)[:, 1]}


def _alone(fixed: Adjustment, y: Array, rows: Array, left_out: Sequence[Array]) -> Array:
    """Cut halfway between the class means of scores of samples that were left out."""
    f = fixed.covariate_scores(np.tile(y[:, None], rows.shape[1]))
    if not left_out:
        return np.asarray(f[0])
    told = y[np.concatenate(left_out)]
    by_others = np.concatenate([f[k, fold] for k, fold in enumerate(left_out, 1)])
    return np.asarray(f[0] - np.mean([by_others[told == side].mean() for side in (-1.0, 1.0)]))


CLASSIFICATION = Assessed(
    headline=balanced(_loss, _number, lambda found, f: held_out_area(found, [(found.y > 0, f)])),
    errors=("misclassification", "balanced_error", "squared_error", "auc"),
    of_split=_of_split,
    decided=_decided,
    alone=_alone,
    told=_told,
)  # fmt: skip
