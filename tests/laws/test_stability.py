"""Stability of lists: equality with other formulas, bounds and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from genesig.selection.assess.stability import (
    PairAgreement,
    compare_agreement,
    list_agreement,
    shared_genes,
)


def of(Z):
    return list_agreement(csr_array(np.asarray(Z, dtype=float)))


def random_lists(seed, m, d, p=0.3):
    return (np.random.default_rng(seed).random((m, d)) < p).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_stability_of_two_equally_long_lists_is_kunchevas_index(seed):
    """(r d - k²) / (k (d - k)), r genes in common (Kuncheva 2007)."""
    rng = np.random.default_rng(seed)
    d = 30
    k = 8
    Z = np.zeros((2, d))
    for row in Z:
        row[rng.permutation(d)[:k]] = 1
    r = float(np.sum(Z[0] * Z[1]))
    assert of(Z) == pytest.approx((r * d - k**2) / (k * (d - k)))


@pytest.mark.parametrize("seed", range(5))
def test_stability_is_fleiss_kappa_with_lists_as_raters(seed):
    """Fleiss 1971: genes are subjects, lists are raters, categories are in and out."""
    Z = random_lists(seed, 7, 40)
    m = len(Z)
    n = np.stack([Z.sum(axis=0), m - Z.sum(axis=0)], axis=1)
    agreement = np.mean((np.sum(n**2, axis=1) - m) / (m * (m - 1)))
    chance = np.sum((n.sum(axis=0) / n.sum()) ** 2)
    assert of(Z) == pytest.approx((agreement - chance) / (1 - chance))


def test_equal_lists_have_stability_one():
    assert of(np.tile([1, 0, 1, 0, 0], (4, 1))) == 1


def test_opposite_lists_reach_the_lower_bound():
    assert of([[1, 1, 0, 0], [0, 0, 1, 1]]) == pytest.approx(-1)


def test_random_lists_have_stability_zero():
    values = [of(random_lists(seed, 10, 50)) for seed in range(200)]
    assert np.mean(values) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    "Z",
    [np.zeros((5, 8)), np.ones((5, 8)), [[1, 0, 1]], np.zeros((0, 8))],
    ids=["all empty", "all genes", "one list", "no list"],
)
def test_lists_without_a_choice_have_no_stability(Z):
    assert np.isnan(of(Z))


@given(st.integers(2, 8), st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_bounds_and_order_of_lists_and_genes(m, d, seed):
    rng = np.random.default_rng(seed)
    Z = (rng.random((m, d)) < 0.4).astype(float)
    stability = of(Z)
    if np.isnan(stability):
        assert Z.sum() in (0, Z.size)
        return
    assert -1 / (m - 1) - 1e-12 <= stability <= 1 + 1e-12
    permuted_stability = of(Z[rng.permutation(m)][:, rng.permutation(d)])
    assert permuted_stability == pytest.approx(stability, abs=1e-12)


def pairs_of(Z, part=None):
    return PairAgreement.from_lists(csr_array(np.asarray(Z, dtype=float)), part)


def of_pairs(Z, part=None):
    return pairs_of(Z, part).stability()


@pytest.mark.parametrize("seed", range(5))
def test_stability_of_one_pair_is_kunchevas_index(seed):
    rng = np.random.default_rng(seed)
    Z = np.zeros((2, 30))
    for row in Z:
        row[rng.permutation(30)[:8]] = 1
    assert of_pairs(Z) == pytest.approx(of(Z))
    assert compare_agreement(pairs_of(Z)) == ""


def test_only_the_two_lists_of_a_pair_are_compared():
    """1 - Σ |z_a - z_b| / Σ (p_a (1 - p_b) + p_b (1 - p_a)), written out pair by pair."""
    Z = random_lists(3, 8, 20)
    pair_values = []
    for list_a, list_b in zip(Z[::2], Z[1::2], strict=True):
        p = list_a.mean()
        q = list_b.mean()
        pair_values.append(1 - np.sum(list_a != list_b) / (20 * (p * (1 - q) + q * (1 - p))))
    assert of_pairs(Z) == pytest.approx(np.mean(pair_values))
    same_pairs = np.repeat(random_lists(4, 3, 50, 0.1), 2, axis=0)
    assert of_pairs(same_pairs) == 1
    assert of(same_pairs) < 0.5


def test_pairs_of_random_lists_have_stability_zero():
    values = [of_pairs(random_lists(seed, 10, 50)) for seed in range(400)]
    assert np.mean(values) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    "Z",
    [np.zeros((6, 8)), np.ones((6, 8)), np.zeros((0, 8))],
    ids=["all empty", "all genes", "no list"],
)
def test_pairs_without_a_choice_have_no_stability(Z):
    assert np.isnan(of_pairs(Z))
    assert compare_agreement(pairs_of(Z)) == ""


def test_list_paired_with_an_empty_list_agrees_by_chance_and_two_empty_lists_give_nan():
    Z = np.zeros((6, 6))
    Z[0, :2] = Z[2, 1:3] = Z[3, 1:3] = 1
    np.testing.assert_allclose(pairs_of(Z).phi, [0, 1, np.nan], atol=1e-12)
    assert of_pairs(Z) == pytest.approx(0.5)


@given(st.integers(1, 8), st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_bounds_and_order_of_pairs_and_genes(pairs, d, seed):
    rng = np.random.default_rng(seed)
    Z = (rng.random((2 * pairs, d)) < 0.4).astype(float)
    stability = of_pairs(Z)
    if np.isnan(stability):
        assert Z.sum() in (0, Z.size)
        return
    assert -1 - 1e-12 <= stability <= 1 + 1e-12
    order = rng.permutation(pairs)
    permuted_stability = of_pairs(
        Z.reshape(pairs, 2, d)[order][:, ::-1, rng.permutation(d)].reshape(-1, d)
    )
    assert permuted_stability == pytest.approx(stability)


def test_single_gene_blocks_agree_as_genes_do():
    Z = random_lists(3, 8, 20)
    assert of_pairs(Z, np.arange(20)[::-1]) == pytest.approx(of_pairs(Z), abs=1e-12)


def test_lists_with_different_genes_of_a_block_agree_on_the_block():
    """Members of the same two blocks of ten, no gene twice."""
    part = np.concatenate([np.repeat([0, 1], 10), np.arange(2, 32)])
    Z = np.zeros((10, 50))
    for row in range(10):
        Z[row, [row, 10 + row]] = 1
    assert of_pairs(Z) < 0
    assert of_pairs(Z, part) == 1


def test_random_lists_hit_blocks_of_unlike_size_no_more_than_chance_says():
    part = np.concatenate([np.repeat(0, 30), np.repeat(1, 10), np.arange(2, 22)])
    values = [of_pairs(random_lists(seed, 40, 60, 0.1), part) for seed in range(400)]
    assert np.mean(values) == pytest.approx(0, abs=0.02)


def test_agreement_is_more_if_it_differs_by_two_standard_errors():
    """What halvings share adds a tenth of their variance."""
    Z = random_lists(5, 24, 60, 0.2)
    rival_lists = random_lists(8, 24, 60, 0.2)
    Z[1::2, :9] = Z[0::2, :9]
    pair_agreement = pairs_of(Z).phi
    for rival in (None, pairs_of(rival_lists)):
        difference = pair_agreement if rival is None else pair_agreement - rival.phi
        clear = np.mean(difference) > 2 * np.sqrt((1 / 12 + 0.1) * np.var(difference, ddof=1))
        assert compare_agreement(pairs_of(Z), rival) == ("more" if clear else "alike")
    assert (
        compare_agreement(pairs_of(rival_lists), pairs_of(np.repeat(Z[::2], 2, axis=0))) == "less"
    )
    assert compare_agreement(pairs_of(Z), pairs_of(Z)) == "alike"


def test_shared_genes_of_two_pairs_are_counted_within_each_pair():
    lists = csr_array(
        np.array([[1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 0], [1, 0, 0, 0, 0]])
    )
    counts = shared_genes(lists)
    assert counts["shared"] == (2 + 0) / 2
    assert counts["shared_by_chance"] == pytest.approx((2 * 3 / 5 + 1 * 1 / 5) / 2)


def test_shared_genes_of_random_lists_equal_chance():
    rng = np.random.default_rng(0)
    lists = np.zeros((4000, 30), dtype=int)
    for row in lists:
        row[rng.permutation(30)[: rng.integers(3, 12)]] = 1
    counts = shared_genes(csr_array(lists))
    assert counts["shared"] == pytest.approx(counts["shared_by_chance"], rel=0.05)


def test_shared_genes_without_pairs_are_not_known():
    assert np.isnan(list(shared_genes(csr_array((0, 5))).values())).all()
