"""The test of a locked model on samples of another study, for each kind of response."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.class_line import probabilities
from genesig.response.design import SEVERAL
from genesig.response.kinds import ByKind
from genesig.results import Dataset
from genesig.selection.assess.calibration import reliability
from genesig.selection.assess.clusters import order_interval
from genesig.selection.assess.intervals import NO_INTERVAL
from genesig.selection.assess.survival import (
    brier_losses,
    censoring,
    harrell,
    kaplan_meier,
    log_rank,
)
from genesig.selection.model.external_scores import (
    MeasureRow,
    measure_numbers,
    measure_several_classes,
    measure_two_classes,
)
from genesig.selection.model.kinds import log_hazards, predicted_survival, probability_line
from genesig.selection.model.schema import ModelJson
from genesig.selection.survival import SurvivalPredictions, prediction_tables, time_grid


class ScoredCohort(NamedTuple):
    """An external cohort, scored by one of the models of model.json."""

    dataset: Dataset  # the study of the model
    model: ModelJson  # model.json
    model_number: int  # number of the model among `models` of model.json
    y: Array  # (n,) responses of the cohort
    f: Array  # (n,) scores, (n, T) of several classes
    group: Array | None = None  # (n,) int, group of each sample; None if every sample has its own


ExternalTest = tuple[Iterable[MeasureRow], dict[str, Any]]
"""Rows of scores.tsv, and further results of the report as JSON has them."""


def _test_classes(cohort: ScoredCohort) -> ExternalTest:
    rows = measure_two_classes(cohort.y, cohort.f, cohort.model["threshold"], cohort.group)
    return rows, {"reliability": list(reliability(cohort.y, cohort.f, group=cohort.group))}


def _test_several_classes(cohort: ScoredCohort) -> ExternalTest:
    model = cohort.model
    line = probability_line(model, cohort.model_number)
    p = None if line is None else probabilities(cohort.f, line)
    shares = model.get("shares")
    return measure_several_classes(
        cohort.y, cohort.f, model["classes"], p, shares, cohort.group
    ), {}


def _test_numbers(cohort: ScoredCohort) -> ExternalTest:
    return measure_numbers(cohort.y, cohort.f, cohort.group), {}


def _test_survival(cohort: ScoredCohort) -> ExternalTest:
    """Compare predicted with observed survival; the censoring is that of the study."""
    training = cohort.dataset.response()
    horizon = cohort.model["survival"]["horizon"]
    threshold = cohort.model["threshold"]
    y = cohort.y
    n = len(y)
    times = time_grid(training, horizon)
    S = predicted_survival(cohort.model, cohort.model_number, cohort.f, times)
    training_censoring = censoring(training["time"], training["event"])
    training_curve = kaplan_meier(training["time"], training["event"]).at(times)[None]
    losses, reference = (
        brier_losses(y["time"], y["event"], survival, times, training_censoring)
        for survival in (S, training_curve)
    )
    test_set = SurvivalPredictions(
        rows=np.arange(n),
        repeat=0,
        y=y,
        f=cohort.f - threshold,
        log_hazard=log_hazards(cohort.model, cohort.model_number, cohort.f),
        S=S,
        losses=losses,
        reference=reference,
        censoring_curve=training_censoring,
    )
    concordance = harrell(y["time"], y["event"], cohort.f)
    limits = concordance.interval
    if cohort.group is not None:
        n_events = len(np.unique(cohort.group[y["event"]]))
        limits = order_interval(concordance.value, concordance.influence, cohort.group, n_events)
    tables = prediction_tables(
        [test_set], y, times, (concordance.value, limits), group=cohort.group
    )
    rows = [
        (str(row["measure"]), row["value"], (row["low"], row["high"]), n)
        for row in tables["survival"].to_dict("records")
    ]
    risk = np.where(cohort.f > threshold, "high", "low")
    p = log_rank(y["time"], y["event"], risk, cohort.group).p
    plotted = {name: tables[f"survival_{name}"].astype(object) for name in ("curves", "risk")}
    return [*rows, ("log_rank_p", p, NO_INTERVAL, n)], {
        "events": int(y["event"].sum()),
        "horizon": horizon,
        **{
            name: table.where(table.notna(), None).to_dict("records")
            for name, table in plotted.items()
        },
    }


EXTERNAL_TESTS: ByKind[Callable[[ScoredCohort], ExternalTest]] = ByKind(
    {
        "classification": _test_classes,
        SEVERAL: _test_several_classes,
        "regression": _test_numbers,
        "survival": _test_survival,
    }
)
"""Test of a scored cohort by kind of response."""
