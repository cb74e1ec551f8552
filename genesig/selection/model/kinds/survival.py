"""Survival: the baseline hazard of each model, the horizon, and the threshold of high risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.risk_sets import DEFAULT_TIES, Hazard
from genesig.results import Dataset
from genesig.selection.model.kinds.record import ModelKind
from genesig.selection.model.schema import ModelJson
from genesig.selection.survival import hazard_of


def _parts(dataset: Dataset, scores: Array, models: Sequence[ModelJson]) -> dict[str, Any]:
    y = dataset.response()
    design = dataset.design
    weights = dataset.sample_weights()
    baselines = [
        hazard_of(y, risk_slope(model) * model_scores, design.ties or DEFAULT_TIES, weights)
        for model_scores, model in zip(scores.T, models, strict=True)
    ]
    return {
        "classes": None,
        "threshold": 0.0,
        "survival": {
            "event": design.event,
            "horizon": design.horizon,
            "times": baselines[0].times.tolist(),
            "cumulative": [baseline.cumulative.tolist() for baseline in baselines],
        },
    }


def _predicted(model: ModelJson, index: int, scores: Array) -> dict[str, Array]:
    group = np.where(scores > model["threshold"], "high", "low")
    horizon = np.array([model["survival"]["horizon"]])
    return {"predicted": group, "survival": predicted_survival(model, index, scores, horizon)[:, 0]}


def risk_slope(listed_model: ModelJson) -> float:
    """Return by what the scores of one of ``models`` are multiplied to be logarithms of hazards.

    It is 1 for a nested list that is not used for prediction: no held-out scores calibrate it.
    """
    return float(listed_model.get("risk", {}).get("slope", 1.0))


def log_hazards(model: ModelJson, model_number: int, scores: Array) -> Array:
    """Return the logarithm of the relative hazard of scores (n,) by one of ``models``."""
    return np.asarray(risk_slope(model["models"][model_number]) * scores)


def predicted_survival(model: ModelJson, model_number: int, scores: Array, times: Array) -> Array:
    """Return S(t) of scores (n,) by one of ``models``, (n, n_times)."""
    baseline = baseline_of_model(model, model_number)
    return baseline.survival(log_hazards(model, model_number, scores), times)


def baseline_of_model(model: ModelJson, index: int) -> Hazard:
    """Return the baseline hazard of the model with number `index` among ``models``."""
    survival = model["survival"]
    return Hazard(np.array(survival["times"]), np.array(survival["cumulative"][index]))


def _faults(model: ModelJson) -> list[str]:
    survival = model.get("survival")
    if survival is None or model["classes"] is not None:
        return ["task"]
    times = np.array(survival["times"])
    hazards = survival["cumulative"]
    is_consistent = len(hazards) == len(model["models"]) and bool((np.diff(times) > 0).all())
    is_consistent = is_consistent and all(
        len(hazard) == len(times) and (np.diff(hazard) >= 0).all() for hazard in hazards
    )
    faults = ["threshold"] if model["threshold"] is None else []
    return faults + ([] if is_consistent else ["survival"])


SURVIVAL = ModelKind(parts=_parts, predicted=_predicted, faults=_faults)
