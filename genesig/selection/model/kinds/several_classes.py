"""More than two classes: a score for each, of which the largest is the prediction."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.results import Dataset, Fits
from genesig.selection.model.external_scores import several_classes
from genesig.selection.model.kinds.record import Model, Modelled

Array = np.ndarray[Any, Any]


def _parts(dataset: Dataset, final: Fits, scores: Array) -> dict[str, Any]:
    return {"classes": list(dataset.design.classes or ()), "threshold": None}


def _predicted(model: Model, at: int, scores: Array) -> dict[str, Array]:
    classes = model["classes"]
    named = {f"score of {name}": scores[:, c] for c, name in enumerate(classes)}
    return {**named, "predicted": np.array(classes, dtype=object)[scores.argmax(axis=1)]}


def _faults(model: Model) -> list[str]:
    classes = model["classes"]
    if not isinstance(classes, list) or len(set(classes)) < max(3, len(classes)):
        return ["classes"]
    return [] if model["threshold"] is None else ["threshold"]


SEVERAL_CLASSES = Modelled(
    parts=_parts,
    predicted=_predicted,
    faults=_faults,
    tested=lambda asked: (several_classes(asked.y, asked.f, asked.model["classes"]), {}),
)
