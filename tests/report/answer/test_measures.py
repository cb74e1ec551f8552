"""Sensitivity and specificity of held-out decisions, the genes, and the one picture of all."""

from __future__ import annotations

import numpy as np
import pytest
from report_records import Study, arguments, collected, make_about
from sklearn.metrics import recall_score

from genesig.report.answer.collect import cohorts, error_warnings
from genesig.report.answer.section import MAX_GENES, gene_frequencies, tiles
from genesig.report.collect import collect
from genesig.report.page.measure import MEASURES
from genesig.report.page.verdict import Grade
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
    assert not any("Leave-one-out" in said for said in error_warnings(data))
    data["design"]["scheme"] = "leave_one_out"
    assert any("expected value in 81–97%" in said for said in error_warnings(data))


def test_fewer_than_five_of_a_class_have_an_interval_that_is_said_to_be_short():
    data = collected(Study())
    assert not any("independent samples" in said for said in error_warnings(data))
    data["study"]["units"] = [30, 4]
    assert any("fewer than five independent" in said for said in error_warnings(data))


def test_a_small_class_is_warned_of_by_its_sensitivity():
    data = collected(Study())
    data["study"]["counts"] = [27, 11]
    said, *_ = error_warnings(data)
    assert "Few tumour patients (11)" in said
    assert "change the sensitivity by 9 percentage points" in said


def test_a_number_has_no_sensitivity():
    data = collected(Study(regression=True))
    assert data["answer"]["measures"] == []
    assert [tile.name for tile in tiles(data)] == ["R²", "Signature"]


def test_tiles_of_two_classes_are_accuracy_auc_both_sides_and_the_signature():
    data = collected(Study())
    found = {tile.name: tile for tile in tiles(data)}
    sides = ["Sensitivity (tumour)", "Specificity (normal)"]
    assert list(found) == ["Balanced accuracy", "AUC", *sides, "Signature"]
    assert "chance 50%" in found["Balanced accuracy"].words
    assert "chance 0.50" in found["AUC"].words


def test_external_cohorts_have_the_first_tiles():
    given = arguments(Study())
    abouts = [make_about(given["dataset"], name) for name in "abc"]
    for count, first in (
        (1, "Balanced accuracy in a"),
        (3, "Balanced accuracy, median of 3 external cohorts"),
    ):
        names = [tile.name for tile in tiles(collect(**given, external=abouts[:count]))]
        assert names[:2] == [first, "Balanced accuracy"]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("regression", [False, True])
def test_the_direction_of_a_gene_is_that_of_its_values(regression):
    given = arguments(Study(regression=regression, permutations=99))
    data = collect(**given)
    y = given["dataset"].response()
    dataset = given["dataset"]
    for one in data["answer"]["chips"]:
        x = dataset.X[:, dataset.genes.index(one["gene"])]
        assert one["up"] == (np.corrcoef(x, y)[0, 1] > 0)
    data["verdict"]["grade"] = Grade.HERE.value
    image = gene_frequencies(data)
    assert ("with class" if regression else "in tumour") in image.caption
    selected = [row for row in data["answer"]["chips"] if row["fdr_selected"]]
    assert len(image.data["gene"]) == min(len(selected), MAX_GENES)
    assert image.data["selection_frequency"] == sorted(
        image.data["selection_frequency"], reverse=True
    )


@pytest.mark.parametrize(
    ("low", "high", "better", "worse"),
    [(0.51, 0.7, 1, 0), (0.5, 0.7, 0, 0), (0.3, 0.5, 0, 0), (0.3, 0.49, 0, 1), (None, None, 0, 0)],
)
def test_an_interval_elsewhere_that_touches_chance_settles_nothing(low, high, better, worse):
    scores = [{"measure": "auc", "value": 0.5, "low": low, "high": high}]
    about = {"name": "there", "seen_before": 0, "predictions": [], "scores": scores}
    it = cohorts([about, {**about, "seen_before": 3}], MEASURES["classification"])
    assert (it["tested"], it["better"], it["worse"]) == (1, better, worse)
