"""Survival: the baseline hazard of each model, the horizon, and where risk is high."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.cox.hazard import Hazard
from genesig.results import Dataset, Fits
from genesig.selection.linear.kinds.survival import TIES
from genesig.selection.model.kinds.record import Model, Modelled
from genesig.selection.survival.foretold import hazard_of

Array = np.ndarray[Any, Any]


def _parts(dataset: Dataset, final: Fits, scores: Array) -> dict[str, Any]:
    y, design = dataset.response(), dataset.design
    found = [hazard_of(y, eta, design.ties or TIES) for eta in scores.T]
    return {
        "classes": None,
        "threshold": float(final.threshold[0]),
        "survival": {
            "event": design.event,
            "horizon": design.horizon,
            "times": found[0].times.tolist(),
            "cumulative": [each.cumulative.tolist() for each in found],
        },
    }


def _predicted(model: Model, at: int, scores: Array) -> dict[str, Array]:
    own = model["survival"]
    hazard = Hazard(np.array(own["times"]), np.array(own["cumulative"][at]))
    group = np.where(scores > model["threshold"], "high", "low")
    left = hazard.survival(scores, np.array([own["horizon"]]))[:, 0]
    return {"predicted": group, "survival": left}


def _faults(model: Model) -> list[str]:
    own = model.get("survival")
    if own is None or model["classes"] is not None:
        return ["task"]
    times, hazards = np.array(own["times"]), own["cumulative"]
    sound = len(hazards) == len(model["models"]) and bool((np.diff(times) > 0).all())
    sound = sound and all(len(each) == len(times) and (np.diff(each) >= 0).all()
                          for each in hazards)  # fmt: skip
    missing = ["threshold"] if model["threshold"] is None else []
    return missing + ([] if sound else ["survival"])


SURVIVAL = Modelled(parts=_parts, predicted=_predicted, faults=_faults)
