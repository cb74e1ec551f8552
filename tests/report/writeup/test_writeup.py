"""The write-up has the numbers of the page, and its checklist leaves unknown items open."""

from __future__ import annotations

import re

import numpy as np
import pytest
from report_kinds import of_a_kind
from report_records import HOSTILE, Study, arguments, collected, make_about

from genesig.report.answer.sentences import write_paragraphs
from genesig.report.card import write_card
from genesig.report.collect import StudyResults, collect
from genesig.report.data import data_section
from genesig.report.page.section import Limits
from genesig.report.page.verdict import headline
from genesig.report.page.words import decimal, percent, rate
from genesig.report.writeup import (
    OPEN_ITEM,
    TRIPOD_ITEMS,
    WORDS,
    checklist,
    limits_words,
    results,
    tripod_section,
)


def test_the_paragraph_has_the_numbers_of_the_page():
    inputs = arguments(Study(permutations=99))
    data = collect(StudyResults(**inputs, external=[make_about(inputs["dataset"], "Lund")]))
    (text,) = results(data)
    answer = data["answer"]
    error = answer["error"]
    expected = [
        f"{rate(1 - error['value'])} (95% CI ",
        f"Stability selection identified {answer['evidence']['fdr_selected']} genes",
        f"the final model, fitted on all samples, uses {answer['evidence']['model_size']} genes",
        "In Lund (25 samples), the final model had a balanced accuracy of",
        decimal(answer["stability"]["value"]),
        *(
            f"{measure['name'].replace('auc', 'AUC')} "
            f"{(decimal if measure['name'] == 'auc' else percent)(measure['value'])}"
            for measure in answer["measures"]
        ),
    ]
    for words in expected:
        assert words.lower() in text.lower(), words


def test_results_have_every_measure_of_a_cohort_and_tell_genes_apart():
    inputs = arguments(Study(permutations=99))
    data = collect(StudyResults(**inputs, external=[make_about(inputs["dataset"], "Lund")]))
    scores = data["external"][0]["scores"]
    genes, cohort = results(data)[0].split("In Lund (25 samples)")
    for name in ("auc", "sensitivity", "specificity"):
        write = decimal if name == "auc" else percent
        value, low, high = (write(scores[name][key]) for key in ("value", "low", "high"))
        limits = f"(95% CI {low.removesuffix('%')}–{high})"
        assert f"{name.replace('auc', 'AUC')} {value} {limits}" in cohort
    assert re.search(r"uses \d+ genes, (all|none|\d+) of them FDR-selected\.", genes)
    assert "was tested in 1 external cohort only" in limits_words(data)


def test_results_without_evidence_report_no_gene():
    (text,) = results(of_a_kind("noise"))
    assert "As there is no evidence of prediction, no gene is reported." in text
    assert "The final model" not in text


def test_both_limits_of_an_interval_have_the_same_digits():
    data = collected(Study(permutations=99))
    data["answer"]["error"] |= {"value": 0.2, "low": 0.07, "high": 0.36}
    assert "(95% CI 64–93%)" in results(data)[0]


def test_names_of_genes_are_whole_in_the_paragraph_that_readers_copy():
    data = collected(Study(permutations=99))
    long = "HLA-DRB1///HLA-DRB3///HLA-DRB4///HLA-DRB5///and_a_contig_without_any_break_0001"
    for gene in data["answer"]["signature_genes"]:
        gene["symbol"] = long
    (text,) = results(data)
    assert f" {long}" in text
    assert "…" not in text


def test_many_cohorts_have_one_sentence_of_those_without_training_samples():
    inputs = arguments(Study(permutations=9))
    cohorts = [make_about(inputs["dataset"], f"c{k}", n=20 + k) for k in range(5)]
    data = collect(StudyResults(**inputs, external=cohorts))
    rows = data["answer"]["cohorts"]["rows"]
    for row, error in zip(rows, (0.3, 0.1, 0.2, 0.4, 0.5), strict=True):
        row["error"] = error
    samples = sum(row["samples"] for row in rows)
    text = f"In 5 external cohorts ({samples} samples), the final model had a median balanced"
    assert f"{text} accuracy of 70% (range 50% to 90%)." in results(data)[0]
    assert "In c0" not in results(data)[0]
    rows[4]["seen_in_training"] = True
    assert f"In 4 external cohorts ({samples - rows[4]['samples']} samples)" in results(data)[0]
    assert "of 75% (range 60% to 90%)" in results(data)[0]


def test_paragraph_omits_unknown_numbers():
    inputs = arguments(Study(permutations=0, subsamples=0, empty=True))
    inputs["tables"]["controls"] = inputs["tables"]["controls"].assign(
        error=np.nan, low=np.nan, high=np.nan
    )
    (text,) = results(collect(StudyResults(**inputs)))
    assert "could not be estimated" in text
    assert "No permutation test was run" in text
    assert "selected no gene" in text
    for word in ("nan", "None", "–", "()"):
        assert word not in text


@pytest.mark.parametrize("regression", [False, True])
def test_the_checklist_has_every_item_once_and_leaves_open_what_no_run_knows(regression):
    rows = checklist(collected(Study(regression=regression, names=HOSTILE)))
    numbers = [number for number, _, _ in rows]
    assert len(set(numbers)) == len(numbers) == len(TRIPOD_ITEMS) == 52
    assert {int(n.rstrip("abcdefg")) for n in numbers} == set(range(1, 28))
    opened = {number for number, _, answer in rows if answer == OPEN_ITEM}
    assert {"1", "5b", "14", "17", "18a", "19", "25"} <= opened
    assert not opened & {"7", "11", "12a", "12c", "15", "21", "22", "26"}
    assert all(answer and "None" not in answer for _, _, answer in rows)


def test_section_counts_open_checklist_items():
    data = collected(Study())
    section = tripod_section(data, Limits(3, 15))
    table = section.items[0]
    n_open = sum(row[-1].text == OPEN_ITEM for row in table.rows)
    assert f"{n_open} are for you" in section.words[0]
    assert table.total == len(TRIPOD_ITEMS)


def test_splits_are_spoken_of_without_their_key():
    data = collected(Study())
    text = " ".join(row[-1] for row in checklist(data)) + str(
        data_section(data, Limits(3, 15)).items
    )
    assert "k-fold, " in text
    assert "stratified k-fold;" in text
    assert "kfold" not in text


def test_limits_hold_every_warning():
    data = collected(Study(permutations=0))
    text = limits_words(data)
    assert data["warnings"]
    assert all(warning in text for warning in data["warnings"])
    assert "The analysis was not adjusted for batches or covariates" in text
    config_with_age = {**data["config"], "data": {**data["config"]["data"], "covariates": ["age"]}}
    assert "not adjusted for batches, because" in limits_words({**data, "config": config_with_age})
    assert "not adjusted for covariates, because" in limits_words(
        {**data, "batch": {"column": "day"}}
    )


def test_the_card_speaks_of_use_performance_limits_and_making_without_mark_up():
    data = collected(Study(permutations=9))
    text = write_card(data, "a <b>bold</b> [title](x) # of *mine*")
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads[0] == r"# Model card: a \<b\>bold\</b\> \[title\](x) \# of \*mine\*"
    parts = ("Intended use", "Conclusion", "Accuracy", "Genes", "Limits", "How it was made")
    assert heads[1:] == [f"## {part}" for part in parts]
    plain_text = text.replace("\\", "")
    assert headline(data) in plain_text
    assert write_paragraphs(data)[0].text in plain_text
    assert limits_words({**data, "warnings": ["a", "B."]}).endswith(" a. B.")
    assert len(plain_text.split()) <= 250
    assert f"seed {data['run']['seed']}." in plain_text


@pytest.mark.parametrize(
    ("step", "answer"),
    [
        ({"step": "half_minimum"}, "imputed by half_minimum (taken for values too small to be"),
        (
            {"step": "knn_impute", "missing_most": 0.5},
            "missing in more than 50% were left out",
        ),
    ],
)
def test_the_checklist_says_how_much_was_imputed_and_how(step, answer):
    data = collect(StudyResults(**arguments(Study())))
    study = {**data["study"], "samples": 40, "genes": 50, "missing": 60}
    config = {**data["config"], "normalise": {"samples": [], "folds": [step]}}
    answers = {
        number: text for number, _, text in checklist({**data, "study": study, "config": config})
    }
    assert "60 of 2000 values (3.00%) were missing and" in answers["11"]
    assert answer in answers["11"]
    assert "imputed" not in dict((n, t) for n, _, t in checklist(data))["11"]


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-0.2, -0.1, "better"),
        (0.1, 0.2, "worse"),
        (0.0, 0.1, "includes 0"),
        (-0.1, 0.0, "includes 0"),
    ],
)
def test_a_difference_is_no_difference_if_its_interval_touches_zero(low, high, word):
    assert word in WORDS.text("paired_difference", low, high)
