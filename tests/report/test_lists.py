"""What the page shows of lists: the chosen ones, those along mu, those too long to be kept."""

from __future__ import annotations

import numpy as np
import pytest
from report_records import Study, arguments, collected, make_dataset

from genesig.report.collect import collect
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
    given = arguments(Study(regression=regression))
    data = collect(**given)
    found = list_lengths(data)
    scores = given["tables"]["scores"]
    controls = given["tables"]["controls"]
    own = controls[controls["model"] == "genesig"].dropna(subset="error")
    assert len(found) == len(own) > 3
    assert [one.genes for one in found] == sorted(one.genes for one in found)
    (chosen,) = (one for one in found if one.is_chosen)
    assert chosen.genes == pytest.approx(scores.loc[scores["mu"].isna(), "n_genes"].mean())
    error = own.loc[own["mu"].isna(), "error"].item()
    assert chosen.value == pytest.approx(1 - error)
    figure = draw_brevity(data)
    top, below = figure.axes
    assert len(top.collections) >= 2 * len(found)  # a dot and an interval each
    assert below.get_xlabel() == "mean number of genes"
    section = brevity_section(data, LIMITS)
    assert f"have {found[0].genes:.0f} genes on average" in section.words[0]


def test_a_list_too_long_to_be_kept_is_not_among_those_whose_price_is_shown():
    data = collect(**arguments(Study(longest=60)))
    assert len(list_lengths(data)) == len(
        data["mu"]
    )  # the last is not among them, the chosen ones are


@pytest.mark.parametrize(
    ("study", "along", "rows"),
    [
        (Study(), "μ", ["10⁻⁶", "10⁻³", "10⁻²"]),
        (Study(regression=True), "μ", ["10⁻⁶", "10⁻³", "10⁻²"]),
        (Study(minimal=True), "λ (ridge refit)", ["10⁻⁴", "10⁻³", "10⁻²", "0.1"]),
    ],
)
def test_the_surface_is_over_what_was_searched(study, along, rows):
    given = arguments(study)
    data = collect(**given)
    it = data["surface"]
    axes = draw_surface(data).axes[0]
    assert axes.get_ylabel() == along
    assert [label.get_text() for label in axes.get_yticklabels()] == rows
    assert np.shape(it["error"]) == (len(rows), 12)
    assert sum(count for *_, count in it["chosen"]) == data["design"]["outer"]
    tau, lam, mu = given["final"].choice[0]
    assert it["final"] == [tau, lam if study.minimal else mu]
    error = given["observed"].cv_error
    mean = error[:, 0].mean(axis=0).T if study.minimal else error.min(axis=3).mean(axis=0)
    np.testing.assert_allclose(it["error"], mean, rtol=1e-3)


def test_a_minimal_report_does_not_speak_of_a_stable_choice():
    stable, minimal = (collected(Study(minimal=one)) for one in (False, True))
    for said in (
        " ".join(model_selection_section(stable, LIMITS).words),
        " ".join(methods(stable)),
    ):
        assert "inner folds agree" in said
    for said in (
        " ".join(model_selection_section(minimal, LIMITS).words),
        " ".join(methods(minimal)),
    ):
        assert "inner folds agree" not in said
    assert "ties went to the fewest genes" in " ".join(methods(minimal))
    given = arguments(Study(minimal=True))
    given["config"]["linear"]["one_standard_error"] = True
    said = " ".join(methods(collect(**given)))
    assert "the largest τ within one standard error of the smallest error was taken" in said


@pytest.mark.parametrize(
    ("apart", "words"),
    [
        (0, ""),
        (1, " 1 gene belongs to no group (|r| < 0.50)."),
        (3, " 3 genes belong to no group (|r| < 0.50)."),
    ],
)
def test_genes_that_stand_apart_are_counted_and_in_no_block(apart, words):
    given = arguments(Study())
    table = given["tables"]["blocks"]
    alone = table.index[table["block"].isna()]
    table = table.drop(alone[apart:])
    given["tables"]["blocks"] = table
    data = collect(**given)
    section = blocks_section(data, LIMITS)
    assert section.words[0].endswith(f"another gene of a group.{words}")
    placed = data["correlation"]["genes"]
    assert set(placed) == set(table.loc[table["block"].notna(), "gene"])
    shown = next(item for item in section.items if item.name == "blocks")
    column = [head.label for head in shown.columns].index("Group")
    assert sum(row[column].text == ABSENT for row in shown.rows) == apart


def with_batches(study: Study) -> Dataset:
    from dataclasses import replace

    dataset = make_dataset(study, np.random.default_rng(7))
    obs = dataset.obs.assign(centre=["Genoa", "Lund"] * 15)
    return replace(dataset, obs=obs, design=replace(dataset.design, batch="centre"))


@pytest.mark.parametrize("regression", [False, True])
def test_statistics_name_the_batch_in_them(regression):
    study = Study(regression=regression)
    words = ", with centre as a factor in the model"
    data = collect(**arguments(study, with_batches(study)))
    assert data["univariate"]["batch"] == "centre"
    assert words in single_genes_section(data, LIMITS).words[0]
    assert words in " ".join(methods(data))
    alone = collect(**arguments(study))
    assert alone["univariate"]["batch"] is None
    assert "factor" not in single_genes_section(alone, LIMITS).words[0] + " ".join(methods(alone))
