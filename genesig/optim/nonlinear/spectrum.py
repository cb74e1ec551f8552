"""Two numbers that every solver starts from: the step length and the largest useful tau."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg, eigsh

from genesig.optim.nonlinear.problem import Problem

Array = np.ndarray[Any, Any]

MARGIN = 1.01
"""Lanczos approaches the largest eigenvalue from below; a step too long makes FISTA diverge."""


def row_space(inner: Array) -> tuple[Array, Array]:
    """Return V (n, r) and s (r,) with X X' = V diag(s²) V', the directions that are not rounding.

    Rotating the features, X -> V diag(s), changes none of the smooth part of the problem.
    """
    eigenvalues, V = np.linalg.eigh(inner)
    keep = eigenvalues > max(len(inner), 8) * np.finfo(float).eps * eigenvalues[-1]
    return V[:, keep], np.sqrt(eigenvalues[keep])


def step_length(problem: Problem, rotated: Array, d: int) -> float:
    """2 ν / λ_max(M), the longest safe step of the dual.

    M acts alike on features and on their rotation (n, r), and as the table `first` on multipliers
    that are orthogonal to the rows of X, of which there are some where d > r.
    """
    free = problem.without_response()
    largest = largest_eigenvalue(lambda q: -2 * problem.nu * free.gradient(rotated, q), rotated)
    if d > rotated.shape[1]:
        largest = max(largest, float(np.linalg.eigvalsh(problem.table.first)[-1]))
    return 2 * problem.nu / (MARGIN * largest)


def largest_eigenvalue(apply: Callable[[Array], Array], rotated: Array) -> float:
    """Return λ_max of a symmetric operator on (r, n) arrays, by Lanczos, to one part in 10³."""
    n, r = rotated.shape
    if n * r < 40:
        basis = np.eye(n * r).reshape(-1, r, n)
        dense = np.array([apply(each).ravel() for each in basis])
        return float(np.linalg.eigvalsh((dense + dense.T) / 2)[-1])
    operator = LinearOperator(
        (n * r, n * r), matvec=lambda q: apply(q.reshape(r, n)).ravel(), dtype=float
    )
    start = np.random.default_rng(0).standard_normal(n * r)
    found = eigsh(operator, k=1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)
    return float(found[0])


def vanishing_gradient(problem: Problem, rotated: Array, tolerance: float) -> Array:
    """Return multipliers (r, n) with φ(q) = 0, by conjugate gradients on M q = 2 ν φ(0).

    They minimise the dual without its bounds, so sqrt(n) max_g ||q_g||/p_g (over μ for the elastic
    penalty) is tau_max. Where M is singular (a polynomial of few monomials) they are not unique
    and give only an upper bound: harmless as the start of a path.
    """
    n, r = rotated.shape
    free = problem.without_response()
    operator = LinearOperator(
        (n * r, n * r),
        matvec=lambda q: -2 * problem.nu * free.gradient(rotated, q.reshape(r, n)).ravel(),
        dtype=float,
    )
    right = 2 * problem.nu * problem.gradient(rotated, np.zeros((r, n)))
    solved, _ = cg(operator, right.ravel(), rtol=tolerance, maxiter=2000)
    return np.asarray(solved).reshape(r, n)
