"""More than two classes: the mean error of the classes, which all count alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import Adjustment
from genesig.optim.class_line import probabilities
from genesig.optim.classes import centres, coded, margins, shares
from genesig.selection.assess.kinds.by_class import balanced, held_out_area
from genesig.selection.assess.kinds.record import Assessed, Classes, HeldOut
from genesig.selection.assess.several import (
    balanced_error,
    macro_auc,
    predicted,
    sides,
    wrong,
)


def _loss(found: HeldOut) -> Array:
    return wrong(found.y, found.scores)


def _number(found: HeldOut) -> tuple[Array, int]:
    return found.y.astype(np.int64), found.scores.shape[-1]


def _area(found: HeldOut, f: Array) -> tuple[float, float, float]:
    return held_out_area(found, sides(found.y, f))


def _of_split(y: Array, f: Array) -> tuple[float, ...]:
    error = float(np.mean(wrong(y, f))) if len(y) else np.nan
    return error, balanced_error(y, f, f.shape[-1]), np.nan, macro_auc(y, f)


def _decided(y: Array, f: Array, classes: Classes) -> dict[str, Array]:
    names = np.array([*(classes or ()), ""], dtype=object)
    said, loss = predicted(f), wrong(y, f)
    unknown = np.isnan(loss)
    missed = (loss == 1).astype(object) if unknown.any() else loss == 1
    if unknown.any():
        missed[unknown] = None
    return {"predicted": names[said], "wrong": missed}


def _alone(fixed: Adjustment, y: Array, rows: Array, left_out: Sequence[Array]) -> Array:
    """Take the class whose mean score of samples that were left out is nearest."""
    Y, T = np.tile(y[:, None], rows.shape[1]), int(y.max()) + 1
    share = shares(Y[:, :1], rows[:, :1], T, np.square(fixed.root[:, :1]))
    columns = coded(Y, np.repeat(share, rows.shape[1], axis=0))
    f = np.stack([fixed.covariate_scores(columns[:, :, c]) for c in range(T)], axis=-1)
    if not left_out:
        return np.asarray(f[0])
    by_others = np.concatenate([f[k, fold] for k, fold in enumerate(left_out, 1)])
    return margins(f[0], centres(y[np.concatenate(left_out)], by_others, T))


def _columns(f: Array, classes: Classes) -> dict[str, Array]:
    return {f"score of {name}": f[..., c] for c, name in enumerate(classes or ())}


def _told(f: Array, lines: Array, classes: Classes) -> dict[str, Array]:
    each = probabilities(f, lines)
    return {f"probability of {name}": each[:, c] for c, name in enumerate(classes or ())}


def _scores(table: Any, classes: Classes) -> Array:
    return np.asarray(table[[f"score of {name}" for name in classes or ()]], dtype=float)


SEVERAL_CLASSES = Assessed(
    headline=balanced(_loss, _number, _area),
    errors=("misclassification", "balanced_error", "squared_error", "auc"),
    of_split=_of_split,
    decided=_decided,
    alone=_alone,
    columns=_columns,
    scores=_scores,
    told=_told,
)  # fmt: skip
