"""More than two classes: the mean error of the classes, which all count alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.errors import GenesigError
from genesig.optim.adjustment import Adjustment
from genesig.selection.assess.intervals import Interval, mean_of_shares
from genesig.selection.assess.kinds.record import Assessed, Classes, Headline, HeldOut
from genesig.selection.assess.several import (
    balanced_error,
    cross_fitted,
    macro_auc,
    macro_interval,
    predicted,
    wrong,
)

Array = np.ndarray[Any, Any]


def _loss(found: HeldOut) -> Array:
    return wrong(found.y, found.scores)


def _weights(found: HeldOut, pool: Array) -> Array:
    """1/(T n_c), with n_c the size of the sample's class in its pool."""
    classes = found.scores.shape[-1]
    cell = classes * pool + found.y.astype(np.int64)
    size = np.bincount(cell, minlength=classes * (int(pool.max()) + 1))
    every: Array = np.all(size.reshape(-1, classes) > 0, axis=1)
    return np.where(every[pool], 1 / (classes * size[cell]), np.nan)


def _splits(found: HeldOut, loss: Array) -> Array:
    _, split = np.unique(found.split, return_inverse=True)
    return np.bincount(split, weights=_weights(found, split) * loss)


def _samples(found: HeldOut, loss: Array) -> Interval:
    shares, sizes = [], []
    for c in range(found.scores.shape[-1]):
        inside = found.y == c
        repeats = np.unique(found.repeat[inside])
        each = [loss[inside & (found.repeat == repeat)].mean() for repeat in repeats]
        shares.append(float(np.mean(each)))
        sizes.append(len(np.unique(found.row[inside])))
    return mean_of_shares(shares, sizes)


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
    raise GenesigError("covariates are for two classes, a number or survival")


def _columns(f: Array, classes: Classes) -> dict[str, Array]:
    return {f"score of {name}": f[..., c] for c, name in enumerate(classes or ())}


def _told(found: HeldOut, f: Array, classes: Classes) -> dict[str, Array]:
    each = cross_fitted(found.y, f, found.repeat, found.split)
    return {f"probability of {name}": each[:, c] for c, name in enumerate(classes or ())}


def _scores(table: Any, classes: Classes) -> Array:
    return np.asarray(table[[f"score of {name}" for name in classes or ()]], dtype=float)


SEVERAL_CLASSES = Assessed(
    headline=Headline(
        name="balanced error", loss=_loss, weights=_weights, of_splits=_splits,
        of_samples=_samples, highest=1.0, fewest=2, area=macro_interval,
    ),
    errors=("misclassification", "balanced_error", "squared_error", "auc"),
    of_split=_of_split,
    decided=_decided,
    alone=_alone,
    columns=_columns,
    scores=_scores,
    told=_told,
)  # fmt: skip
