"""More than two classes: a score for each, of which the largest is the prediction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from genesig.results import Dataset
from genesig.selection.assess.several import fitted_slope, probabilities
from genesig.selection.model.external_scores import Row, several_classes
from genesig.selection.model.kinds.record import Asked, Model, Modelled

Array = np.ndarray[Any, Any]


def _parts(dataset: Dataset, scores: Array) -> dict[str, Any]:
    return {"classes": list(dataset.design.classes or ()), "threshold": None}


def _predicted(model: Model, at: int, scores: Array) -> dict[str, Array]:
    classes = model["classes"]
    named = {f"score of {name}": scores[:, c] for c, name in enumerate(classes)}
    said = {**named, "predicted": np.array(classes, dtype=object)[scores.argmax(axis=1)]}
    slope = model["models"][at].get("slope")
    if slope is None:
        return said
    each = probabilities(scores, slope)
    return said | {f"probability of {name}": each[:, c] for c, name in enumerate(classes)}


def _calibrated(y: Array, scores: Array) -> dict[str, Any]:
    """Fit the slope of the probabilities; none where a split has no such list."""
    b = fitted_slope(y, scores) if np.isfinite(scores).all() else np.nan
    return {} if np.isnan(b) else {"slope": b}


def _tested(asked: Asked) -> tuple[Iterable[Row], dict[str, Any]]:
    model = asked.model
    slope = model["models"][asked.at].get("slope")
    return several_classes(asked.y, asked.f, model["classes"], slope), {}


def _faults(model: Model) -> list[str]:
    classes = model["classes"]
    if not isinstance(classes, list) or len(set(classes)) < max(3, len(classes)):
        return ["classes"]
    return [] if model["threshold"] is None else ["threshold"]


SEVERAL_CLASSES = Modelled(
    parts=_parts,
    predicted=_predicted,
    faults=_faults,
    calibrated=_calibrated,
    tested=_tested,
)
