"""Two classes: the balanced error, both classes counting alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.optim.adjustment import Adjustment
from genesig.selection.assess.intervals import Interval, delong, mean_of_shares
from genesig.selection.assess.kinds.record import Assessed, Classes, Headline, HeldOut
from genesig.selection.assess.scores import (
    auc,
    balanced_error,
    misclassification,
    squared_error,
    wrong,
    zero_one_loss,
)

Array = np.ndarray[Any, Any]


def _loss(found: HeldOut) -> Array:
    return zero_one_loss(found.y[:, None], found.scores)


def _weights(found: HeldOut, pool: Array) -> Array:
    """1/(2 n_c), with n_c the size of the sample's class in its pool."""
    cell = 2 * pool + (found.y > 0)
    size = np.bincount(cell, minlength=2 * (int(pool.max()) + 1))
    both: Array = np.all(size.reshape(-1, 2) > 0, axis=1, keepdims=False)
    return np.where(both[pool], 0.5 / size[cell], np.nan)


def _splits(found: HeldOut, loss: Array) -> Array:
    _, split = np.unique(found.split, return_inverse=True)
    weighted = _weights(found, split) * loss
    return np.bincount(split, weights=weighted)


def _samples(found: HeldOut, loss: Array) -> Interval:
    shares, sizes = [], []
    for c in (-1.0, 1.0):
        of_class = found.y == c
        repeats = np.unique(found.repeat[of_class])
        each = [loss[of_class & (found.repeat == repeat)].mean() for repeat in repeats]
        shares.append(float(np.mean(each)))
        sizes.append(len(np.unique(found.row[of_class])))
    return mean_of_shares(shares, sizes)


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


def _alone(fixed: Adjustment, y: Array, rows: Array, left_out: Sequence[Array]) -> Array:
    """Cut halfway between the class means of scores of samples that were left out."""
    f = fixed.alone(np.tile(y[:, None], rows.shape[1]))
    if not left_out:
        return np.asarray(f[0])
    told = y[np.concatenate(left_out)]
    by_others = np.concatenate([f[k, fold] for k, fold in enumerate(left_out, 1)])
    return np.asarray(f[0] - np.mean([by_others[told == side].mean() for side in (-1.0, 1.0)]))


CLASSIFICATION = Assessed(
    headline=Headline(
        name="balanced error", loss=_loss, weights=_weights, of_splits=_splits,
        of_samples=_samples, highest=1.0, fewest=2, area=delong,
    ),
    errors=("misclassification", "balanced_error", "squared_error", "auc"),
    of_split=_of_split,
    decided=_decided,
    alone=_alone,
)  # fmt: skip
