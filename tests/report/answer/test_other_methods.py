"""The first screen names another method if it predicts and the linear signature does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from report_records import Study, arguments

from genesig.report.answer.collect import better_method
from genesig.report.answer.sentences import NO, answer_checks, other_method
from genesig.report.collect import StudyResults, collect
from genesig.report.page.section import Limits
from genesig.report.page.verdict import Grade, grade, headline
from genesig.report.sections import SECTIONS, summary, writers

GENESIG_ROW = {"model": "genesig", "error": 0.6, "low": 0.4, "high": 0.7}
FOREST = {
    "model": "random_forest",
    "error": 0.05,
    "low": 0.0,
    "high": 0.14,
    "difference": -0.55,
    "difference_low": -0.7,
    "difference_high": -0.4,
}
RIDGE = {
    "model": "ridge",
    "error": 0.5,
    "low": 0.4,
    "high": 0.6,
    "difference": -0.1,
    "difference_low": -0.2,
    "difference_high": 0.1,
}


def test_better_method_is_the_one_whose_intervals_exclude_chance_and_the_linear_models() -> None:
    method = better_method([GENESIG_ROW, RIDGE, FOREST], 0.5)
    assert method is not None
    assert (method["model"], method["n_methods"]) == ("random_forest", 2)
    assert method["p"] < 1e-6


@pytest.mark.parametrize(
    "change",
    [
        {"high": 0.5},
        {"high": None},
        {"difference_high": 0.0},
        {"difference_high": None},
        {"error": 0.3, "high": 0.49},  # p is small for one method, not for three
        {"error": None},
        {"model": "sets"},
        {"model": "genesig, FDR-selected genes"},
    ],
)
def test_no_method_is_better_if_one_condition_fails(change: dict[str, Any]) -> None:
    lasso = {**RIDGE, "model": "lasso"}
    assert better_method([GENESIG_ROW, RIDGE, lasso, {**FOREST, **change}], 0.5) is None


def test_no_method_is_better_if_covariates_are_held_fixed() -> None:
    assert better_method([GENESIG_ROW, FOREST, {**RIDGE, "model": "covariates"}], 0.5) is None


def test_p_is_corrected_for_the_number_of_methods() -> None:
    row = {**FOREST, "error": 0.3, "high": 0.47}
    other_methods = [{**RIDGE, "model": f"method{k}"} for k in range(3)]
    alone = better_method([row], 0.5)
    among = better_method([row, *other_methods], 0.5)
    assert alone is not None
    assert among is not None
    assert among["p"] == pytest.approx(4 * alone["p"])


def _page(error: float, p: float) -> Any:
    """Return the report of a study whose linear models have this error, a forest nearly none."""
    inputs = arguments(Study(permutations=99, named=0))
    table = inputs["tables"]["controls"]
    is_genesig = (table["model"] == "genesig") & table["mu"].isna()
    table.loc[is_genesig, ["error", "low", "high", "p_value"]] = [
        error,
        error - 0.1,
        error + 0.1,
        p,
    ]
    table["difference_high"] = np.nan  # but for the forest
    other_row = table.index[~table["model"].str.startswith("genesig")][0]
    table.loc[other_row, list(FOREST)] = list(FOREST.values())
    return collect(StudyResults(**inputs))


def test_first_screen_names_the_method_beside_a_signature_of_chance() -> None:
    data = _page(0.55, 0.7)
    assert grade(data) is Grade.NONE
    assert headline(data).startswith("There is no evidence that a linear signature of gene exp")
    assert headline(data).endswith("; another method does (random forest, all genes).")
    (paragraph,) = other_method(data)
    text = paragraph.text
    assert text.startswith("Random forest, all genes (the best of ")
    assert "reached a balanced accuracy of 95.0% (95% CI 86–100%), the linear models 45%." in text
    assert "It is better than chance (p\u00a0<\u00a00.0001, corrected for " in text
    assert paragraph in summary(data, Limits(3, 5)).paragraphs
    check = answer_checks(data)[0]
    assert check.answer == NO
    assert check.detail.endswith("random forest, all genes is better than chance")


def test_the_nonlinear_section_is_kept_if_another_method_predicts() -> None:
    data = _page(0.55, 0.7)
    assert SECTIONS["nonlinear"] in writers(data)
    silent = {**data, "answer": {**data["answer"], "better_method": None}}
    assert SECTIONS["nonlinear"] not in writers(silent)
    assert other_method(silent) == []
    assert headline(silent).endswith("from normal in this study.")


def test_the_conclusion_is_about_linear_signatures_if_a_method_that_is_not_named_predicts() -> None:
    data = _page(0.55, 0.7)
    best = data["answer"]["best_other_method"]
    assert best is not None
    open_answer = {**data["answer"], "better_method": None}
    unnamed = headline({**data, "answer": open_answer})
    assert unnamed.startswith("There is no evidence that a linear signature of gene expression")
    assert unnamed.endswith("from normal in this study.")
    by_chance = {**open_answer, "best_other_method": {**best, "high": 0.6}}
    assert headline({**data, "answer": by_chance}).startswith(
        "There is no evidence that gene expression distinguishes"
    )


def test_a_method_that_beats_a_supported_signature_is_named() -> None:
    data = _page(0.3, 0.01)
    assert grade(data) is Grade.HERE
    assert headline(data).startswith("Gene expression distinguishes tumour from normal")
    assert len(other_method(data)) == 1
