"""One test per gene against SciPy gene by gene and the definition of Benjamini and Hochberg."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from genesig.results import Dataset, Design
from genesig.selection.genes.univariate import describe_test, univariate_table


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


def test_gene_without_spread_that_separates_is_found():
    dataset, y = data(5)
    dataset.X[:, 2] = y
    row = univariate_table(dataset).iloc[2]
    assert np.isfinite(row["statistic"])
    assert 0 < row["p_value"] < 0.001  # of a test by permutation


def in_groups(seed, labels, task="classification", genes=300):
    """Four samples of each patient, much alike, and nothing to find; patients in mixed order."""
    rng = np.random.default_rng(seed)
    patients = len(labels)
    patient = rng.permutation(np.repeat(np.arange(patients), 4))
    X = rng.standard_normal((patients, genes))[patient]
    X += 0.3 * rng.standard_normal(X.shape)
    n_seen = np.zeros(patients, dtype=int)
    y = []
    for patient_number in patient:
        y.append(labels[patient_number][n_seen[patient_number]])
        n_seen[patient_number] += 1
    name = np.array([f"p{patient_number:02d}" for patient_number in patient])
    obs = pd.DataFrame(
        {"label": np.array(y).astype(str), "patient": name}, index=[f"s{i}" for i in range(len(y))]
    )
    var = pd.DataFrame({"symbol": [""] * genes}, index=[f"g{j}" for j in range(genes)])
    classes = ("-1", "1") if task == "classification" else None
    return Dataset(X, obs, var, Design("label", task, classes, "patient", None), {})


def averaged(dataset, by):
    frame = pd.DataFrame(dataset.X).assign(
        label=dataset.response(), patient=dataset.obs["patient"].to_numpy()
    )
    return frame.groupby(by)[list(range(dataset.X.shape[1]))].mean()


UNBATCHED = {"group": "patient", "batch": None}
ONE_CLASS = [[1] * 4] * 5 + [[-1] * 4] * 5
TWO_CLASSES = [[1, -1, -1, -1]] * 5 + [[1, 1, -1, -1]] * 5
SOME_BOTH = [[1] * 4] * 4 + [[-1] * 4] * 4 + [[1, 1, 1, -1]] * 2
NUMBERS = [[k + d for d in (0.0, 0.1, 0.2, 0.3)] for k in range(10)]


@pytest.mark.parametrize("labels", [ONE_CLASS, SOME_BOTH])
def test_samples_of_a_group_and_class_count_once(labels):
    dataset = in_groups(0, labels)
    means = averaged(dataset, ["label", "patient"])
    expected = stats.ttest_ind(means.loc[1.0], means.loc[-1.0], equal_var=False)
    table = univariate_table(dataset)
    np.testing.assert_allclose(table["statistic"], expected.statistic)
    np.testing.assert_allclose(table["p_value"], expected.pvalue)
    assert describe_test(dataset) == {
        "test": "welch",
        "group": "patient",
        "values": len(means),
        "batch": None,
    }


def test_groups_with_both_classes_are_tested_within():
    dataset = in_groups(1, TWO_CLASSES)
    means = averaged(dataset, ["label", "patient"])
    expected = stats.ttest_rel(means.loc[1.0], means.loc[-1.0])
    table = univariate_table(dataset)
    np.testing.assert_allclose(table["statistic"], expected.statistic)
    np.testing.assert_allclose(table["p_value"], expected.pvalue)
    assert describe_test(dataset) == {
        "test": "differences",
        "group": "patient",
        "values": 10,
        "batch": None,
    }


def test_a_number_is_averaged_in_its_group():
    dataset = in_groups(2, NUMBERS, "regression")
    means = averaged(dataset, "patient")
    y = np.arange(10) + 0.15
    expected = [stats.pearsonr(means[j], y).pvalue for j in means]
    np.testing.assert_allclose(univariate_table(dataset)["p_value"], expected)
    assert describe_test(dataset) == {
        "test": "correlation",
        "group": "patient",
        "values": 10,
        "batch": None,
    }


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (ONE_CLASS, "classification"),
        (TWO_CLASSES, "classification"),
        (SOME_BOTH, "classification"),
        (NUMBERS, "regression"),
    ],
)
def test_noise_in_groups_is_no_discovery(labels, task):
    """3000 genes: p is uniform within its sampling error, or too large where some are mixed."""
    table = univariate_table(in_groups(3, labels, task, genes=3000))
    p = table["p_value"]
    assert np.mean(p < 0.05) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 3000)
    assert stats.kstest(p, "uniform", alternative="greater").pvalue > 0.001
    if labels is not SOME_BOTH:
        assert stats.kstest(p, "uniform").pvalue > 0.001
    assert np.mean(table["q_value"] <= 0.05) < 0.01


@pytest.mark.parametrize("patients", [1, 2])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_too_few_groups_find_nothing(patients, task):
    labels = [[1, 1, -1, -1]] * patients if task == "classification" else NUMBERS[:patients]
    table = univariate_table(in_groups(4, labels, task, genes=5))
    assert table["p_value"].between(0, 1).all()
    if patients == 1 or task == "regression":
        assert (table["p_value"] == 1).all()


@pytest.mark.parametrize("labels", [ONE_CLASS, TWO_CLASSES])
def test_a_constant_gene_in_groups_is_no_discovery(labels):
    dataset = in_groups(5, labels, genes=5)
    dataset.X[:, 0] = 0.1
    row = univariate_table(dataset).iloc[0]
    assert (row["statistic"], row["p_value"]) == (0, 1)
