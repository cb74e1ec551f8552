"""Norms of blocks: Moreau's identity, dual norm and projections."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structured_problems import lists

from genesig.errors import GenesigError
from genesig.optim.structured.columns import Blocks
from genesig.optim.structured.solvers import Composite, Groups, LatentOverlap

PENALTY_KINDS = {
    "lasso": (Groups, "singletons"),
    "group": (Groups, "partition"),
    "composite": (Composite, "overlap"),
}
each_penalty = pytest.mark.parametrize("kind", PENALTY_KINDS)
drawn = given(seed=st.integers(0, 10**6), tasks=st.integers(1, 3))


def penalty_of(kind, seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 20))
    penalty_class, shape = PENALTY_KINDS[kind]
    gene_lists = lists(rng, d, shape)
    return (
        penalty_class(Blocks.from_lists(gene_lists, rng.uniform(0.3, 3, len(gene_lists)))),
        d,
        rng,
    )


@each_penalty
@drawn
def test_a_point_is_its_prox_and_its_projection(kind, seed, tasks):
    """Z - B is in the ball of the level, and B is where it touches: <B, Z - B> = level Omega(B)."""
    penalty, d, rng = penalty_of(kind, seed)
    Z = rng.normal(size=(d, tasks))
    level = rng.uniform(0.01, 1)
    B, pieces = penalty.prox(Z, level)
    assert penalty.dual(Z - B, pieces) <= level * (1 + 1e-6)
    assert np.vdot(B, Z - B) == pytest.approx(level * penalty.value(B), rel=1e-5, abs=1e-6)


@each_penalty
@drawn
def test_no_inner_product_exceeds_norm_and_dual_norm(kind, seed, tasks):
    penalty, d, rng = penalty_of(kind, seed)
    B, G = rng.normal(size=(2, d, tasks))
    assert np.vdot(B, G) <= penalty.value(B) * penalty.dual(G) * (1 + 1e-9)


@each_penalty
@drawn
def test_penalty_values_are_norms(kind, seed, tasks):
    penalty, d, rng = penalty_of(kind, seed)
    A, B = rng.normal(size=(2, d, tasks))
    assert penalty.value(3 * A) == pytest.approx(3 * penalty.value(A))
    assert penalty.value(A + B) <= (penalty.value(A) + penalty.value(B)) * (1 + 1e-9)
    assert penalty.value(np.zeros((d, tasks))) == 0


@drawn
def test_disjoint_blocks_make_all_three_penalties_equal(seed, tasks):
    groups, d, rng = penalty_of("group", seed)
    Z = rng.normal(size=(d, tasks))
    level = rng.uniform(0.1, 1)
    composite = Composite(groups.blocks)
    assert composite.value(Z) == pytest.approx(groups.value(Z))
    np.testing.assert_allclose(composite.prox(Z, level)[0], groups.prox(Z, level)[0], atol=1e-7)
    for penalty in (LatentOverlap(groups.blocks), composite):
        assert penalty.dual(Z) == pytest.approx(groups.dual(Z))


def test_dual_of_nested_sets_equals_the_hand_calculation():
    """The heavier set counts only where its second gene outweighs what it costs; by hand."""
    penalty = LatentOverlap(Blocks.from_lists([[0], [0, 1]], [1.0, 2.0]))
    assert penalty.dual(np.array([[3.0], [4.0]])) == pytest.approx(3)
    assert penalty.dual(np.array([[1.0], [4.0]])) == pytest.approx(np.sqrt(17) / 2)


def test_nested_blocks_need_one_sweep(monkeypatch):
    rng = np.random.default_rng(0)
    tree = Composite(Blocks.from_lists([range(8), range(4), [0, 1], [4, 5]], [1.0, 0.8, 0.5, 0.7]))
    Z = rng.normal(size=(8, 1))
    exact = tree.prox(Z, 0.6)[0]
    monkeypatch.setattr("genesig.optim.structured.solvers.MAX_PROX_SWEEPS", 1)
    np.testing.assert_allclose(tree.prox(Z, 0.6, tolerance=0)[0], exact, atol=1e-14)


@pytest.mark.parametrize(
    ("make_penalty", "message"),
    [
        (lambda: Blocks.from_lists([[0], []], [1, 1]), "needs at least one column"),
        (lambda: Blocks.from_lists([], []), "there must be blocks"),
        (lambda: Blocks.from_lists([[0, 1, 0]], [1]), "block 0 names a column twice"),
        (
            lambda: Blocks.from_lists([[2], [0, 1], [1, 1]], [1, 1, 1]),
            "block 2 names a column twice",
        ),
        (lambda: Blocks.from_lists([[-1]], [1]), "counted from 0"),
        (lambda: Blocks.from_lists([[0]], [0]), "weights must be 1 finite numbers > 0"),
        (lambda: Blocks.from_lists([[0]], [1, 2]), "weights must be 1 finite numbers > 0"),
        (
            lambda: Groups(Blocks.from_lists([[0, 1], [1]], [1, 1])),
            "column 1, counted from 0, is in 2",
        ),
        (
            lambda: Composite(Blocks.from_lists([[0]], [1])).dual(np.ones((2, 1))),
            "column 1, counted",
        ),
    ],
)
def test_invalid_penalty_is_refused(make_penalty, message):
    with pytest.raises(GenesigError, match=message):
        make_penalty()
