"""Single-gene tests with covariates against ordinary least squares."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f as snedecor
from scipy.stats import t as student

from genesig.response.covariates import Covariate
from genesig.results import Dataset, Design
from genesig.selection.genes.univariate import (
    class_test,
    describe_test,
    slope_test,
    univariate_table,
)

AGE = Covariate("age", None)
SEX = Covariate("sex", ("f", "m"))


def study(task: str, *, batch: bool = False, group: bool = False) -> Dataset:
    rng = np.random.default_rng(4)
    n = 40
    d = 25
    age = rng.normal(50, 10, n)
    sex = rng.integers(0, 2, n)
    X = rng.normal(8, 1, (n, d)) + 0.05 * np.outer(age, rng.normal(size=d))
    y = age / 10 + X[:, 0] + rng.normal(size=n)
    two = task == "classification"
    obs = pd.DataFrame(
        {
            "y": np.where(y > np.median(y), "b", "a") if two else [repr(float(v)) for v in y],
            "age": [repr(float(v)) for v in age],
            "sex": np.where(sex > 0, "m", "f"),
            "run": [f"r{k % 3}" for k in range(n)],
            "who": [f"p{k // 2}" for k in range(n)],
        },
        index=[f"s{k}" for k in range(n)],
    ).astype(str)
    genes = [f"g{k}" for k in range(d)]
    design = Design(
        "y",
        task,
        ("a", "b") if two else None,
        "who" if group else None,
        None,
        "run" if batch else None,
        covariates=(AGE, SEX),
    )
    return Dataset(X, obs, pd.DataFrame({"symbol": genes}, index=genes), design, {})


def least_squares(X: np.ndarray, y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """t and p of y in the model ``gene ~ 1 + C + y`` of each gene, as every textbook has them."""
    D = np.column_stack([np.ones(len(y)), C, y])
    H = np.linalg.inv(D.T @ D)
    B = H @ D.T @ X
    df = len(y) - D.shape[1]
    error = np.sqrt(np.square(X - D @ B).sum(axis=0) / df * H[-1, -1])
    t = B[-1] / error
    return t, 2 * student.sf(np.abs(t), df)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_covariate_test_equals_ordinary_least_squares(task: str, batch: bool) -> None:
    dataset = study(task, batch=batch)
    C = dataset.covariates()
    if batch:
        runs = dataset.obs["run"].to_numpy()
        C = np.column_stack([C, runs == "r1", runs == "r2"])
    t, p = least_squares(dataset.X, dataset.response(), C)
    table = univariate_table(dataset)
    np.testing.assert_allclose(table["statistic"], t, rtol=1e-10)
    np.testing.assert_allclose(table["p_value"], p, rtol=1e-10)
    description = describe_test(dataset)
    assert (description["test"], description["covariates"]) == ("linear", ["age", "sex"])


def test_groups_are_averaged_first() -> None:
    dataset = study("regression", group=True)
    means = [
        v.reshape(20, 2, -1).mean(axis=1)
        for v in (dataset.X, dataset.response()[:, None], dataset.covariates())
    ]
    order = np.argsort([f"p{k}" for k in range(20)])
    X, y, C = (m[order] for m in means)
    t, p = least_squares(X, y[:, 0], C)
    table = univariate_table(dataset)
    np.testing.assert_allclose(table["statistic"], t, rtol=1e-10)
    np.testing.assert_allclose(table["p_value"], p, rtol=1e-10)


def test_covariate_that_repeats_the_batch_changes_nothing() -> None:
    from dataclasses import replace

    dataset = study("regression", batch=True)
    runs = dataset.obs["run"].map({"r0": "1", "r1": "2", "r2": "4"})
    recoded = Covariate("code", None)
    design = replace(dataset.design, covariates=(AGE, SEX, recoded))
    recoded_dataset = replace(dataset, obs=dataset.obs.assign(code=runs), design=design)
    np.testing.assert_allclose(
        univariate_table(recoded_dataset)["p_value"],
        univariate_table(dataset)["p_value"],
        rtol=1e-10,
    )


def nested(X: np.ndarray, y: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F and p of ``gene ~ 1 + C`` inside ``gene ~ 1 + C + class``, as R's ``anova`` has them."""
    small = np.column_stack([np.ones(len(y)), C])
    large = np.column_stack([small, *(y == c for c in np.unique(y)[1:])])
    residual_sums = [
        np.square(X - D @ np.linalg.inv(D.T @ D) @ D.T @ X).sum(axis=0) for D in (small, large)
    ]
    extra_columns = large.shape[1] - small.shape[1]
    df = len(y) - large.shape[1]
    F = (residual_sums[0] - residual_sums[1]) / extra_columns / (residual_sums[1] / df)
    return F, snedecor.sf(F, extra_columns, df)


@pytest.mark.parametrize("batch", [False, True])
def test_several_classes_are_nested_models(batch: bool) -> None:
    dataset = study("classification", batch=batch)
    y = np.arange(len(dataset.samples)) * 7 % 4
    obs = dataset.obs.assign(y=[f"c{k}" for k in y])
    design = Design(
        "y",
        "classification",
        ("c0", "c1", "c2", "c3"),
        None,
        None,
        "run" if batch else None,
        covariates=(AGE, SEX),
    )
    several = Dataset(dataset.X, obs, dataset.var, design, {})
    C = dataset.covariates()
    if batch:
        runs = dataset.obs["run"].to_numpy()
        C = np.column_stack([C, runs == "r1", runs == "r2"])
    F, p = nested(dataset.X, y, C)
    table = univariate_table(several)
    np.testing.assert_allclose(table["statistic"], F, rtol=1e-10)
    np.testing.assert_allclose(table["p_value"], p, rtol=1e-10)
    description = describe_test(several)
    assert (description["test"], description["covariates"]) == ("linear", ["age", "sex"])


def test_of_two_classes_f_is_the_square_of_t() -> None:
    dataset = study("classification")
    y = dataset.response()
    C = dataset.covariates()
    t, p = slope_test(dataset.X, y, None, by_class=False, covariates=C)
    F, same = class_test(dataset.X, y, None, C)
    np.testing.assert_allclose(F, t**2, rtol=1e-10)
    np.testing.assert_allclose(same, p, rtol=1e-10)


@pytest.mark.parametrize(
    ("n", "n_batches", "n_covariates"), [(3, 1, 0), (4, 2, 0), (4, 1, 1), (6, 2, 2)]
)
def test_slope_test_needs_one_degree_of_freedom(n: int, n_batches: int, n_covariates: int) -> None:
    rng = np.random.default_rng(6)
    X = rng.standard_normal((n, 4))
    y = rng.standard_normal(n)
    C = rng.standard_normal((n, n_covariates + 1))
    batch = np.minimum(np.arange(n), n_batches - 1)
    indicators = np.eye(n_batches)[batch][:, 1:]
    covariates = C[:, 1:] if n_covariates else None
    t, p = slope_test(X, y, batch, by_class=False, covariates=covariates)
    expected = least_squares(X, y, np.column_stack([indicators, C[:, 1:]]))
    np.testing.assert_allclose([t, p], expected, rtol=1e-8)
    one_batch_more = np.minimum(np.arange(n), n_batches)
    for without_freedom in (
        slope_test(X, y, batch, by_class=False, covariates=C),
        slope_test(X, y, one_batch_more, by_class=False, covariates=covariates),
    ):
        assert np.isnan(without_freedom).all()
