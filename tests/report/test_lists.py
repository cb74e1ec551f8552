"""The page shows the chosen lists, the lists along mu and those too long to keep."""

from __future__ import annotations

import numpy as np
import pytest
from report_records import Study, arguments, collected, make_dataset

from genesig.report.collect import StudyResults, collect
from genesig.report.genes.section import (
    blocks_section,
    brevity_section,
    draw_brevity,
    list_lengths,
    single_genes_section,
)
from genesig.report.methods import methods
from genesig.report.page.section import Limits
from genesig.report.page.words import ABSENT
from genesig.report.prediction.figures import draw_surface
from genesig.report.prediction.section import model_selection_section
from genesig.results import Dataset

pytestmark = pytest.mark.usefixtures("undrawn")

LIMITS = Limits(12, 500)


@pytest.mark.parametrize("regression", [False, True])
def test_what_a_shorter_list_costs_is_the_error_by_its_mean_length(regression):
    inputs = arguments(Study(regression=regression))
    data = collect(StudyResults(**inputs))
    lengths = list_lengths(data)
    scores = inputs["tables"]["scores"]
    controls = inputs["tables"]["controls"]
    is_genesig = controls[controls["model"] == "genesig"].dropna(subset="error")
    assert len(lengths) == len(is_genesig) > 3
    assert [length.genes for length in lengths] == sorted(length.genes for length in lengths)
    (chosen,) = (length for length in lengths if length.is_chosen)
    assert chosen.genes == pytest.approx(scores.loc[scores["mu"].isna(), "n_genes"].mean())
    error = is_genesig.loc[is_genesig["mu"].isna(), "error"].item()
    assert chosen.value == pytest.approx(1 - error)
    figure = draw_brevity(data)
    top, lower_axes = figure.axes
    assert len(top.collections) >= 2 * len(lengths)  # a dot and an interval each
    assert lower_axes.get_xlabel() == "mean number of genes"
    section = brevity_section(data, LIMITS)
    assert f"have {lengths[0].genes:.0f} genes on average" in section.words[0]


def test_a_list_too_long_to_be_kept_is_not_among_those_whose_price_is_shown():
    data = collect(StudyResults(**arguments(Study(longest=60))))
    assert len(list_lengths(data)) == len(
        data["mu"]
    )  # the last is not among them, the chosen ones are


def test_mean_length_counts_empty_lists_and_leaves_out_those_too_long_to_keep():
    inputs = arguments(Study())
    scores = inputs["tables"]["scores"]
    lists_of_mu = scores.index[scores["mu"] == scores["mu"].min()]
    scores.loc[lists_of_mu[:2], "n_genes"] = [0, None]
    lengths = list_lengths(collect(StudyResults(**inputs)))
    mean_length = scores.loc[lists_of_mu, "n_genes"].mean()
    assert any(length.genes == pytest.approx(mean_length) for length in lengths)
    scores.loc[lists_of_mu, "n_genes"] = 0
    assert len(list_lengths(collect(StudyResults(**inputs)))) == len(lengths) - 1


@pytest.mark.parametrize(
    ("study", "axis_name", "rows"),
    [
        (Study(), "μ", ["10⁻⁶", "10⁻³", "10⁻²"]),
        (Study(regression=True), "μ", ["10⁻⁶", "10⁻³", "10⁻²"]),
        (Study(minimal=True), "λ (ridge refit)", ["10⁻⁴", "10⁻³", "10⁻²", "0.1"]),
    ],
)
def test_the_surface_is_over_what_was_searched(study, axis_name, rows):
    inputs = arguments(study)
    data = collect(StudyResults(**inputs))
    surface = data["surface"]
    axes = draw_surface(data).axes[0]
    assert axes.get_ylabel() == axis_name
    assert [label.get_text() for label in axes.get_yticklabels()] == rows
    assert np.shape(surface["error"]) == (len(rows), 12)
    assert sum(count for *_, count in surface["chosen"]) == data["design"]["outer"]
    tau, lam, mu = inputs["final"].choice[0]
    assert surface["final"] == [tau, lam if study.minimal else mu]
    error = inputs["observed"].grid.error
    mean = error[:, 0].mean(axis=0).T if study.minimal else error.min(axis=3).mean(axis=0)
    np.testing.assert_allclose(surface["error"], mean, rtol=1e-3)


def test_a_minimal_report_does_not_speak_of_a_stable_choice():
    stable, minimal = (collected(Study(minimal=is_minimal)) for is_minimal in (False, True))
    assert "inner folds agree" in " ".join(methods(stable))
    for text in (
        " ".join(model_selection_section(minimal, LIMITS).words),
        " ".join(methods(minimal)),
    ):
        assert "inner folds agree" not in text
    assert "Ties went to the fewest genes" in " ".join(methods(minimal))
    inputs = arguments(Study(minimal=True))
    inputs["config"]["linear"]["one_standard_error"] = True
    text = " ".join(methods(collect(StudyResults(**inputs))))
    assert "Stage I chose the largest τ within one standard error of the smallest error" in text


@pytest.mark.parametrize(
    ("n_apart", "words"),
    [
        (0, ""),
        (1, " 1 gene belongs to no group (|r| < 0.50)."),
        (3, " 3 genes belong to no group (|r| < 0.50)."),
    ],
)
def test_genes_that_stand_apart_are_counted_and_in_no_block(n_apart, words):
    inputs = arguments(Study())
    table = inputs["tables"]["blocks"]
    alone = table.index[table["block"].isna()]
    table = table.drop(alone[n_apart:])
    inputs["tables"]["blocks"] = table
    data = collect(StudyResults(**inputs))
    section = blocks_section(data, LIMITS)
    assert section.words[0].endswith(f"another gene of a group.{words}")
    placed = data["correlation"]["genes"]
    assert set(placed) == set(table.loc[table["block"].notna(), "gene"])
    blocks_table = next(item for item in section.items if item.name == "blocks")
    column = [head.label for head in blocks_table.columns].index("Group")
    assert sum(row[column].text == ABSENT for row in blocks_table.rows) == n_apart


def with_batches(study: Study) -> Dataset:
    from dataclasses import replace

    dataset = make_dataset(study, np.random.default_rng(7))
    obs = dataset.obs.assign(centre=["Genoa", "Lund"] * 15)
    return replace(dataset, obs=obs, design=replace(dataset.design, batch="centre"))


@pytest.mark.parametrize("regression", [False, True])
def test_statistics_name_the_batch_in_them(regression):
    study = Study(regression=regression)
    words = ", with centre as a factor in the model"
    data = collect(StudyResults(**arguments(study, with_batches(study))))
    assert data["univariate"]["batch"] == "centre"
    assert words in single_genes_section(data, LIMITS).words[0]
    assert words in " ".join(methods(data))
    alone = collect(StudyResults(**arguments(study)))
    assert alone["univariate"]["batch"] is None
    assert "factor" not in single_genes_section(alone, LIMITS).words[0] + " ".join(methods(alone))
