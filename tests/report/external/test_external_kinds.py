"""The section on external cohorts covers survival and several classes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fitted_models import fitted_of_kind as fitted
from fitted_models import scored, written

from genesig.report.answer.collect import cohorts
from genesig.report.answer.sentences import grade_rules
from genesig.report.collect import round_numbers
from genesig.report.external.collect import collect_external
from genesig.report.external.section import (
    cohort_paragraphs,
    external_section,
    external_sentences,
)
from genesig.report.methods import cited_references
from genesig.report.page.measure import MEASURES
from genesig.report.page.section import Facts, Limits, flat_items
from genesig.report.page.svg import Picture, draw_picture
from genesig.report.page.tables import Table
from genesig.report.page.verdict import Grade
from genesig.report.page.words import rate

LIMITS = Limits(12, 500)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _data(kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the topic reads, and the about.json that it was made of."""
    written(kind)
    about = scored(kind).about
    design = fitted(kind)[0].design
    classes = None if design.classes is None else list(design.classes)
    return {
        "study": {"task": kind, "classes": classes, "label": design.label},
        "answer": {"error": {"value": 0.25}, "cohorts": {"rows": [{}]}},
        "held_out": {"samples": [], "roc": None},
        **round_numbers(collect_external([about], classes)),
    }, about


def _pictures(data: dict[str, Any]) -> list[Picture]:
    return [
        item
        for item in flat_items(external_section(data, LIMITS).items)
        if isinstance(item, Picture)
    ]


@pytest.mark.drawn
def test_survival_has_c_and_the_curves_of_its_groups() -> None:
    data, _ = _data("survival")
    section = external_section(data, LIMITS)
    row = data["external"][0]["scores"]["concordance"]
    c = f"C {row['value']:.2f} (95% CI {row['low']:.2f}–{row['high']:.2f})"
    assert section.words[1] == (
        f"other (40 samples): {c}; 0.75 in the cross-validation of this study."
    )
    (paragraph,) = cohort_paragraphs(data)
    sentence = f"In other (40 samples), the final model, unchanged, reached {c}."
    assert (paragraph.lead, paragraph.text) == ("External cohort.", sentence)
    names = [picture.name for picture in _pictures(data)]
    assert names == ["external_other_curves", "external_other_shift"]
    for picture in _pictures(data):
        assert draw_picture(picture).svg.startswith("<svg")
    facts = dict(next(i for i in flat_items(section.items) if isinstance(i, Facts)).pairs)
    assert re.fullmatch(r"40 samples, \d+ events", facts["Samples"])
    assert "predicted" in facts["Calibration"]
    assert "AUC at the horizon" in facts
    assert "AUC" not in facts
    text = " ".join(external_sentences(data))
    assert "C is Harrell's" in text
    assert "R²" not in text
    assert cited_references(text) == []


@pytest.mark.drawn
def test_several_classes_have_a_confusion_matrix_and_their_error() -> None:
    data, _ = _data("several_classes")
    scores = data["external"][0]["scores"]
    error = scores["balanced_error"]["value"]
    sentence = external_section(data, LIMITS).words[1]
    assert f"AUC {scores['auc']['value']:.2f}" in sentence
    assert f"balanced accuracy {rate(1 - error)}" in sentence
    names = [picture.name for picture in _pictures(data)]
    assert names == ["external_other_confusion", "external_other_shift"]
    tables = [
        item for item in flat_items(external_section(data, LIMITS).items) if isinstance(item, Table)
    ]
    assert len(tables) == 2
    assert "with its threshold" not in " ".join(external_sentences(data))


@pytest.mark.parametrize("kind", ["survival", "several_classes"])
def test_the_first_screen_counts_where_the_model_is_better_than_chance(kind: str) -> None:
    data, about = _data(kind)
    cohort_summary = cohorts([about], MEASURES[kind])
    assert (cohort_summary["tested"], cohort_summary["better"], cohort_summary["worse"]) == (
        1,
        1,
        0,
    )
    name = "concordance" if kind == "survival" else "balanced_error"
    scores_of_cohort = data["external"][0]["scores"][name]["value"]
    assert cohort_summary["rows"][0]["error"] == pytest.approx(
        1 - scores_of_cohort if kind == "survival" else scores_of_cohort, abs=1e-4
    )


def test_the_rules_name_the_measure_of_the_kind() -> None:
    config = {"data": {"covariates": []}}

    def rules_of(task: str, classes: list[str] | None, n_cohorts: int = 1) -> str:
        study = {"task": task, "classes": classes}
        cohorts = {"rows": [{"name": "elsewhere"}] * n_cohorts}
        return grade_rules({"study": study, "config": config, "answer": {"cohorts": cohorts}})

    assert "95% CI of C above 0.5" in rules_of("survival", None)
    two = rules_of("classification", ["a", "b"])
    assert "95% CI of AUC above 0.5" in two
    assert "95% CI of the accuracy excludes 50%" in two
    assert "95% CI of R² above 0" in rules_of("regression", None)
    assert all(grade.value in two for grade in Grade)
    assert "external" not in rules_of("classification", ["a", "b"], 0)


def test_probabilities_of_several_classes_are_said_with_their_calibration() -> None:
    data, _ = _data("several_classes")
    scores = data["external"][0]["scores"]
    scores["calibration_slope"] = {"value": 0.8, "low": 0.5, "high": 1.1}
    scores["probability_of_called"] = {"value": 0.9, "low": None, "high": None}
    scores["misclassification"]["value"] = 0.25
    facts = [
        item for item in flat_items(external_section(data, LIMITS).items) if isinstance(item, Facts)
    ]
    calibration = dict(facts[0].pairs)["Calibration"]
    assert calibration.startswith("slope 0.80 (95% CI 0.50–1.10), 1 would be right;")
    assert "White 1982" in " ".join(external_sentences(data))
    assert any(
        reference.startswith("White")
        for reference in cited_references(" ".join(external_sentences(data)))
    )
    assert calibration.endswith("probability of 90% on average, and is right in 75%")


@pytest.mark.parametrize("kind", ["classification", "several_classes", "regression", "survival"])
def test_every_word_is_one_of_the_kind(kind: str) -> None:
    data, _ = _data(kind)
    data["external"][0]["combat"] = True
    data["config"] = {"data": {"covariates": []}}
    section = external_section(data, LIMITS)
    tables = [item for item in flat_items(section.items) if isinstance(item, Table)]
    texts = [*section.words, *external_sentences(data), grade_rules(data)]
    texts += [f"{c.label} {c.help}" for table in tables for c in table.columns]
    text = " ".join(texts)
    assert "without the outcome in the design" in text
    classes = data["study"]["classes"] or []
    assert bool(re.search(r"\b[Cc]lass|AUC above|DeLong|Called", text)) == bool(classes)
    assert ("both classes" in text) == (len(classes) == 2)
    assert ("its threshold" in text) == (len(classes) == 2 or kind == "survival")
    assert ("HC3" in text) == (len(classes) == 2 or kind == "regression")
    assert ("R² above" in text) == (kind == "regression")
