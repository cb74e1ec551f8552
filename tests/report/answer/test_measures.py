"""The first screen has the measures of held-out decisions, cohorts and genes."""

from __future__ import annotations

import numpy as np
import pytest
from report_records import Study, arguments, collected, make_about
from sklearn.metrics import recall_score

from genesig.report.answer.collect import cohorts, error_warnings
from genesig.report.answer.section import (
    MAX_GENES,
    _gain_tile,
    first_screen_tiles,
    gene_frequencies,
)
from genesig.report.collect import StudyResults, collect
from genesig.report.page.measure import MEASURES
from genesig.report.page.verdict import Grade
from genesig.selection.assess.intervals import wilson


def test_sensitivity_and_specificity_are_the_mean_recall_of_the_repeats():
    inputs = arguments(Study(samples=40, signal=0.4, repeats=3))
    data = collect(StudyResults(**inputs))
    table = inputs["tables"]["predictions"]
    table = table[table["mu"].isna()]
    measure_by_name = {measure["name"]: measure for measure in data["answer"]["measures"]}
    assert list(measure_by_name) == ["auc", "specificity", "sensitivity"]
    for name, label in (("sensitivity", "tumour"), ("specificity", "normal")):
        recalls = [
            recall_score(rows["label"], rows["predicted"], pos_label=label)
            for _, rows in table.groupby("repeat")
        ]
        assert 0 < np.mean(recalls) < 1
        assert measure_by_name[name]["value"] == pytest.approx(np.mean(recalls), abs=1e-4)
        low, high = wilson(float(np.mean(recalls)), 20)
        assert (measure_by_name[name]["low"], measure_by_name[name]["high"]) == pytest.approx(
            (low, high), abs=1e-4
        )


def test_a_class_counts_its_groups_in_the_intervals():
    """Cases of 4 patients with 5 samples each are 4, beside 20 controls of one sample each."""
    inputs = arguments(Study(samples=40, signal=0.4))
    obs = inputs["dataset"].obs
    ill = (obs[inputs["dataset"].design.label] == "tumour").to_numpy()
    patient = np.where(ill, np.cumsum(ill) // 6, 100 + np.arange(40))
    object.__setattr__(inputs["dataset"], "obs", obs.assign(patient=[f"p{k}" for k in patient]))
    object.__setattr__(inputs["dataset"].design, "group", "patient")
    matching_warnings = {
        measure["name"]: measure
        for measure in collect(StudyResults(**inputs))["answer"]["measures"]
    }
    for name, units in (("sensitivity", 4), ("specificity", 20)):
        low, high = wilson(matching_warnings[name]["value"], units)
        assert (matching_warnings[name]["low"], matching_warnings[name]["high"]) == pytest.approx(
            (low, high), abs=1e-4
        )


def test_leave_one_out_has_intervals_that_are_said_to_be_short():
    data = collected(Study())
    assert not any("Leave-one-out" in warning for warning in error_warnings(data))
    data["design"]["scheme"] = "leave_one_out"
    assert any("expected value in 81–97%" in warning for warning in error_warnings(data))


def test_fewer_than_five_of_a_class_have_an_interval_that_is_said_to_be_short():
    data = collected(Study())
    assert not any("independent samples" in warning for warning in error_warnings(data))
    data["study"]["units"] = [30, 4]
    assert any("fewer than five independent" in warning for warning in error_warnings(data))
    assert any("samples of tumour" in warning for warning in error_warnings(data))


def test_a_small_class_is_warned_of_by_its_sensitivity():
    data = collected(Study())
    data["study"]["units"] = [27, 11]
    warning, *_ = error_warnings(data)
    assert "Few tumour patients (11)" in warning
    assert "change the sensitivity by 9 percentage points" in warning


def test_equal_small_classes_are_warned_of_together():
    data = collected(Study())
    data["study"]["units"] = [12, 12]
    warning, *_ = error_warnings(data)
    assert warning.startswith("Few patients of each class (12): one more error would change")
    assert warning.endswith("change sensitivity or specificity by 8 percentage points.")
    data["study"] |= {"classes": ["a", "b", "c"], "units": [12, 19, 12]}
    warning, *_ = error_warnings(data)
    assert warning.startswith("Few a and c patients (12): one more error would change")
    assert warning.endswith("change the sensitivity for one by 8 percentage points.")


def test_a_class_of_few_groups_is_warned_of_although_it_has_many_samples():
    data = collected(Study())
    data["study"].update(counts=[54, 44], units=[27, 11], groups=38, group="patient")
    warning, *_ = error_warnings(data)
    assert "Few tumour groups (11)" in warning
    assert "change the sensitivity by 9 percentage points" in warning


def test_a_number_has_no_sensitivity():
    data = collected(Study(regression=True))
    assert data["answer"]["measures"] == []
    assert [tile.name for tile in first_screen_tiles(data)] == ["R²", "Signature"]


@pytest.mark.parametrize(
    ("auc", "error", "is_ranking"), [(1.0, 0.03, True), (1.0, 0.0, False), (0.99, 0.03, False)]
)
def test_auc_of_one_beside_errors_is_called_a_ranking(auc, error, is_ranking):
    data = collected(Study())
    data["answer"]["measures"][0]["value"] = auc
    data["answer"]["error"]["value"] = error
    tile_by_name = {tile.name: tile for tile in first_screen_tiles(data)}
    assert tile_by_name["AUC"].words.endswith("; ranking only") == is_ranking


def test_tiles_of_two_classes_are_accuracy_auc_both_sides_and_the_signature():
    data = collected(Study())
    tile_by_name = {tile.name: tile for tile in first_screen_tiles(data)}
    sides = ["Sensitivity (tumour)", "Specificity (normal)"]
    assert list(tile_by_name) == ["Balanced accuracy", "AUC", *sides, "Signature"]
    assert "chance 50%" in tile_by_name["Balanced accuracy"].words
    assert "chance 0.50" in tile_by_name["AUC"].words


@pytest.mark.parametrize(
    ("added", "low", "high", "value", "words"),
    [
        (0.03, -0.01, 0.052, "3.0 points", "95% CI −1.0 to 5.2"),
        (0.03, None, 0.05, "3.0 points", ""),
        (0.03, 0.01, None, "3.0 points", ""),
        (None, None, None, None, None),
    ],
)
def test_gain_over_the_covariates_is_written_with_its_limits(added, low, high, value, words):
    columns = ["model", "mu", "added", "added_low", "added_high"]
    rows = [
        ["covariates", None, 0.9, 0.9, 0.9],
        ["genesig", 0.1, 0.8, 0.8, 0.8],
        ["genesig", None, added, low, high],
    ]
    data = {
        "study": {"task": "classification", "classes": ["a", "b"]},
        "tables": {"controls": {"columns": columns, "rows": rows}},
    }
    tile = _gain_tile(data)
    assert (tile and (tile.value, tile.words)) == (value and (value, words))


def test_external_cohorts_have_the_first_tiles():
    inputs = arguments(Study())
    abouts = [make_about(inputs["dataset"], name) for name in "abc"]
    for count, first_title in (
        (1, "Balanced accuracy in a"),
        (3, "Balanced accuracy, median of 3 external cohorts"),
    ):
        names = [
            tile.name
            for tile in first_screen_tiles(collect(StudyResults(**inputs, external=abouts[:count])))
        ]
        assert names[:2] == [first_title, "Balanced accuracy"]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("regression", [False, True])
def test_the_direction_of_a_gene_is_that_of_its_values(regression):
    inputs = arguments(Study(regression=regression, permutations=99))
    data = collect(StudyResults(**inputs))
    y = inputs["dataset"].response()
    dataset = inputs["dataset"]
    for gene in data["answer"]["signature_genes"]:
        x = dataset.X[:, dataset.genes.index(gene["gene"])]
        assert gene["up"] == (np.corrcoef(x, y)[0, 1] > 0)
    data["verdict"]["grade"] = Grade.HERE.value
    image = gene_frequencies(data)
    assert ("with class" if regression else "in tumour") in image.caption
    selected = [row for row in data["answer"]["signature_genes"] if row["fdr_selected"]]
    assert len(image.data["gene"]) == min(len(selected), MAX_GENES)
    assert image.data["selection_frequency"] == sorted(
        image.data["selection_frequency"], reverse=True
    )


@pytest.mark.parametrize(
    ("low", "high", "better", "worse"),
    [(0.51, 0.7, 1, 0), (0.5, 0.7, 0, 0), (0.3, 0.5, 0, 0), (0.3, 0.49, 0, 1), (None, None, 0, 0)],
)
def test_cohort_interval_touching_chance_is_not_better(low, high, better, worse):
    scores = [{"measure": "auc", "value": 0.5, "low": low, "high": high}]
    about = {"name": "there", "seen_before": 0, "predictions": [], "scores": scores}
    cohort_summary = cohorts([about, {**about, "seen_before": 3}], MEASURES["classification"])
    assert (cohort_summary["tested"], cohort_summary["better"], cohort_summary["worse"]) == (
        1,
        better,
        worse,
    )
