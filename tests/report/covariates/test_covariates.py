"""The report states what expression adds to covariates, their weights and what was permuted."""

from __future__ import annotations

import json

import pytest
from report_checks import misfits
from report_records import GAIN_INTERVALS, HOSTILE, Study, arguments, held_arguments

from genesig.report.answer.sentences import answer_checks, write_paragraphs
from genesig.report.collect import StudyResults, collect
from genesig.report.covariates import added_value, covariates_section
from genesig.report.methods import methods
from genesig.report.page.section import Limits
from genesig.report.page.verdict import headline, judge
from genesig.report.page.words import rate
from genesig.report.prediction.section import controls_section
from genesig.report.record import Report
from genesig.report.render import render
from genesig.report.sections import FIRST_SCREEN_FUNCTIONS

SENTENCE_OF_GAIN = {
    "adds": "The difference is about 15.0 points (95% CI 5.0 to 25.0).",
    "open": "The difference, 1.0 points (95% CI −8.0 to 10.0), may be zero.",
    "hurts": "points (95% CI −20.0 to −2.0) in favour of the covariates alone.",
}


def collected(name: str, **study) -> Report:
    return collect(StudyResults(**held_arguments(Study(nonlinear=False, **study), name)))


@pytest.mark.parametrize("name", GAIN_INTERVALS)
def test_the_first_screen_says_what_expression_adds(name):
    data = collected(name, permutations=99)
    (paragraph,) = added_value(data)
    text = paragraph.text
    assert paragraph.lead == "Beyond age and sex."
    assert SENTENCE_OF_GAIN[name] in text
    assert "with these alone." in text
    accuracy = rate(1 - data["answer"]["error"]["value"])
    in_section = covariates_section(data, Limits(5, 5)).words[0]
    assert f"with age and sex alone and {accuracy} with gene expression" in in_section
    assert ("Ridge on all genes beside age and sex reached" in text) == (name != "adds")
    assert added_value in FIRST_SCREEN_FUNCTIONS


@pytest.mark.parametrize(("error", "worse"), [(0.45, False), (0.55, True)])
def test_covariates_that_predict_worse_than_chance_are_no_measure_of_expression(error, worse):
    data = collected("adds", permutations=99)
    data["covariates"]["alone"]["error"] = error
    (paragraph,) = added_value(data)
    assert ("worse than chance, which inflates the gain" in paragraph.text) == worse


def test_a_number_is_told_as_r2():
    data = collected("adds", regression=True, permutations=99)
    (paragraph,) = added_value(data)
    assert paragraph.text.startswith("R² was ")
    assert "The difference is about 0.15 (95% CI 0.05 to 0.25)." in paragraph.text
    in_section = covariates_section(data, Limits(5, 5)).words[0]
    assert "(permutation test of the added value, p\u00a0=\u00a00.01)" in in_section


def test_study_without_covariates_has_no_section():
    data = collect(StudyResults(**arguments(Study())))
    assert "covariates" not in data
    assert added_value(data) == []
    assert covariates_section(data, Limits(5, 5)) is None
    assert "without a penalty" not in " ".join(methods(data))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", GAIN_INTERVALS)
def test_covariates_value_matches_its_record(name):
    data = json.loads(json.dumps(collected(name), allow_nan=False))
    assert misfits(Report, data) == []


def test_methods_say_what_was_held_and_what_was_permuted():
    text = " ".join(methods(collected("adds")))
    assert "contain age and sex without a penalty" in text
    assert "Missing values were imputed with the mean of the training samples" in text
    assert "Permutations kept outcome and age and sex in place" in text
    assert "the samples were weighted so that both classes have the same weight" in text
    assert "adjusted for age and sex" in text


@pytest.mark.parametrize(("weights", "is_told"), [("dose", True), ("study_weight", False)])
def test_a_column_that_no_table_has_is_not_named(weights, is_told):
    """Of studies that count alike the methods say so; the column is genesig's own."""
    data = collected("adds")
    data["config"]["data"]["weights"] = weights
    assert ("were weighted by" in " ".join(methods(data))) == is_told


def test_the_section_shows_every_weight():
    section = covariates_section(collected("open"), Limits(5, 5))
    (table,) = section.items
    assert [row[0].text for row in table.rows] == ["age", "sex: m"]
    assert [row[1].text for row in table.rows] == ["–", "f"]
    assert "1 sample lacked a value" in " ".join(section.words)


def test_first_screen_names_what_was_permuted():
    data = collected("adds")
    data["answer"]["p"] |= {"value": 0.01, "smallest": 0.01}
    data["verdict"] = judge(data["answer"], data["covariates"], None)
    assert headline(data).startswith("Gene expression adds to age and sex in distinguishing")
    text = " ".join(map(str, write_paragraphs(data)))
    assert "with permuted expression did as well" in text
    assert "given age and sex" in answer_checks(data)[0].detail
    data["answer"]["p"]["value"] = 0.6
    data["answer"]["evidence"]["fdr_selected"] = 0
    data["verdict"] = judge(data["answer"], data["covariates"], None)
    text = headline(data)
    assert "no evidence that gene expression adds to age and sex in" in text


# Lower limit and p of the list, the same of all genes, and what is said then.
ASSOCIATED = "is associated with the outcome beyond"
OPEN = "is not established"
GAINS_AND_SENTENCES = {
    "both speak for it": (0.01, 0.01, -0.1, 0.4, (ASSOCIATED,), (OPEN, "may be zero", "Ridge")),
    "all genes do": (-0.1, 0.4, 0.01, 0.02, ("All genes together add to ",), (ASSOCIATED,)),
    "without permutations": (0.01, None, -0.1, None, (), ("may be zero, ", ASSOCIATED)),
    "the interval alone": (0.01, 0.2, -0.1, 0.4, ("No association",), (ASSOCIATED,)),
    "the interval of all genes alone": (-0.1, 0.4, 0.01, 0.2, ("may be zero", "Ridge"), ()),
    "p alone": (-0.1, 0.01, -0.1, 0.4, (ASSOCIATED, OPEN, "may be zero"), ()),
    "p of all genes alone": (-0.1, 0.4, -0.1, 0.01, ("may be zero",), (ASSOCIATED,)),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", GAINS_AND_SENTENCES)
def test_interval_and_p_do_not_contradict_each_other(name):
    """Expression adds where both say so, of one and the same model."""
    data = collected("open")
    low, p, low_of_all, p_of_all, present, absent = GAINS_AND_SENTENCES[name]
    data["covariates"]["alone"] |= {"low": low, "high": 0.3}
    data["covariates"]["whole"] |= {"low": low_of_all, "high": 0.3}
    data["covariates"] |= {"p": p, "p_whole": p_of_all}
    data["answer"]["p"] |= {"value": p, "smallest": 0.01}
    data["verdict"] = judge(data["answer"], data["covariates"], None)
    text = covariates_section(data, Limits(5, 5)).words[0]
    assert all(words in text for words in present)
    assert not any(words in text for words in absent)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", GAIN_INTERVALS)
def test_ridge_is_explained_where_it_is_told(name):
    first_words, *later_words = covariates_section(collected(name), Limits(3, 9)).words
    assert ("Ridge on all genes" in first_words) == (
        "Ridge uses all genes" in " ".join(later_words)
    )


@pytest.mark.usefixtures("undrawn")
def test_the_gain_over_covariates_is_no_weight():
    section = controls_section(collected("adds"), Limits(3, 9))
    table = next(item for item in section.items if hasattr(item, "columns"))
    heads = [column.label for column in table.columns]
    assert "Gain" in heads
    assert heads[heads.index("Gain") + 1 :] == ["95% CI from", "to"]
    assert not any("Weight" in head or "_" in head for head in heads)


@pytest.mark.usefixtures("undrawn")
def test_hostile_names_are_escaped(tmp_path):
    data = collect(StudyResults(**held_arguments(Study(nonlinear=False), "adds", HOSTILE[0])))
    render(
        data, tmp_path / "report.html", tmp_path / "figures", title="x", gene_cards=3, table_rows=9
    )
    page = (tmp_path / "report.html").read_text()
    assert HOSTILE[0] not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
