"""Laws of enrichment: closed forms, p over all sets, a reference with correlated genes."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest
from block_studies import gene_sets
from gathered_study import make_dataset, make_fits, make_splits
from hypothesis import given
from hypothesis import strategies as st

from genesig.results import Dataset
from genesig.selection import enrichment
from genesig.selection.enrichment import (
    MeasuredSets,
    by_gene,
    columns_of_lists,
    excess,
    family_p,
    hypergeometric_p,
    leading_genes,
    lists_table,
    maxmean_scores,
    normalised,
    permuted_lists_table,
    ranking_table,
)
from genesig.selection.genes.univariate import statistics

Array = np.ndarray[Any, Any]


@given(seed=st.integers(0, 10_000))
def test_over_representation_is_counted(seed: int) -> None:
    """The share of all draws that have as many: every one of them is as likely."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    size, drawn = (int(k) for k in rng.integers(1, n + 1, 2))
    for shared in range(max(0, size + drawn - n), min(size, drawn) + 1):
        draws = sum(
            comb(size, k) * comb(n - size, drawn - k) for k in range(shared, drawn + 1) if k <= size
        )
        p_value = hypergeometric_p(np.array([shared]), np.array([size]), drawn, n)[0]
        assert p_value == pytest.approx(draws / comb(n, drawn), rel=1e-10)


@given(seed=st.integers(0, 10_000), sets=st.integers(1, 30))
def test_p_over_all_sets_is_counted(seed: int, sets: int) -> None:
    """With one set it is a permutation p; a set more can only raise it, and none is below 1/B."""
    rng = np.random.default_rng(seed)
    z = np.round(rng.normal(size=(20, sets)), 1)
    family_p_values = family_p(z[0], z[1:])
    by_hand = [(1 + sum(max(row) >= observed - 1e-9 for row in z[1:])) / 20 for observed in z[0]]
    np.testing.assert_allclose(family_p_values, by_hand)
    single_p = family_p(z[0, :1], z[1:, :1])
    assert 1 / 20 <= single_p[0] <= family_p_values[0]


def test_permutation_p_is_exact_for_any_number_of_labels() -> None:
    """Each row of a table is as likely the observed one: some p <= .05 for 5 of 100 of them."""
    z = np.random.default_rng(0).standard_t(3, size=(100, 40))
    z[:, 20:] = z[:, :20] + 0.1 * z[:, 20:]
    called = [(family_p(z[b], np.delete(z, b, axis=0)) <= 0.05).any() for b in range(100)]
    assert sum(called) == 5


def test_excess_equals_the_standardised_draw_and_is_0_without_variance() -> None:
    dataset = study()
    measured_sets = MeasuredSets.from_dataset(dataset, gene_sets([range(8), range(40), [2]]))
    shared = np.array([[6.0, 6.0, 1.0], [0.0, 0.0, 0.0], [8.0, 30.0, 1.0]])
    z = excess(shared, np.array([6.0, 0.0, 30.0]), measured_sets)
    v = 6 * (8 / 30) * (22 / 30) * 24 / 29
    assert z[0, 0] == pytest.approx((6 - 1.6) / np.sqrt(v + 0.1))
    np.testing.assert_allclose(z[0, 1], 0, atol=1e-12)
    np.testing.assert_allclose(z[1:], 0, atol=1e-12)


def test_larger_mean_is_one_sided_and_standardised_among_all_genes() -> None:
    dataset = study()
    measured_sets = MeasuredSets.from_dataset(
        dataset, gene_sets([range(4), [4, 5], [6], range(40)])
    )
    t = np.zeros(30)
    t[:7] = [3.0, 1.0, -2.0, 0.0, -1.0, -3.0, 0.0]
    score = maxmean_scores(t, measured_sets)
    rises = np.maximum(t, 0)
    falls = np.maximum(-t, 0)
    assert score[0] == pytest.approx((1 - rises.mean()) / rises.std())
    assert score[1] == pytest.approx(-(2 - falls.mean()) / falls.std())
    np.testing.assert_allclose(score[2:], 0, atol=1e-12)
    np.testing.assert_allclose(maxmean_scores(7 * t, measured_sets), score, atol=1e-12)
    assert leading_genes(t, measured_sets, score)[:3] == ["S0, S1", "S5, S4", ""]
    assert not maxmean_scores(0 * t, measured_sets).any()
    z = normalised(np.array([[1.0, 2.0], [3.0, 2.0]]))
    np.testing.assert_allclose(z, [[-1, 0], [1, 0]])


def test_set_is_significant_only_if_other_genes_are_not() -> None:
    """Where half of all genes differ, a set of which half do is no finding."""
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 15)
    X = rng.normal(size=(30, 40))
    X[:, ::2] += y[:, None]
    dataset = make_dataset(X, y)
    sets = gene_sets([range(k, k + 10) for k in (0, 10, 20, 30)])
    splits = make_splits(dataset, 3, 1)
    measured = MeasuredSets.from_dataset(dataset, sets)
    table = ranking_table(dataset, splits, measured, sets, n_shuffles=99)
    assert table["family_p"].min() > 0.05


def study(seed: int = 0) -> Dataset:
    """Return thirty genes, some with two probes; the first six are higher in the ill."""
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], 15)
    X = rng.normal(size=(30, 40))
    X[:, :8] += 1.2 * y[:, None]
    dataset = make_dataset(X, y)
    symbols = [f"S{min(j, 39 - j) if j >= 30 else j}" for j in range(40)]
    return replace(dataset, var=dataset.var.assign(symbol=symbols))


SETS = gene_sets([range(8), range(8, 20), [*range(4), *range(20, 28)], range(12, 30)])


def test_probes_of_a_gene_count_once() -> None:
    measured_sets = MeasuredSets.from_dataset(study(), SETS)
    assert len(measured_sets) == 30
    assert measured_sets.sizes().tolist() == [8, 12, 12, 18]
    assert measured_sets.mask_genes(np.array([0, 39])).sum() == 1
    t = np.arange(40.0) - 35.5
    assert by_gene(t, measured_sets)[0] == -35.5  # of -35.5 and 3.5
    assert by_gene(-t, measured_sets)[1] == 34.5


def test_list_is_compared_with_every_set_that_shares_a_gene() -> None:
    measured_sets = MeasuredSets.from_dataset(study(), SETS)
    table = lists_table(measured_sets, SETS, {"all": np.arange(6), "none": np.array([], dtype=int)})
    assert set(table["list"]) == {"all"}
    assert table["set"].tolist() == ["A", "C"]
    top_row = table.iloc[0]
    assert (top_row["shared"], top_row["size"], top_row["genes"]) == (6, 6, 8)
    assert top_row["expected"] == pytest.approx(6 * 8 / 30)
    assert top_row["p_value"] == pytest.approx(comb(8, 6) / comb(30, 6))
    assert table["family_p"].isna().all()
    assert top_row["names"] == "S0, S1, S2, S3, S4, S5"


def test_shuffle_with_the_observed_score_counts_though_its_last_digit_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dataset = study()
    measured = MeasuredSets.from_dataset(dataset, SETS)
    score = maxmean_scores(by_gene(statistics(dataset), measured), measured)
    null = np.vstack([score, -score * (1 - 1e-14), 0 * score])
    monkeypatch.setattr(enrichment, "shuffled_scores", lambda *_: null)
    table = ranking_table(dataset, make_splits(dataset, 3, 1), measured, SETS)
    assert table["p_value"].tolist() == [3 / 4] * len(SETS.names)


def test_only_the_set_with_a_signal_is_significant() -> None:
    dataset = study()
    splits = make_splits(dataset, 3, 1)
    measured = MeasuredSets.from_dataset(dataset, SETS)
    table = ranking_table(dataset, splits, measured, SETS, n_shuffles=99)
    set_row = table.set_index("set").loc["A"]
    assert set_row["p_value"] <= set_row["family_p"] <= 0.05
    assert set_row["normalised"] > 2
    assert set(set_row["leading"].split(", ")) <= {f"S{j}" for j in range(8)}
    assert table.set_index("set").loc["B", "p_value"] > 0.05
    assert table["normalised"].is_monotonic_decreasing
    assert list(table.index) == list(range(len(table)))


@pytest.mark.slow
def test_p_is_uniform_without_effect_if_genes_of_a_set_are_correlated() -> None:
    """A draw of single genes finds correlated sets in every other study; shuffled labels do not."""
    p = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 40))
        X[:, :8] += 2 * rng.normal(size=(30, 1))
        dataset = make_dataset(X, np.repeat([-1.0, 1.0], 15))
        splits = make_splits(dataset, 3, 1)
        measured = MeasuredSets.from_dataset(dataset, SETS)
        table = ranking_table(dataset, splits, measured, SETS, n_shuffles=49)
        p.append(table.set_index("set").loc["A", "p_value"])
    assert 0.35 < np.mean(p) < 0.65
    assert np.mean(np.array(p) <= 0.1) < 0.25


def test_chosen_lists_are_compared_with_lists_of_permuted_labels() -> None:
    dataset = study()
    splits = make_splits(dataset, 3, 2)
    observed = make_fits(dataset, splits.outer).with_chosen()
    null = make_fits(dataset, splits.outer, seed=1, permutations=range(1, 10)).with_chosen()
    measured_sets = MeasuredSets.from_dataset(dataset, SETS)
    table = permuted_lists_table(measured_sets, SETS, observed, null)
    assert set(table["reference"]) == {"permuted labels"}
    assert table["p_value"].between(0.1, 1).all()
    assert (table["family_p"] >= table["p_value"] - 1e-12).all()
    same = permuted_lists_table(measured_sets, SETS, observed, observed)
    assert (same["p_value"] == 1).all()
    np.testing.assert_allclose(same["shared"], same["expected"])


def test_enriched_lists_equal_the_lists_of_the_tables() -> None:
    dataset = study()
    tables = {
        "signature": pd.DataFrame({"gene": ["g1", "g2"], "core": [True, False]}),
        "nested_lists": pd.DataFrame(
            {"mu": [0.1, 0.1, np.nan], "gene": ["g3", "g4", "g5"], "in_list": [True, False, True]}
        ),
        "blocks": pd.DataFrame(
            {"block": [1.0, 1.0, 1.0, 2.0, np.nan], "gene": ["g1", "g6", "g7", "g8", "g9"]}
        ),
    }
    columns_by_list = {
        name: columns.tolist() for name, columns in columns_of_lists(dataset, tables).items()
    }
    assert columns_by_list == {
        "signature": [1, 2],
        "core genes": [1],
        "list at mu 0.1": [3],
        "block 1": [1, 6, 7],
    }
