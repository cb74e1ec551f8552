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

from genesig.report.answer.collect import stability_warnings
from genesig.report.answer.section import gene_chips, tiles
from genesig.report.answer.sentences import State, lights, sentences
from genesig.report.collect import collect
from genesig.report.external.section import elsewhere
from genesig.report.genes.cards import alone, direction, separation
from genesig.report.page.measure import measure
from genesig.report.page.section import Limits
from genesig.report.page.verdict import Grade, grade, headline, here
from genesig.report.prediction.section import refused_words, sample_words
from genesig.report.sections import NOTE, SECTIONS
from genesig.report.writeup import limits_words, results

pytestmark = pytest.mark.drawn

KINDS = ("several_classes", "survival")
COHORTS = {"none": (), "good": (0.9, 0.8), "bad": (0.5, 0.3), "seen": (0.9, 0.8, 25),
           "many": (0.9, 0.8)}  # fmt: skip
P = {"none": 0, "few": 9, "small": 0.01, "large": 0.4}


def told(p, high, cohort, rival, *, regression, empty=False, named=3):
    """Collect a study of these numbers."""
    permutations = P[p] if p in ("none", "few") else 99
    given = arguments(Study(permutations=permutations, regression=regression, empty=empty,
                            nonlinear=False, repeats=4, signal=0.4, named=named))  # fmt: skip
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
    it, (said,) = data["answer"]["cohorts"], elsewhere(data)
    number = re.search(r"than chance in (\w+)", said)
    assert number is not None
    assert number[1] == (str(it["better"]) if it["better"] else "none")
    light = next(one for one in lights(data) if one.name == "Confirmed in other cohorts")
    assert f"in {it['better']} of {it['tested']} cohorts" in light.words
    section = SECTIONS["external"](data, Limits(12, 15))
    for one, group in zip(data["external"], section.items[-len(data["external"]) :], strict=True):
        beyond = not any("(chance)" in text or "worse than" in text for text in group.words)
        key, _, chance = measure(data).elsewhere
        assert beyond == (one["scores"][key]["low"] > chance)
        assert (one["name"] in said) == (not beyond and it["better"] > 0)


def directions(data):
    """Hold the arrow of each gene's chip against the words of its card."""
    signs = {chip.gene: chip.direction for chip in gene_chips(data)}
    for one in data["cards"]["each"]:
        words, arrow = direction(data, one), signs.get(one["gene"], "")
        if words.startswith(("higher", "rises", "lower", "falls")) and arrow[:1] in ("↑", "↓"):
            assert words.startswith(("higher", "rises")) == (arrow[0] == "↑")
        shown = separation(data, one)["value"]
        assert not alone(data).turned or shown is None or shown >= 0.5


def genes(data, said, paper):
    """Hold what is said of FDR-selected genes against the tiles, the chips and the write-up."""
    it, found = data["answer"], {one.name: one.value for one in tiles(data)}
    proved, kinds = it["evidence"], [chip.kind for chip in gene_chips(data)]
    if proved is None:
        assert it["core"] is not None
        assert found.get("Genes in the signature", str(it["size"])) == str(it["size"])
        assert ("all of them core" in said) == (it["size"] > 1 and it["core"] == it["size"])
        assert "fdr_selected" not in kinds
        return
    assert it["core"] is None
    assert " core" not in said + paper
    assert found.get("FDR-selected genes", "0") == str(proved["fdr_selected"])
    assert kinds.count("fdr_selected") == min(proved["fdr_selected"], len(kinds))
    assert kinds == sorted(kinds, reverse=True)
    assert ("No gene can be named" in said) == (not proved["fdr_selected"])
    assert not it["size"] or (
        "No gene was listed" in paper or "none of which can be told from chance" in paper
    ) == (not proved["fdr_selected"])
    assert ("proof" in said) == (proved["price"] is not None and it["error"]["value"] is not None)


def check(data):
    """Hold each pair of sentences that once contradicted each other against the numbers."""
    first, graded = headline(data), grade(data)
    chance, stable, confirmed, _ = lights(data)
    said = " ".join([first, *sentences(data), *(w for say in NOTE for w in say(data))])
    warned, (paper,) = " ".join(data["warnings"]), results(data)
    limits = limits_words(data)
    it, p = data["answer"], data["answer"]["p"]["value"]
    # The grade, the light of chance, the warning about it.
    assert ("no evidence" in first) == (graded is Grade.NONE)
    assert ("eak evidence" in first) >= (graded is Grade.WEAK)
    assert (chance.state is State.GOOD) <= (here(data) is Grade.HERE)
    alone = data["answer"]["alternative"] is None  # else another method is better than chance
    assert (graded is Grade.NONE and alone) <= (chance.state in (State.PROBLEM, State.UNKNOWN))
    assert ("not predicted better" in warned) == (p is not None and p > 0.05 and
                                                  it["p"]["smallest"] <= 0.05)  # fmt: skip
    # What other cohorts say, wherever they are spoken of.
    tested = it["cohorts"]["tested"] > 0
    assert ("has not been tested in an independent cohort" in limits) == (not tested)
    assert ("was tested only in other cohorts" in limits) == tested
    assert (confirmed.state is State.UNKNOWN) == (not tested)
    assert ("but not in" in first) <= (confirmed.state is State.PROBLEM)
    assert ("this study alone" in first) <= (chance.state is not State.GOOD)
    assert ("before any clinical use" in said) == (
        not it["cohorts"]["rows"] and graded is not Grade.NONE
    )
    assert (it["cohorts"]["better"] > 0) == (confirmed.state in (State.GOOD, State.CAUTION))
    if len(data["external"]) > 3 and tested:
        many_cohorts(data)
    directions(data)
    # What is counted is what is measured.
    if data["study"]["classes"] is None and p is not None:
        assert "this error" not in said + paper
    # A better method is called so only where the paired difference rules chance out.
    better = "Another method" in warned
    others = paper.partition("by its held-out error")[2]
    assert better == ("this is better, as the interval" in others)
    assert better != ("paired difference includes 0" in paper) or it["control"] is None
    # Stability.
    chance, lasso = "not agree clearly more than by chance", "lasso, as long, agree better"
    unstable = chance in warned or lasso in warned
    assert unstable == (stable.state is State.PROBLEM)
    assert ("predicts as well" in warned + limits) <= (here(data) is not Grade.NONE)
    # An empty signature has no genes anywhere.
    assert (it["size"] == 0) <= ("selected no gene" in paper)
    assert (not gene_chips(data)) == (it["size"] == 0 or graded is Grade.NONE)
    # Samples wrong in most repeats, and by their mean score.
    if it["wrong"] is not None:
        some = bool(it["wrong"]["mostly"])
        assert ("No sample was misclassified" in sample_words(data)) == (not some)
        if data["held_out"]["rejection"] is not None:
            right = not any(row["wrong"] for row in data["held_out"]["rejection"])
            words = refused_words(data["held_out"]["rejection"])
            assert words.startswith("Averaged over repeats, every sample") == right
        assert f"{len(it['wrong']['mostly'])} of" in sample_words(data) or not some
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
@pytest.mark.parametrize("cohorts", [(), (True,), (False,), (True, False, True, True, False),
                                     (False,) * 4, (True,) * 4])  # fmt: skip
@pytest.mark.parametrize("p", P)
def test_no_report_of_another_kind_contradicts_itself(kind, cohorts, p, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check(told_of_kind(kind, p, cohorts))


def test_an_empty_study_does_not_contradict_itself():
    check(told("small", 0.3, "none", False, regression=False, empty=True, named=0))


def test_a_list_that_predicts_nothing_is_not_said_to_predict():
    data = told("large", 0.6, "none", False, regression=False, named=0)
    data["answer"]["stability"]["than_chance"] = "alike"
    assert here(data) is Grade.NONE
    (said,) = stability_warnings(data)
    assert said.endswith("other patients would probably give another list.")
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
