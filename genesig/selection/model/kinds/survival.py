"""Survival: the baseline hazard of each model, the horizon, and where risk is high."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.risk_sets import DEFAULT_TIES, Hazard
from genesig.results import Dataset
from genesig.selection.model.kinds.record import Model, Modelled
from genesig.selection.survival import hazard_of


def _parts(dataset: Dataset, scores: Array, models: Sequence[Model]) -> dict[str, Any]:
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


def _predicted(model: Model, at: int, scores: Array) -> dict[str, Array]:
    group = np.where(scores > model["threshold"], "high", "low")
    horizon = np.array([model["survival"]["horizon"]])
    return {"predicted": group, "survival": predicted_survival(model, at, scores, horizon)[:, 0]}


def risk_slope(listed_model: Model) -> float:
    """Return by what the scores of one of ``models`` are multiplied to be logarithms of hazards.

    It is 1 for a nested list that is not used for prediction: no held-out scores calibrate it.
    """
    return float(listed_model.get("risk", {}).get("slope", 1.0))


def log_hazards(model: Model, model_number: int, scores: Array) -> Array:
    """Return the logarithm of the relative hazard of scores (n,) by one of ``models``."""
    return np.asarray(risk_slope(model["models"][model_number]) * scores)


def predicted_survival(model: Model, model_number: int, scores: Array, times: Array) -> Array:
    """Return S(t) of scores (n,) by one of ``models``, (n, n_times)."""
    baseline = baseline_of_model(model, model_number)
    return baseline.survival(log_hazards(model, model_number, scores), times)


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
