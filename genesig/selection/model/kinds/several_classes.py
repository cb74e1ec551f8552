"""More than two classes: a score for each, of which the largest is the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.class_line import probabilities
from genesig.results import Dataset
from genesig.selection.model.kinds.record import ModelKind
from genesig.selection.model.schema import ModelJson


def _parts(dataset: Dataset, scores: Array, models: Sequence[ModelJson]) -> dict[str, Any]:
    return {"classes": list(dataset.design.classes or ()), "threshold": None}


def _predicted(model: ModelJson, index: int, scores: Array) -> dict[str, Array]:
    classes = model["classes"]
    score_columns = {f"score of {name}": scores[:, c] for c, name in enumerate(classes)}
    columns = {**score_columns, "predicted": np.array(classes, dtype=object)[scores.argmax(axis=1)]}
    line = probability_line(model, index)
    if line is None:
        return columns
    p = probabilities(scores, line)
    return columns | {f"probability of {name}": p[:, c] for c, name in enumerate(classes)}


def probability_line(model: ModelJson, index: int) -> Array | None:
    """Return intercepts and slope of the probabilities (T + 1,); None if the list has none."""
    probability = model["models"][index].get("probability")
    return (
        None if probability is None else np.append(probability["intercept"], probability["slope"])
    )


def _faults(model: ModelJson) -> list[str]:
    classes = model["classes"]
    if not isinstance(classes, list) or len(set(classes)) < max(3, len(classes)):
        return ["classes"]
    return [] if model["threshold"] is None else ["threshold"]


SEVERAL_CLASSES = ModelKind(
    parts=_parts,
    predicted=_predicted,
    faults=_faults,
)
