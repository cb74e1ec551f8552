"""Survival: the baseline hazard of each model, the horizon, and where risk is high."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.risk_sets import USUAL, Hazard
from genesig.results import Dataset
from genesig.selection.assess.clusters import order_interval
from genesig.selection.assess.intervals import NOTHING
from genesig.selection.assess.survival import (
    brier_losses,
    censoring,
    harrell,
    kaplan_meier,
    log_rank,
)
from genesig.selection.model.external_scores import Row
from genesig.selection.model.kinds.record import Asked, Model, Modelled
from genesig.selection.survival import TestPredictions, hazard_of, prediction_tables, time_grid


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


def _tested(asked: Asked) -> tuple[Iterable[Row], dict[str, Any]]:
    """Hold what the model foretells against what came; the censoring is that of the study."""
    known, own, y = asked.dataset.response(), asked.model["survival"], asked.y
    at = time_grid(known, own["horizon"])
    S = _hazard(asked.model, asked.at).survival(asked.f, at)
    lost = censoring(known["time"], known["event"])
    plain = kaplan_meier(known["time"], known["event"]).at(at)[None]
    losses, reference = (brier_losses(y["time"], y["event"], each, at, lost)
                         for each in (S, plain))  # fmt: skip
    found = TestPredictions(np.arange(len(y)), 0, y, asked.f - asked.model["threshold"], S, losses,
                   reference, lost)  # fmt: skip
    order = harrell(y["time"], y["event"], asked.f)
    limits = order.interval
    if asked.group is not None:
        events = len(np.unique(asked.group[y["event"]]))
        limits = order_interval(order.value, order.influence, asked.group, events)
    tables = prediction_tables([found], y, at, (order.value, limits), group=asked.group)
    table, n = tables["survival"], len(y)
    rows = [(str(row["measure"]), row["value"], (row["low"], row["high"]), n)
            for row in table.to_dict("records")]  # fmt: skip
    risk = np.where(asked.f > asked.model["threshold"], "high", "low")
    p = log_rank(y["time"], y["event"], risk, asked.group).p
    parts = {name: tables[f"survival_{name}"].astype(object) for name in ("curves", "risk")}
    more = {name: part.where(part.notna(), None).to_dict("records") for name, part in parts.items()}
    return [*rows, ("log_rank_p", p, NOTHING, n)], {
        "events": int(y["event"].sum()), "horizon": own["horizon"], **more,
    }  # fmt: skip


SURVIVAL = Modelled(parts=_parts, predicted=_predicted, faults=_faults, tested=_tested)
