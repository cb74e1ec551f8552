"""Numbers, names and the Methods paragraph are written as expected."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from report_kinds import KINDS, of_a_kind
from report_records import Study, arguments, collected

import genesig
from genesig.report.answer.collect import collect_answer
from genesig.report.answer.section import first_screen_tiles, gene_frequencies
from genesig.report.answer.sentences import GENES_QUESTION, UNKNOWN, answer_checks, write_paragraphs
from genesig.report.collect import StudyResults, collect
from genesig.report.data import STEP_TEXTS, reproducibility_section
from genesig.report.data import data_section as study_section
from genesig.report.genes.section import evidence_paragraphs, single_genes_section
from genesig.report.methods import methods
from genesig.report.page.section import Card, Limits, flat_items
from genesig.report.page.svg import Picture, draw_picture
from genesig.report.page.tables import KNOWN_COLUMNS, WRITERS, Table, cell
from genesig.report.page.words import (
    clean,
    counted,
    decimal,
    gene_label,
    percent,
    power,
    rate,
    shorten,
    shown_of_total,
    significant,
)
from genesig.report.prediction.section import (
    CRITERION_WORDS,
    SCHEME_WORDS,
    SOLVER_WORDS,
    controls_section,
    permutation_section,
    samples_section,
)
from genesig.report.render import render
from genesig.report.sections import SECTIONS, first_figures, summary


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (counted(1, "gene"), "1 gene"),
        (counted(0, "gene"), "0 genes"),
        (counted(2, "class"), "2 classes"),
        (counted(12345, "gene"), "12,345 genes"),
        (decimal(-0.5), "−0.50"),
        (decimal(None), "–"),
        (decimal(float("nan")), "–"),
        (decimal(0.0012), "0.0012"),
        (percent(0.5), "50%"),
        (rate(0.066), "6.6%"),
        (rate(0.136), "14%"),
        (rate(0.0), "0%"),
        (significant(3.14159e-6, 2), "3.1\u2009×\u200910⁻⁶"),
        (significant(-2.0), "−2"),
        (significant(65536), "65536"),
        (significant(1528.25, 3), "1528"),
        (shown_of_total(1100, 3051, "gene"), " 1,100 of 3,051 genes are shown."),
        (power(1e-3), "10⁻³"),
        (power(0.1), "0.1"),
        (power(0.0), "0"),
        (shorten("abcdef", 4), "abc…"),
        (clean("a\x00b\u202ec"), "a b c"),
        (gene_label("M27891_at", "CST3"), "CST3 · M27891_at"),
        (gene_label("CST3", "CST3"), "CST3"),
        (gene_label("CST3", ""), "CST3"),
    ],
)
def test_numbers_and_names_are_written_as_expected(written, expected):
    assert written == expected


def test_labels_never_grow_beyond_their_limit():
    for gene, symbol in (("g" * 300, "s" * 300), ("g", "s" * 300), ("g" * 300, "s")):
        assert len(gene_label(gene, symbol, 38)) <= 38


def test_every_column_can_be_written():
    for name, column in KNOWN_COLUMNS.items():
        assert cell(None, column.kind).text == "–", name
        value = 1.0 if column.numeric else "x"
        assert cell(value, column.kind).text, name
    assert {column.kind for column in KNOWN_COLUMNS.values()} <= set(WRITERS)


def test_the_methods_speak_of_every_choice_of_the_schema(schema):
    properties = schema["properties"]
    assert set(SCHEME_WORDS) == set(properties["splits"]["properties"]["scheme"]["enum"])
    assert set(SOLVER_WORDS) == set(properties["linear"]["properties"]["solver"]["enum"])
    assert set(CRITERION_WORDS) == set(properties["linear"]["properties"]["criterion"]["enum"])
    steps = {
        name
        for name, definition in schema["$defs"].items()
        if "step" in definition.get("properties", {})
    }
    assert set(STEP_TEXTS) == steps - {"step"}


@pytest.fixture(scope="module")
def schema():

    import yaml

    path = ROOT / "workflow/schemas/config.schema.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_methods_follow_the_config():
    inputs = arguments(Study(permutations=9))
    inputs["config"]["normalise"] = {
        "samples": [{"step": "log2", "floor": 16, "ceiling": 65536}],
        "folds": [
            {"step": "collapse", "by": None, "rule": "max_iqr"},
            {"step": "variance_filter", "keep": 0.5},
            {"step": "centre"},
        ],
    }
    text = " ".join(methods(collect(StudyResults(**inputs))))
    for phrase in (
        "log2-transformed",
        "[16, 65536]",
        "0.5 share",
        "rule max_iqr",
        "of the smallest error. Of these, the list was chosen on which the inner folds agreed most",
        "at most 100 genes",
        "cut halfway between the mean out-of-fold scores",
        "5-fold",
        "repeated 2 times",
        "10 splits",
        "repeated 9 times with the labels permuted",
        "'Inconclusive' means a small p alone, or FDR-selected genes alone. If p could not",
    ):
        assert phrase in text


def test_tiles_hold_five_numbers():
    names = [tile.name for tile in first_screen_tiles(collected(Study()))]
    assert len(names) == len(set(names)) == 5
    assert all(tile.value and tile.words for tile in first_screen_tiles(collected(Study())))


def in_patients(study, labels):
    """Give the study a column of patients, and every patient's samples these labels in turn."""
    inputs = arguments(study)
    data = inputs["dataset"]
    per_patient = len(labels[0])
    obs = data.obs.assign(patient=[f"p{i // per_patient}" for i in range(len(data.obs))])
    obs["class"] = [
        labels[i // per_patient % len(labels)][i % per_patient] for i in range(len(obs))
    ]
    design = replace(data.design, group="patient")
    return {**inputs, "dataset": replace(data, obs=obs, design=design)}


WITHIN = [["tumour", "normal", "normal"]]
UNDIVIDED_CLASSES = [["tumour"] * 3, ["normal"] * 3]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (WITHIN, "(10 values: one per patient, the difference of its class means)"),
        (UNDIVIDED_CLASSES, "(10 values: one per patient and class, the mean of its samples)"),
    ],
)
def test_statistics_say_what_was_averaged(labels, words):
    data = collect(StudyResults(**in_patients(Study(), labels)))
    assert words in " ".join(methods(data))
    assert words in single_genes_section(data, Limits(3, 5)).words[0]
    alone = collected(Study())
    assert (
        "one per"
        not in " ".join(methods(alone)) + single_genes_section(alone, Limits(3, 5)).words[0]
    )


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (WITHIN, "permuted within each patient"),
        (UNDIVIDED_CLASSES, "permuted between whole groups (patient) of equal size"),
        (
            WITHIN + UNDIVIDED_CLASSES,
            "permuted within each patient whose label varies, and between",
        ),
    ],
)
def test_where_labels_were_shuffled_is_said_wherever_they_are(labels, words):
    data = collect(StudyResults(**in_patients(Study(), labels)))
    section = permutation_section(data, Limits(3, 5)).words[0]
    chance_sentence = write_paragraphs(data)[0].text
    for text in (chance_sentence, answer_checks(data)[0].detail, " ".join(methods(data)), section):
        assert words.removeprefix("permuted") in text
    assert ("not between them" in section) == (labels is WITHIN)


def test_one_split_shuffles_each_side_by_itself():
    data = collected(Study(folds=1, repeats=1))
    assert "separately among training and test samples" in write_paragraphs(data)[0].text


def words_of(data):
    """Return all words of the sections: theirs, and captions of figures and tables."""
    sections = [section for write in SECTIONS.values() if (section := write(data, Limits(3, 5)))]
    items = [item for section in sections for item in flat_items(section.items)]
    captions = [item.caption for item in items if hasattr(item, "caption")]
    return " ".join([*(word for section in sections for word in section.words), *captions])


@pytest.mark.usefixtures("undrawn")
def test_a_number_is_not_spoken_of_as_a_class():
    text = words_of(collected(Study(regression=True)))
    for phrase in ("most often misclassified", "meet in the middle", "doubtful", "called"):
        assert phrase not in text
    # The label's name is class.
    assert "Top bars: class and held-out prediction, dark low, yellow high." in text
    data = collected(Study(regression=True))
    table = next(
        i
        for i in flat_items(samples_section(data, Limits(3, 5)).items)
        if i.name == "held-out-samples"
    )
    distance_of = {
        sample["sample"]: abs(sample["mean"] - sample["label"])
        for sample in data["held_out"]["samples"]
    }
    assert [row[0].text for row in table.rows] == sorted(distance_of, key=lambda s: -distance_of[s])


@pytest.mark.parametrize(
    "study",
    [Study(permutations=19), Study(regression=True), Study(sets=True, placed=True, enriched=True)],
)
def test_alternative_text_of_a_figure_states_a_number(study):
    data = collected(study)
    sections = [section for write in SECTIONS.values() if (section := write(data, Limits(3, 5)))]
    pictures = [
        *(item for section in sections for item in flat_items(section.items)),
        *(image for section in sections for image in section.pictures),
        *first_figures(data, Limits(3, 5)),
    ]
    texts = {i.name: (i.title, i.description) for i in pictures if isinstance(i, Picture)}
    assert len(texts) > 9
    for name, (title, description) in texts.items():
        assert re.search(r"\d", description), name
        assert description not in (title, f"{title}."), name


def test_captions_hold_in_the_dark_and_need_no_other_figure():
    data = collected(Study(permutations=19))
    captions = [image.caption for image in first_figures(data, Limits(3, 5))]
    text = " ".join([*captions, words_of(data)])
    assert "as above" not in text
    assert not re.search(r"\b(?:[Bb]lack|[Ww]hite) (?:tick|dot|line|mark)", text)


def test_warnings_of_the_first_screen_are_sentences():
    data = collected(Study(permutations=19))
    data["warnings"] = ["samples.tsv: one column is empty", "Few patients."]
    expected = ["samples.tsv: one column is empty.", "Few patients."]
    assert summary(data, Limits(3, 5)).warnings == expected


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("regression", [False, True])
def test_one_repeat_is_written_in_the_singular(regression):
    text = words_of(collected(Study(regression=regression, repeats=1)))
    for phrase in ("repeated 1 time", "span the repeats", "per repeat,", "over repeats errs"):
        assert phrase not in text
    assert "repeated 2 times" in words_of(collected(Study(regression=regression)))


@pytest.mark.parametrize(
    ("has_two_models", "size", "words"),
    [
        (1, 1, "They include the one signature gene."),
        (0, 1, "They include none of 1 signature gene"),
        (1, 5, "They include 1 of 5 signature genes"),
        (5, 5, "They include all 5 signature genes"),
    ],
)
def test_one_gene_is_written_in_the_singular(has_two_models, size, words):
    data = collected(Study())
    data["univariate"]["in_signature"] = has_two_models
    data["answer"]["size"] = size
    assert words in single_genes_section(data, Limits(3, 5)).words[0]


def test_single_genes_tell_signature_genes_from_fdr_selected_ones():
    data = collected(Study())
    data["univariate"]["in_signature"] = data["answer"]["size"] = 4
    data["answer"]["evidence"]["model_size"] = 3
    text = " ".join(single_genes_section(data, Limits(3, 5)).words)
    assert "They include all 4 signature or FDR-selected genes." in text
    assert "in combination" not in text
    data["univariate"]["in_signature"] = 2
    text = " ".join(single_genes_section(data, Limits(3, 5)).words)
    assert "do not pass alone may matter in combination, or be there by chance." in text


def stability_words(data):
    data["verdict"]["grade"] = "Better than chance"
    return next(check for check in answer_checks(data) if check.question == GENES_QUESTION)


def test_overlapping_splits_are_no_stability():
    inputs = arguments(Study(subsamples=0))
    table = inputs["tables"]["stability"]
    table.loc[table["source"].eq("outer_splits"), "stability"] = 1.0
    data = collect(StudyResults(**inputs))
    tile = stability_words(data)
    assert tile.answer == UNKNOWN
    assert tile.detail.startswith("No halves of the samples were drawn; overlapping training sets")
    assert any("no halves of the samples were drawn" in warning for warning in data["warnings"])


@pytest.mark.parametrize("fits_too", [False, True])
def test_empty_lists_of_halves_are_not_halves_never_drawn(fits_too):
    inputs = arguments(Study(subsamples=6))
    table = inputs["tables"]["stability"]
    none = table["source"].eq("half_subsamples") | fits_too
    none |= table["source"].eq("half_blocks")
    table.loc[none, "stability"] = np.nan
    table.loc[none, "mean_size"] = 0.0
    data = collect(StudyResults(**inputs))
    tile = stability_words(data)
    assert tile.answer == UNKNOWN
    assert tile.detail.startswith("No gene was selected in any of 6 halves of the samples")
    text = " ".join(data["warnings"])
    assert "all 6 half-sample lists are empty" in text
    assert "no halves of the samples were drawn" not in text


def test_stability_tile_compares_lists_and_groups_of_genes():
    tile = stability_words(collected(Study()))
    assert tile.detail == ("0.2 by chance; agreement beyond chance 0.30 (correlated groups 0.45)")


def wrong_words(times, tested):
    data = collected(Study())
    samples = data["held_out"]["samples"]
    for sample in samples:
        sample["wrong"] = 0
        sample["tested"] = tested
    for sample, wrong in zip(samples, times, strict=False):
        sample["wrong"] = wrong
    data["answer"] = collect_answer(data, [])
    return samples_section(data, Limits(3, 5)).words[0]


@pytest.mark.usefixtures("undrawn")
def test_samples_wrong_in_most_repeats_are_named():
    text = wrong_words([3, 2, 4, 1], tested=4)
    assert "2 of 30 samples were misclassified in most repeats" in text
    assert "1 of them in every one" in text
    assert "misclassified in every repeat" in wrong_words([2, 2], tested=2)
    text = wrong_words([2, 1], tested=4)
    assert text.startswith("No sample was misclassified in most of its repeats")
    text = wrong_words([0, 1], tested=1)
    assert "every one" not in text


@pytest.mark.usefixtures("undrawn")
def test_samples_to_leave_undecided_are_counted_in_all():
    data = collected(Study())
    rule = {"threshold": 0.9, "wrong": 7, "rejected": 26, "predicted": 30}
    data["held_out"]["rejection"] = [
        {"class": "normal", **rule},
        {"class": "tumour", **rule, "rejected": 18},
    ]
    assert (
        "To remove all errors here, 44 of 60 samples with scores closest to 0 must stay"
        " undecided. They are 26 of 30 calls of normal and 18 of 30 calls of tumour."
    ) in " ".join(samples_section(data, Limits(3, 5)).words)


def test_models_of_fdr_selected_genes_are_explained_if_few_genes_pass():
    text = " ".join(controls_section(collected(Study()), Limits(3, 5)).words)
    assert '"FDR-selected genes only" uses at least 5 genes, the most often selected if' in text


def test_few_permutations_are_warned_of_once():
    warnings = collect(StudyResults(**arguments(Study(permutations=9))))["warnings"]
    assert sum("permutations" in warning for warning in warnings) == 1


def left_out(*kinds):
    inputs = arguments(Study())
    dropped = [{"kind": kind, "name": f"n{i}", "reason": "r"} for i, kind in enumerate(kinds)]
    provenance = {**inputs["dataset"].provenance, "dropped": dropped}
    return collect(
        StudyResults(**{**inputs, "dataset": replace(inputs["dataset"], provenance=provenance)})
    )


def test_only_removed_samples_and_genes_are_named():
    data = left_out("sample", "sample")
    section = study_section(data, Limits(3, 5))
    table = next(item for item in section.items if item.name == "dropped")
    for text in (section.words[0], table.caption, methods(data)[0]):
        assert "2 samples" in text
        assert not text.split("2 samples")[1].startswith(" and")
    assert "1 sample and 2 genes" in methods(left_out("sample", "gene", "gene"))[0]


def test_times_stand_beside_the_page_and_not_on_it():
    section = reproducibility_section(collected(Study()), Limits(3, 5))
    assert "times/jobs.tsv" in section.words[0]
    assert [type(item).__name__ for item in section.items] == ["Facts"]
    assert section.files == ["run.json"]


@pytest.mark.parametrize("regression", [True, False])
def test_the_methods_say_what_the_interval_covers(regression):
    text = " ".join(methods(collected(Study(regression=regression))))
    assert "Nadeau" in text
    assert ("compares samples of one test set" in text) != regression


@pytest.mark.parametrize(("value", "written"), [(-0.004, "0%"), (-0.006, "−1%"), (0.0, "0%")])
def test_number_rounded_to_zero_has_no_sign(value, written):
    assert percent(value) == written


@pytest.mark.drawn
@pytest.mark.parametrize("count", [0, 9, 10])
def test_a_band_that_is_not_drawn_is_not_explained(count):
    data = collected(Study(permutations=count))
    (image,) = [
        item for item in controls_section(data, Limits(12, 500)).items if hasattr(item, "svg")
    ]
    assert ("Grey: 95%" in image.caption) == (count >= 10)
    assert ("permuted labels" in draw_picture(image).svg) == (count >= 10)


@pytest.mark.parametrize("task", [{"regression": True}, {}])
def test_the_first_number_says_in_how_many_samples(task):
    assert "30 held-out patients" in write_paragraphs(collected(Study(**task)))[0].text


def test_only_genes_that_are_there_are_explained():
    data = collected(Study(named=2))
    table = data["tables"]["signature"]
    selected_column, coef = (table["columns"].index(name) for name in ("fdr_selected", "weight"))
    for row in table["rows"]:
        row[selected_column] = True
        row[coef] = 0.5
    data["answer"]["evidence"]["fdr_selected"] = data["answer"]["size"]
    text = " ".join(evidence_paragraphs(data, data["answer"]["evidence"]))
    assert "the others" not in text
    assert "weight 0" not in text
    table["rows"][0][coef] = 0.0
    data["answer"]["evidence"]["fdr_selected"] -= 1
    text = " ".join(evidence_paragraphs(data, data["answer"]["evidence"]))
    assert "Do not follow up the others" in text
    assert text.endswith("weight 0 marks an FDR-selected gene that the model does not use.")


BARE_Q = re.compile(r"\bq\b(?! \((selection|t-test|single-gene test|meta-analysis)\))")
"""A q without the test that it belongs to."""
OTHER_Q = "Right: q (selection)"
"""How Figure 2, whose marks have room for the letter alone, says which q they show."""


@pytest.mark.usefixtures("undrawn")
def test_every_q_of_the_page_names_its_test():
    data = collected(Study(permutations=99))
    sections = [write(data, Limits(3, 5)) for write in SECTIONS.values()]
    items = [item for section in sections if section for item in section.items]
    tables = [item for item in items if isinstance(item, Table)]
    headings = [f"{column.label} {column.help}" for table in tables for column in table.columns]
    pairs = [" ".join(map(" ".join, item.pairs)) for item in items if isinstance(item, Card)]
    texts = [*headings, *pairs, *(text.text for text in write_paragraphs(data)), words_of(data)]
    assert pairs
    assert [text for text in texts if BARE_Q.search(text.replace("q only orders genes", ""))] == []
    assert {"q (selection)", "q (t-test)"} <= {
        column.label for table in tables for column in table.columns
    }
    assert OTHER_Q in gene_frequencies(data).caption


@pytest.mark.usefixtures("undrawn")
def test_p_of_methods_is_called_that_of_permutations():
    table = controls_section(collected(Study(permutations=99)), Limits(3, 5)).items[-1]
    labels = [column.label for column in table.columns]
    assert "p (permutation)" in labels
    assert "p (single-gene test)" not in labels


METHOD_FOLDERS = ("report", "notebook", "selection", "models")


def test_no_method_is_called_a_predictor():
    """TRIPOD+AI calls variables predictors, so only its checklist has the word."""
    package = Path(genesig.__file__).parent
    lines = [
        f"{path.name}: {line}"
        for folder in METHOD_FOLDERS
        for path in sorted((package / folder).rglob("*"))
        if path.suffix in (".py", ".j2", ".js") and path.name != "writeup.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if "predictor" in line.lower()
    ]
    assert lines == []


MAX_SENTENCE_WORDS = 25
PROSE = re.compile(r"<(p|li|figcaption)\b[^>]*>(.*?)</\1>", re.DOTALL)
CITATION = re.compile(r"\([^()]*\b(?:19|20)\d\d[^()]*\)")
SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\bal\.)\s+")
EXCEPTIONS = (
    "Stability selection identified ",  # names up to twelve genes
    "https://doi.org/",  # references
)


def long_sentences(page):
    """Return the sentences of a page with more than `MAX_SENTENCE_WORDS`, citations left out.

    A word has a letter or a digit.
    """
    texts = [html.unescape(re.sub(r"<[^>]+>", " ", match[2])) for match in PROSE.finditer(page)]
    sentences = [
        sentence
        for text in texts
        for sentence in SENTENCE_END.split(CITATION.sub("", " ".join(text.split())))
        if not any(exception in sentence for exception in EXCEPTIONS)
    ]
    return [
        sentence
        for sentence in sentences
        if sum(any(letter.isalnum() for letter in word) for word in sentence.split())
        > MAX_SENTENCE_WORDS
    ]


def test_long_sentence_is_found_and_citation_is_not_counted():
    long = " ".join(["word"] * 26)
    page = f"<p>{long}. Short.</p><p>{' '.join(['word'] * 25)} (Varma and Simon 2006).</p>"
    assert long_sentences(page) == [f"{long}."]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_sentence_of_the_page_has_more_than_25_words(kind, tmp_path):
    page = tmp_path / "report.html"
    render(
        of_a_kind(kind), page, tmp_path / "figures", title="A study", gene_cards=12, table_rows=5
    )
    assert long_sentences(page.read_text(encoding="utf-8")) == []
