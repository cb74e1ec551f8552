"""Repeated samples of patients change intervals in a cohort and no estimate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fitted_models import scored, written

from genesig.report.answer.collect import cohorts
from genesig.report.collect import round_numbers
from genesig.report.external.collect import collect_external
from genesig.report.external.section import WORDS, external_sentences
from genesig.report.page.measure import MEASURES, measure

ALL_KINDS = ("classification", "several_classes", "regression", "survival")
N_SAMPLES = 36


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _with_patients(kind: str, size: int) -> None:
    """Write a data set of the kind, `size` samples of each patient in turn."""
    written(kind, N_SAMPLES)
    sheet = pd.read_csv("sheet.tsv", sep="\t", dtype=str)
    sheet["patient"] = [f"p{row // size}" for row in range(len(sheet))]
    sheet.to_csv("sheet.tsv", sep="\t", index=False)


@pytest.mark.slow_cases("several_classes", "classification")
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_one_sample_of_each_patient_gives_the_numbers_of_samples(kind: str) -> None:
    _with_patients(kind, 1)
    alone = scored(kind)
    grouped = scored(kind, group="patient")
    for name, table in alone.tables.items():
        pd.testing.assert_frame_equal(grouped.tables[name], table, check_exact=True)
    assert json.dumps(grouped.about) == json.dumps(alone.about)


@pytest.mark.slow_cases("survival", "regression")
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_patients_change_intervals_and_counts_and_no_value(kind: str) -> None:
    _with_patients(kind, 3)
    alone = scored(kind)
    grouped = scored(kind, group="patient")
    before, after = (
        cohort_result.tables["scores"].set_index("measure") for cohort_result in (alone, grouped)
    )
    pd.testing.assert_series_equal(
        before["value"].drop("log_rank_p", errors="ignore"),
        after["value"].drop("log_rank_p", errors="ignore"),
    )
    headline = MEASURES[kind].external_measure.key
    assert before.loc[headline, "low"] != after.loc[headline, "low"]
    assert after["groups"].max() == N_SAMPLES // 3
    assert (after["groups"] <= after["samples"]).all()
    assert grouped.tables["predictions"]["group"].nunique() == N_SAMPLES // 3
    assert grouped.about["groups"]["column"] == "patient"
    if kind == "survival":
        assert before.loc["log_rank_p", "value"] != after.loc["log_rank_p", "value"]
    if kind == "classification":
        assert grouped.about["reliability"] != alone.about["reliability"]
    json.dumps(grouped.about, allow_nan=False)


def test_groups_of_a_class_are_counted() -> None:
    _with_patients("classification", 3)
    about = scored("classification", group="patient").about
    by_class = about["groups"]["classes"]
    rows = {row["measure"]: row["groups"] for row in about["scores"]}
    assert list(by_class.values()) == [rows["specificity"], rows["sensitivity"]]
    labels = [row["label"] for row in about["predictions"]]
    for name, count in by_class.items():
        patients = {row // 3 for row, label in enumerate(labels) if label == name}
        assert count == len(patients)


def _page(kind: str, group: str | None) -> dict[str, Any]:
    about = scored(kind, group=group).about
    classes = None if about["classes"] is None else list(about["classes"])
    rows = cohorts([about], MEASURES[kind])
    error = {"value": 0.2, "chance": 0.5}
    return {
        "study": {"task": kind, "classes": classes, "label": "state"},
        "answer": {"error": error, "cohorts": rows},
        **round_numbers(collect_external([about], classes)),
    }


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_the_page_counts_groups_beside_samples(kind: str) -> None:
    _with_patients(kind, 3)
    page: Any = _page(kind, "patient")
    (cohort,) = page["external"]
    many = "36 samples in 12 groups"
    assert WORDS.text("samples_tested", cohort) == f"{many} (patient)"
    assert f"({many} (patient))" in WORDS.text("finding", page, cohort, measure(page))
    assert page["answer"]["cohorts"]["rows"][0]["groups"] == 12
    methods = " ".join(external_sentences(page))
    assert "n = 36 in 12 groups" in methods
    assert "Obuchowski 1997" in methods
    plain: Any = _page(kind, None)
    assert "group" not in WORDS.text("samples_tested", plain["external"][0])
    assert "Obuchowski" not in " ".join(external_sentences(plain))


def test_repeated_values_do_not_shorten_the_interval() -> None:
    """Each sample of a patient is a copy: they tell no more than one of them."""
    written("classification", 20)
    once = scored("classification").tables["scores"].set_index("measure")
    matrix = pd.read_csv("other.tsv", sep="\t", index_col=0)
    sheet = pd.read_csv("sheet.tsv", sep="\t", dtype=str, index_col=0)
    copies = [(name, f"{name}_{copy}") for name in sheet.index for copy in range(3)]
    names = [name for name, _ in copies]
    matrix[names].set_axis([copy for _, copy in copies], axis=1).to_csv("other.tsv", sep="\t")
    sheet = sheet.loc[names].assign(patient=names).set_axis([copy for _, copy in copies])
    sheet.to_csv("sheet.tsv", sep="\t", index_label="id")
    ignored, grouped = (
        scored("classification", group=group).tables["scores"].set_index("measure")
        for group in (None, "patient")
    )
    tables = {"once": once, "ignored": ignored, "grouped": grouped}
    width = {name: table["high"] - table["low"] for name, table in tables.items()}
    measures = ["auc", "balanced_error", "misclassification", "mean_difference", "squared_error"]
    assert (width["ignored"][measures] < 0.8 * width["once"][measures]).all()
    np.testing.assert_array_less(0.9 * width["once"][measures], width["grouped"][measures])
