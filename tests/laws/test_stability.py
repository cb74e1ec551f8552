"""Stability of lists: what the measure must be, by other formulas and by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from genesig.selection.assess.stability import pair_stability, stability


def of(Z):
    return stability(csr_array(np.asarray(Z, dtype=float)))


def random_lists(seed, m, d, p=0.3):
    return (np.random.default_rng(seed).random((m, d)) < p).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_two_lists_of_one_size_give_kunchevas_index(seed):
    """(r d - k²) / (k (d - k)), r genes in common (Kuncheva 2007)."""
    rng = np.random.default_rng(seed)
    d, k = 30, 8
    Z = np.zeros((2, d))
    for row in Z:
        row[rng.permutation(d)[:k]] = 1
    r = float(np.sum(Z[0] * Z[1]))
    assert of(Z).value == pytest.approx((r * d - k**2) / (k * (d - k)))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_fleiss_kappa_of_the_lists_as_raters(seed):
    """Fleiss 1971: genes are subjects, lists are raters, categories are in and out."""
    Z = random_lists(seed, 7, 40)
    m = len(Z)
    n = np.stack([Z.sum(axis=0), m - Z.sum(axis=0)], axis=1)
    agreement = np.mean((np.sum(n**2, axis=1) - m) / (m * (m - 1)))
    chance = np.sum((n.sum(axis=0) / n.sum()) ** 2)
    assert of(Z).value == pytest.approx((agreement - chance) / (1 - chance))


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_is_the_published_formula(seed):
    """Nogueira, Sechidis and Brown 2018, theorem 7, written out gene by gene."""
    Z = random_lists(seed, 6, 20)
    (m, d), p, sizes = Z.shape, Z.mean(axis=0), Z.sum(axis=1)
    k = sizes.mean()
    chance = k / d * (1 - k / d)
    phi = 1 - np.mean([m / (m - 1) * q * (1 - q) for q in p]) / chance
    parts = []
    for i in range(m):
        agreement = sum(Z[i, f] * p[f] for f in range(d)) / d
        bracket = 2 * k * sizes[i] / d**2 - sizes[i] / d - k / d + 1
        parts.append((agreement - sizes[i] * k / d**2 + phi / 2 * bracket) / chance)
    half = 1.959963984540054 * np.sqrt(4 / m**2 * np.sum((parts - np.mean(parts)) ** 2))
    found = of(Z)
    limits = max(-1, phi - half), min(1, phi + half)
    assert (found.value, found.low, found.high) == pytest.approx((phi, *limits))


def test_the_interval_holds_the_value_of_many_lists_nineteen_times_in_twenty():
    """Lists drawn from the same gene-wise shares: the interval covers the limit for M → ∞."""
    rng = np.random.default_rng(1)
    p = rng.beta(0.3, 1.5, 60)
    k = p.sum() / len(p)
    truth = 1 - np.mean(p * (1 - p)) / (k * (1 - k))
    found = [of(rng.random((50, len(p))) < p) for _ in range(400)]
    covered = np.mean([each.low <= truth <= each.high for each in found])
    assert 0.92 <= covered <= 0.99
    assert np.mean([each.value for each in found]) == pytest.approx(truth, abs=0.01)


def test_equal_lists_have_stability_one():
    found = of(np.tile([1, 0, 1, 0, 0], (4, 1)))
    assert (found.value, found.low, found.high) == (1, 1, 1)


def test_opposite_lists_reach_the_lower_bound():
    assert of([[1, 1, 0, 0], [0, 0, 1, 1]]).value == pytest.approx(-1)


def test_random_lists_have_stability_zero():
    values = [of(random_lists(seed, 10, 50)).value for seed in range(200)]
    assert np.mean(values) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    "Z", [np.zeros((5, 8)), np.ones((5, 8)), [[1, 0, 1]], np.zeros((0, 8))],
    ids=["all empty", "all genes", "one list", "no list"],
)  # fmt: skip
def test_lists_without_a_choice_have_no_stability(Z):
    found = of(Z)
    assert np.isnan([found.value, found.low, found.high]).all()


@given(st.integers(2, 8), st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_bounds_and_order_of_lists_and_genes(m, d, seed):
    rng = np.random.default_rng(seed)
    Z = (rng.random((m, d)) < 0.4).astype(float)
    found = of(Z)
    if np.isnan(found.value):
        assert Z.sum() in (0, Z.size)
        return
    assert -1 / (m - 1) - 1e-12 <= found.value <= 1 + 1e-12
    assert found.low - 1e-12 <= found.value <= found.high + 1e-12
    moved = of(Z[rng.permutation(m)][:, rng.permutation(d)])
    np.testing.assert_allclose(
        [moved.value, moved.low, moved.high], [found.value, found.low, found.high], atol=1e-12
    )


def of_pairs(Z, seed=0):
    return pair_stability(csr_array(np.asarray(Z, dtype=float)), seed)


@pytest.mark.parametrize("seed", range(5))
def test_one_pair_of_lists_of_one_size_gives_kunchevas_index_and_no_interval(seed):
    rng = np.random.default_rng(seed)
    Z = np.zeros((2, 30))
    for row in Z:
        row[rng.permutation(30)[:8]] = 1
    found = of_pairs(Z)
    assert found.value == pytest.approx(of(Z).value)
    assert np.isnan([found.low, found.high]).all()


def test_only_the_two_lists_of_a_pair_are_compared():
    """1 - (1/2) mean |z_a - z_b| / (p (1 - p)), written out gene by gene."""
    Z = random_lists(3, 8, 20)
    p = Z.mean()
    differ = [abs(Z[2 * k, f] - Z[2 * k + 1, f]) for k in range(4) for f in range(20)]
    assert of_pairs(Z).value == pytest.approx(1 - np.mean(differ) / (2 * p * (1 - p)))
    same_pairs = np.repeat(random_lists(4, 3, 50, 0.1), 2, axis=0)
    assert of_pairs(same_pairs).value == 1
    assert of(same_pairs).value < 0.5


def test_pairs_of_random_lists_have_stability_zero():
    values = [of_pairs(random_lists(seed, 10, 50)).value for seed in range(400)]
    assert np.mean(values) == pytest.approx(0, abs=0.01)


def test_the_interval_of_pairs_is_their_bootstrap():
    """Against a bootstrap that builds every list of lists anew."""
    Z = random_lists(5, 20, 40) * random_lists(6, 1, 40, 0.6)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(4000):
        pairs = rng.integers(0, 10, 10)
        again = Z[np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel()]
        p = again.mean()
        drawn.append(1 - np.mean(np.abs(again[::2] - again[1::2])) / (2 * p * (1 - p)))
    found = of_pairs(Z)
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.01)
    assert found == of_pairs(Z)
    assert of_pairs(Z, seed=1).low == pytest.approx(found.low, abs=0.02)


@pytest.mark.parametrize(
    "Z", [np.zeros((6, 8)), np.ones((6, 8)), np.zeros((0, 8))],
    ids=["all empty", "all genes", "no list"],
)  # fmt: skip
def test_pairs_without_a_choice_have_no_stability(Z):
    found = of_pairs(Z)
    assert np.isnan([found.value, found.low, found.high]).all()


def test_some_empty_lists_are_lists():
    """Draws in which every list is empty have no value and do not count."""
    Z = np.zeros((4, 6))
    Z[0, :2] = Z[1, 1:3] = 1
    p = 4 / 24
    assert of_pairs(Z).value == pytest.approx(1 - 2 / 24 / p / (1 - p))
    assert np.isfinite([of_pairs(Z).low, of_pairs(Z).high]).all()


@given(st.integers(1, 8), st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_bounds_and_order_of_pairs_and_genes(pairs, d, seed):
    rng = np.random.default_rng(seed)
    Z = (rng.random((2 * pairs, d)) < 0.4).astype(float)
    found = of_pairs(Z)
    if np.isnan(found.value):
        assert Z.sum() in (0, Z.size)
        return
    assert -1 - 1e-12 <= found.value <= 1 + 1e-12
    if pairs > 1:
        assert -1 - 1e-12 <= found.low <= found.value + 1e-12
        assert found.value - 1e-12 <= found.high <= 1 + 1e-12
    order = rng.permutation(pairs)
    moved = of_pairs(Z.reshape(pairs, 2, d)[order][:, ::-1, rng.permutation(d)].reshape(-1, d))
    assert moved.value == pytest.approx(found.value)
