"""Sentences that compare models state the numbers of their rows in the study's measure."""

from __future__ import annotations

from typing import Any

import pytest

from genesig.report.page.tables import (
    comparison_words,
    difference_words,
    fdr_selected_only_words,
    neither_beats_chance,
    selected_in_model,
)

CLASSES: Any = {"study": {"task": "classification", "classes": ["a", "b"]}}
NUMBER: Any = {"study": {"task": "regression", "classes": None}}
CHANCE = 0.5


def packed(columns: str, *rows: tuple[Any, ...]) -> Any:
    return {"columns": columns.split(), "rows": list(map(list, rows)), "total": len(rows)}


@pytest.mark.parametrize(
    ("genesig", "other", "expected"),
    [
        ((0.45, 0.55), (0.4, 0.5), True),
        ((0.45, 0.55), (0.3, 0.4), False),  # the other is better than chance
        ((0.3, 0.49), (0.4, 0.5), False),  # genesig is
        ((0.5, None), (0.6, None), True),  # without an interval the error counts
        ((0.5, None), (0.4, None), False),
        ((None, None), (0.6, 0.7), False),  # genesig has no error
        ((0.6, 0.7), None, False),  # the other is not in the study
    ],
)
def test_neither_beats_chance_if_both_upper_limits_reach_it(
    genesig: tuple[Any, Any], other: tuple[Any, Any] | None, expected: bool
) -> None:
    rows = [("genesig", None, *genesig), ("genesig", 0.1, 0.9, 0.9), ("ridge", None, 0.9, 0.9)]
    if other is not None:
        rows.append(("sets", None, *other))
    data: Any = {
        "answer": {"error": {"chance": CHANCE}},
        "tables": {"controls": packed("model mu error high", *rows)},
    }
    assert neither_beats_chance(data, "sets") == expected


def test_limits_of_an_error_difference_are_turned_to_the_measure() -> None:
    words = "95% CI of the difference −1.0 to 5.2 points"
    assert difference_words(CLASSES, -0.052, 0.01) == words
    assert difference_words(NUMBER, -0.052, 0.01) == "95% CI of the difference −0.01 to 0.05"
    for limits in ((None, 0.1), (0.1, None)):
        assert difference_words(CLASSES, *limits) == ""
    comparison: Any = {"error": 0.2, "linear": 0.25, "low": -0.052, "high": 0.01}
    sentence = "balanced accuracy is 80% against 75% of ridge"
    assert comparison_words(CLASSES, comparison, "ridge") == f"{sentence} ({words})"
    comparison["low"] = None
    assert comparison_words(CLASSES, comparison, "ridge") == sentence


@pytest.mark.parametrize(
    ("difference", "low", "high", "details", "is_undetected"),
    [
        (0.05, 0.01, 0.09, "5.0 points lower; CI −9.0 to −1.0 points", False),
        (
            -0.05,
            -0.09,
            -0.01,
            "5.0 points higher; CI 1.0 to 9.0 points",
            False,
        ),
        (0.05, 0.0, 0.1, "5.0 points lower; CI −10.0 to 0.0 points", True),
        (0.05, -0.1, 0.0, "5.0 points lower; CI 0.0 to 10.0 points", True),
        (0.05, None, 0.1, "5.0 points lower", False),
        (0.05, -0.1, None, "5.0 points lower", False),
    ],
)
def test_fdr_selected_genes_only_are_lower_if_their_error_is_larger(
    difference: float, low: float | None, high: float | None, details: str, is_undetected: bool
) -> None:
    only: Any = {"error": 0.2, "difference": difference}
    only |= {"difference_low": low, "difference_high": high}
    details = details.replace("CI", "95% CI of the difference")
    sentence = f"With FDR-selected genes only, balanced accuracy was 80% ({details})"
    ending = ": no detectable difference" if is_undetected else ""
    assert fdr_selected_only_words(CLASSES, only) == sentence + ending


def test_genes_in_the_model_are_selected_and_have_a_weight() -> None:
    rows = ((True, 0.5), (True, -0.1), (True, 0), (False, 0.7))
    data: Any = {"tables": {"signature": packed("fdr_selected weight", *rows)}}
    assert selected_in_model(data) == 2
