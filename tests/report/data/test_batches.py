"""The report of a study with batches has their table, sentences and warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from report_checks import misfits
from report_records import Study, arguments, collected, make_dataset

from genesig.data.study.confounding import association_with_label
from genesig.report.collect import StudyResults, collect
from genesig.report.data import data_section as study_section
from genesig.report.methods import methods
from genesig.report.page.measure import permutation_scope
from genesig.report.page.section import Limits
from genesig.report.prediction.section import permutation_section
from genesig.report.record import Report
from genesig.results import Dataset

COMBAT = [{"step": "combat", "covariates": ["age"]}, {"step": "centre"}]


def _dataset(study: Study, names: list[str]) -> Dataset:
    dataset = make_dataset(study, np.random.default_rng(7))
    design = replace(dataset.design, batch="centre")
    obs = dataset.obs.assign(centre=names, age=np.linspace(30, 59, len(names)))
    return replace(dataset, obs=obs, design=design)


def _collected(study: Study, names: list[str], folds: Any = None) -> tuple[Any, Any]:
    dataset = _dataset(study, names)
    inputs = arguments(study, dataset)
    if folds is not None:
        inputs["config"]["normalise"]["folds"] = folds
    return collect(StudyResults(**inputs)), inputs


THREE = ["Genoa", "Lund", "Kyoto"] * 10
WITH_ONE = [*THREE[:29], "Kyiv"]


def test_the_table_counts_each_batch_and_class() -> None:
    data, inputs = _collected(Study(), THREE)
    assert misfits(Report, data) == []
    dataset = inputs["dataset"]
    batch_data = data["batch"]
    assert (batch_data["column"], batch_data["names"], batch_data["sizes"]) == (
        "centre",
        ["Genoa", "Kyoto", "Lund"],
        [10, 10, 10],
    )
    crossed = dataset.obs.groupby("centre")["class"].value_counts().unstack(fill_value=0)
    assert batch_data["counts"] == crossed[["normal", "tumour"]].to_numpy().tolist()
    batch = np.array(THREE)
    assert batch_data["association"] == pytest.approx(
        association_with_label(dataset.response(), batch), abs=1e-3
    )
    section = study_section(data, Limits(12, 500))
    (table,) = [item for item in section.items if getattr(item, "name", "") == "batches"]
    heads = [column.label for column in table.columns]
    assert heads == ["Batch", "Samples", "normal", "tumour", "Wrong while held out"]
    assert [row[0].text for row in table.rows] == batch_data["names"]


def test_what_was_wrong_in_each_batch_adds_up() -> None:
    data, _ = _collected(Study(), WITH_ONE)
    samples = data["held_out"]["samples"]
    place = dict(zip([f"S{k:02d}" for k in range(30)], WITH_ONE, strict=True))
    for name, share in zip(data["batch"]["names"], data["batch"]["wrong_share"], strict=True):
        samples_of_batch = [sample for sample in samples if place[sample["sample"]] == name]
        wrong = sum(sample["wrong"] for sample in samples_of_batch) / sum(
            sample["tested"] for sample in samples_of_batch
        )
        assert share == pytest.approx(wrong, abs=1e-4)


def test_a_regression_shows_the_response_of_each_batch() -> None:
    data, inputs = _collected(Study(regression=True), THREE)
    y = inputs["dataset"].response()
    batch_data = data["batch"]
    rows = np.array(THREE) == "Genoa"
    assert batch_data["counts"] is None
    assert batch_data["wrong_share"] is None
    assert (batch_data["mean"][0], batch_data["sd"][0]) == pytest.approx(
        (y[rows].mean(), y[rows].std()), abs=1e-3
    )
    words = " ".join(study_section(data, Limits(12, 500)).words)
    assert "of the outcome's variance lies between batches, beyond chance" in words


def test_samples_that_combat_cannot_reach_are_counted_and_warned_of() -> None:
    data, _ = _collected(Study(repeats=2), WITH_ONE, COMBAT)
    batch_data = data["batch"]
    assert (
        batch_data["combat"],
        batch_data["held_out"],
        batch_data["uncorrected"],
        batch_data["uncorrected_splits"],
    ) == (True, 60, 2, 2)
    words = (
        "In 2 splits of 10 ComBat left held-out samples as measured (2 of 60 in all), because their"
        " batch had fewer than 2 training samples."
    )
    assert words in data["warnings"]
    assert "could not correct 2 of 60 held-out" in study_section(data, Limits(12, 500)).words[-1]
    assert (
        "single-gene tests use values before it" in study_section(data, Limits(12, 500)).words[-1]
    )
    without, _ = _collected(Study(), WITH_ONE)
    assert not any("ComBat" in warning for warning in without["warnings"])


@pytest.mark.parametrize(("names", "few"), [(THREE, True), (["a", "b", "c", "d", "e"] * 6, False)])
def test_few_batches_left_out_are_warned_of(names: list[str], few: bool) -> None:
    dataset = _dataset(Study(), names)
    inputs = arguments(Study(), dataset)
    inputs["splits"] = replace(inputs["splits"], scheme="leave_one_batch_out")
    matching_warnings = [
        warning
        for warning in collect(StudyResults(**inputs))["warnings"]
        if "left out in turn" in warning
    ]
    assert len(matching_warnings) == few
    assert all(
        warning.startswith("Only 3 batches were left out in turn, so the interval")
        for warning in matching_warnings
    )


def test_methods_and_chance_speak_of_batches() -> None:
    data, _ = _collected(Study(), THREE, COMBAT)
    text = " ".join(methods(data))
    assert "They came from 3 batches (centre; Cramér's V with the outcome" in text
    assert "ComBat (Johnson et al. 2007, Biostatistics 8:118), without the outcome" in text
    assert "(covariates: age)" in text
    assert permutation_scope(data) == " within each batch (centre)"
    words = " ".join(permutation_section(data, Limits(12, 500)).words)
    assert "differences within batches, not between them" in words


def test_a_study_without_batches_says_nothing_of_them() -> None:
    data = collected(Study())
    assert data["batch"] is None
    section = study_section(data, Limits(12, 500))
    assert not [item for item in section.items if getattr(item, "name", "") == "batches"]
    assert permutation_scope(data) == ""
