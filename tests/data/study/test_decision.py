"""The section ``decision`` states one rule, for two classes."""

from __future__ import annotations

import pytest

from genesig.data.study.settings_check import check_decision
from genesig.response.design import Design

NO_RULE = dict.fromkeys(["sensitivity", "specificity", "cost", "youden", "prevalence"])


def problems(classes: str, **rules: object) -> list[tuple[str, str]]:
    task = "classification" if classes else "survival"
    design = Design(label="l", task=task, classes=tuple(classes) or None, group=None, pair=None)
    decision = {**NO_RULE, **rules}
    found = list(check_decision(decision, design, "c.yaml"))
    assert {problem.location for problem in found} <= {"c.yaml, decision"}
    return [(problem.level, problem.message) for problem in found]


@pytest.mark.parametrize(
    "rule", [{"sensitivity": 0.95}, {"specificity": 0.75}, {"cost": [1, 5]}, {"youden": True}]
)
def test_one_rule_for_two_classes_is_accepted(rule):
    assert problems("ab", **rule) == []


@pytest.mark.parametrize(
    ("classes", "outcome"),
    [("", "survival"), ("abc", "an outcome of 3 classes")],
    ids=["survival", "several"],
)
def test_outcome_without_threshold_is_refused(classes, outcome):
    message = f"is for two classes; {outcome} has no threshold; take it away"
    assert problems(classes, youden=True) == [("error", message)]


def test_no_rule_and_two_rules_are_refused():
    options = "state one of 'sensitivity', 'specificity', 'cost', 'youden'"
    assert problems("ab") == []
    assert problems("ab", prevalence=0.1) == [("error", f"states no rule; {options}")]
    assert problems("ab", youden=True, cost=[1, 2]) == [
        ("error", f"states 'cost', 'youden'; {options}")
    ]
