"""No two sentences of a report contradict each other for any numbers."""

from __future__ import annotations

import copy
import re
from functools import cache
from itertools import product

import numpy as np
import pytest
from fitted_models import scored, written
from report_records import Study, arguments, kind_arguments, make_about

from genesig.report.answer.collect import stability_warnings
from genesig.report.answer.section import first_screen_tiles, gene_frequencies, models_note
from genesig.report.answer.sentences import (
    EXTERNAL_QUESTION,
    NO,
    UNKNOWN,
    YES,
    answer_checks,
    next_steps,
    write_paragraphs,
)
from genesig.report.collect import StudyResults, collect
from genesig.report.external.section import cohort_paragraphs
from genesig.report.genes.cards import direction_text, folded_measure, single_gene_measure
from genesig.report.page.measure import measure
from genesig.report.page.section import Limits
from genesig.report.page.verdict import Grade, grade, grade_within_study, headline
from genesig.report.prediction.section import WORDS
from genesig.report.sections import SECTIONS
from genesig.report.writeup import limits_words, results

pytestmark = pytest.mark.drawn

KINDS_OF_RESPONSE = ("several_classes", "survival")
COHORTS = {
    "none": (),
    "good": (0.9, 0.8),
    "bad": (0.5, 0.3),
    "seen": (0.9, 0.8, 25),
    "many": (0.9, 0.8),
}
P = {"none": 0, "few": 9, "small": 0.01, "large": 0.4}


def collect_study(p, high, cohort, rival, *, regression, empty=False, n_named=3):
    """Collect a study of these numbers."""
    permutations = P[p] if p in ("none", "few") else 99
    inputs = arguments(
        Study(
            permutations=permutations,
            regression=regression,
            empty=empty,
            nonlinear=False,
            repeats=4,
            signal=0.4,
            named=n_named,
        )
    )
    controls = inputs["tables"]["controls"]
    is_genesig = (controls["model"] == "genesig") & controls["mu"].isna()
    controls.loc[is_genesig, ["error", "low", "high"]] = 0.2, 0.1, high
    if permutations == 99:
        controls.loc[is_genesig, "p_value"] = P[p]
    ridge = controls["model"] == "ridge"
    controls.loc[ridge, "error"] = 0.01
    columns = ["difference", "difference_low", "difference_high"]
    controls.loc[ridge, columns] = -0.1, -0.2, -0.01 if rival else 0.05
    abouts = []
    if COHORTS[cohort]:
        value, low, *seen_before = COHORTS[cohort]
        abouts = [
            make_about(inputs["dataset"], "other", seen_before=seen_before[0] if seen_before else 0)
        ]
        for row in abouts[0]["scores"]:
            if row["measure"] in ("auc", "r2"):
                row |= {"value": value, "low": low - regression * 0.6, "high": 0.99}
        if cohort == "many":
            names = ("first", "second", "third", "fourth", "fifth")
            abouts = [copy.deepcopy(abouts[0]) | {"name": name} for name in names]
            for row in abouts[2]["scores"]:
                row |= {"low": -0.1} if row["measure"] in ("auc", "r2") else {}
        if cohort == "good" and regression:
            next(r for r in abouts[0]["scores"] if r["measure"] == "r2")["low"] = 0.3
    return collect(StudyResults(**inputs, external=abouts))


@cache
def of_kind(kind):
    return kind_arguments(kind, proved=True)


@cache
def cohort_of(kind):
    written(kind)
    return scored(kind).about


def collect_study_of_kind(kind, p, cohorts):
    """Collect a study of several classes or of survival with these cohorts, better than chance."""
    inputs = copy.deepcopy(of_kind(kind))
    errors = np.full(99 if p in ("small", "large") else P[p], 0.5)
    inputs["null"]["error"] = np.repeat(errors[:, None], inputs["null"]["error"].shape[1], axis=1)
    controls = inputs["tables"]["controls"]
    is_genesig = (controls["model"] == "genesig") & controls["mu"].isna()
    controls.loc[is_genesig, ["error", "low", "high"]] = 0.2, 0.1, 0.4
    controls.loc[is_genesig, "p_value"] = P[p] if p in ("small", "large") else 1 / (len(errors) + 1)
    abouts = []
    for k, better in enumerate(cohorts):
        about = copy.deepcopy(cohort_of(kind)) | {"name": f"c{k}"}
        for row in about["scores"]:
            if row["measure"] in ("auc", "concordance"):
                row |= {"value": 0.8 if better else 0.52, "low": 0.7 if better else 0.4}
        abouts.append(about)
    return collect(StudyResults(**inputs, external=abouts))


def many_cohorts(data):
    """Compare the sentence about many cohorts with the check and the text of each cohort."""
    cohorts_data = data["answer"]["cohorts"]
    (paragraph,) = cohort_paragraphs(data)
    words = paragraph.text
    number = re.search(r"than chance in (\w+)", words)
    assert number is not None
    assert number[1] == (str(cohorts_data["better"]) if cohorts_data["better"] else "none")
    external = [check for check in answer_checks(data) if check.question == EXTERNAL_QUESTION]
    assert all(
        f"in {cohorts_data['better']} of {cohorts_data['tested']} cohorts" in check_row.detail
        for check_row in external
    )
    section = SECTIONS["external"](data, Limits(12, 15))
    for check_row, group in zip(
        data["external"], section.items[-len(data["external"]) :], strict=True
    ):
        beyond = not any("(chance)" in text or "worse than" in text for text in group.words)
        key, _, chance = measure(data).external_measure
        assert beyond == (check_row["scores"][key]["low"] > chance)
        assert (check_row["name"] in words) == (not beyond and cohorts_data["better"] > 0)


def directions(data):
    """Compare the direction of each gene of the first screen with the words of its card."""
    up = {chip["gene"]: chip["up"] for chip in data["answer"]["signature_genes"]}
    for card in data["cards"]["genes"]:
        words = direction_text(data, card)
        rises = up.get(card["gene"])
        if words.startswith(("higher", "rises", "lower", "falls")) and rises is not None:
            assert words.startswith(("higher", "rises")) == rises
        measure_shown = folded_measure(data, card)["value"]
        assert (
            not single_gene_measure(data).is_folded or measure_shown is None or measure_shown >= 0.5
        )


def genes(data, text, paper):
    """Compare what is said of FDR-selected genes with the tiles, the figure and the write-up."""
    answer = data["answer"]
    tile_by_name = {tile.name: tile for tile in first_screen_tiles(data)}
    evidence = answer["evidence"]
    figure = gene_frequencies(data)
    none = grade(data) is Grade.NONE
    assert ("Signature" in tile_by_name) != none
    if evidence is None:
        assert answer["core"] is not None
        assert none or tile_by_name["Signature"].value.split()[0] == str(answer["size"])
        return
    assert answer["core"] is None
    assert " core" not in text + paper
    assert none or tile_by_name["Signature"].words.startswith(f"{evidence['fdr_selected']} at FDR")
    assert (figure is not None) == (evidence["fdr_selected"] > 0 and not none)
    untested = data["config"]["signature"]["permutations"] < 19
    refused = "No gene passes" in text or "Genes were not tested" in text
    if answer["size"] or none:
        assert refused == (not evidence["fdr_selected"]) or untested
    no_gene = "no gene is reported" if none else "identified no gene"
    assert not answer["size"] or (no_gene in paper) == (none or not evidence["fdr_selected"])


def check(data):
    """Compare each pair of sentences that once contradicted each other with the numbers."""
    first_line = headline(data)
    graded = grade(data)
    rows = {row.question: row for row in answer_checks(data)}
    chance = rows["Better than chance?"]
    external = rows.get(EXTERNAL_QUESTION)
    paragraphs = [*write_paragraphs(data), *next_steps(data)]
    text = " ".join([first_line, *map(str, paragraphs), models_note(data)])
    warned = " ".join(data["warnings"])
    (paper,) = results(data)
    limits = limits_words(data)
    answer = data["answer"]
    p = data["answer"]["p"]["value"]
    # The conclusion and the check of chance.
    assert ("no evidence" in first_line) == (graded is Grade.NONE)
    assert ("is unclear" in first_line) >= (graded is Grade.WEAK)
    assert (chance.answer == YES) == (grade_within_study(data) is Grade.HERE)
    assert (graded is Grade.NONE) <= (chance.answer in (NO, UNKNOWN, "Unclear"))
    # What external cohorts say, wherever they are spoken of.
    tested = answer["cohorts"]["tested"] > 0
    assert ("has not been tested in an external cohort" in limits) == (not tested)
    assert (re.search(r"was tested in \d+ external cohorts? only", limits) is not None) == tested
    assert external is None or (external.answer == NO) == (not tested)
    assert ("but not in" in first_line) <= (answer["cohorts"]["better"] == 0)
    assert ("this study alone" in first_line) <= (chance.answer != YES)
    assert "Next steps." in text
    assert ("in an external cohort" in text) <= (not tested and graded is not Grade.NONE)
    assert ("an external cohort before" in text) == (not tested and graded is Grade.HERE)
    if len(data["external"]) > 3 and tested:
        many_cohorts(data)
    directions(data)
    # What is counted is what is measured.
    if data["study"]["classes"] is None and p is not None:
        assert "this error" not in text + paper
    # A better method is called so only if the paired difference excludes 0.
    better = "Another method" in warned
    after_other_words = paper.partition("on held-out samples")[2]
    assert better == ("This is better, as the 95% CI" in after_other_words)
    includes_zero = "paired difference includes 0" in paper
    assert better != includes_zero or answer["best_other_method"] is None
    # Stability.
    stability = answer["stability"]
    if stability is not None and stability["source"] == "half_subsamples":
        unstable = stability["than_chance"] not in (None, "more")
        worse = "do not agree clearly better than by chance" in warned
        assert worse == (unstable and graded is not Grade.NONE)
    assert ("predicts as well" in warned + limits) <= (grade_within_study(data) is not Grade.NONE)
    # An empty signature has no genes anywhere.
    assert (answer["size"] == 0) <= ("selected no gene" in paper)
    # Samples wrong in most repeats, and by their mean score.
    if answer["misclassified"] is not None:
        has_wrong_samples = bool(answer["misclassified"]["mostly"])
        assert (
            "No sample was misclassified"
            in WORDS.text("misclassified", answer["misclassified"], data["design"]["repeats"])
        ) == (not has_wrong_samples)
        if data["held_out"]["rejection"] is not None:
            right = not any(row["wrong"] for row in data["held_out"]["rejection"])
            words = WORDS.text("rejection", data["held_out"]["rejection"])
            assert words.startswith("Averaged over repeats, every sample") == right
        assert (
            f"{len(answer['misclassified']['mostly'])} of"
            in WORDS.text("misclassified", answer["misclassified"], data["design"]["repeats"])
            or not has_wrong_samples
        )
    genes(data, text, paper)


CASES_OF_NUMBERS = list(product(P, (0.3, 0.6), COHORTS, (False, True)))


@pytest.mark.slow
def test_one_report_does_not_contradict_itself():
    check(collect_study("small", 0.6, "bad", True, regression=False))
    check(collect_study("large", 0.3, "good", False, regression=True))
    check(collect_study("large", 0.6, "none", False, regression=False, n_named=0))
    check(collect_study("small", 0.6, "none", False, regression=False, n_named=None))


@pytest.mark.slow
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize(("p", "high", "cohort", "rival"), CASES_OF_NUMBERS)
def test_no_report_contradicts_itself(p, high, cohort, rival, regression):
    high = high if not regression else high * 2
    check(collect_study(p, high, cohort, rival, regression=regression))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS_OF_RESPONSE)
@pytest.mark.parametrize(
    "cohorts", [(), (True,), (False,), (True, False, True, True, False), (False,) * 4, (True,) * 4]
)
@pytest.mark.parametrize("p", P)
def test_no_report_of_another_kind_contradicts_itself(kind, cohorts, p, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check(collect_study_of_kind(kind, p, cohorts))


def test_an_empty_study_does_not_contradict_itself():
    check(collect_study("small", 0.3, "none", False, regression=False, empty=True, n_named=0))


def test_list_at_chance_is_not_called_predictive():
    data = collect_study("large", 0.6, "none", False, regression=False, n_named=0)
    data["answer"]["stability"]["than_chance"] = "alike"
    assert grade_within_study(data) is Grade.NONE
    assert stability_warnings(data) == []  # without evidence nothing is said of the list
    study_data = collect_study("small", 0.3, "none", False, regression=False, n_named=0)
    study_data["answer"]["stability"]["than_chance"] = "alike"
    assert "even if it predicts as well" in stability_warnings(study_data)[0]


def test_the_check_sees_a_contradiction():
    data = collect_study("small", 0.3, "none", False, regression=False)
    data["warnings"].append("Another method, ridge, had a lower error")
    with pytest.raises(AssertionError):
        check(data)
    data = collect_study("small", 0.3, "none", False, regression=False)
    data["answer"]["stability"]["than_chance"] = "less"
    with pytest.raises(AssertionError):
        check(data)
