"""Parts of model.json and predictions that depend on the kind of response."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.classes import probabilities, two_columns
from genesig.optim.cox.risk_sets import DEFAULT_TIES, Hazard
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.results import Dataset
from genesig.selection.model.schema import ModelJson
from genesig.selection.survival import hazard_of


@dataclass(frozen=True)
class ModelKind:
    """Parts of model.json and predictions for one kind of response."""

    # data set, training scores (n, n_models), ``models`` of model.json -> ``classes``,
    # ``threshold`` and further keys of the top level of model.json
    parts: Callable[[Dataset, Array, Sequence[ModelJson]], dict[str, Any]]
    # model.json, number of the model that scores among ``models``, scores (n,) or (n, T) -> columns
    # of the predictions after the score
    predicted: Callable[[ModelJson, int, Array], dict[str, Array]]
    # model.json -> names of the keys that contradict the kind of outcome or each other
    faults: Callable[[ModelJson], list[str]]


def _two_class_parts(
    dataset: Dataset, scores: Array, models: Sequence[ModelJson]
) -> dict[str, Any]:
    """Return the names of the two classes, and the threshold."""
    negative, positive = dataset.design.classes or ("", "")
    return {"classes": {"negative": negative, "positive": positive}, "threshold": 0.0}


def _predict_side(model: ModelJson, index: int, scores: Array) -> dict[str, Array]:
    """Return the class of each score, and the positive one's probability if the list has a line."""
    classes = model["classes"]
    decision = model["models"][index].get("decision", {})
    is_positive = scores > decision.get("threshold", model["threshold"])
    columns = {"predicted": np.where(is_positive, classes["positive"], classes["negative"])}
    probability = model["models"][index].get("probability")
    if probability is None:
        return columns
    line = np.array([0.0, probability["intercept"], probability["slope"]])
    p = probabilities(two_columns(scores), line)[:, 1]
    return columns | {f"probability of {classes['positive']}": p}


def _two_class_faults(model: ModelJson) -> list[str]:
    """Return the parts that do not fit two classes."""
    classes = model["classes"]
    if classes is None:
        return ["task"]
    if not isinstance(classes, Mapping):
        return ["classes"]
    faults = ["classes"] if classes["negative"] == classes["positive"] else []
    return faults + (["threshold"] if model["threshold"] is None else [])


def _several_class_parts(
    dataset: Dataset, scores: Array, models: Sequence[ModelJson]
) -> dict[str, Any]:
    """Return the names of the classes."""
    return {"classes": list(dataset.design.classes or ()), "threshold": None}


def _predict_class(model: ModelJson, index: int, scores: Array) -> dict[str, Array]:
    """Return the scores (n, T), the class of the largest, and probabilities if there is a line."""
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


def _several_class_faults(model: ModelJson) -> list[str]:
    """Return the parts that do not fit several classes."""
    classes = model["classes"]
    # at least three, each once
    if not isinstance(classes, list) or len(set(classes)) < max(3, len(classes)):
        return ["classes"]
    return [] if model["threshold"] is None else ["threshold"]


def _number_faults(model: ModelJson) -> list[str]:
    """Return the parts that do not fit numbers."""
    faults = ["task"] if model["classes"] is not None else []
    return faults + (["threshold"] if model["threshold"] is not None else [])


def _survival_parts(dataset: Dataset, scores: Array, models: Sequence[ModelJson]) -> dict[str, Any]:
    """Return event, horizon and the baseline hazard of each model."""
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


def _predict_risk(model: ModelJson, index: int, scores: Array) -> dict[str, Array]:
    """Return the risk group of each score, and S(t) at the horizon."""
    group = np.where(scores > model["threshold"], "high", "low")
    horizon = np.array([model["survival"]["horizon"]])
    return {"predicted": group, "survival": predicted_survival(model, index, scores, horizon)[:, 0]}


def risk_slope(listed_model: ModelJson) -> float:
    """Return the factor that turns scores of one of ``models`` into logarithms of hazards.

    It is 1 for a nested list that is not used for prediction: no held-out scores calibrate it.
    """
    return float(listed_model.get("risk", {}).get("slope", 1.0))


def log_hazards(model: ModelJson, model_number: int, scores: Array) -> Array:
    """Return the logarithm of the relative hazard of scores (n,) by one of ``models``."""
    return np.asarray(risk_slope(model["models"][model_number]) * scores)


def predicted_survival(model: ModelJson, model_number: int, scores: Array, times: Array) -> Array:
    """Return S(t) of scores (n,) by one of ``models``, (n, n_times)."""
    survival = model["survival"]
    baseline = Hazard(np.array(survival["times"]), np.array(survival["cumulative"][model_number]))
    return baseline.survival(log_hazards(model, model_number, scores), times)


def _survival_faults(model: ModelJson) -> list[str]:
    """Return the parts that do not fit survival."""
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


MODEL_KINDS: dict[str, ModelKind] = ByKind(
    {
        "classification": ModelKind(
            parts=_two_class_parts, predicted=_predict_side, faults=_two_class_faults
        ),
        SEVERAL_CLASSES: ModelKind(
            parts=_several_class_parts, predicted=_predict_class, faults=_several_class_faults
        ),
        "regression": ModelKind(
            parts=lambda dataset, scores, models: {"classes": None, "threshold": None},
            predicted=lambda model, index, scores: {"predicted": scores},
            faults=_number_faults,
        ),
        "survival": ModelKind(
            parts=_survival_parts, predicted=_predict_risk, faults=_survival_faults
        ),
    }
)
