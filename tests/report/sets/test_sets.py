"""The section on gene sets agrees with its numbers and is absent without gene sets."""

from __future__ import annotations

import re

import numpy as np
import pytest
from drawn_figures import dots, segments, y_ticks
from matplotlib.colors import to_hex
from report_records import HOSTILE, Study, arguments

from genesig.report.collect import TOPIC_TABLES, StudyResults, collect, tables_in
from genesig.report.methods import methods, references
from genesig.report.page.section import Limits
from genesig.report.page.style import GENESIG_COLOUR, PAPER
from genesig.report.page.svg import draw_picture
from genesig.report.sets import (
    WORDS,
    draw_frequencies,
    sets_paragraph,
    sets_section,
    sets_sentences,
)

LIMITS = Limits(12, 500)


def collected_sets(study=None, **error):
    """Return the collected data, with some numbers of the comparison changed."""
    inputs = arguments(study or Study(sets=True))
    for key, value in error.items():
        inputs["tables"]["sets_error"][key] = value
    return collect(StudyResults(**inputs))


def first_paragraph(data):
    return sets_paragraph(data)[0].text.replace("\u00a0", " ")


LOW = "difference_low"
HIGH = "difference_high"
COMPARED_ERRORS = {
    "better": ({"error": 0.1, "gene_error": 0.3, LOW: -0.3, HIGH: -0.1}, "predict better than"),
    "worse": ({"error": 0.3, "gene_error": 0.1, LOW: 0.1, HIGH: 0.3}, "predict worse than"),
    "open": (
        {"error": 0.1, "gene_error": 0.12, LOW: -0.1, HIGH: 0.06},
        "show no detectable difference",
    ),
    "no interval": ({LOW: np.nan, HIGH: np.nan}, "a difference without an interval"),
    "nothing measured": ({"error": np.nan}, "could not be compared"),
}


@pytest.mark.parametrize("name", COMPARED_ERRORS)
def test_first_sentence_agrees_with_the_errors(name):
    change, sentence = COMPARED_ERRORS[name]
    text = first_paragraph(collected_sets(**change))
    assert sentence in text.split(". ")[0]
    if name == "better":
        assert "Their balanced accuracy is 90% against 70% of the gene signature" in text
        assert "(95% CI of the difference 10.0 to 30.0 points)" in text
    other_sentences = [
        words for other_name, (_, words) in COMPARED_ERRORS.items() if other_name != name
    ]
    assert not any(words in text for words in other_sentences)


def test_a_long_name_of_a_set_is_whole_in_a_sentence():
    data = collected_sets()
    selected_set = next(
        selected_set for selected_set in data["sets"]["sets"] if selected_set["in_list"]
    )
    selected_set["set"] = (
        "REACTOME_REGULATION_OF_EXPRESSION_OF_SLITS_AND_ROBOS_BY_" + 3 * "SOMETHING_"
    )
    assert selected_set["set"] in first_paragraph(data)


def test_error_at_chance_is_stated_as_chance():
    inputs = arguments(Study(sets=True))
    controls = inputs["tables"]["controls"]
    controls.loc[controls["model"].isin(["genesig", "sets"]), "high"] = 0.6
    assert first_paragraph(collect(StudyResults(**inputs))).startswith(
        "Neither gene sets nor single genes predict better"
    )


def test_a_regression_is_told_in_r2():
    change = {"error": 0.3, "gene_error": 0.5, LOW: -0.3, HIGH: -0.1}
    text = first_paragraph(collected_sets(Study(sets=True, regression=True), **change))
    assert "Their R² is 0.70 against 0.50" in text
    assert "0.10 to 0.30" in text


@pytest.mark.parametrize(
    ("task", "classes", "words"),
    [
        ("classification", ["well", "ill"], "was least squares under the latent"),
        ("several_classes", ["a", "b", "c"], "squares on a column for each class under the latent"),
        ("regression", None, "was least squares under the latent"),
        ("survival", None, "was Cox's partial likelihood under the latent"),
    ],
)
def test_methods_say_what_is_minimised(task, classes, words):
    data = collected_sets()
    data["study"] |= {"task": task, "classes": classes}
    sentences = sets_sentences(data)
    assert words in sentences[0]
    assert ("squared error" in sentences[1]) == (task != "survival")


def test_the_first_screen_names_the_sets_that_are_always_there():
    data = collected_sets()
    names = [set_row["set"] for set_row in data["sets"]["sets"] if set_row["in_list"]]
    assert first_paragraph(data).endswith(f"{', '.join(names[:3])} and others.")
    selected = f"{len(names)} of 16 sets were in at least 75% of the cross-validated models"
    assert selected in first_paragraph(data)
    without_sets = collected_sets(Study(sets=True, empty=True))
    assert "None of 16 sets was in at least 75% of the cross-validated models." in first_paragraph(
        without_sets
    )


def test_stability_of_sets_stands_beside_that_of_genes():
    data = collected_sets()
    text = WORDS.text("stability", data["sets"])
    assert re.search(r"0\.\d\d for sets, 0\.\d\d for genes\.$", text)
    data["sets"]["gene_list_stability"]["value"] = None
    assert "for sets, not defined for genes." in WORDS.text("stability", data["sets"])
    data["sets"]["stability"]["value"] = None
    assert (
        WORDS.text("stability", data["sets"])
        == "The stability of the sets was not measured, or is not defined."
    )


@pytest.mark.drawn
def test_the_section_shows_a_figure_and_tables():
    section = sets_section(collected_sets(), LIMITS)
    assert [item.name for item in section.items] == ["sets", "sets", "sets-genes"]
    words = " ".join(section.words)
    assert "p\u00a0=\u00a00.1" in words
    assert "A selected set need not be the cause" in words
    assert "sets of 2 to 500 measured genes" in words


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("weights", ["permuted", "size", "equal"])
@pytest.mark.parametrize("has_other_weights", ["leave_out", "singletons"])
def test_methods_state_weights_of_sets(weights, has_other_weights):
    inputs = arguments(Study(sets=True))
    inputs["config"]["structured"] |= {"weights": weights, "others": has_other_weights}
    data = collect(StudyResults(**inputs))
    words = " ".join(sets_section(data, LIMITS).words)
    assert ("one by one" in words) == (has_other_weights == "singletons")
    assert ("calibrated on permuted training labels" in words) == (weights == "permuted")
    assert any("latent group lasso" in paragraph for paragraph in methods(data))
    assert any(text.startswith("Jacob L") for text in references(data))


def test_page_without_sets_has_no_section():
    data = collected_sets(Study())
    assert data["sets"] is None
    assert sets_paragraph(data) == []
    assert sets_section(data, LIMITS) is None
    assert not set(TOPIC_TABLES["sets"].on_page) & set(data["tables"])
    assert not any("latent group lasso" in paragraph for paragraph in methods(data))
    names = TOPIC_TABLES["sets"].read
    assert tables_in(dict.fromkeys(names, "x.tsv")) == list(names)


@pytest.mark.slow
def test_hostile_set_names_are_escaped():
    data = collected_sets(Study(sets=True, names=HOSTILE))
    assert {set_row["set"] for set_row in data["sets"]["sets"]} & set(HOSTILE)
    section = sets_section(data, LIMITS)
    assert "<script" not in draw_picture(section.items[0]).svg


def test_sets_stand_at_their_frequency_and_share_of_the_score():
    rows = [
        {"set": "SET_A", "genes": 9, "named": 2, "in_list": True}
        | {"cv_frequency": 0.9, "mean_share": 0.5, "final_share": 0.6},
        {"set": "SET_B", "genes": 9, "named": 0, "in_list": False}
        | {"cv_frequency": 0.2, "mean_share": None, "final_share": 0.0},
    ]
    frequency_axes, share_axes = draw_frequencies(rows, 0.75).axes
    green = to_hex(GENESIG_COLOUR)
    assert dots(frequency_axes) == [([[0.9, 0]], green), ([[0.2, 1]], green)]
    stems = [line for (line,), _ in segments(frequency_axes)]
    assert stems == [[0, 0, 0.9, 0], [0, 1, 0.2, 1]]
    assert segments(share_axes) == [([[0, 0, 0.5, 0]], green)]
    assert dots(share_axes) == [([[0.6, 0]], to_hex(PAPER))]
    assert share_axes.get_xlim()[0] == 0
    assert y_ticks(frequency_axes) == {"SET A": 0, "SET B": 1}
