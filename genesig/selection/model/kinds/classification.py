"""Two classes: their names, and the score above which a sample is of the positive one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.class_line import probabilities, two_columns
from genesig.results import Dataset
from genesig.selection.model.kinds.record import Model, Modelled


def _parts(dataset: Dataset, scores: Array, models: Sequence[Model]) -> dict[str, Any]:
    negative, positive = dataset.design.classes or ("", "")
    return {"classes": {"negative": negative, "positive": positive}, "threshold": 0.0}


def _predicted(model: Model, at: int, scores: Array) -> dict[str, Array]:
    classes = model["classes"]
    above = scores > model["threshold"]
    said = {"predicted": np.where(above, classes["positive"], classes["negative"])}
    told = model["models"][at].get("probability")
    if told is None:
        return said
    line = np.array([0.0, told["intercept"], told["slope"]])
    p = probabilities(two_columns(scores), line)[:, 1]
    return said | {f"probability of {classes['positive']}": p}


def _faults(model: Model) -> list[str]:
    classes = model["classes"]
    if classes is None:
        return ["task"]
    if not isinstance(classes, Mapping):
        return ["classes"]
    same = ["classes"] if classes["negative"] == classes["positive"] else []
    return same + (["threshold"] if model["threshold"] is None else [])


CLASSIFICATION = Modelled(parts=_parts, predicted=_predicted, faults=_faults)
