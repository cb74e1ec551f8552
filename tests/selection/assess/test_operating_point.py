"""The operating point: its threshold, what held-out samples show of it, and its way to predict."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from linear_loops import (
    fit_final_model,
    nested_cross_validation,
    study_half_samples,
)
from scipy import stats
from settings import MOMENTS, SPLITS, of_kind
from study_data import study_of

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.response.design import DECISION_RULES
from genesig.results import Dataset, Design, Fits, Splits
from genesig.results.fits import join_batches
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.operating_point import (
    DecisionRule,
    _resample_thresholds,
    _threshold_error,
    operating_point_table,
    predictive_values,
    threshold_for_sensitivity,
    threshold_of_least_loss,
)
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict
from genesig.selection.model.shape import check_model

DECISIONS = {
    "sensitivity": {"sensitivity": 0.9},
    "specificity": {"specificity": 0.9},
    "cost": {"cost": [1, 5], "prevalence": 0.1},
    "youden": {"youden": True},
}


@cache
def study() -> tuple[Dataset, Splits]:
    dataset = study_of("classification", 3, n=60, d=20, signal=1.0)
    return dataset, draw_splits(dataset, seed=2, **{**SPLITS, "repeats": 2, "subsamples": 4})


def fitted(dataset: Dataset, splits: Splits, **changes: object) -> tuple[Fits, Fits]:
    """Return the fits of the outer splits and of all samples, with both answers."""
    linear = {**of_kind("classification"), "crossfitted": True, **changes}
    half_samples = study_half_samples(dataset, splits, permutations=2, fold_steps=MOMENTS, **linear)
    observed = nested_cross_validation(
        dataset, splits, half_samples, labels="observed", batch="1of1", fold_steps=MOMENTS, **linear
    )
    final = fit_final_model(dataset, splits, half_samples, fold_steps=MOMENTS, **linear)
    return join_batches([observed], splits).with_chosen(), final


@cache
def fits() -> tuple[Fits, Fits]:
    return fitted(*study())


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "law", [stats.norm(), stats.t(3), stats.expon()], ids=lambda law: law.dist.name
)
def test_new_positive_sample_exceeds_the_threshold_as_often_as_asked(law):
    """Of any training set: exactly at a whole rank, within 0.015 of it between two ranks."""
    rng = np.random.default_rng(0)
    for n, sensitivity in ((16, 0.9), (19, 0.95), (20, 0.9), (20, 0.95), (29, 0.9), (50, 0.8)):
        scores = law.rvs(size=(2000, n), random_state=rng)
        achieved = law.sf([threshold_for_sensitivity(row, sensitivity) for row in scores])
        rank = (1 - sensitivity) * (n + 1)
        allowed = 3 * np.std(achieved) / np.sqrt(2000)
        allowed += 0 if np.isclose(rank, round(rank)) else 0.015
        assert abs(np.mean(achieved) - sensitivity) <= allowed, (n, sensitivity)


def test_threshold_for_sensitivity_is_interpolated_between_order_statistics():
    positive = np.arange(1.0, 40.0) ** 2
    assert threshold_for_sensitivity(positive, 0.95) == np.nextafter(4, 0)
    assert threshold_for_sensitivity(positive, 0.94) == pytest.approx(4 + 0.4 * 5)
    assert threshold_for_sensitivity(positive[:10], 0.99) == np.nextafter(1, 0)
    assert threshold_for_sensitivity(np.ones(9), 0.85) < 1


def test_threshold_for_specificity_mirrors_the_threshold_for_sensitivity():
    scores = np.random.default_rng(0).standard_normal(36)
    y = np.where(np.arange(36) % 2, 1.0, -1.0)
    for_specificity = DecisionRule.from_config({"specificity": 0.9}, y)
    for_sensitivity = DecisionRule.from_config({"sensitivity": 0.9}, y)
    assert for_specificity.threshold(scores, y) == -for_sensitivity.threshold(-scores, -y)


@pytest.mark.parametrize("rule", [{"sensitivity": 0.9}, {"specificity": 0.9}])
def test_threshold_of_equal_samples_of_a_group_counts_each_group_once(rule):
    patients = np.random.default_rng(0).standard_normal(24)
    y = np.where(np.arange(24) % 2, 1.0, -1.0)
    samples = np.repeat(np.arange(24), 4)
    decision = DecisionRule.from_config(rule, y)
    threshold = decision.threshold(patients[samples], y[samples], samples)
    assert threshold == pytest.approx(decision.threshold(patients, y), abs=1e-12)
    assert threshold != pytest.approx(decision.threshold(patients[samples], y[samples]), abs=1e-3)


def test_threshold_of_groups_depends_on_no_order_and_on_no_name():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal(40)
    groups = rng.integers(0, 12, 40)
    order = rng.permutation(40)
    threshold = threshold_for_sensitivity(scores, 0.9, groups)
    assert threshold == threshold_for_sensitivity(scores[order], 0.9, -groups[order])
    assert threshold > scores.min()
    single = threshold_for_sensitivity(scores, 0.9, np.arange(40))
    assert single == threshold_for_sensitivity(scores, 0.9)


def test_threshold_of_table_and_model_is_that_of_the_groups_of_the_study():
    dataset, splits = study()
    patients = [f"P{row // 6}" for row in range(len(dataset.samples))]
    grouped = replace(
        dataset,
        obs=dataset.obs.assign(patient=patients),
        design=replace(dataset.design, group="patient"),
    )
    observed, final = fits()
    rule = DecisionRule.from_config({"sensitivity": 0.8}, grouped.response())
    predictive = final.with_chosen()
    expected = rule.threshold(predictive.crossfitted[0], grouped.response(), grouped.groups())
    assert expected != rule.threshold(predictive.crossfitted[0], grouped.response())
    table = operating_point_table(grouped, splits, observed, predictive, rule)
    assert table.set_index("measure").loc["threshold", "value"] == expected
    model = final_model(grouped, final, fold_steps=MOMENTS, decision={"sensitivity": 0.8})
    (part,) = (part for part in model["models"] if part["list"] == model["answer"])
    assert part["decision"]["threshold"] == expected


@pytest.mark.parametrize("seed", range(5))
def test_least_loss_is_that_of_no_other_threshold(seed):
    rng = np.random.default_rng(seed)
    positive = rng.normal(0.5, 1, 15).round(1)
    negative = rng.normal(-0.5, 1, 22).round(1)

    def loss(threshold: float) -> float:
        return 3 * np.mean(positive <= threshold) + np.mean(negative > threshold)

    found = threshold_of_least_loss(positive, negative, 3.0, 1.0)
    assert loss(found) <= min(map(loss, np.linspace(-5, 5, 2001))) + 1e-12


def test_predictive_values_follow_bayes():
    ppv, npv = predictive_values(0.9, 0.8, 0.1)
    assert ppv == pytest.approx(0.09 / (0.09 + 0.18))
    assert npv == pytest.approx(0.72 / (0.72 + 0.01))
    assert np.isnan(predictive_values(0.0, 1.0, 0.5)[0])


@pytest.mark.parametrize("rule", DECISION_RULES)
def test_table_counts_held_out_calls_at_the_threshold_of_their_split(rule):
    dataset, splits = study()
    observed, final = fits()
    decision = DecisionRule.from_config(DECISIONS[rule], dataset.response())
    table = operating_point_table(dataset, splits, observed, final.with_chosen(), decision)
    rows = table.set_index("measure")
    held_out = collect_held_out(dataset, splits, observed)
    thresholds = np.array(
        [decision.threshold(scores, dataset.response()) for scores in observed.crossfitted]
    )
    called = held_out.scores[:, -1] > thresholds[held_out.split]
    positive = held_out.y > 0
    assert rows.loc["sensitivity", "value"] == pytest.approx(called[positive].mean())
    assert rows.loc["specificity", "value"] == pytest.approx((~called[~positive]).mean())
    limits = rows.loc[["sensitivity", "specificity"]]
    assert (limits["low"] < limits["value"]).all()
    assert (limits["value"] <= limits["high"]).all()
    assert rows.loc["threshold", "low"] == thresholds.min()


def test_error_of_a_rate_by_its_threshold_is_that_of_a_sample_quantile():
    """A normal quantile of n scores has the standard error √(s(1 - s)/n)/f (Cramér 1946, 28.5)."""
    rng = np.random.default_rng(7)
    n = 400
    sensitivity = 0.8
    y = np.repeat([1.0, -1.0], n)
    scores = rng.standard_normal(2 * n) + np.where(y > 0, 1.0, 0.0)
    rule = DecisionRule.from_config({"sensitivity": sensitivity}, y)
    thresholds = _resample_thresholds(rule, scores[None], y, None)
    normal = stats.norm(1.0)
    quantile = normal.ppf(1 - sensitivity)
    error = np.sqrt(sensitivity * (1 - sensitivity) / n) / normal.pdf(quantile)
    assert thresholds.mean() == pytest.approx(quantile, abs=3 * error)
    assert thresholds.std() == pytest.approx(error, rel=0.25)
    # The negative scores of the study itself: the specificity moves with their density.
    held_out = SimpleNamespace(scores=scores[:, None], split=np.zeros(2 * n, dtype=int))
    rate_error = _threshold_error(held_out, y < 0, thresholds)
    assert rate_error == pytest.approx(stats.norm.pdf(quantile) * error, rel=0.3)


def test_resampled_thresholds_draw_whole_groups():
    """Four equal samples of each patient are worth one."""
    rng = np.random.default_rng(8)
    y = np.repeat([1.0, -1.0], 50)
    scores = rng.standard_normal(100) + y
    rule = DecisionRule.from_config({"youden": True}, y)
    single = _resample_thresholds(rule, scores[None], y, None)
    repeats = np.repeat(np.arange(100), 4)
    grouped = _resample_thresholds(rule, scores[repeats][None], y[repeats], repeats)
    np.testing.assert_allclose(grouped, single)


def test_labels_of_test_samples_do_not_move_the_threshold_of_their_split():
    dataset, splits = study()
    split = splits.outer[0]
    test = [dataset.samples.index(name) for name in split.test]
    swap = {"ill": "well", "well": "ill"}
    states = dataset.obs["state"].tolist()
    for row in test:
        states[row] = swap[states[row]]
    relabelled = replace(dataset, obs=dataset.obs.assign(state=states))
    linear = {**of_kind("classification"), "crossfitted": True}
    one_split = replace(splits, outer=splits.outer[:1])
    scores = [
        nested_cross_validation(
            data, one_split, labels="observed", batch="1of1", fold_steps=MOMENTS, **linear
        ).crossfitted[0]
        for data in (dataset, relabelled)
    ]
    np.testing.assert_array_equal(*scores)
    assert np.isnan(scores[0][test]).all()
    for decision in DECISIONS.values():
        rule = DecisionRule.from_config({"prevalence": 0.3, **decision}, dataset.response())
        assert rule.threshold(scores[0], dataset.response()) == rule.threshold(
            scores[1], relabelled.response()
        )


def test_without_a_decision_fits_and_model_have_no_new_part():
    dataset, splits = study()
    observed, final = fitted(dataset, splits, crossfitted=False)
    assert not {"crossfitted", "answer_crossfitted"} & set(final.arrays())
    with_scores = fits()[1].arrays()
    for key, array in final.arrays().items():
        np.testing.assert_array_equal(array, with_scores[key])
    model = final_model(dataset, final, fold_steps=MOMENTS)
    assert all("decision" not in part for part in model["models"])
    assert model == final_model(dataset, fits()[1], fold_steps=MOMENTS)
    assert observed.crossfitted is None


def test_predict_calls_at_the_operating_point_of_the_model_that_scores():
    dataset, _ = study()
    final = fits()[1]
    y = dataset.response()
    model = json.loads(
        json.dumps(
            final_model(dataset, final, fold_steps=MOMENTS, decision=DECISIONS["sensitivity"])
        )
    )
    check_model(model, "model.json")
    rule = DecisionRule.from_config(DECISIONS["sensitivity"], y)
    lines = tuple(range(2, 2 + len(dataset.samples)))
    matrix = Matrix(tuple(dataset.samples), tuple(dataset.genes), dataset.X, {}, lines)
    for name in ("predictive", "fdr_selected"):
        threshold = rule.threshold(final.answer(name).crossfitted[0], y)
        (part,) = (part for part in model["models"] if part["list"] == name)
        assert part["decision"] == {"rule": "sensitivity 0.9", "threshold": threshold}
        table, _ = predict(
            model, matrix, "new.tsv", missing=0, mu=None, fdr_selected=name == "fdr_selected"
        )
        called = np.where(table["score"] > threshold, "ill", "well")
        assert table["predicted"].tolist() == called.tolist()
    assert threshold != 0
    assert all("decision" not in part for part in model["models"] if part["mu"] is not None)
    pd.testing.assert_series_equal(
        predict(model, matrix, "new.tsv", missing=0, mu=1.0)[0]["predicted"].eq("ill"),
        predict(model, matrix, "new.tsv", missing=0, mu=1.0)[0]["score"].gt(0),
        check_names=False,
    )


N_STUDIES = 30
N_NEW = 4000
ASKED = {"sensitivity": 0.9, "specificity": 0.8}


def class_samples(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 40 genes of n samples, of which five differ between the classes, and the classes."""
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, 40))
    X[:, :5] += 0.35 * y[:, None]
    return X, y


def achieved_and_limits(seed: int) -> dict[str, tuple[float, float, float]]:
    """Return what the final model achieves in new samples, and the stated limits, for each rule."""
    rng = np.random.default_rng(seed)
    X, y = class_samples(rng, 80)
    names = [f"S{row:02d}" for row in range(len(y))]
    genes = [f"g{gene}" for gene in range(X.shape[1])]
    dataset = Dataset(
        X,
        pd.DataFrame({"state": np.where(y > 0, "ill", "well")}, index=names),
        pd.DataFrame({"symbol": genes}, index=genes),
        Design("state", "classification", ("well", "ill"), None, None),
        {},
    )
    splits = draw_splits(dataset, seed=seed, **{**SPLITS, "folds": 5, "inner_folds": 5})
    linear = {**of_kind("classification"), "crossfitted": True}
    observed = nested_cross_validation(
        dataset, splits, labels="observed", batch="1of1", fold_steps=MOMENTS, **linear
    )
    observed = join_batches([observed], splits).with_chosen()
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **linear).with_chosen()
    new_X, new_y = class_samples(rng, N_NEW)
    selected, weights = final.chosen_coef(0)
    scores = final.intercept[0, -1] - final.threshold[0] + new_X[:, selected] @ weights
    results = {}
    for name, share in ASKED.items():
        rule = DecisionRule.from_config({name: share}, y)
        rows = operating_point_table(dataset, splits, observed, final, rule).set_index("measure")
        in_class = new_y > 0 if name == "sensitivity" else new_y < 0
        is_correct = (scores > rows.loc["threshold", "value"]) == (new_y > 0)
        low, high = rows.loc[name, ["low", "high"]]
        results[name] = (float(is_correct[in_class].mean()), float(low), float(high))
    return results


@pytest.mark.slow
def test_new_samples_have_the_sensitivity_asked_for_and_intervals_cover_it():
    """The mean over studies reaches the share; 95 % intervals cover what is achieved."""
    studies = [achieved_and_limits(seed) for seed in range(N_STUDIES)]
    for name, share in ASKED.items():
        achieved, low, high = np.array([results[name] for results in studies]).T
        error = achieved.std(ddof=1) / np.sqrt(N_STUDIES)
        assert share - 2.5 * error <= achieved.mean() <= share + 0.05 + 2.5 * error, name
        covered = np.mean((low <= achieved) & (achieved <= high))
        assert covered >= 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / N_STUDIES), name
