"""Class shares for probabilities must match the classes of the study."""

from __future__ import annotations

import pytest

from genesig.data.study.settings_check import check_shares
from genesig.response.design import Design


def design(*classes: str) -> Design:
    task = "classification" if classes else "regression"
    return Design(label="l", task=task, classes=classes or None, group=None, pair=None)


@pytest.mark.parametrize(
    ("requested", "classes"),
    [
        ("study", ()),
        ("study", "ab"),
        ("equal", "abc"),
        ([0.9, 0.1], "ab"),
        ([0.1] * 10, "abcdefghij"),
    ],
)
def test_matching_shares_are_accepted(requested, classes):
    assert list(check_shares(requested, design(*classes), "c.yaml")) == []


@pytest.mark.parametrize(
    ("requested", "classes", "message"),
    [
        ("equal", (), "is for classes, and regression has none; take it away"),
        (
            [0.9, 0.1],
            "abc",
            "2 shares for 3 classes: give one of each, in this order: 'a', 'b', 'c'",
        ),
        ([0.9, 0.2], "ab", "the shares add up to 1.1; they must add up to 1"),
    ],
)
def test_mismatching_shares_are_refused(requested, classes, message):
    (problem,) = check_shares(requested, design(*classes), "c.yaml")
    assert (problem.location, problem.level) == ("c.yaml, probabilities", "error")
    assert problem.message == message
