"""Methods name each step of normalisation with its settings."""

from __future__ import annotations

from typing import Any

import pytest

from genesig.report.data import _step_words

KNN = {"step": "knn_impute", "neighbours": 10}
NEAREST = "missing values became the mean of the 10 nearest genes"


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([], ""),
        ([KNN], NEAREST),
        ([KNN | {"missing_most": 1.0}], NEAREST),
        (
            [KNN | {"missing_most": 0.5}, {"step": "centre"}],
            f"{NEAREST} (genes that more than 50% of a class lack were left out), "
            "then genes were centred",
        ),
        (
            [{"step": "centre"}, {"step": "unit_variance"}],
            "genes were centred and scaled to unit variance",
        ),
        (
            [{"step": "unit_variance"}, {"step": "centre"}],
            "genes were scaled to unit variance, then genes were centred",
        ),
        (
            [{"step": "log2", "floor": 100.0, "ceiling": 16000.0}],
            "values were cut to [100, 16000] and log2-transformed",
        ),
        (
            [{"step": "size_factors", "method": "median_of_ratios", "prior": 1.0}],
            "counts were divided by size factors (median of ratios) against a reference of the "
            "training samples and log2-transformed, 1 added",
        ),
        ([{"step": "step of a plug-in"}], "step of a plug-in"),
    ],
)
def test_steps_are_named_in_order_with_their_settings(
    steps: list[dict[str, Any]], words: str
) -> None:
    assert _step_words(steps, "a class") == words


@pytest.mark.parametrize(
    ("covariates", "words"), [([], "none"), (["age"], "age"), (["age", "sex"], "age, sex")]
)
def test_covariates_of_combat_are_listed(covariates: list[str], words: str) -> None:
    text = _step_words([{"step": "combat", "covariates": covariates}], "a class")
    assert text.endswith(f"in its design (covariates: {words})")
