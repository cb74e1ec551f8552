"""Imputation of missing values against impute.knn and its definition."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from genesig.data.steps.imputation import KnnImpute
from genesig.data.steps.normalise import Reference, fit_steps, steps_by_training_set

KNN = [{"step": "knn_impute", "neighbours": 5}]


@pytest.fixture
def table():
    """Return the table that knn_by_impute.R made: as given and as imputed, samples x genes."""
    read = pd.read_csv(Path(__file__).with_name("knn_by_impute.tsv"), sep="\t")
    return [read.filter(regex=f"^{kind}[0-9]").to_numpy(float).T for kind in "gi"]


def test_neighbours_and_means_equal_impute_knn(table):
    X, expected = table
    filled = fit_steps(X, KNN).transform(X)
    # Where impute takes the sample's mean over other genes, ours is the gene's own: two genes that
    # most samples miss, and a value all of whose neighbours are missing.
    is_mean_filled = np.isnan(X) & (np.isnan(X).mean(axis=0) > 0.5)
    is_mean_filled[3, 20] = True
    assert np.flatnonzero(is_mean_filled.any(axis=0)).tolist() == [8, 9, 20]
    expected = np.where(is_mean_filled, np.nanmean(X, axis=0), expected)
    np.testing.assert_allclose(filled, expected, rtol=1e-13)


def test_imputed_sample_ignores_other_samples(table):
    X, _ = table
    fitted = fit_steps(X[:9], KNN)
    joint_values = fitted.transform(X)
    for row, sample in enumerate(X):
        np.testing.assert_array_equal(fitted.transform(sample[None])[0], joint_values[row])


def test_observed_values_stay_and_json_has_no_nan(table):
    X, _ = table
    fitted = fit_steps(X, KNN)
    state = json.loads(json.dumps(fitted.state(), allow_nan=False))
    refilled = Reference.from_state(state).transform(X)
    np.testing.assert_array_equal(refilled[~np.isnan(X)], X[~np.isnan(X)])
    np.testing.assert_array_equal(refilled, fitted.transform(X))


def test_a_test_sample_changes_no_other(table):
    X, _ = table
    fitted = fit_steps(X[:9], KNN)
    changed_X = X.copy()
    changed_X[9:] += 100
    np.testing.assert_array_equal(fitted.transform(changed_X)[:9], fitted.transform(X)[:9])


def test_a_sample_without_any_value_and_a_single_gene_are_filled():
    donors = np.array([[1.0, 2], [3, 4], [5, np.nan]])
    fitted = KnnImpute.fit(donors, neighbours=10)
    np.testing.assert_array_equal(fitted.transform(np.full((1, 2), np.nan)), [[3, 3]])
    np.testing.assert_array_equal(fitted.transform(donors)[2], [5, 5])
    few = np.array([[1.0, np.nan], [2, np.nan], [3, 4]])
    np.testing.assert_array_equal(KnnImpute.fit(few, neighbours=2).transform(few)[:, 1], [4, 4, 4])
    alone = KnnImpute.fit(donors[:, :1], neighbours=1)
    np.testing.assert_array_equal(alone.transform(np.array([[np.nan]])), [[3]])


def by_definition(X, rows, k):
    """Impute gene by gene: distances to all others, the nearest of them, their means."""
    donors = X[rows]
    usable = np.isnan(donors).mean(axis=0) <= 0.5
    filled = X.copy()
    for j in np.flatnonzero(np.isnan(X).any(axis=0)):
        missing = np.isnan(X[:, j])
        is_measured = ~np.isnan(donors)
        sums = np.where(np.isnan(donors), 0, donors).sum(axis=0)
        overall = sums.sum() / is_measured.sum()
        filled[missing, j] = (
            sums[j] / is_measured[:, j].sum() if is_measured[:, j].any() else overall
        )
        if not usable[j]:
            continue
        squared_differences = (donors - donors[:, [j]]) ** 2
        is_shared = ~np.isnan(squared_differences)
        counts = is_shared.sum(axis=0)
        distance = np.where(is_shared, squared_differences, 0).sum(axis=0) / np.maximum(counts, 1)
        distance[~usable | (counts == 0)] = np.inf
        distance[j] = np.inf
        near = np.argsort(distance, kind="stable")[:k]
        values = X[np.ix_(missing, near)]
        is_present = ~np.isnan(values)
        sums = np.where(is_present, values, 0).sum(axis=1)
        number = is_present.sum(axis=1)
        filled[np.flatnonzero(missing)[number > 0], j] = (sums / np.maximum(number, 1))[number > 0]
    return filled


@pytest.mark.parametrize("scale", [1, 2.0**-600, 2.0**600])
@pytest.mark.parametrize("spread", [1, 1e3])
def test_joint_imputation_of_genes_equals_the_definition(scale, spread):
    """Some genes are the same gene twice, of which the first is taken; some lie far apart."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(21, 4)) @ rng.normal(size=(4, 130)) + rng.normal(size=(21, 130))
    X += spread * rng.normal(size=130)
    X[:, 50:60] = X[:, 90:100] = X[:, 10:20]
    X[rng.random(X.shape) < 0.15] = np.nan
    rows = np.arange(21) % 5 != 0
    X[rows, 7] = np.nan
    X[:, 8] = np.nan
    filled = KnnImpute.fit(X[rows] * scale, neighbours=6).transform(X * scale)
    np.testing.assert_array_equal(filled / scale, by_definition(X, rows, 6))


@pytest.mark.slow_cases(
    "70-0",
    "70-1000.0",
)
@pytest.mark.parametrize("spread", [0, 1e3])
@pytest.mark.parametrize("count", [3, 70])
def test_joint_imputation_of_training_sets_equals_the_definition(spread, count):
    """Of sizes that differ, where a gene may have too few values in some; more than one call."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(22, 3)) @ rng.normal(size=(3, 90)) + 0.3 * rng.normal(size=(22, 90))
    X += spread * rng.normal(size=90)
    X[:, 40:50] = X[:, 70:80] = X[:, 10:20]
    X[rng.random(X.shape) < rng.choice([0.05, 0.45], size=90)] = np.nan
    X[:, 5] = np.nan
    trains = [
        np.sort(rng.choice(22, size=rng.integers(9, 20), replace=False)) for _ in range(count)
    ]
    joint_steps = steps_by_training_set(X, [{"step": "knn_impute", "neighbours": 4}], trains)
    for train, steps in zip(trains, joint_steps, strict=True):
        fitted = fit_steps(X[train], steps)
        filled = fitted.transform(X)
        np.testing.assert_array_equal(filled, by_definition(X, train, 4))
        alone = fit_steps(X[train], [{"step": "knn_impute", "neighbours": 4}])
        np.testing.assert_array_equal(filled, alone.transform(X))
        assert fitted.state() == alone.state()


@pytest.mark.slow_cases("30")
@pytest.mark.parametrize("folds", [2, 5, 30])
def test_imputation_of_long_tailed_folds_equals_the_definition(folds):
    """A few large differences make up most of a sum: what is left without them is small."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 150)) + rng.standard_t(1.2, size=(30, 150))
    X[rng.random(X.shape) < 0.1] = np.nan
    order = [rng.permutation(30) for _ in range(max(1, 20 // folds))]
    trains = [
        np.setdiff1d(order_of_rows, part)
        for order_of_rows in order
        for part in np.array_split(order_of_rows, folds)
    ]
    knn_steps = [{"step": "knn_impute", "neighbours": 4}]
    for train, steps in zip(trains, steps_by_training_set(X, knn_steps, trains), strict=True):
        filled = fit_steps(X[train], steps).transform(X)
        np.testing.assert_array_equal(filled, by_definition(X, train, 4))


def test_neighbours_whose_differences_are_rounded_away_are_found():
    """Genes far from 0 that differ by little: single precision has one digit of it."""
    rng = np.random.default_rng(5)
    X = np.repeat([1.0, -1.0], 60) + 4e-7 * rng.normal(size=(24, 120))
    X[rng.random(X.shape) < 0.05] = np.nan
    trains = [np.sort(rng.choice(24, size=12, replace=False)) for _ in range(20)]
    joint_steps = steps_by_training_set(X, [{"step": "knn_impute", "neighbours": 4}], trains)
    for train, steps in zip(trains, joint_steps, strict=True):
        filled = fit_steps(X[train], steps).transform(X)
        np.testing.assert_array_equal(filled, by_definition(X, train, 4))


def test_ties_are_decided_alike_in_company_and_alone():
    """Few values, of which no sum is exact: many distances are equal but for rounding."""
    rng = np.random.default_rng(6)
    X = rng.integers(-3, 4, size=(24, 90)) / 10
    X[rng.random(X.shape) < 0.1] = np.nan
    knn_steps = [{"step": "knn_impute", "neighbours": 4}]
    trains = [np.sort(rng.choice(24, size=17, replace=False)) for _ in range(20)]
    for train, steps in zip(trains, steps_by_training_set(X, knn_steps, trains), strict=True):
        alone = fit_steps(X[train], knn_steps).transform(X)
        np.testing.assert_array_equal(fit_steps(X[train], steps).transform(X), alone)


def test_sparse_gene_is_found_behind_many_nearer_genes():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(20, 256))
    X[:, 130:134] = X[:, [0]] + 0.1 * rng.normal(size=(20, 4))
    X[:, 200] = X[:, 0] + 0.01
    X[11:, 200] = X[0, 0] = np.nan
    filled = fit_steps(X, [{"step": "knn_impute", "neighbours": 4}]).transform(X)
    np.testing.assert_array_equal(filled, by_definition(X, np.arange(20), 4))


def test_new_samples_with_other_missing_genes_are_imputed_again():
    rng = np.random.default_rng(4)
    X, new_X = rng.normal(size=(2, 12, 30))
    X[rng.random(X.shape) < 0.1], X[:, :4] = np.nan, rng.normal(size=(12, 4))
    new_X[0, 2] = np.nan
    rows = np.arange(9)
    imputing_steps = [{"step": "knn_impute", "neighbours": 4}, {"step": "centre"}]
    (steps,) = steps_by_training_set(X, imputing_steps, [rows])
    alone = fit_steps(X[rows], imputing_steps)
    np.testing.assert_array_equal(
        fit_steps(X[rows], steps).transform(new_X), alone.transform(new_X)
    )
