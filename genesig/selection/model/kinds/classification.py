"""Two classes: their names, and the score above which a sample is predicted positive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.class_line import probabilities, two_columns
from genesig.results import Dataset
from genesig.selection.model.kinds.record import ModelKind
from genesig.selection.model.schema import ModelJson


def _parts(dataset: Dataset, scores: Array, models: Sequence[ModelJson]) -> dict[str, Any]:
    negative, positive = dataset.design.classes or ("", "")
    return {"classes": {"negative": negative, "positive": positive}, "threshold": 0.0}


def _predicted(model: ModelJson, index: int, scores: Array) -> dict[str, Array]:
    classes = model["classes"]
    is_positive = scores > model["threshold"]
    columns = {"predicted": np.where(is_positive, classes["positive"], classes["negative"])}
    probability = model["models"][index].get("probability")
    if probability is None:
        return columns
    line = np.array([0.0, probability["intercept"], probability["slope"]])
    p = probabilities(two_columns(scores), line)[:, 1]
    return columns | {f"probability of {classes['positive']}": p}


def _faults(model: ModelJson) -> list[str]:
    classes = model["classes"]
    if classes is None:
        return ["task"]
    if not isinstance(classes, Mapping):
        return ["classes"]
    faults = ["classes"] if classes["negative"] == classes["positive"] else []
    return faults + (["threshold"] if model["threshold"] is None else [])


CLASSIFICATION = ModelKind(parts=_parts, predicted=_predicted, faults=_faults)
