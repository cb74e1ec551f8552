"""The pages of several small studies contradict neither their record nor themselves."""

from __future__ import annotations

import copy

import pytest
from report_checks import contradictions
from report_records import (
    HOSTILE,
    Study,
    arguments,
    collected,
    held_arguments,
    kind_arguments,
    make_about,
)

from genesig.report.collect import StudyResults, collect
from genesig.report.methods import methods
from genesig.report.page.verdict import Grade, grade
from genesig.report.render import render

pytestmark = pytest.mark.usefixtures("undrawn")


def collect_changed(inputs, abouts=(), **errors_of_genesig):
    controls = inputs["tables"]["controls"]
    is_genesig = (controls["model"] == "genesig") & controls["mu"].isna()
    for key, value in errors_of_genesig.items():
        controls.loc[is_genesig, key] = value
    return collect(StudyResults(**inputs, external=abouts))


def with_cohort(value, low, high):
    inputs = arguments(Study(permutations=99))
    about = make_about(inputs["dataset"], "other")
    for row in about["scores"]:
        row |= {"value": value, "low": low, "high": high}
    return collect_changed(inputs, [about], p_value=0.01, error=0.1, low=0.05, high=0.3)


GRADED_STUDIES = {
    "noise": (
        Grade.NONE,
        lambda: collect_changed(
            arguments(Study(permutations=99, named=0)), p_value=0.6, error=0.52, low=0.4, high=0.64
        ),
    ),
    "weak": (
        Grade.WEAK,
        lambda: collect_changed(
            arguments(Study(permutations=99)), p_value=0.03, error=0.35, low=0.1, high=0.55
        ),
    ),
    "good": (
        Grade.HERE,
        lambda: collect_changed(
            arguments(Study(permutations=99, names=HOSTILE)),
            p_value=0.01,
            error=0.1,
            low=0.05,
            high=0.3,
        ),
    ),
    "elsewhere": (Grade.ELSEWHERE, lambda: with_cohort(0.9, 0.8, 0.95)),
    "against": (Grade.AGAINST, lambda: with_cohort(0.45, 0.4, 0.49)),
    "regression": (
        Grade.NONE,
        lambda: collect_changed(
            arguments(Study(permutations=99, named=0, regression=True)),
            p_value=0.5,
            error=1.02,
            low=0.8,
            high=1.2,
        ),
    ),
    "untested": (
        Grade.WEAK,
        lambda: collect_changed(
            arguments(Study(permutations=0, sets=True)), error=0.2, low=0.1, high=0.4
        ),
    ),
    "no permutations, nothing": (
        Grade.NONE,
        lambda: collect_changed(
            arguments(Study(permutations=0, named=0)), error=0.4, low=0.2, high=0.6
        ),
    ),
    "empty": (
        Grade.NONE,
        lambda: collected(
            Study(empty=True, permutations=0, named=0, subsamples=0, folds=1, repeats=1)
        ),
    ),
    "covariates": (
        Grade.WEAK,
        lambda: collect(StudyResults(**held_arguments(Study(nonlinear=False), "adds"))),
    ),
    "several classes": (
        None,
        lambda: collect(StudyResults(**kind_arguments("several_classes", proved=True))),
    ),
    "survival": (None, lambda: collect(StudyResults(**kind_arguments("survival", proved=True)))),
}


def page_of(data, folder):
    render(data, folder / "r.html", folder / "f", title="", gene_cards=3, table_rows=5)
    return (folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", GRADED_STUDIES)
def test_no_page_contradicts_its_record(name, tmp_path):
    expected, make_data = GRADED_STUDIES[name]
    data = make_data()
    assert expected in (None, grade(data))
    assert contradictions(data, page_of(data, tmp_path)) == []


def test_a_page_of_noise_speaks_of_no_effect_and_no_accurate_list():
    inputs = arguments(Study(permutations=99, named=0))
    inputs["run"]["config"]["signature"]["most"] = 1
    for p, noise in ((0.6, True), (0.01, False)):
        data = collect_changed(
            inputs, p_value=p, error=0.52 if noise else 0.1, high=0.64 if noise else 0.2
        )
        text = " ".join([*methods(data), *data["warnings"]])
        assert ("No list of 1 genes or fewer was as accurate" in text) != noise
        assert ("per standard deviation of the held-out score" in text) != noise


def test_a_page_of_noise_says_nothing_of_its_batch_on_the_first_screen(tmp_path):
    data = GRADED_STUDIES["noise"][1]()
    names = ["north", "south"]
    data["batch"] = {
        "column": "centre",
        "names": names,
        "sizes": [15, 15],
        "counts": [[7, 8], [8, 7]],
        "mean": None,
        "sd": None,
        "association": 0.1,
        "wrong_share": [0.5, 0.5],
        "combat": False,
        "combat_in_figures": False,
        "held_out": 30,
        "uncorrected": 0,
        "uncorrected_splits": 0,
    }
    page = page_of(data, tmp_path)
    assert "Could batches explain the result?" not in page
    assert contradictions(data, page) == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data["verdict"].update(grade=Grade.NONE.value), "concluded No evidence"),
        (lambda data: data["answer"]["error"].update(value=0.2), "the error is"),
        (lambda data: data["answer"]["evidence"].update(fdr_selected=7), "genes pass the FDR"),
        (lambda data: data["answer"]["cohorts"].update(tested=1), "external cohorts"),
    ],
)
def test_a_contradiction_is_seen(change, words, tmp_path):
    data = GRADED_STUDIES["good"][1]()
    page = page_of(data, tmp_path)
    changed_data = copy.deepcopy(data)
    change(changed_data)
    assert any(words in contradiction for contradiction in contradictions(changed_data, page))
