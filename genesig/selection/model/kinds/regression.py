"""A number: the score is the prediction."""

from __future__ import annotations

from genesig.selection.model.kinds.record import ModelKind
from genesig.selection.model.schema import ModelJson


def _faults(model: ModelJson) -> list[str]:
    faults = ["task"] if model["classes"] is not None else []
    return faults + (["threshold"] if model["threshold"] is not None else [])


REGRESSION = ModelKind(
    parts=lambda dataset, scores, models: {"classes": None, "threshold": None},
    predicted=lambda model, at, scores: {"predicted": scores},
    faults=_faults,
)
