"""A number: the score is the answer."""

from __future__ import annotations

from genesig.selection.model.kinds.record import Model, Modelled


def _faults(model: Model) -> list[str]:
    named = ["task"] if model["classes"] is not None else []
    return named + (["threshold"] if model["threshold"] is not None else [])


REGRESSION = Modelled(
    parts=lambda dataset, scores, models: {"classes": None, "threshold": None},
    predicted=lambda model, at, scores: {"predicted": scores},
    faults=_faults,
)
