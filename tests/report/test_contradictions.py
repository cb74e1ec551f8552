"""No sentence of a report says the contrary of another, whatever the numbers are."""

from __future__ import annotations

import copy
import re
from functools import cache
from itertools import product

import numpy as np
import pytest
from fitted_models import scored, written
from report_records import Study, arguments, kind_arguments, make_about

from genesig.report.answer.checks import EXTERNAL_QUESTION, NO, UNKNOWN, YES, checks
from genesig.report.answer.collect import stability_warnings
from genesig.report.answer.section import gene_frequencies, note, tiles
from genesig.report.answer.sentences import next_steps, sentences
from genesig.report.collect import collect
from genesig.report.external.section import cohort_paragraphs
from genesig.report.genes.cards import direction_text, measure_upwards, single_gene_measure
from genesig.report.page.measure import measure
from genesig.report.page.section import Limits
from genesig.report.page.verdict import Grade, grade, grade_within_study, headline
from genesig.report.prediction.section import misclassified_sentence, rejection_sentence
from genesig.report.sections import SECTIONS
from genesig.report.writeup import limits_words, results

pytestmark = pytest.mark.drawn

KINDS = ("several_classes", "survival")
COHORTS = {
    "none": (),
    "good": (0.9, 0.8),
    "bad": (0.5, 0.3),
    "seen": (0.9, 0.8, 25),
    "many": (0.9, 0.8),
}
P = {"none": 0, "few": 9, "small": 0.01, "large": 0.4}


def told(p, high, cohort, rival, *, regression, empty=False, named=3):
    """Collect a study of these numbers."""
    permutations = P[p] if p in ("none", "few") else 99
    given = arguments(
        Study(
            permutations=permutations,
            regression=regression,
            empty=empty,
            nonlinear=False,
            repeats=4,
            signal=0.4,
            named=named,
        )
    )
    controls = given["tables"]["controls"]
    own = (controls["model"] == "genesig") & controls["mu"].isna()
    controls.loc[own, ["error", "low", "high"]] = 0.2, 0.1, high
    if permutations == 99:
        controls.loc[own, "p_value"] = P[p]
    ridge = controls["model"] == "ridge"
    controls.loc[ridge, "error"] = 0.01
    columns = ["difference", "difference_low", "difference_high"]
    controls.loc[ridge, columns] = -0.1, -0.2, -0.01 if rival else 0.05
    abouts = []
    if COHORTS[cohort]:
        value, low, *seen = COHORTS[cohort]
        abouts = [make_about(given["dataset"], "other", seen_before=seen[0] if seen else 0)]
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
    return collect(**given, external=abouts)


@cache
def of_kind(kind):
    return kind_arguments(kind, proved=True)


@cache
def cohort_of(kind):
    written(kind)
    return scored(kind).about


def told_of_kind(kind, p, cohorts):
    """Collect a study of several classes or of survival with these cohorts, better than chance."""
    given = copy.deepcopy(of_kind(kind))
    errors = np.full(99 if p in ("small", "large") else P[p], 0.5)
    given["null"]["error"] = np.repeat(errors[:, None], given["null"]["error"].shape[1], axis=1)
    controls = given["tables"]["controls"]
    own = (controls["model"] == "genesig") & controls["mu"].isna()
    controls.loc[own, ["error", "low", "high"]] = 0.2, 0.1, 0.4
    controls.loc[own, "p_value"] = P[p] if p in ("small", "large") else 1 / (len(errors) + 1)
    abouts = []
    for k, better in enumerate(cohorts):
        about = copy.deepcopy(cohort_of(kind)) | {"name": f"c{k}"}
        for row in about["scores"]:
            if row["measure"] in ("auc", "concordance"):
                row |= {"value": 0.8 if better else 0.52, "low": 0.7 if better else 0.4}
        abouts.append(about)
    return collect(**given, external=abouts)


def many_cohorts(data):
    """Hold the sentence about many cohorts against the light and what stands at each of them."""
    it = data["answer"]["cohorts"]
    (paragraph,) = cohort_paragraphs(data)
    said = paragraph.text
    number = re.search(r"than chance in (\w+)", said)
    assert number is not None
    assert number[1] == (str(it["better"]) if it["better"] else "none")
    external = [check for check in checks(data) if check.question == EXTERNAL_QUESTION]
    assert all(f"in {it['better']} of {it['tested']} cohorts" in one.detail for one in external)
    section = SECTIONS["external"](data, Limits(12, 15))
    for one, group in zip(data["external"], section.items[-len(data["external"]) :], strict=True):
        beyond = not any("(chance)" in text or "worse than" in text for text in group.words)
        key, _, chance = measure(data).external_measure
        assert beyond == (one["scores"][key]["low"] > chance)
        assert (one["name"] in said) == (not beyond and it["better"] > 0)


def directions(data):
    """Compare the direction of each gene of the first screen with the words of its card."""
    up = {chip["gene"]: chip["up"] for chip in data["answer"]["chips"]}
    for one in data["cards"]["each"]:
        words = direction_text(data, one)
        rises = up.get(one["gene"])
        if words.startswith(("higher", "rises", "lower", "falls")) and rises is not None:
            assert words.startswith(("higher", "rises")) == rises
        shown = measure_upwards(data, one)["value"]
        assert not single_gene_measure(data).is_folded or shown is None or shown >= 0.5


def genes(data, said, paper):
    """Compare what is said of FDR-selected genes with the tiles, the figure and the write-up."""
    answer = data["answer"]
    found = {one.name: one for one in tiles(data)}
    evidence = answer["evidence"]
    figure = gene_frequencies(data)
    none = grade(data) is Grade.NONE
    assert ("Signature" in found) != none
    if evidence is None:
        assert answer["core"] is not None
        assert none or found["Signature"].value.split()[0] == str(answer["size"])
        return
    assert answer["core"] is None
    assert " core" not in said + paper
    assert none or found["Signature"].words.startswith(f"{evidence['fdr_selected']} at FDR")
    assert (figure is not None) == (evidence["fdr_selected"] > 0 and not none)
    untested = data["config"]["signature"]["permutations"] < 19
    refused = "No gene passes" in said or "Genes were not tested" in said
    if answer["size"] or none:
        assert refused == (not evidence["fdr_selected"]) or untested
    assert not answer["size"] or (
        "identified no gene" in paper or "none of which exceeds chance" in paper
    ) == (not evidence["fdr_selected"])


def check(data):
    """Compare each pair of sentences that once contradicted each other with the numbers."""
    first = headline(data)
    graded = grade(data)
    rows = {row.question: row for row in checks(data)}
    chance = rows["Better than chance?"]
    external = rows.get(EXTERNAL_QUESTION)
    paragraphs = [*sentences(data), *next_steps(data)]
    said = " ".join([first, *map(str, paragraphs), *note(data)])
    warned = " ".join(data["warnings"])
    (paper,) = results(data)
    limits = limits_words(data)
    it = data["answer"]
    p = data["answer"]["p"]["value"]
    # The conclusion and the check of chance.
    assert ("no evidence" in first) == (graded is Grade.NONE)
    assert ("is unclear" in first) >= (graded is Grade.WEAK)
    assert (chance.answer == YES) == (grade_within_study(data) is Grade.HERE)
    assert (graded is Grade.NONE) <= (chance.answer in (NO, UNKNOWN, "Unclear"))
    # What external cohorts say, wherever they are spoken of.
    tested = it["cohorts"]["tested"] > 0
    assert ("has not been tested externally" in limits) == (not tested)
    assert ("was tested in external cohorts only" in limits) == tested
    assert external is None or (external.answer == NO) == (not tested)
    assert ("but not in" in first) <= (it["cohorts"]["better"] == 0)
    assert ("this study alone" in first) <= (chance.answer != YES)
    assert "Next steps." in said
    assert ("in an independent cohort" in said) <= (not tested and graded is not Grade.NONE)
    assert ("an independent cohort before" in said) == (not tested and graded is Grade.HERE)
    if len(data["external"]) > 3 and tested:
        many_cohorts(data)
    directions(data)
    # What is counted is what is measured.
    if data["study"]["classes"] is None and p is not None:
        assert "this error" not in said + paper
    # A better method is called so only if the paired difference excludes 0.
    better = "Another method" in warned
    others = paper.partition("on held-out samples")[2]
    assert better == ("this is better, as the interval" in others)
    assert better != ("paired difference includes 0" in paper) or it["control"] is None
    # Stability.
    stability = it["stability"]
    if stability is not None and stability["source"] == "half_subsamples":
        unstable = stability["than_chance"] not in (None, "more")
        worse = "do not agree clearly better than by chance" in warned
        assert worse == (unstable and graded is not Grade.NONE)
    assert ("predicts as well" in warned + limits) <= (grade_within_study(data) is not Grade.NONE)
    # An empty signature has no genes anywhere.
    assert (it["size"] == 0) <= ("selected no gene" in paper)
    # Samples wrong in most repeats, and by their mean score.
    if it["wrong"] is not None:
        some = bool(it["wrong"]["mostly"])
        assert ("No sample was misclassified" in misclassified_sentence(data)) == (not some)
        if data["held_out"]["rejection"] is not None:
            right = not any(row["wrong"] for row in data["held_out"]["rejection"])
            words = rejection_sentence(data["held_out"]["rejection"])
            assert words.startswith("Averaged over repeats, every sample") == right
        assert f"{len(it['wrong']['mostly'])} of" in misclassified_sentence(data) or not some
    genes(data, said, paper)


CASES = list(product(P, (0.3, 0.6), COHORTS, (False, True)))


@pytest.mark.slow
def test_one_report_does_not_contradict_itself():
    check(told("small", 0.6, "bad", True, regression=False))
    check(told("large", 0.3, "good", False, regression=True))
    check(told("large", 0.6, "none", False, regression=False, named=0))
    check(told("small", 0.6, "none", False, regression=False, named=None))


@pytest.mark.slow
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize(("p", "high", "cohort", "rival"), CASES)
def test_no_report_contradicts_itself(p, high, cohort, rival, regression):
    high = high if not regression else high * 2
    check(told(p, high, cohort, rival, regression=regression))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "cohorts", [(), (True,), (False,), (True, False, True, True, False), (False,) * 4, (True,) * 4]
)
@pytest.mark.parametrize("p", P)
def test_no_report_of_another_kind_contradicts_itself(kind, cohorts, p, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check(told_of_kind(kind, p, cohorts))


def test_an_empty_study_does_not_contradict_itself():
    check(told("small", 0.3, "none", False, regression=False, empty=True, named=0))


def test_a_list_that_predicts_nothing_is_not_said_to_predict():
    data = told("large", 0.6, "none", False, regression=False, named=0)
    data["answer"]["stability"]["than_chance"] = "alike"
    assert grade_within_study(data) is Grade.NONE
    assert stability_warnings(data) == []  # without evidence nothing is said of the list
    found = told("small", 0.3, "none", False, regression=False, named=0)
    found["answer"]["stability"]["than_chance"] = "alike"
    assert "even if it predicts as well" in stability_warnings(found)[0]


def test_the_check_sees_a_contradiction():
    data = told("small", 0.3, "none", False, regression=False)
    data["warnings"].append("Another method, ridge, had a lower error")
    with pytest.raises(AssertionError):
        check(data)
    data = told("small", 0.3, "none", False, regression=False)
    data["answer"]["stability"]["than_chance"] = "less"
    with pytest.raises(AssertionError):
        check(data)
