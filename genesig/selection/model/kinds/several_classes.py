"""More than two classes: a score for each, of which the largest is the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.class_line import probabilities
from genesig.results import Dataset
from genesig.selection.model.kinds.record import Model, Modelled


def _parts(dataset: Dataset, scores: Array, models: Sequence[Model]) -> dict[str, Any]:
    return {"classes": list(dataset.design.classes or ()), "threshold": None}


def _predicted(model: Model, at: int, scores: Array) -> dict[str, Array]:
    classes = model["classes"]
    named = {f"score of {name}": scores[:, c] for c, name in enumerate(classes)}
    said = {**named, "predicted": np.array(classes, dtype=object)[scores.argmax(axis=1)]}
    line = probability_line(model, at)
    if line is None:
        return said
    each = probabilities(scores, line)
    return said | {f"probability of {name}": each[:, c] for c, name in enumerate(classes)}


def probability_line(model: Model, at: int) -> Array | None:
    """Return the line of the probabilities; None where a list has none."""
    told = model["models"][at].get("probability")
    return None if told is None else np.append(told["intercept"], told["slope"])


def _faults(model: Model) -> list[str]:
    classes = model["classes"]
    if not isinstance(classes, list) or len(set(classes)) < max(3, len(classes)):
        return ["classes"]
    return [] if model["threshold"] is None else ["threshold"]


SEVERAL_CLASSES = Modelled(
    parts=_parts,
    predicted=_predicted,
    faults=_faults,
)
