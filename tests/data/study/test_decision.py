"""The section ``decision`` states one rule, for two classes that are large enough."""

from __future__ import annotations

import pytest

from genesig.data.study.settings_check import check_decision
from genesig.response.design import Design

NO_RULE = dict.fromkeys(["sensitivity", "specificity", "cost", "youden", "prevalence"])


def problems(classes: str, labels: str, **rules: object) -> list[tuple[str, str]]:
    task = "classification" if classes else "survival"
    design = Design(label="l", task=task, classes=tuple(classes) or None, group=None, pair=None)
    decision = {**NO_RULE, **rules}
    found = list(check_decision(decision, design, list(labels), "c.yaml"))
    assert {problem.location for problem in found} <= {"c.yaml, decision"}
    return [(problem.level, problem.message) for problem in found]


@pytest.mark.parametrize(
    "rule", [{"sensitivity": 0.95}, {"specificity": 0.75}, {"cost": [1, 5]}, {"youden": True}]
)
def test_one_rule_for_two_classes_is_accepted(rule):
    assert problems("ab", "aaa" + 20 * "b", **rule) == []


@pytest.mark.parametrize(
    ("classes", "outcome"),
    [("", "survival"), ("abc", "an outcome of 3 classes")],
    ids=["survival", "several"],
)
def test_outcome_without_threshold_is_refused(classes, outcome):
    message = f"is for two classes; {outcome} has no threshold; take it away"
    assert problems(classes, "abc", youden=True) == [("error", message)]


def test_no_rule_and_two_rules_are_refused():
    options = "state one of 'sensitivity', 'specificity', 'cost', 'youden'"
    assert problems("ab", "ab") == []
    assert problems("ab", "ab", prevalence=0.1) == [("error", f"states no rule; {options}")]
    assert problems("ab", "ab", youden=True, cost=[1, 2]) == [
        ("error", f"states 'cost', 'youden'; {options}")
    ]


def test_class_too_small_for_the_sensitivity_is_warned_of():
    ((level, message),) = problems("ab", "aaa" + 18 * "b", sensitivity=0.95)
    assert level == "warning"
    assert message == (
        "sensitivity 0.95 needs more than the 18 samples of 'b', which allow 0.947; ask for that"
        " or less"
    )
