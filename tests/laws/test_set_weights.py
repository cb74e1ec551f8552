"""Weights of gene sets: null distribution of a norm, and how often each kind wins in noise."""

from __future__ import annotations

import numpy as np
import pytest
from noise_sets import (
    FOUR_KINDS,
    NINE_KINDS,
    first_shares,
    listed_shares,
    noise_sets,
    permuted_classes,
)
from scipy.stats import beta

from genesig.data.splits.draw import permute_responses, response_strata
from genesig.optim.structured.columns import Blocks
from genesig.optim.structured.weights import (
    ExchangedResponses,
    NullNorms,
    equal_chance_weights,
    squared_norms,
)

LISTS = [range(30), range(30, 60), range(60, 61), range(20, 50), range(120)]


def correlated_genes(rng, n):
    X = rng.standard_normal((n, 120))
    X[:, :30] += rng.standard_normal((n, 1))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def single_precision(array):
    return np.ascontiguousarray(array, dtype=np.float32)


def modelled(X, Y, strata, lists):
    exchange = ExchangedResponses.from_strata(single_precision(X.T), Y, strata)
    return NullNorms.from_exchange(exchange, Blocks.from_lists(lists, np.ones(len(lists))))


def test_null_norms_of_uncorrelated_columns_are_exact():
    """The squared length of a uniform direction in m of n dimensions is Beta(m/2, (n - m)/2)."""
    n = 30
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((n, 6)) - rng.standard_normal((1, 6)))
    Q, _ = np.linalg.qr(Q - Q.mean(axis=0))
    y = rng.permutation(np.where(np.arange(n) % 2, 1.0, -1.0))[:, None]
    null = modelled(Q, y, [np.arange(n)[:, None]], [[0], range(6)])
    for chance in (0.1, 1e-3, 1e-5):
        expected = [n * beta.isf(chance, m / 2, (n - 1 - m) / 2) for m in (1, 6)]
        np.testing.assert_allclose(null.quantiles(chance) ** 2, expected, rtol=1e-3)


def world(kind, rng):
    """Return codes of a response, its columns, groups and batches."""
    n = 60
    groups = batches = None
    y = np.arange(n) % 2
    if kind == "three classes":
        y = np.arange(n) % 3
    if kind == "repeated patients":
        groups = np.repeat(np.arange(20), 3)
        y = groups % 2
    if kind == "unequal batches":
        batches = np.repeat(["a", "b"], [20, 40])
        y = np.r_[np.arange(20) < 14, np.arange(40) < 12].astype(int)
    Y = np.eye(3)[y] if kind == "three classes" else 2.0 * y[:, None] - 1
    return y, Y - Y.mean(axis=0), groups, batches


@pytest.mark.parametrize(
    "kind", ["two classes", "three classes", "repeated patients", "unequal batches"]
)
def test_null_norms_have_the_tails_of_the_permutations(kind):
    rng = np.random.default_rng(1)
    y, Y, groups, batches = world(kind, rng)
    X = correlated_genes(rng, len(y))
    null = modelled(X, Y, response_strata(y, groups, batches), LISTS)
    codes = permute_responses(y, groups, batches, 4000, rng).astype(int)
    _, class_rows = np.unique(y, return_index=True)
    blocks = Blocks.from_lists(LISTS, np.ones(len(LISTS)))
    squares = squared_norms(single_precision(X.T), single_precision(Y[class_rows[codes]]), blocks)
    np.testing.assert_allclose(null.mean, squares.mean(axis=1), rtol=0.06)
    exceedance = (np.sqrt(squares) > null.quantiles(0.01)[:, None]).mean(axis=1)
    assert exceedance.min() > 0.005
    assert exceedance.max() < 0.02


def test_equal_chance_weights_scale_with_genes_and_skip_constant_ones():
    rng = np.random.default_rng(0)
    X = correlated_genes(rng, 20)
    X[:, 60] = 0
    blocks = Blocks.from_lists(LISTS, np.ones(len(LISTS)))
    Y = permuted_classes(rng, 20, 100)
    weights = equal_chance_weights(X, Y[:, 0], Y, blocks.members, blocks.starts)
    assert weights[2] == 0
    assert (np.delete(weights, 2) > 0).all()
    huge = equal_chance_weights(1e60 * X, 10 * Y[:, 0], 10 * Y, blocks.members, blocks.starts)
    np.testing.assert_allclose(huge, 1e61 * weights, rtol=1e-5)


@pytest.mark.parametrize("starts", [[0, 1, 2], [0, 2]])
def test_equal_chance_weights_of_two_samples_are_finite(starts):
    X = np.array([[1.0, 2.0], [-1.0, -2.0]])
    Y = permuted_classes(np.random.default_rng(0), 2, 9)
    weights = equal_chance_weights(X, Y[:, 0], Y, np.array([0, 1]), np.array(starts))
    assert np.isfinite(weights).all()
    assert (weights > 0).all()


@pytest.mark.parametrize("n_sets", [4, 400])
def test_each_kind_of_set_comes_first_about_as_often_in_noise(n_sets):
    """A quarter is fair; with the 99 % quantile as weight it is 65 % and 6 % of the four sets."""
    draws = 12 if n_sets == 4 else 1
    rng = np.random.default_rng(0)
    share = np.mean(
        [first_shares(rng, noise_sets(rng, 40, FOUR_KINDS, n_sets), 400) for _ in range(draws)],
        axis=0,
    )
    assert share.min() > 0.15
    assert share.max() < 0.33


@pytest.mark.slow
@pytest.mark.parametrize("shared", [0.0, 0.5])
@pytest.mark.parametrize("n_sets", [12, 48, 200])
def test_each_kind_of_set_is_in_lists_about_as_often_in_noise(n_sets, shared):
    rng = np.random.default_rng(0)
    draws = 20 if n_sets < 200 else 5
    share = np.mean(
        [
            listed_shares(rng, noise_sets(rng, 40, FOUR_KINDS, n_sets, shared), 100)
            for _ in range(draws)
        ],
        axis=0,
    )
    assert share.min() > 0.16
    assert share.max() < 0.36


@pytest.mark.slow
@pytest.mark.parametrize("n_sets", [9, 180, 900])
def test_nine_kinds_of_sets_come_first_and_are_listed_in_noise(n_sets):
    rng = np.random.default_rng(0)
    draws = 20 if n_sets == 9 else 3
    share_ranked_first = np.zeros(9)
    listed = np.zeros(9)
    for _ in range(draws):
        sets = noise_sets(rng, 40, NINE_KINDS, n_sets)
        share_ranked_first += first_shares(rng, sets, 500) / draws
        listed += listed_shares(rng, sets, 60) / draws
    assert share_ranked_first.min() > 0.025
    assert share_ranked_first.max() < 0.17
    assert listed.min() > 0.06
    assert listed.max() < 0.22
