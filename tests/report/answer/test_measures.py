"""Sensitivity and specificity of held-out decisions, the genes, and the one picture of all."""

from __future__ import annotations

import numpy as np
import pytest
from report_records import Study, arguments, collected, make_about
from sklearn.metrics import recall_score

from genesig.report.answer.collect import cohorts, error_warnings
from genesig.report.answer.section import MOST_NAMED, forest, gene_chips, lines_of, overview, tiles
from genesig.report.collect import collect
from genesig.report.page.measure import MEASURES
from genesig.selection.assess.intervals import wilson


def test_sensitivity_and_specificity_are_the_mean_recall_of_the_repeats():
    given = arguments(Study(samples=40, signal=0.4, repeats=3))
    data = collect(**given)
    table = given["tables"]["predictions"]
    table = table[table["mu"].isna()]
    found = {one["name"]: one for one in data["answer"]["measures"]}
    assert list(found) == ["auc", "specificity", "sensitivity"]
    for name, label in (("sensitivity", "tumour"), ("specificity", "normal")):
        each = [
            recall_score(rows["label"], rows["predicted"], pos_label=label)
            for _, rows in table.groupby("repeat")
        ]
        assert 0 < np.mean(each) < 1
        assert found[name]["value"] == pytest.approx(np.mean(each), abs=1e-4)
        low, high = wilson(float(np.mean(each)), 20)
        assert (found[name]["low"], found[name]["high"]) == pytest.approx((low, high), abs=1e-4)


def test_a_class_counts_its_groups_in_the_intervals():
    """Cases of 4 patients with 5 samples each are 4, beside 20 controls of one sample each."""
    given = arguments(Study(samples=40, signal=0.4))
    obs = given["dataset"].obs
    ill = (obs[given["dataset"].design.label] == "tumour").to_numpy()
    patient = np.where(ill, np.cumsum(ill) // 6, 100 + np.arange(40))
    object.__setattr__(given["dataset"], "obs", obs.assign(patient=[f"p{k}" for k in patient]))
    object.__setattr__(given["dataset"].design, "group", "patient")
    found = {one["name"]: one for one in collect(**given)["answer"]["measures"]}
    for name, units in (("sensitivity", 4), ("specificity", 20)):
        low, high = wilson(found[name]["value"], units)
        assert (found[name]["low"], found[name]["high"]) == pytest.approx((low, high), abs=1e-4)


def test_leave_one_out_has_intervals_that_are_said_to_be_short():
    data = collected(Study())
    assert not any("one at a time" in said for said in error_warnings(data))
    data["design"]["scheme"] = "leave_one_out"
    assert any("expected in 81 to 97" in said for said in error_warnings(data))


def test_fewer_than_five_of_a_class_have_an_interval_that_is_said_to_be_short():
    data = collected(Study())
    assert not any("independent samples" in said for said in error_warnings(data))
    data["study"]["units"] = [30, 4]
    assert any("fewer than five independent" in said for said in error_warnings(data))


def test_a_number_has_no_sensitivity():
    data = collected(Study(regression=True))
    assert data["answer"]["measures"] == []
    assert [tile.name for tile in tiles(data)] == [
        "R² on unseen samples", "FDR-selected genes"
    ]  # fmt: skip


def test_other_cohorts_have_the_first_tiles():
    given = arguments(Study())
    abouts = [make_about(given["dataset"], name) for name in "abc"]
    for count, first in ((1, ["Balanced error in a"]),
                         (3, ["Balanced error, median of 3 other cohorts"])):  # fmt: skip
        names = [tile.name for tile in tiles(collect(**given, external=abouts[:count]))]
        assert names == [*first, "Balanced error on unseen samples", "AUC", "FDR-selected genes"]


@pytest.mark.parametrize("regression", [False, True])
def test_the_direction_of_a_gene_is_that_of_its_values(regression):
    given = arguments(Study(regression=regression))
    data = collect(**given)
    y, dataset = given["dataset"].response(), given["dataset"]
    for one in data["answer"]["chips"]:
        x = dataset.X[:, dataset.genes.index(one["gene"])]
        assert one["up"] == (np.corrcoef(x, y)[0, 1] > 0)
    word = "with class" if regression else "in tumour"
    shown = gene_chips(data)
    assert all(chip.direction.endswith(word) for chip in shown)
    assert len(shown) == min(len(data["answer"]["chips"]), MOST_NAMED)
    often = [one["selection_frequency"] for one in data["answer"]["chips"]]
    assert shown[0].words.startswith(f"{100 * max(often):.0f}\u00a0%, q")


@pytest.mark.drawn
@pytest.mark.parametrize("regression", [False, True])
def test_the_forest_holds_every_error_in_the_units_of_the_page(regression):
    given = arguments(Study(regression=regression, permutations=40))
    cohorts = [
        make_about(given["dataset"], "a"),
        make_about(given["dataset"], "b", seen_before=2),
        make_about(given["dataset"], "c", one_class=not regression),
    ]
    data = collect(**given, external=cohorts)
    *others, own, rival = lines_of(data)
    error, best = data["answer"]["error"], data["answer"]["control"]
    wanted = (lambda e: 1 - e) if regression else (lambda e: e)
    assert own.value == pytest.approx(wanted(error["value"]))
    assert rival.value == pytest.approx(wanted(best["error"]))
    assert own.limits[0] <= own.value <= own.limits[1]
    key = "r2" if regression else "balanced_error"
    scores = [row for row in cohorts[0]["scores"] if row["measure"] == key]
    assert others[0].value == pytest.approx(scores[0]["value"], abs=1e-3)
    assert others[0].limits == pytest.approx((scores[0]["low"], scores[0]["high"]), abs=1e-3)
    assert "2 of them" not in others[1].name
    assert "seen in training" in others[1].name
    assert len(others) == (3 if regression else 2)  # one class has no balanced error
    (image,) = overview(data)
    assert ("1 cohort not shown" in image.caption) == (not regression)
    assert "labels shuffled" in image.svg
    assert len(forest(data).axes[0].get_yticklabels()) == 2 + len(others)


@pytest.mark.drawn
def test_an_error_that_is_not_defined_has_no_picture():
    given = arguments(Study())
    own = given["tables"]["controls"]["model"] == "genesig"
    given["tables"]["controls"].loc[own, ["error", "low", "high"]] = np.nan
    assert overview(collect(**given)) == []


@pytest.mark.parametrize(
    ("low", "high", "better", "worse"),
    [(0.51, 0.7, 1, 0), (0.5, 0.7, 0, 0), (0.3, 0.5, 0, 0), (0.3, 0.49, 0, 1), (None, None, 0, 0)],
)
def test_an_interval_elsewhere_that_touches_chance_settles_nothing(low, high, better, worse):
    scores = [{"measure": "auc", "value": 0.5, "low": low, "high": high}]
    about = {"name": "there", "seen_before": 0, "predictions": [], "scores": scores}
    it = cohorts([about, {**about, "seen_before": 3}], MEASURES["classification"])
    assert (it["tested"], it["better"], it["worse"]) == (1, better, worse)
