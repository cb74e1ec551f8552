"""Single-gene tests with batches against least squares per gene and simulation."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from genesig.results import Dataset, Design
from genesig.selection.genes.univariate import describe_test, univariate_table

CONFOUNDED = np.repeat([0, 0, 1, 1], [15, 5, 5, 15])  # Cramér's V 0.49 with 20 and 20
BALANCED = np.repeat([1.0, -1.0], 20)


def data(X, y, batch, task="classification", **columns):
    n, genes = X.shape
    about = {"label": y.astype(str), "run": [f"b{k}" for k in batch], **columns}
    obs = pd.DataFrame(about, index=[f"s{i}" for i in range(n)])
    var = pd.DataFrame({"symbol": [""] * genes}, index=[f"g{j}" for j in range(genes)])
    classes = ("-1.0", "1.0") if task == "classification" else None
    return Dataset(X, obs, var, Design("label", task, classes, None, None, "run"), {})


def shifted(seed, y, batch, genes=30, spread=1.0):
    """Return noise, the positive class `spread` times as wide, each batch shifted by one SD."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((len(y), genes)) * np.where(y > 0, spread, 1.0)[:, None]
    return X + rng.standard_normal((max(batch) + 1, genes))[batch]


def design_of(y, batch):
    return np.column_stack([y, *(batch == k for k in np.unique(batch))]).astype(float)


def by_least_squares(x, y, batch, groups):
    """Return (t, df), each group of samples with a variance of its own, all matrices written out.

    Variances: unbiased, from the residuals' sums of squares (Rao 1970); df: Satterthwaite 1946.
    """
    Z = design_of(y, batch)
    weights, *_ = np.linalg.lstsq(Z, np.eye(len(y)), rcond=None)
    M = np.eye(len(y)) - Z @ weights
    residual = M @ x
    squares = np.array([np.sum(residual[g] ** 2) for g in groups])
    shares = np.array([[np.sum(M[np.ix_(g, h)] ** 2) for h in groups] for g in groups])
    variance = np.linalg.inv(shares) @ squares
    sigma = sum(v * np.diag(g.astype(float)) for v, g in zip(variance, groups, strict=True))
    of_weight = np.linalg.inv(shares).T @ [np.sum(weights[0, g] ** 2) for g in groups]
    Q = M @ np.diag(sum(w * g for w, g in zip(of_weight, groups, strict=True))) @ M
    squared_error = weights[0] @ sigma @ weights[0]
    df = 2 * squared_error**2 / (2 * np.trace(Q @ sigma @ Q @ sigma))
    return weights[0] @ x / np.sqrt(squared_error), df


@pytest.mark.parametrize("sizes", [(7, 3, 8, 22), (15, 5, 5, 15), (4, 4, 9, 1)])
def test_two_classes_are_least_squares_with_a_variance_for_each_class(sizes):
    y = np.repeat([1.0, 1.0, -1.0, -1.0], sizes)
    batch = np.repeat([0, 1, 0, 1], sizes)
    X = shifted(0, y, batch, spread=2.0)
    table = univariate_table(data(X, y, batch))
    for j in range(X.shape[1]):
        t, df = by_least_squares(X[:, j], y, batch, [y > 0, y < 0])
        assert table["statistic"][j] == pytest.approx(t)
        assert table["p_value"][j] == pytest.approx(2 * stats.t.sf(abs(t), df))


def test_single_batch_gives_welchs_t():
    y = np.repeat([1.0, -1.0], [6, 10])
    X = shifted(1, y, np.zeros(16, int), spread=3.0)
    batch_table = univariate_table(data(X, y, np.zeros(16, int)))
    expected = stats.ttest_ind(X[y > 0], X[y < 0], equal_var=False)
    np.testing.assert_allclose(batch_table["statistic"], expected.statistic)
    np.testing.assert_allclose(batch_table["p_value"], expected.pvalue)


def test_batches_of_single_pairs_give_the_paired_t():
    """They leave no variance of one class apart from the other's: one for both, df n - k - 1."""
    y = np.tile([1.0, -1.0], 9)
    batch = np.repeat(np.arange(9), 2)
    X = shifted(2, y, batch)
    table = univariate_table(data(X, y, batch))
    expected = stats.ttest_rel(X[y > 0], X[y < 0])
    np.testing.assert_allclose(table["statistic"], expected.statistic)
    np.testing.assert_allclose(table["p_value"], expected.pvalue)


def test_a_number_is_the_partial_correlation():
    rng = np.random.default_rng(3)
    batch = np.repeat([0, 1, 2], [6, 7, 5])
    y = rng.standard_normal(18)
    X = shifted(3, y, batch)
    table = univariate_table(data(X, y, batch, "regression"))
    D = design_of(y, batch)[:, 1:]
    within = [v - D @ np.linalg.lstsq(D, v, rcond=None)[0] for v in (X, y)]
    for j in range(X.shape[1]):
        r = stats.pearsonr(within[0][:, j], within[1]).statistic
        df = 18 - 3 - 1
        t = r * np.sqrt(df / (1 - r**2))
        assert table["statistic"][j] == pytest.approx(t)
        assert table["p_value"][j] == pytest.approx(2 * stats.t.sf(abs(t), df))
        alone, _ = by_least_squares(X[:, j], y, batch, [np.ones(18, bool)])
        assert table["statistic"][j] == pytest.approx(alone)


def count_discoveries(table):
    return int(np.sum(table["q_value"] <= 0.05))


def test_batches_confounded_with_the_label_give_no_discovery():
    """At most 5 % of 500 genes in each of 20 data sets, and hundreds where the batch is unknown."""
    for seed in range(20):
        X = shifted(seed, BALANCED, CONFOUNDED, genes=500)
        confounded = data(X, BALANCED, CONFOUNDED)
        unknown = replace(confounded, design=replace(confounded.design, batch=None))
        assert count_discoveries(univariate_table(confounded)) <= 25
        assert count_discoveries(univariate_table(unknown)) > 100


@pytest.mark.parametrize("spread", [0.5, 1.0, 2.0])
def test_p_keeps_its_level_where_the_rare_class_varies_more_or_less(spread):
    """With one variance for both classes 14 % of 10 : 30 noise genes had p <= .05 at spread 2."""
    y = np.repeat([1.0, -1.0], [10, 30])
    batch = np.repeat([0, 1, 0, 1], [7, 3, 8, 22])
    p = univariate_table(data(shifted(5, y, batch, 20000, spread), y, batch))["p_value"]
    assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=0.006)
    assert np.mean(p <= 0.001) <= 0.003


def test_gene_that_differs_only_between_batches_gives_no_discovery():
    X = shifted(6, BALANCED, CONFOUNDED)
    X[:, 0] = np.where(CONFOUNDED == 1, 0.1, 1 / 3)
    row = univariate_table(data(X, BALANCED, CONFOUNDED)).iloc[0]
    assert (row["statistic"], row["p_value"], row["q_value"]) == (0, 1, 1)


def test_label_determined_by_the_batches_leaves_nothing_to_test():
    batch = np.repeat([0, 1, 2], [10, 10, 20])
    table = univariate_table(data(shifted(7, BALANCED, batch), BALANCED, batch))
    assert (table["p_value"] == 1).all()


def test_described_test_names_the_batch():
    confounded = data(shifted(8, BALANCED, CONFOUNDED), BALANCED, CONFOUNDED)
    expected = {"test": "welch", "group": None, "values": 40, "batch": "run"}
    assert describe_test(confounded) == expected
    alone = data(confounded.X, BALANCED, np.zeros(40, int))
    assert describe_test(alone) == expected | {"batch": None}


def in_pairs(design, batch):
    """Samples in twos: of one class each for groups, of both for pairs."""
    two = np.repeat(np.arange(20), 2)
    y = np.tile([1.0, -1.0], 20) if design == "pair" else np.repeat([1.0, -1.0], 20)
    X = shifted(9, y, batch)
    paired_data = data(X, y, batch, who=[f"p{k:02d}" for k in two])
    pair = "who" if design == "pair" else None
    return replace(paired_data, design=replace(paired_data.design, group="who", pair=pair))


def test_groups_within_batches_are_tested_with_the_batch():
    dataset = in_pairs("group", np.repeat([0, 1, 0, 1], [14, 6, 8, 12]))
    assert describe_test(dataset)["batch"] == "run"
    y = dataset.response()[::2]
    batch = np.repeat([0, 1, 0, 1], [7, 3, 4, 6])
    means = (dataset.X[::2] + dataset.X[1::2]) / 2
    expected = univariate_table(data(means, y, batch))
    pd.testing.assert_frame_equal(univariate_table(dataset), expected)


def test_groups_over_several_batches_and_differences_are_tested_as_without_batches():
    torn = in_pairs("group", np.tile([0, 1], 20))
    pairs = in_pairs("pair", np.repeat([0, 1], 20))
    for dataset in (torn, pairs):
        assert describe_test(dataset)["batch"] is None
        without = replace(dataset, design=replace(dataset.design, batch=None))
        pd.testing.assert_frame_equal(univariate_table(dataset), univariate_table(without))
