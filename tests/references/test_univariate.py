"""One test per gene against SciPy gene by gene and the definition of Benjamini and Hochberg."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from genesig.results import Dataset, Design
from genesig.selection.univariate import univariate_table


def data(seed, n=16, genes=30, task="classification"):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, genes))
    X[:, 0] = 3.7  # constant
    y = np.where(np.arange(n) < 6, 1, -1) if task == "classification" else rng.random(n).round(3)
    X[:, 1] += 3 * y
    obs = pd.DataFrame({"label": y.astype(str), "pair": ""}, index=[f"s{i}" for i in range(n)])
    var = pd.DataFrame({"symbol": [""] * genes}, index=[f"g{j}" for j in range(genes)])
    classes = ("-1", "1") if task == "classification" else None
    return Dataset(X, obs, var, Design("label", task, classes, None, None), {}), y


def test_two_classes_are_welchs_t():
    dataset, y = data(0)
    table = univariate_table(dataset)
    for j in range(1, 30):
        expected = stats.ttest_ind(dataset.X[y > 0, j], dataset.X[y < 0, j], equal_var=False)
        assert table["statistic"][j] == pytest.approx(expected.statistic)
        assert table["p_value"][j] == pytest.approx(expected.pvalue)
    assert table["statistic"][1] > 0


def test_pairs_are_differences_and_a_sample_without_partner_is_left_out():
    dataset, _ = data(1)
    dataset.obs["pair"] = [f"p{i}" for i in range(6)] + [f"p{i}" for i in range(10)]
    design = replace(dataset.design, group="pair", pair="pair")
    table = univariate_table(replace(dataset, design=design))
    for j in range(1, 30):
        expected = stats.ttest_rel(dataset.X[:6, j], dataset.X[6:12, j])
        assert table["statistic"][j] == pytest.approx(expected.statistic)
        assert table["p_value"][j] == pytest.approx(expected.pvalue)


def test_a_number_is_pearsons_r():
    dataset, y = data(2, task="regression")
    table = univariate_table(dataset)
    for j in range(1, 30):
        r, p = stats.pearsonr(dataset.X[:, j], y)
        assert table["p_value"][j] == pytest.approx(p)
        assert table["statistic"][j] == pytest.approx(r * np.sqrt(14 / (1 - r**2)))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_constant_gene_is_no_discovery(task):
    row = univariate_table(data(3, task=task)[0]).iloc[0]
    assert (row["statistic"], row["p_value"], row["q_value"]) == (0, 1, 1)


def test_q_is_the_definition():
    """q_(i) = min over j >= i of d p_(j) / j, the p sorted."""
    table = univariate_table(data(4)[0])
    p = np.sort(table["p_value"])
    expected = [
        min(1, min(p[j] * len(p) / (j + 1) for j in range(i, len(p)))) for i in range(len(p))
    ]
    np.testing.assert_allclose(np.sort(table["q_value"]), expected)


def test_a_gene_that_separates_without_any_spread_is_found():
    dataset, y = data(5)
    dataset.X[:, 2] = y
    row = univariate_table(dataset).iloc[2]
    assert (row["statistic"], row["p_value"]) == (np.inf, 0)
