"""No sentence of a report says the contrary of another, whatever the numbers are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from report_external import make_about
from report_study import Study, arguments

from genesig.report.answer.chips import gene_chips
from genesig.report.answer.lights import State, lights
from genesig.report.answer.section import sentences
from genesig.report.collect import collect
from genesig.report.prediction.section_samples import refused_words, sample_words
from genesig.report.sections import NOTE
from genesig.report.writeup.results import results
from genesig.report.writeup.section import limits_words

COHORTS = {"none": (), "good": (0.9, 0.8), "bad": (0.5, 0.3), "seen": (0.9, 0.8, 25)}
P = {"none": 0, "few": 9, "small": 0.01, "large": 0.4}


def told(p, high, cohort, rival, *, regression, empty=False):
    """Collect a study of these numbers."""
    permutations = P[p] if p in ("none", "few") else 99
    given = arguments(Study(permutations=permutations, regression=regression, empty=empty,
                            nonlinear=False, repeats=4, signal=0.4))  # fmt: skip
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
        if cohort == "good" and regression:
            next(r for r in abouts[0]["scores"] if r["measure"] == "r2")["low"] = 0.3
    return collect(**given, external=abouts)


def check(data):
    """Hold each pair of sentences that once contradicted each other against the numbers."""
    first, *_ = sentences(data)
    chance, stable, confirmed, _ = lights(data)
    said = " ".join([*sentences(data), *(w for say in NOTE for w in say(data))])
    warned, (paper,) = " ".join(data["warnings"]), results(data)
    limits = limits_words(data)
    it, p = data["answer"], data["answer"]["p"]["value"]
    # The verdict, the light of chance, the warning about it.
    claims = "did not" not in first and "not settled" not in first
    assert ("did not" in first) == (chance.state is State.PROBLEM)
    assert not claims or chance.state in (State.GOOD, State.CAUTION)
    assert ("not predicted better" in warned) == (p is not None and p > 0.05 and
                                                  it["p"]["smallest"] <= 0.05)  # fmt: skip
    assert ("how well is uncertain" in first) <= (chance.state is State.CAUTION)
    # What other cohorts say, wherever they are spoken of.
    tested = it["cohorts"]["tested"] > 0
    assert ("has not been tested in an independent cohort" in limits) == (not tested)
    assert ("was tested only in other cohorts" in limits) == tested
    assert (confirmed.state is State.UNKNOWN) == (not tested)
    assert ("but not beyond chance in" in first) <= (confirmed.state is State.PROBLEM)
    assert ("though not beyond chance here" in first) <= (chance.state is not State.GOOD)
    assert ("before any clinical use" in said) == (not it["cohorts"]["rows"])
    # A better method is called so only where the paired difference rules chance out.
    better = "Another method" in warned
    assert better == ("this is better, as the interval" in paper)
    assert better != ("paired difference includes 0" in paper)
    # Stability.
    assert ("Stability is poor" in warned) == (stable.state is State.PROBLEM)
    # An empty signature has no genes anywhere.
    assert (it["size"] == 0) == ("selected no gene" in paper) == (not gene_chips(data))
    # Samples wrong in most repeats, and by their mean score.
    if it["wrong"] is not None:
        some = bool(it["wrong"]["mostly"])
        assert ("No sample was misclassified" in sample_words(data)) == (not some)
        right = not any(row["wrong"] for row in data["held_out"]["rejection"])
        words = refused_words(data["held_out"]["rejection"])
        assert words.startswith("Averaged over repeats, every sample") == right
        assert f"{len(it['wrong']['mostly'])} of" in sample_words(data) or not some


CASES = list(product(P, (0.3, 0.6), COHORTS, (False, True)))


def test_one_report_does_not_contradict_itself():
    check(told("small", 0.6, "bad", True, regression=False))
    check(told("large", 0.3, "good", False, regression=True))


@pytest.mark.slow
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize(("p", "high", "cohort", "rival"), CASES)
def test_no_report_contradicts_itself(p, high, cohort, rival, regression):
    high = high if not regression else high * 2
    check(told(p, high, cohort, rival, regression=regression))


def test_an_empty_study_does_not_contradict_itself():
    check(told("small", 0.3, "none", False, regression=False, empty=True))


def test_the_check_sees_a_contradiction():
    data = told("small", 0.3, "none", False, regression=False)
    data["warnings"].append("Another method, ridge, had a lower error")
    with pytest.raises(AssertionError):
        check(data)
    data = told("small", 0.3, "none", False, regression=False)
    data["answer"]["stability"]["value"] = np.float64(0.9)
    with pytest.raises(AssertionError):
        check(data)
