"""The quality stage finds planted faults and handles small and odd studies."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from settings import MOMENTS
from study_data import faultless

from genesig.data.quality.overview import describe_quality
from genesig.data.quality.samples import row_quantiles, scaling_factors
from genesig.data.steps.median_polish import Quantile
from genesig.data.steps.normalise import normalise_samples

LOG2 = {"step": "log2", "floor": 1.0, "ceiling": 1e9}


def quality_of(dataset, samples=(), folds=MOMENTS):
    after = normalise_samples(dataset, samples=list(samples), folds=list(folds))
    return json.loads(
        json.dumps(describe_quality(dataset, after, fold_steps=list(folds)), allow_nan=False)
    )


def rules_of_outliers(sample_quality):
    return {sample["sample"]: sample["rules"] for sample in sample_quality["outliers"]["samples"]}


def change(X, rule):
    rng = np.random.default_rng(9)
    match rule:
        case "rle_median":
            X[4] += 2
        case "rle_iqr":
            X[4] += rng.normal(0, 8, X.shape[1])
        case "distance":
            X[4, :40] += 12
        case "missing":
            X[4, rng.random(X.shape[1]) < 0.4] = np.nan
        case "factor" | "library":
            X[4] *= 9


@pytest.mark.parametrize("rule", ["rle_median", "rle_iqr", "distance", "missing", "factor"])
def test_a_planted_outlier_is_found_and_no_other(rule):
    dataset = faultless(np.random.default_rng(3), raw=rule == "factor")
    folds = [{"step": "knn_impute", "neighbours": 5}, *MOMENTS]
    assert rules_of_outliers(quality_of(dataset, folds=folds)) == {}
    change(dataset.X, rule)
    sample_quality = quality_of(dataset, folds=folds)
    assert list(rules_of_outliers(sample_quality)) == ["s4"]
    assert rule in rules_of_outliers(sample_quality)["s4"]
    assert sample_quality["outliers"]["samples"][0]["row"] == 4


def test_samples_like_one_specimen_are_named_unless_a_group_keeps_them_together():
    dataset = faultless(np.random.default_rng(3))
    assert quality_of(dataset)["twins"] == []
    dataset.X[9] = dataset.X[4] + np.random.default_rng(1).normal(0, 0.05, dataset.X.shape[1])
    assert quality_of(dataset)["twins"] == [["s4", "s9"]]
    patient = [f"p{4 if k == 9 else k}" for k in range(len(dataset.X))]
    design = replace(dataset.design, group="patient")
    grouped = replace(dataset, obs=dataset.obs.assign(patient=patient), design=design)
    assert quality_of(grouped)["twins"] == []


def test_a_small_library_is_found():
    dataset = faultless(np.random.default_rng(3))
    counts = np.random.default_rng(1).poisson(2**dataset.X).astype(float)
    counts[:, :60] = 0
    counts[0, :60] = 1
    counts[4] = np.round(counts[4] / 9)
    sample_quality = quality_of(replace(dataset, X=counts), [{"step": "log_cpm", "prior": 1.0}])
    assert "library" in rules_of_outliers(sample_quality)["s4"]
    assert sample_quality["size"]["kind"] == "library"
    np.testing.assert_allclose(
        sample_quality["size"]["values"], counts.sum(axis=1) / 1e6, rtol=1e-5
    )
    np.testing.assert_allclose(
        sample_quality["size"]["detected"], (counts > 0).mean(axis=1), rtol=1e-5
    )
    top = np.sort(counts, axis=1)[:, -50:].sum(axis=1) / counts.sum(axis=1)
    np.testing.assert_allclose(sample_quality["size"]["top"], top, rtol=1e-5)
    assert quality_of(replace(dataset, X=counts[:, :50]))["size"]["top"] is None


@pytest.mark.slow
@pytest.mark.parametrize(("n", "sets", "max_share"), [(10, 40, 0.02), (40, 25, 0.002)])
@pytest.mark.parametrize("raw", [False, True])
def test_few_samples_of_a_faultless_set_are_named(n, sets, max_share, raw):
    """The page says: of ten samples about one in a hundred, of forty less than one in a thousand.

    So many sets leave a standard error of 0.005 and 0.001 around that.
    """
    rng = np.random.default_rng(n)
    times = [len(rules_of_outliers(quality_of(faultless(rng, n, raw=raw)))) for _ in range(sets)]
    assert sum(times) / (n * sets) <= max_share


def test_five_samples_have_no_usual_spread():
    dataset = faultless(np.random.default_rng(0), 5)
    change(dataset.X, "rle_median")
    assert rules_of_outliers(quality_of(dataset)) == {}


def test_the_decision_about_logarithms_has_its_evidence():
    dataset = faultless(np.random.default_rng(0), raw=True)
    sample_quality = quality_of(dataset)
    assert sample_quality["scale"]["raw"]
    assert sample_quality["scale"]["log_step"] is None
    assert sample_quality["scale"]["p99"] == pytest.approx(np.percentile(dataset.X, 99), rel=1e-5)
    assert sample_quality["scale"]["max"] == pytest.approx(dataset.X.max(), rel=1e-5)
    assert sample_quality["before"]["logarithm"]
    assert sample_quality["after"]["logarithm"]
    logged = quality_of(dataset, [LOG2])
    assert logged["scale"]["log_step"] == "log2"
    assert not logged["after"]["logarithm"]
    assert not logged["scale"]["doubled"]
    assert quality_of(faultless(np.random.default_rng(0)), [LOG2])["scale"]["doubled"]
    ranked = quality_of(dataset, [{"step": "rank_samples"}])
    assert ranked["scale"]["log_step"] is None
    assert not ranked["after"]["logarithm"]


def test_quality_after_steps_describes_input_of_the_final_model():
    dataset = faultless(np.random.default_rng(2), raw=True)
    folds = [{"step": "quantile"}, {"step": "variance_filter", "keep": 0.5}, *MOMENTS]
    sample_quality = quality_of(dataset, [LOG2], folds)
    X = np.log2(dataset.X)
    X = Quantile.fit(X).transform(X)
    X = X[:, np.sort(np.argsort(-X.var(axis=0), kind="stable")[:150])]
    np.testing.assert_allclose(sample_quality["after"]["quantiles"], row_quantiles(X), rtol=1e-5)
    assert sample_quality["steps"] == [
        {"step": "log2", "genes": 300},
        {"step": "quantile", "genes": 300},
        {"step": "variance_filter", "genes": 150},
    ]
    assert quality_of(dataset)["steps"] == []


def test_missing_values_are_counted_by_sample_and_by_gene():
    dataset = faultless(np.random.default_rng(2), 12, 40)
    dataset.X[:3, 5] = np.nan
    dataset.X[2, [7, 8]] = np.nan
    sample_quality = quality_of(dataset, folds=[{"step": "knn_impute", "neighbours": 3}, *MOMENTS])[
        "missing"
    ]
    assert sample_quality["total"] == 5
    assert sample_quality["samples"] == [1, 1, 3] + [0] * 9
    assert sample_quality["genes"] == [[1, 2], [3, 1]]
    assert sample_quality["worst"] == [["g5", 3], ["g7", 1], ["g8", 1]]


def with_columns(batch=None):
    rng = np.random.default_rng(8)
    centre = rng.choice(["a", "b", "c"], 30)
    dataset = faultless(
        rng,
        30,
        batch=batch,
        centre=centre,
        age=rng.normal(50, 9, 30).round(2),
        chip=["X"] * 30,
        donor=[f"d{i}" for i in range(30)],
        kind=[f"{'wi'[i % 2]}{i % 4}" for i in range(30)],
    )
    shift = {name: rng.normal(0, 1.5, dataset.X.shape[1]) for name in "abc"}
    dataset.X[:] += np.stack([shift[name] for name in centre])
    return dataset


def test_every_column_of_the_sample_table_is_tested_or_named():
    sample_quality = quality_of(with_columns("centre"))
    by_name = {association["column"]: association for association in sample_quality["associations"]}
    assert {
        name: (association["role"], association["kind"]) for name, association in by_name.items()
    } == {
        "state": ("label", "classes"),
        "centre": ("batch", "classes"),
        "age": ("", "number"),
        "kind": ("", "classes"),
    }
    assert sample_quality["skipped"] == [
        {"column": "chip", "reason": "one value"},
        {"column": "donor", "reason": "a value of its own for each sample"},
    ]
    assert by_name["centre"]["share"][0] > 0.9
    assert by_name["centre"]["q"][0] < 1e-6
    assert by_name["state"]["share"][0] < 0.2
    assert {name for name, association in by_name.items() if association["within_label"]} == {
        "state",
        "kind",
    }
    assert all(
        association["q"][k] >= association["p"][k]
        for association in by_name.values()
        for k in range(10)
    )


def test_quality_after_combat_shows_no_share_of_the_batch():
    """ComBat, fitted on all samples as for the final model, leaves no component to the centres."""
    dataset = with_columns("centre")
    before = quality_of(dataset)
    after = quality_of(dataset, folds=[{"step": "combat", "covariates": []}])
    shares = [
        next(
            association["share"][0]
            for association in sample_quality["associations"]
            if association["column"] == "centre"
        )
        for sample_quality in (before, after)
    ]
    assert shares[0] > 0.9
    assert shares[1] < 0.1
    assert after["before"] == before["before"]


def test_a_number_as_label_is_a_number():
    dataset = with_columns()
    obs = dataset.obs.assign(state=np.arange(30).astype(str))
    design = replace(dataset.design, task="regression", classes=None)
    sample_quality = quality_of(replace(dataset, obs=obs, design=design))
    assert sample_quality["associations"][0]["kind"] == "number"
    assert not any(association["within_label"] for association in sample_quality["associations"])


@pytest.mark.parametrize(("n", "d"), [(4, 300), (20, 1), (4, 1), (7, 2)])
def test_quality_of_small_studies_is_complete(n, d):
    sample_quality = quality_of(faultless(np.random.default_rng(1), n, d))
    assert len(sample_quality["after"]["rle"]) == n
    assert np.sum(sample_quality["components"]["explained"]) == pytest.approx(1, abs=1e-4)
    for association in sample_quality["associations"]:
        assert len(association["share"]) == min(d, n - 1)


def test_quality_is_independent_of_gene_order():
    dataset = with_columns()
    reversed_genes = replace(
        dataset, X=np.ascontiguousarray(dataset.X[:, ::-1]), var=dataset.var[::-1]
    )
    in_order = quality_of(dataset)
    in_reverse = quality_of(reversed_genes)
    for key in ("scale", "before", "outliers", "associations"):
        assert make_samples_alike(in_order[key], in_reverse[key]), key


def make_samples_alike(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(make_samples_alike(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(make_samples_alike, a, b))
    return a == b or a == pytest.approx(b, rel=1e-3, abs=1e-5)


def test_a_scaling_factor_leaves_out_the_two_percent_at_either_end():
    X = np.random.default_rng(0).uniform(90, 110, (5, 100))
    before = scaling_factors(X)
    X[3, np.argsort(X[3])[-2:]] = 1e9
    np.testing.assert_allclose(scaling_factors(X), before, rtol=1e-12)
