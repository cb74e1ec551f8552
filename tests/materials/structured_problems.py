"""Random problems with a penalty on blocks, and their minimum by CVXPY and Clarabel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.optim.structured.columns import Blocks
from genesig.optim.structured.path import tau_max

EXACT = {"solver": "CLARABEL", "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


@dataclass(frozen=True)
class Example:
    """X (n, d) and Y (n, T), centred, blocks of columns, tau and mu."""

    X: np.ndarray
    Y: np.ndarray
    blocks: Blocks
    tau: float
    mu: float

    def objective(self, B, omega):
        residual = self.Y - self.X @ B
        return (residual**2).sum() / len(self.X) + self.mu * (B**2).sum() + self.tau * omega


def single_columns(d, weights):
    """Return a block for each of d columns, with weights (d,) or one weight for all."""
    return Blocks.from_lists(np.arange(d)[:, None], np.broadcast_to(weights, d))


def design(rng, n, d, rank=None):
    """Return centred columns, some of them twice, of low rank where one is given."""
    X = rng.normal(size=(n, d))
    if rank:
        X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    if d > 1:
        copies = rng.integers(0, d, max(d // 4, 1))
        X[:, copies] = X[:, rng.integers(0, d, len(copies))]
    return X - X.mean(axis=0)


def lists(rng, d, kind):
    """Return blocks of columns: one each, a partition, or sets that overlap and cover all."""
    if kind == "singletons":
        return [[j] for j in range(d)]
    parts = np.array_split(rng.permutation(d), rng.integers(1, max(d // 2, 2)))
    if kind == "overlap":
        parts += [rng.choice(d, rng.integers(1, max(d // 2, 2)), replace=False) for _ in parts]
    return [np.sort(part) for part in parts if len(part)]


def example(seed, kind, tasks=1, mu=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 25))
    d = int(rng.integers(2, 25))
    X = design(rng, n, d, rank=2 if seed % 5 == 0 else None)
    Y = rng.normal(size=(n, tasks)) + X[:, :1]
    gene_lists = lists(rng, d, kind)
    blocks = Blocks.from_lists(gene_lists, rng.uniform(0.5, 2, len(gene_lists)))
    Y -= Y.mean(axis=0)
    share = rng.uniform(0.05, 0.7)
    ridge = float(rng.choice([0.0, 0.1, 3.0]))
    tau = share * tau_max(X, Y, blocks)
    return Example(X, Y, blocks, tau, ridge if mu is None else mu)


def minimum(problem, latent=True):
    """Return the minimum for pieces V_k that add up (latent), or for the composite norm."""
    import cvxpy

    X = problem.X
    Y = problem.Y
    blocks = problem.blocks
    parts = [blocks.columns(k) for k in range(len(blocks))]
    if latent:
        V = [cvxpy.Variable((len(part), Y.shape[1])) for part in parts]
        fitted = sum(X[:, part] @ v for part, v in zip(parts, V, strict=True))
        ridge = sum(cvxpy.sum_squares(v) for v in V)
    else:
        B = cvxpy.Variable((X.shape[1], Y.shape[1]))
        V = [B[part] for part in parts]
        fitted = X @ B
        ridge = cvxpy.sum_squares(B)
    omega = sum(w * cvxpy.norm(v, "fro") for w, v in zip(blocks.weights, V, strict=True))
    loss = cvxpy.sum_squares(Y - fitted) / len(X)
    convex_problem = cvxpy.Problem(cvxpy.Minimize(loss + problem.mu * ridge + problem.tau * omega))
    convex_problem.solve(**EXACT)
    return convex_problem.value
