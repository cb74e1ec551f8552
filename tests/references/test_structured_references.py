"""Minima and projections of penalties on blocks against CVXPY with Clarabel."""

from __future__ import annotations

import numpy as np
import pytest
from structured_problems import EXACT, design, example, lists, minimum

from genesig.optim.structured.columns import Blocks, Kernels
from genesig.optim.structured.path import block_path, block_paths
from genesig.optim.structured.solvers import Composite, structured_path

cvxpy = pytest.importorskip("cvxpy")
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

# How far an objective may lie above Clarabel's, relative; it is the less exact of the two.
MAX_ABOVE = 5e-12
MAX_BELOW = 2e-8
PENALTY_KINDS = {
    "lasso": ("singletons", 1),
    "group": ("partition", 1),
    "latent": ("overlap", 1),
    "multi-task": ("singletons", 3),
    "multi-task groups": ("partition", 2),
    "latent of several tasks": ("overlap", 2),
}


def pieces_value(problem, fit):
    norms = fit.norms.toarray()[0]
    residual = problem.Y - problem.X @ fit.coef(0)
    squared = (residual**2).sum() / len(residual) + problem.mu * (norms**2).sum()
    return squared + problem.tau * problem.blocks.weights @ norms


def excesses(kind, seeds):
    """How far the objective of each problem lies above Clarabel's, relative, and the own gap."""
    shape, tasks = PENALTY_KINDS[kind]
    excess_list = []
    for seed in seeds:
        problem = example(seed, shape, tasks)
        fit = block_path(
            problem.X, problem.Y, problem.blocks, [problem.tau], problem.mu, tolerance=1e-11
        )
        excess_list.append((pieces_value(problem, fit) / minimum(problem) - 1, fit.gap[0]))
    return np.array(excess_list).T


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", PENALTY_KINDS)
def test_the_minimum(kind):
    excess_above, gap = excesses(kind, range(4))
    assert -MAX_BELOW <= excess_above.min() <= excess_above.max() <= MAX_ABOVE
    assert gap.max() <= 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("kind", PENALTY_KINDS)
def test_the_minimum_of_more_problems(kind):
    excess_above, gap = excesses(kind, range(4, 29))
    assert -MAX_BELOW <= excess_above.min() <= excess_above.max() <= MAX_ABOVE
    assert gap.max() <= 1e-11


def composite_excesses(seeds):
    """As `excesses`, with the message of each fit in place of its gap."""
    excess_list = []
    statuses = []
    for seed in seeds:
        problem = example(seed, "overlap", 1 + seed % 2)
        penalty = Composite(problem.blocks)
        fit = structured_path(
            problem.X,
            problem.Y,
            penalty,
            [problem.tau],
            problem.mu,
            solver="projection",
            tolerance=1e-10,
        )
        B = fit.coef(0)
        reference = minimum(problem, latent=False)
        excess_list.append(problem.objective(B, penalty.value(B)) / reference - 1)
        statuses.append(fit.message)
    return np.array(excess_list), statuses


def test_the_composite_minimum():
    excess_above, statuses = composite_excesses(range(3))
    assert np.abs(excess_above).max() <= 1e-9
    assert not any(statuses)


@pytest.mark.slow
def test_the_composite_minimum_of_more_problems():
    excess_above, statuses = composite_excesses(range(3, 23))
    assert np.abs(excess_above).max() <= 1e-9
    assert not any(statuses)


@pytest.mark.parametrize("seed", range(3))
def test_multiple_kernels(seed):
    rng = np.random.default_rng(seed)
    n = 15
    centre = np.eye(15) - 1 / 15
    A = [design(rng, n, size) for size in (3, 20, 8, 1)]
    K = np.array([centre @ a @ a.T @ centre for a in A])
    weights = rng.uniform(0.5, 2, 4)
    mu = (0.0, 0.1, 1.0)[seed]
    Y = rng.normal(size=(n, 1)) + A[0][:, :1]
    Y -= Y.mean()
    kernels = Kernels(K, weights)
    tau = 0.3 * 2 / n * (np.sqrt(kernels.squared_products(Y[None])[0]) / weights).max()
    fit = block_paths(kernels, Y[None], np.array([[tau]]), mu, tolerance=1e-11)[0]
    norms = fit.norms.toarray()[0]
    residual = Y - sum(K[k] @ fit.piece(0, k) for k in range(4))
    objective_value = (residual**2).sum() / n + mu * (norms**2).sum() + tau * weights @ norms
    roots = [vectors * np.sqrt(np.maximum(values, 0)) for values, vectors in map(np.linalg.eigh, K)]
    v = [cvxpy.Variable((n, 1)) for _ in K]
    fitted = sum(root @ piece for root, piece in zip(roots, v, strict=True))
    omega = sum(w * cvxpy.norm(piece, "fro") for w, piece in zip(weights, v, strict=True))
    ridge = sum(cvxpy.sum_squares(piece) for piece in v)
    loss = cvxpy.sum_squares(Y - fitted) / n + mu * ridge + tau * omega
    reference = cvxpy.Problem(cvxpy.Minimize(loss)).solve(**EXACT)
    assert -MAX_BELOW <= objective_value / reference - 1 <= MAX_ABOVE


def nearest(Z, blocks, level):
    """Return the minimal ||B - Z||²/2 + level Omega(B) of the composite penalty, by cvxpy."""
    B = cvxpy.Variable(Z.shape)
    V = [B[blocks.columns(k)] for k in range(len(blocks))]
    omega = sum(w * cvxpy.norm(v, "fro") for w, v in zip(blocks.weights, V, strict=True))
    objective = cvxpy.Minimize(cvxpy.sum_squares(B - Z) / 2 + level * omega)
    return cvxpy.Problem(objective).solve(**EXACT)


@pytest.mark.parametrize("seed", range(4))
def test_proximal_map_of_overlapping_sets_equals_cvxpy(seed):
    rng = np.random.default_rng(seed)
    gene_lists = lists(rng, 12, "overlap")
    blocks = Blocks.from_lists(gene_lists, rng.uniform(0.3, 2, len(gene_lists)))
    Z = rng.normal(size=(12, 2))
    level = 0.5
    penalty = Composite(blocks)
    B, _ = penalty.prox(Z, level)
    value = ((B - Z) ** 2).sum() / 2 + level * penalty.value(B)
    assert -MAX_BELOW <= value / nearest(Z, blocks, level) - 1 <= 1e-11
