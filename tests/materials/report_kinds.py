"""Studies of every kind that the report distinguishes, with a conclusion that is set."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
from report_records import Study, arguments, held_arguments, kind_arguments, make_about

from genesig.report.collect import StudyResults, collect
from genesig.report.studies import EFFECT_PREFIX

KINDS = (
    "two classes",
    "several_classes",
    "regression",
    "survival",
    "noise",
    "covariates",
    "external cohort",
    "several studies",
    "gene sets",
)


PLANNED_SIZES = {  # measure and numbers of next_study.tsv, by kind of study
    "several_classes": ("AUC of C", 664, 166),
    "survival": ("C", 236, 153),
}


def with_own(inputs, external=(), **change):
    """Collect a study whose chosen lists have these numbers in controls.tsv."""
    controls = inputs["tables"]["controls"]
    is_genesig = (controls["model"] == "genesig") & controls["mu"].isna()
    changed = {key: controls[key].where(~is_genesig, value) for key, value in change.items()}
    # No other method is better, or known to predict: the linear models decide alone.
    controls = controls.assign(**changed, difference_high=np.nan)
    controls["high"] = controls["high"].where(is_genesig)
    inputs["tables"]["controls"] = controls
    return collect(StudyResults(**inputs, external=external))


def cohorts(inputs, *better, seen_before=0):
    """Return data sets of other studies, with an AUC or R² above chance or of no size."""
    abouts = []
    for number, good in enumerate(better):
        about = make_about(inputs["dataset"], f"c{number}", seen_before=seen_before)
        for row in about["scores"]:
            if row["measure"] in ("auc", "r2"):
                row |= {"value": 0.9, "low": 0.8 if good else -0.1}
        abouts.append(about)
    return abouts


def several_studies():
    """Return a study of four left-out studies with evidence."""
    data = with_own(arguments(Study(permutations=19)), p_value=0.05, high=0.4)
    names = ("Brno", "Graz", "Lyon", "Turin")
    values = {"samples": 23, "value": 0.86, "low": 0.69, "high": 0.95, "error": 0.2}
    columns = {"probes": 120, "genes": 120, "measured": 120, "lost": 0, "same_sign": 1.0}
    data["design"]["scheme"] = "leave_one_study_out"
    data["config"]["across"] = {
        "probes": "max_mean",
        "align": "standardise",
        "weights": "equal",
    }
    data["studies"] = {
        "measure": "AUC",
        "whole": True,
        "studies": [{**values, **columns, "name": name, "differs": False} for name in names],
        "mean": [0.86, 0.69, 0.95],
        "next_study": [0.69, 0.95],
        "i2": 0.0,
        "meta_columns": ["gene", "symbol", "effect", "low", "high"]
        + [f"{EFFECT_PREFIX}{name}" for name in names],
        "genes": [["g1", "", 1.0, 0.5, 1.5, 1.0, 0.9, 1.1, 1.0]],
        "significant": 3,
        "tested": 120,
        "alignments": {},
    }
    return data


def of_a_kind(kind):
    """Return the data of a kind of study as read from JSON: with evidence, except noise."""
    return json.loads(_json_of_kind(kind))


@cache
def _json_of_kind(kind):
    """Return the collected data of a kind of study as JSON."""
    data = _collected_kind(kind)
    if kind not in ("noise", "regression", "external cohort"):  # their next step names no size
        measure, samples, events = PLANNED_SIZES.get(kind, ("AUC", 112, 56))
        row = [measure, "lower limit", 0.68, samples, events]
        columns = ["measure", "basis", "value", "samples", "events"]
        data["tables"]["next_study"] |= {"columns": columns, "rows": [row], "total": 1}
    return json.dumps(data)


def _collected_kind(kind):
    """Return the collected data of a kind of study."""
    better = {"p_value": 0.05, "high": 0.4}
    if kind == "noise":
        return with_own(arguments(Study(permutations=19, named=0)), p_value=0.6, high=0.6)
    if kind in ("several_classes", "regression", "survival"):
        return with_own(kind_arguments(kind, proved=True), **better)
    if kind == "several studies":
        return several_studies()
    if kind == "covariates":
        inputs = held_arguments(Study(permutations=19, nonlinear=False), "adds")
        return with_own(inputs, **better)
    inputs = arguments(Study(permutations=19, sets=kind == "gene sets"))
    return with_own(inputs, cohorts(inputs, True) if kind == "external cohort" else (), **better)
