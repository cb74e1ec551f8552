"""Survival: the baseline hazard of each model, the horizon, and where risk is high."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.risk_sets import USUAL, Hazard
from genesig.results import Dataset
from genesig.selection.model.kinds.record import Model, Modelled
from genesig.selection.survival import hazard_of


def _parts(dataset: Dataset, scores: Array) -> dict[str, Any]:
    y, design = dataset.response(), dataset.design
    v = dataset.sample_weights()
    found = [hazard_of(y, eta, design.ties or USUAL, v) for eta in scores.T]
    return {
        "classes": None,
        "threshold": 0.0,
        "survival": {
            "event": design.event,
            "horizon": design.horizon,
            "times": found[0].times.tolist(),
            "cumulative": [each.cumulative.tolist() for each in found],
        },
    }


def _predicted(model: Model, at: int, scores: Array) -> dict[str, Array]:
    group = np.where(scores > model["threshold"], "high", "low")
    horizon = np.array([model["survival"]["horizon"]])
    return {
        "predicted": group,
        "survival": baseline_of_model(model, at).survival(scores, horizon)[:, 0],
    }


def baseline_of_model(model: Model, at: int) -> Hazard:
    """Return the baseline hazard of the model with number `at` among ``models``."""
    own = model["survival"]
    return Hazard(np.array(own["times"]), np.array(own["cumulative"][at]))


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
