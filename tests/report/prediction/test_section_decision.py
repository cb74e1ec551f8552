"""The decision section appears with evidence and states the class shares."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from report_records import Study, collected

from genesig.report.page.section import Limits
from genesig.report.page.verdict import judge
from genesig.report.page.words import percent
from genesig.report.prediction import decision
from genesig.report.prediction.decision import (
    MIN_CURVE_SAMPLES,
    decisions_section,
    held_out_probabilities,
    net_benefit,
)

DATA = collected(Study())
LIMITS = Limits(60, 10)


def changed(p=None, **config):
    data = copy.deepcopy(DATA)
    data["config"] |= config
    if p is not None:
        data["answer"]["p"] |= {"value": p, "permutations": 100, "smallest": 1 / 101}
        data["answer"]["cohorts"] |= {"better": 0, "tested": 0}
        data["verdict"] = judge(data["answer"], None, None)
    return data


def test_decision_section_without_signal_is_one_sentence():
    section = decisions_section(changed(0.4), LIMITS)
    assert list(section.items) == []
    assert len(section.words) == 1
    assert "no better than chance" in section.words[0]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("many", [False, True])
def test_curves_are_drawn_from_a_hundred_patients_on(many):
    data = changed(0.01)
    if many:
        data["held_out"]["samples"] *= 1 + MIN_CURVE_SAMPLES // len(data["held_out"]["samples"])
    section = decisions_section(data, LIMITS)
    names = [item.name for item in section.items]
    assert names == (["calibration", "decision_curve"] if many else [])
    assert ("from 100 patients on" in section.words[-1]) == (not many)


@pytest.mark.parametrize(
    ("shares_setting", "share"), [("study", None), ("equal", 0.5), ([0.98, 0.02], 0.02)]
)
def test_net_benefit_uses_the_requested_class_shares(shares_setting, share):
    data = changed(0.01, probabilities=shares_setting)
    held_out = held_out_probabilities(data)
    counts = data["study"]["counts"]
    share = counts[1] / sum(counts) if share is None else share
    assert held_out.share == pytest.approx(share)
    assert f"if {percent(share)} of patients are" in decisions_section(data, LIMITS).words[0]
    samples = data["held_out"]["samples"]
    p = np.array([sample["probabilities"] for sample in samples])
    positive = np.array([sample["label"] == data["study"]["classes"][1] for sample in samples])
    t = np.array([0.01, share, 0.6])
    benefits = [net_benefit(column, positive, t, share) for column in p.T]
    np.testing.assert_allclose(held_out.net_benefit(t), np.mean(benefits, axis=0), atol=1e-12)


@pytest.mark.parametrize(
    ("shrinkage", "words"),
    [
        (0.9, "multiplies the fitted slope of the score by 90%"),
        (0.3, "Probabilities of new samples are in doubt: left-out samples hardly show that"),
        (0.0, "the probability is the share of the class. Probabilities hold if"),
        (None, None),
    ],
)
def test_decisions_say_how_much_of_the_slope_is_kept(shrinkage, words):
    data = changed(0.01)
    data["held_out"]["shrinkage"] = shrinkage
    section = decisions_section(data, LIMITS)
    assert (words or "Probabilities hold if") in section.words[0]
    assert (words is None) == (
        "slope" not in section.words[0] and "in doubt" not in section.words[0]
    )


def test_without_probabilities_there_is_no_section():
    data = changed(0.01)
    for sample in data["held_out"]["samples"]:
        del sample["probabilities"]
    assert decisions_section(data, LIMITS) is None


@pytest.mark.parametrize(("n_cases", "n_figures"), [(4, 0), (5, 2)])
def test_probabilities_need_five_samples_of_each_class(n_cases, n_figures, monkeypatch):
    monkeypatch.setattr(decision, "MIN_CURVE_SAMPLES", 0)  # figures of a small study, too
    data = changed(0.01)
    samples = data["held_out"]["samples"]
    name = data["study"]["classes"][1]
    cases = [sample for sample in samples if sample["label"] == name]
    controls = [sample for sample in samples if sample["label"] != name]
    data["held_out"]["samples"] = [*controls, *cases[:n_cases]]
    section = decisions_section(data, LIMITS)
    assert len(list(section.items)) == n_figures
    assert ("A class has fewer than 5 samples" in section.words[0]) is (n_figures == 0)
