"""Components and associations against scikit-learn and scipy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import (
    f_oneway,
    false_discovery_control,
    fisher_exact,
    kruskal,
    mannwhitneyu,
    pearsonr,
)
from sklearn.decomposition import PCA
from sklearn.feature_selection import f_classif, f_regression
from sklearn.preprocessing import StandardScaler

from genesig.data.quality.missingness import associate_missing_values, q_values
from genesig.data.quality.samples import principal_components, standardised_products
from genesig.data.study.confounding import holds_quantities, measure_association
from genesig.results import Design


@pytest.mark.parametrize("unit_variance", [False, True])
@pytest.mark.parametrize(("n", "d"), [(12, 5000), (40, 7), (9, 9), (4, 1)])
def test_quality_components_equal_pca(n, d, unit_variance):
    X = np.random.default_rng(n).normal(8, np.linspace(0.5, 3, d), (n, d))
    scaled = StandardScaler(with_std=unit_variance).fit_transform(X)
    count = min(n - 1, d, 5)
    expected_components = PCA(count, svd_solver="full").fit(scaled)
    components = principal_components(standardised_products(X, unit_variance=unit_variance), 5)
    np.testing.assert_allclose(
        np.abs(components.points[:, :count]),
        np.abs(expected_components.transform(scaled)),
        atol=1e-8,
    )
    np.testing.assert_allclose(
        components.explained[:count], expected_components.explained_variance_ratio_
    )
    assert np.all(components.size[count:] == 0) or count == 5
    largest = np.abs(components.directions).argmax(axis=0)
    assert np.all(components.directions[largest, np.arange(len(components.size))] > 0)


def test_a_constant_gene_and_missing_values_take_no_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 30))
    alone = standardised_products(X, unit_variance=True)
    padded_X = np.column_stack([X, np.full(8, 3.7)])
    np.testing.assert_allclose(standardised_products(padded_X, unit_variance=True), alone)
    gap = X.copy()
    filled = X.copy()
    gap[2, 5] = np.nan
    filled[2, 5] = np.nanmean(gap[:, 5])
    np.testing.assert_allclose(
        standardised_products(gap, unit_variance=True),
        standardised_products(filled, unit_variance=True),
        atol=1e-12,
    )


def test_constant_data_have_no_component():
    components = principal_components(np.zeros((5, 5)), 3)
    assert not components.explained.any()
    assert not components.points.any()


POINTS = np.random.default_rng(4).normal(size=(40, 6))


def test_classes_are_tested_by_analysis_of_variance():
    names = np.random.default_rng(1).choice(["a", "b", "c"], 40)
    points = POINTS + (names == "b")[:, None] * np.linspace(0, 2, 6)
    tested = measure_association(points, list(names), is_quantity=False)
    F, p = f_classif(points, names)
    np.testing.assert_allclose(tested.p, p)
    np.testing.assert_allclose(tested.share / 2 / ((1 - tested.share) / 37), F)
    for at in range(6):
        groups = [points[names == name, at] for name in "abc"]
        assert tested.p[at] == pytest.approx(f_oneway(*groups).pvalue)
        between = sum(len(g) * (g.mean() - points[:, at].mean()) ** 2 for g in groups)
        assert tested.share[at] == pytest.approx(between / 40 / points[:, at].var())
    assert tested.kind == "classes"
    assert (tested.n_levels, tested.n_samples) == (3, 40)


def test_numbers_are_tested_by_correlation():
    x = np.random.default_rng(2).normal(50, 9, 40)
    points = POINTS + np.outer(x, np.linspace(0, 0.1, 6))
    tested = measure_association(points, [f"{value:.6f}" for value in x], is_quantity=True)
    _, p = f_regression(points, x)
    np.testing.assert_allclose(tested.p, p, rtol=1e-4)
    r = [pearsonr(points[:, at], x) for at in range(6)]
    np.testing.assert_allclose(
        tested.share, [correlation.statistic**2 for correlation in r], rtol=1e-4
    )


def test_blank_cells_are_left_out():
    names = ["a", "b"] * 20
    names[:3] = ["", "NA", "nan"]
    tested = measure_association(POINTS, names, is_quantity=False)
    alone = measure_association(POINTS[3:], names[3:], is_quantity=False)
    np.testing.assert_allclose(tested.p, alone.p)
    assert tested.n_samples == 37


def test_a_column_without_relation_explains_nothing_beyond_chance():
    """The share of many classes is large by chance, the adjusted one is not."""
    rng = np.random.default_rng(6)
    names = [f"patient {k // 2}" for k in range(40)]
    associations = [
        measure_association(rng.normal(size=(40, 50)), names, is_quantity=False) for _ in range(4)
    ]
    assert np.mean([item.share for item in associations]) == pytest.approx(19 / 39, abs=0.02)
    raw = [1 - (1 - item.share) * 39 / 20 for item in associations]
    assert np.mean(raw) == pytest.approx(0, abs=0.03)
    assert all(
        np.all(item.adjusted_share == np.maximum(r, 0))
        for item, r in zip(associations, raw, strict=True)
    )


@pytest.mark.parametrize(
    ("column", "number", "words"),
    [
        (["a"] * 6, False, "one value"),
        (["", "NA", "nan", "null", "", ""], False, "no value"),
        (list("abcdef"), False, "a value of its own for each sample"),
        (list("abcdee"), False, "too few samples for its values"),
        (["1", "2", "3", "", "", ""], True, "too few samples for its values"),
    ],
)
def test_untestable_column_gives_the_reason(column, number, words):
    assert measure_association(POINTS[:6], column, is_quantity=number) == words


def test_a_flat_component_has_no_share():
    tested = measure_association(np.zeros((6, 1)), list("aabbcc"), is_quantity=False)
    assert np.isnan(tested.share).all()
    assert np.isnan(tested.p).all()


@pytest.mark.parametrize(
    ("column", "numbers"),
    [
        ([str(40 + k) for k in range(12)], True),
        (["1", "2", "3"] * 8, False),
        ([str(k % 11) for k in range(44)], True),
        (["1.5", "2.5", "x", "4"], False),
        (["1.5", "", "NA", "4"], True),
    ],
)
def test_codes_of_classes_are_no_numbers(column, numbers):
    assert holds_quantities(column) == numbers


@pytest.mark.parametrize("size", [0, 1, 2, 30, 3000])
@pytest.mark.parametrize("digits", [16, 1])
def test_q_values_equal_scipy(size, digits):
    """With one digit there are many ties, 0 and 1 among them."""
    p = np.random.default_rng(size).uniform(size=size).round(digits)
    np.testing.assert_array_equal(q_values(p), false_discovery_control(p))


def lacking(seed, label, design, patient=None):
    rng = np.random.default_rng(seed)
    missing = rng.random((len(label), 30)) < rng.uniform(0.2, 0.8, 30)
    missing[:, 0] = True
    missing[:, 1] = False
    return missing, associate_missing_values(
        missing, pd.DataFrame({"y": label, "who": patient}), design
    )


def classes(*names, group=None):
    return Design("y", "classification", names, group, None)


def test_missing_by_class_is_fishers_test_and_kruskals():
    label = np.array(["b"] * 9 + ["a"] * 14)
    missing, tested = lacking(1, label, classes("a", "b"))
    assert tested.genes.tolist() == list(range(2, 30))
    tables = [[[M[label == c].sum(), (~M[label == c]).sum()] for c in "ab"] for M in missing.T[2:]]
    np.testing.assert_allclose(tested.p, [fisher_exact(table).pvalue for table in tables])
    share = missing.mean(axis=1)
    assert tested.sample_p == kruskal(share[label == "a"], share[label == "b"]).pvalue
    np.testing.assert_allclose(tested.by_class[1], missing[label == "b"][:, 2:].mean(axis=0))


def test_missingness_by_several_classes_tests_each_against_the_rest():
    label = np.array(list("abc") * 8)
    missing, tested = lacking(2, label, classes("a", "b", "c"))
    tables = [
        [
            fisher_exact(
                [
                    [m[label == c].sum(), (~m[label == c]).sum()],
                    [m[label != c].sum(), (~m[label != c]).sum()],
                ]
            ).pvalue
            for c in "abc"
        ]
        for m in missing.T[2:]
    ]
    np.testing.assert_allclose(tested.p, np.minimum(3 * np.min(tables, axis=1), 1))


def test_missing_by_a_number_is_the_rank_sum_test():
    number = np.random.default_rng(0).normal(size=25).round(1)
    missing, tested = lacking(3, number.astype(str), Design("y", "regression", *[None] * 3))
    expected = [
        mannwhitneyu(number[m], number[~m], use_continuity=False, method="asymptotic").pvalue
        for m in missing.T[2:]
    ]
    np.testing.assert_allclose(tested.p, expected)
    assert tested.by_class.shape == (0, 28)


def test_samples_of_a_patient_count_once():
    label = np.repeat(list("ab") * 6, 3)
    patient = np.repeat(np.arange(12), 3).astype(str)
    missing, tested = lacking(4, label, classes("a", "b", group="who"), patient)
    obs = pd.DataFrame({"y": label[::3]})
    alone = associate_missing_values(missing[::3], obs, classes("a", "b"))
    np.testing.assert_array_equal(tested.p, alone.p)
    assert len(missing) == 3 * len(obs)
