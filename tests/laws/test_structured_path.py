"""The block solver: equality with other solvers, certificates and limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structured_problems import design, example, lists, single_columns

from genesig.errors import GenesigError
from genesig.optim.solution import duality_gap
from genesig.optim.solvers import path
from genesig.optim.structured.columns import Blocks, Columns, Kernels
from genesig.optim.structured.path import block_path, block_paths, tau_max
from genesig.optim.structured.solvers import Composite, Groups, LatentOverlap, structured_path
from genesig.optim.structured.weights import equal_chance_weights
from genesig.optim.training import training_sets

kinds = pytest.mark.parametrize("kind", ["singletons", "partition", "overlap"])


def value(problem, fit, m=0):
    """Return the objective of the pieces of a fit."""
    pieces = [fit.piece(m, k) for k in range(len(problem.blocks))]
    norms = np.array([np.linalg.norm(piece) for piece in pieces])
    residual = problem.Y - problem.X @ fit.coef(m)
    squared = (residual**2).sum() / len(residual) + problem.mu * (norms**2).sum()
    return squared + problem.tau * problem.blocks.weights @ norms


def test_a_block_of_each_column_is_the_lasso():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 200)) + rng.normal(size=(30, 200))
    y = np.sign(X[:, 0] + rng.normal(size=30))
    weights = rng.uniform(0.5, 2, 200)
    sets = training_sets(
        X, y[:, None], np.ones((30, 1), bool), centre=True, unit_variance=True, weights=weights
    )
    Z = sets.standardised(0)
    blocks = single_columns(200, weights)
    tau = tau_max(Z, y - y.mean(), blocks) * np.geomspace(0.9, 0.05, 12)
    for mu in (0.0, 0.2):
        lasso = path(sets, tau, mu, solver="landweber-newton", tolerance=1e-10)
        fit = block_path(Z, y - y.mean(), blocks, tau, mu, tolerance=1e-10)
        for m in range(12):
            b = np.zeros(200)
            b[lasso.coef(0, m)[0]] = lasso.coef(0, m)[1]
            np.testing.assert_allclose(fit.coef(m)[:, 0], b, atol=2e-5)
            np.testing.assert_array_equal(fit.support(m), np.flatnonzero(b))


@kinds
@given(seed=st.integers(0, 10**6), tasks=st.integers(1, 3))
def test_gap_bounds_the_excess_of_a_loose_fit(kind, seed, tasks):
    """A loose fit is no better than the exact one, and by no more than its gap."""
    problem = example(seed, kind, tasks)
    loose, exact = (
        block_path(problem.X, problem.Y, problem.blocks, [problem.tau], problem.mu, tolerance=t)
        for t in (1e-2, 1e-11)
    )
    scale = (problem.Y**2).sum() / len(problem.Y)
    excess = (value(problem, loose) - value(problem, exact)) / scale
    assert -1e-11 <= excess <= loose.gap[0] + 1e-11
    assert exact.gap[0] <= 1e-11
    assert exact.converged.all()


@kinds
@given(seed=st.integers(0, 10**6), tasks=st.integers(1, 3))
def test_tau_max_is_sharp(kind, seed, tasks):
    problem = example(seed, kind, tasks)
    top = tau_max(problem.X, problem.Y, problem.blocks)
    tau = top * np.array([1 + 1e-6, 1 - 1e-3])
    fit = block_path(problem.X, problem.Y, problem.blocks, tau, problem.mu)
    assert len(fit.support(0)) == 0
    assert len(fit.support(1)) > 0


@kinds
@pytest.mark.parametrize("seed", range(3))
def test_the_iterative_projection_finds_the_same(kind, seed):
    problem = example(seed, kind, tasks=1 + seed)
    penalty = (LatentOverlap if kind == "overlap" else Groups)(problem.blocks)
    tau = problem.tau * np.array([1, 0.7])
    newton_path, iterative_path = (
        structured_path(problem.X, problem.Y, penalty, tau, problem.mu, solver=name, tolerance=t)
        for name, t in (("blocks", 1e-11), ("projection", 1e-9))
    )
    assert newton_path.message == iterative_path.message == ""
    for m in range(2):
        fitted = problem.X @ (newton_path.coef(m) - iterative_path.coef(m))
        assert (fitted**2).mean() <= 1e-8 * (problem.Y**2).mean()
    norms = newton_path.norms.toarray()
    np.testing.assert_allclose(iterative_path.norms.toarray(), norms, atol=1e-3 * norms.max())


def test_linear_kernels_on_groups_are_the_group_lasso():
    problem = example(3, "partition", mu=0.1)
    parts = [problem.blocks.columns(k) for k in range(len(problem.blocks))]
    K = np.array([problem.X[:, part] @ problem.X[:, part].T for part in parts])
    design = Kernels(K, problem.blocks.weights)
    tau = problem.tau * np.geomspace(1, 0.2, 5)
    group = block_path(problem.X, problem.Y, problem.blocks, tau, problem.mu)
    kernel = block_paths(design, problem.Y[None], tau[None], problem.mu)[0]
    np.testing.assert_allclose(kernel.norms.toarray(), group.norms.toarray(), atol=1e-6)
    for m in range(5):
        fitted = sum(K[k] @ kernel.piece(m, k) for k in kernel.support(m))
        np.testing.assert_allclose(fitted, problem.X @ group.coef(m), atol=1e-6)
        assert kernel.coef(m).shape == (K.shape[0] * K.shape[1], 1)


def test_kernels_by_the_iterative_projection():
    """Any factor of a kernel will do: its columns are a group."""
    rng = np.random.default_rng(0)
    A = [design(rng, 12, size) for size in (3, 9, 5)]
    kernels = Kernels(np.array([a @ a.T for a in A]), np.array([1.0, 2.0, 1.5]))
    Y = A[1][:, :1] + rng.normal(size=(12, 1))
    Y -= Y.mean()
    tau = 0.4 * 2 / 12 * (np.sqrt(kernels.squared_products(Y[None])[0]) / kernels.weights).max()
    kernel_path = block_paths(kernels, Y[None], np.array([[tau]]), 0.05, tolerance=1e-11)[0]
    roots = []
    for K in kernels.K:
        values, vectors = np.linalg.eigh(K)
        roots.append(vectors * np.sqrt(np.maximum(values, 0)))
    penalty = Groups(Blocks.from_lists(np.arange(36).reshape(3, 12), kernels.weights))
    primal_path = structured_path(
        np.concatenate(roots, axis=1), Y, penalty, [tau], 0.05, solver="projection"
    )
    np.testing.assert_allclose(kernel_path.norms.toarray(), primal_path.norms.toarray(), atol=1e-4)


def test_joint_responses_equal_single_responses():
    rng = np.random.default_rng(0)
    X = design(rng, 20, 60)
    gene_lists = lists(rng, 60, "overlap")
    blocks = Blocks.from_lists(gene_lists, np.sqrt([len(item) for item in gene_lists]))
    Y = rng.normal(size=(7, 20, 2))
    Y -= Y.mean(axis=1, keepdims=True)
    tau = np.array([tau_max(X, item, blocks) for item in Y])[:, None] * np.geomspace(1, 0.1, 8)
    joint_paths = block_paths(Columns(X, blocks), Y, tau, 0.01)
    for p, fit in enumerate(joint_paths):
        alone = block_path(X, Y[p], blocks, tau[p], 0.01)
        np.testing.assert_allclose(fit.norms.toarray(), alone.norms.toarray(), atol=1e-8)
        np.testing.assert_array_equal(fit.tau, tau[p])


def collinear(seed):
    """Return a lasso path on columns of low rank with copies; its gaps by the lasso's own bound."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    d = int(rng.integers(1, 60))
    rank = int(rng.integers(1, 6))
    X = design(rng, n, d, rank) + rng.choice([0, 1e-6]) * rng.normal(size=(n, d))
    X -= X.mean(axis=0)
    y = np.sign(rng.normal(size=n)) + 1e-3 * rng.normal(size=n)
    y = y - y.mean()
    mu = float(rng.choice([0, 0.1, 3]))
    blocks = single_columns(d, 1.0)
    tau = tau_max(X, y, blocks) * np.geomspace(1, 0.02, 10)
    fit = block_path(X, y, blocks, tau, mu, tolerance=1e-10)
    assert fit.message == ""
    return [duality_gap(X, y, fit.coef(m)[:, 0], tau[m], mu) for m in range(10)]


@pytest.mark.parametrize("seed", range(20))
def test_collinear_columns(seed):
    assert max(collinear(seed)) <= 1.01e-10


@pytest.mark.slow
def test_collinear_columns_four_hundred_times():
    assert max(max(collinear(seed)) for seed in range(400)) <= 1.01e-10


def test_a_path_ends_before_its_first_fit_of_more_blocks_than_asked_for():
    problem = example(1, "singletons", mu=0.1)
    tau = tau_max(problem.X, problem.Y, problem.blocks) * np.geomspace(1, 0.01, 20)
    full_path = block_path(problem.X, problem.Y, problem.blocks, tau, 0.1)
    sizes = [len(full_path.support(m)) for m in range(20)]
    design = Columns(problem.X, problem.blocks)
    responses = problem.Y.reshape(1, len(problem.Y), -1)
    (short,) = block_paths(design, responses, tau[None], 0.1, max_blocks=3)
    assert len(short.tau) == next(m for m in range(20) if sizes[m] > 3)
    np.testing.assert_array_equal(
        short.norms.toarray(), full_path.norms.toarray()[: len(short.tau)]
    )
    (none,) = block_paths(design, responses, tau[None, -1:], 0.1, max_blocks=0)
    assert (len(none.tau), none.message, none.norms.shape) == (0, "", (0, len(problem.blocks)))


def test_a_response_without_variance_selects_nothing():
    problem = example(1, "overlap")
    fit = block_path(problem.X, 0 * problem.Y, problem.blocks, [1.0], 0.0)
    assert (fit.norms.nnz, fit.gap[0], fit.message) == (0, 0, "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tau": [0.0]}, "tau must be positive and falling"),
        ({"tau": [1.0, 2.0]}, "tau must be positive and falling"),
        ({"tau": [np.nan]}, "tau must be positive and falling"),
        ({"mu": -1.0}, "mu >= 0"),
        ({"Y": np.zeros(3)}, "X has 5 rows, the response 3"),
        ({"solver": "block"}, "did you mean 'blocks'"),
        (
            {"penalty": Composite(Blocks.from_lists([[0, 1], [1]], [1, 1]))},
            "use the solver 'projection'",
        ),
        ({"penalty": Groups(Blocks.from_lists([[0], [2]], [1, 1]))}, "blocks name column 2"),
    ],
)
@pytest.mark.parametrize("solver", ["blocks", "projection"])
def test_invalid_problem_is_refused(change, message, solver):
    if solver == "projection" and "use the solver" in message:
        return
    arguments = {"X": np.zeros((5, 2)), "Y": np.zeros(5), "tau": [1.0], "mu": 0.0, "solver": solver}
    penalty = Groups(single_columns(2, 1.0))
    with pytest.raises(GenesigError, match=message):
        structured_path(**{"penalty": penalty, **arguments, **change})


def shuffled(rng, n, number):
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return np.stack([rng.permutation(y) for _ in range(number)], axis=1)


def found_first(seed):
    """Tell whether the set with the signal, 40 genes .4 SD apart, is the first of 50 sets."""
    rng = np.random.default_rng(seed)
    n = 60
    X = rng.normal(size=(60, 1000))
    gene_lists = [rng.choice(1000, 40, replace=False) for _ in range(50)]
    for k, members in enumerate(gene_lists[1:]):
        r = (0, 0.1, 0.3)[k % 3]
        X[:, members] = np.sqrt(1 - r) * X[:, members] + np.sqrt(r) * rng.normal(size=(n, 1))
    y = shuffled(rng, n, 1)[:, 0]
    X[:, gene_lists[0]] += np.outer(y, rng.choice([-0.2, 0.2], 40))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    blocks = Blocks.from_lists(gene_lists, np.ones(50))
    permuted = shuffled(rng, n, 200)[:, :, None]
    weights = equal_chance_weights(X, y[:, None], permuted, blocks.members, blocks.starts)
    blocks = Blocks.from_lists(gene_lists, weights)
    top = tau_max(X, y, blocks)
    fit = block_path(X, y, blocks, top * np.geomspace(1, 0.5, 20)[1:], 0.0)
    first_support = next(fit.support(m) for m in range(19) if len(fit.support(m)))
    return 0 in first_support


def test_a_set_with_signal_is_found():
    assert sum(found_first(seed) for seed in range(10)) >= 9


@pytest.mark.slow
def test_a_set_with_signal_is_found_in_95_of_100_draws():
    assert sum(found_first(seed) for seed in range(100)) >= 95
