"""Numeric covariates as restricted cubic splines, from the knots to the model."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linear_loops import fit_final_model, nested_cross_validation
from scipy.interpolate import CubicSpline
from settings import MOMENTS, SPLITS, of_kind

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_permutation, draw_splits
from genesig.models.baselines import ridge_with_covariates
from genesig.response.covariates import Covariate, default_n_knots, place_knots, spline_columns
from genesig.results import Dataset, Design
from genesig.selection.assess.baseline_scores import score_covariates_and_ridge
from genesig.selection.assess.controls import global_test_p, score_covariates
from genesig.selection.assess.covariates import covariate_basis, exchange_residuals
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict
from genesig.selection.model.shape import check_model

LOOP_SETTINGS = {"fold_steps": MOMENTS, **of_kind("regression")}


def study(seed: int = 0, n: int = 60, d: int = 20, signal: float = 0.0) -> Dataset:
    """A U of age drives the response and the first five genes; the last gene adds to it."""
    rng = np.random.default_rng(seed)
    age = rng.normal(size=n)
    sex = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d))
    X[:, :5] += (age**2)[:, None]
    y = 1.5 * age**2 + signal * X[:, -1] + rng.normal(size=n)
    ages = [f"{60 + 10 * v:.4f}" for v in age]
    ages[2] = "NA"
    columns = {"y": [f"{v:.6f}" for v in y], "age": ages, "sex": np.where(sex, "m", "f")}
    obs = pd.DataFrame(columns, index=[f"s{k:02d}" for k in range(n)])
    covariates = (
        Covariate.from_cells("age", obs["age"], default_n_knots(n)),
        Covariate.from_cells("sex", obs["sex"]),
    )
    design = Design("y", "regression", None, None, None, covariates=covariates, filled=True)
    names = [f"g{k}" for k in range(d)]
    return Dataset(X, obs.astype(str), pd.DataFrame({"symbol": names}, index=names), design, {})


def ages(values: list[float], knots: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.array(values)[:, None]
    return x, place_knots(x, (knots,))


@pytest.mark.parametrize("knots", [3, 4, 7])
def test_spline_span_equals_natural_cubic_splines(knots: int) -> None:
    """By SciPy: the natural spline through any values at the knots, and lines beyond them."""
    _, t = ages(np.random.default_rng(knots).normal(60, 10, 50).tolist(), knots)
    values = np.random.default_rng(1).normal(size=knots)
    inner_points = np.linspace(t[0, 0], t[0, -1], 40)
    at = np.column_stack([np.ones(knots), spline_columns(t.T, t)])
    weights = np.linalg.solve(at, values)
    spline_values = (
        np.column_stack([np.ones(40), spline_columns(inner_points[:, None], t)]) @ weights
    )
    np.testing.assert_allclose(
        spline_values, CubicSpline(t[0], values, bc_type="natural")(inner_points)
    )
    for end in (t[0, 0] - np.arange(3.0), t[0, -1] + np.arange(3.0)):
        np.testing.assert_allclose(
            np.diff(spline_columns(end[:, None], t), 2, axis=0), 0, atol=1e-9
        )


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.sampled_from([3, 4, 7]))
def test_any_values_give_finite_columns(values: list[int], knots: int) -> None:
    x, t = ages([*map(float, values)], knots)
    assert (np.diff(t) >= 0).all()
    assert np.isfinite(spline_columns(x, t)).all()
    assert np.isnan(spline_columns(np.array([[np.nan]]), t)).all()


def test_words_and_pairs_of_numbers_have_no_spline() -> None:
    assert Covariate.from_cells("sex", ["f", "m", ""], 3).knots == 0
    assert Covariate.from_cells("arm", ["0", "1", "1.0"], 3).knots == 0
    assert Covariate.from_cells("age", ["50", "61", "70"], 3).names == ("age", "age'")


def test_spline_covariate_adjusts_for_a_u_shaped_effect() -> None:
    """The old code, straight lines alone, told less than half of it."""
    dataset = study(n=90)
    predicted_values = []
    for shape in (dataset, line(dataset)):
        split = draw_splits(shape, seed=1, **SPLITS).outer[0]
        held_out_response = shape.response()[shape.rows(split.test)]
        predicted_values.append(
            float(np.corrcoef(held_out_response, score_covariates(shape, split))[0, 1])
        )
    assert predicted_values[0] > 0.7 > 0.4 > predicted_values[1]


def line(dataset: Dataset) -> Dataset:
    covariates = tuple(replace(covariate, knots=0) for covariate in dataset.design.covariates)
    return replace(dataset, design=replace(dataset.design, covariates=covariates))


def test_knots_are_of_training_samples_alone() -> None:
    dataset = study()
    splits = draw_splits(dataset, seed=1, **SPLITS)
    test = dataset.rows(splits.outer[0].test)
    obs = dataset.obs.copy()
    obs.loc[obs.index[test], "age"] = "1000"
    spline_scores, changed_scores = (
        nested_cross_validation(data, splits, labels="observed", batch="1of1", **LOOP_SETTINGS)
        for data in (dataset, replace(dataset, obs=obs))
    )
    np.testing.assert_array_equal(
        spline_scores.covariates.knots[0], changed_scores.covariates.knots[0]
    )
    np.testing.assert_array_equal(
        spline_scores.covariates.gamma[0], changed_scores.covariates.gamma[0]
    )
    assert not np.array_equal(
        spline_scores.covariates.knots[1], changed_scores.covariates.knots[1], equal_nan=True
    )


def test_model_has_the_knots_and_predicts_as_the_fit_does() -> None:
    dataset = study(signal=1.0)
    final = fit_final_model(dataset, draw_splits(dataset, seed=1, **SPLITS), **LOOP_SETTINGS)
    model = json.loads(json.dumps(final_model(dataset, final, fold_steps=MOMENTS)))
    check_model(model, "model.json")
    assert [column["knots"] for column in model["covariates"]["columns"]] == [
        final.covariates.knots[0, 0].tolist(),
        None,
    ]
    lines = tuple(range(2, 2 + len(dataset.samples)))
    matrix = Matrix(tuple(dataset.samples), tuple(dataset.genes), dataset.X, {}, lines)
    table, _ = predict(model, matrix, "new.tsv", missing=0.1, mu=None, samples=dataset.obs)
    at = int(final.choice[0, 2])
    genes, b = final.coef(0, at)
    C = spline_columns(dataset.covariates(), final.covariates.knots[0])
    C = np.where(np.isnan(C), final.covariates.mean[0], C)
    want = final.intercept[0, at] + dataset.X[:, genes] @ b + C @ final.covariates.gamma[0, at]
    np.testing.assert_allclose(table["score"], want, rtol=1e-9)


def test_permutations_keep_the_part_explained_by_covariates() -> None:
    dataset = study()
    pi = draw_permutation(dataset, draw_splits(dataset, seed=1, **SPLITS), 1)
    Q = covariate_basis(dataset)
    X = dataset.X
    P = Q @ Q.T + 1 / len(X)
    residual = X - P @ X
    np.testing.assert_allclose(exchange_residuals(dataset, pi), P @ X + residual[pi], atol=1e-12)
    plain = replace(dataset, design=replace(dataset.design, covariates=()))
    np.testing.assert_array_equal(exchange_residuals(plain, pi), X[pi])


def test_missing_values_move_with_their_residuals() -> None:
    """Other values are those of a matrix whose missing values are the means of their genes."""
    dataset = study()
    pi = np.random.default_rng(1).permutation(len(dataset.X))
    X = 5.0 + dataset.X
    X[[3, 7], 0] = np.nan
    X[:, 1] = np.nan
    filled = np.where(np.isnan(X), np.nanmean(X[:, [0]], axis=0), X)
    expected = exchange_residuals(replace(dataset, X=filled), pi)
    exchanged = exchange_residuals(replace(dataset, X=X), pi)
    np.testing.assert_array_equal(np.isnan(exchanged), np.isnan(X[pi]))
    measured = ~np.isnan(exchanged)
    np.testing.assert_allclose(exchanged[measured], expected[measured], atol=1e-12)


def test_permuted_training_set_differs_only_in_its_matrix() -> None:
    dataset = study()
    splits = draw_splits(dataset, seed=1, **SPLITS)
    prepared_study = PreparedStudy(dataset, splits, MOMENTS)
    todo = prepared_study.make_training_sets(splits.outer, [0, 1, 2])
    alone = [
        (matrix.X, [task.permutation for task in matrix.training_sets])
        for matrix in prepared_study.group_by_matrix(todo, 500)
    ]
    assert [numbers for _, numbers in alone] == [[0] * 3, [1] * 3, [2] * 3]
    np.testing.assert_array_equal(alone[0][0], dataset.X)
    for number in (1, 2):
        pi = draw_permutation(dataset, splits, number)
        np.testing.assert_array_equal(alone[number][0], exchange_residuals(dataset, pi))
    for task in todo:
        np.testing.assert_array_equal(task.y, dataset.response())
        np.testing.assert_array_equal(task.test, task.label_rows)


def test_null_test_detects_the_joint_gain_of_all_genes() -> None:
    p = []
    for signal in (0.0, 1.0):
        dataset = study(3, signal=signal)
        splits = draw_splits(dataset, seed=1, **SPLITS)
        p.append(global_test_p(dataset, splits, 39))
    assert p[1] == 1 / 40 < p[0]


def test_ridge_beside_covariates_minimises_its_penalised_squares() -> None:
    """Of all penalties the largest leaves the covariates alone; the chosen one does no worse."""
    dataset = study(4, n=80, signal=1.5)
    split = draw_splits(dataset, seed=1, **SPLITS).outer[0]
    train = dataset.rows(split.train)
    test = dataset.rows(split.test)
    inner = [np.flatnonzero(np.isin(train, dataset.rows(fold))) for fold in split.inner]
    f = score_covariates_and_ridge(dataset, split, dataset.X[train], dataset.X[test], inner)
    y = dataset.response()[test]
    alone = score_covariates(dataset, split)
    assert np.mean((y - f) ** 2) < 0.8 * np.mean((y - alone) ** 2)


def test_ridge_beside_covariates_hardly_shrinks_without_noise() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) * 1000
    y = X @ np.arange(1.0, 7)
    inner = [np.arange(k, 60, 5) for k in range(5)]
    f = ridge_with_covariates(1)["regression"](X[:60], y[:60], X[60:], inner, 0)
    assert np.abs(f - y[60:]).max() < 2e-3 * y.std()
