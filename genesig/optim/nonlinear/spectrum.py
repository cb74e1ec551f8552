"""What every solver starts from: the largest useful tau, and how long steps may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from genesig.optim.nonlinear.metric import Metric
from genesig.optim.nonlinear.problem import Gradient, Problem

Array = np.ndarray[Any, Any]

MARGIN = 1.01
"""Lanczos approaches the largest eigenvalue from below."""
MOST = 2000
"""Iterations of conjugate gradients."""


def row_space(inner: Array) -> tuple[Array, Array]:
    """Return V (n, r) and s (r,) with X X' = V diag(s²) V', the directions that are not rounding.

    Rotating the features, X -> V diag(s), changes none of the smooth part of the problem.
    """
    eigenvalues, V = np.linalg.eigh(inner)
    keep = eigenvalues > max(len(inner), 8) * np.finfo(float).eps * eigenvalues[-1]
    return V[:, keep], np.sqrt(eigenvalues[keep])


def largest_eigenvalue(apply: Callable[[Array], Array], rotated: Array) -> float:
    """Return λ_max of a symmetric operator on (r, n) arrays, by Lanczos, to one part in 10³."""
    n, r = rotated.shape
    if n * r < 40:
        basis = np.eye(n * r).reshape(-1, r, n)
        dense = np.array([apply(each).ravel() for each in basis])
        return float(np.linalg.eigvalsh((dense + dense.T) / 2)[-1])
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator = LinearOperator(
        (n * r, n * r), matvec=lambda q: apply(q.reshape(r, n)).ravel(), dtype=float
    )
    start = np.random.default_rng(0).standard_normal(n * r)
    found = eigsh(operator, k=1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)
    return float(found[0])


def vanishing_gradient(
    problem: Problem, rotated: Array, metric: Metric, tolerance: float
) -> tuple[Array, float]:
    """Return multipliers (r, n) with φ(q) = 0, and the largest eigenvalue of M/2ν in the metric.

    Conjugate gradients on M q/2ν = φ(0), preconditioned by the metric; their coefficients are
    those of Lanczos' method, from which the eigenvalue follows. Of many more samples than features
    M is so nearly singular that the metric lets rounding grow, and they do not end; without it they
    stay where M tells something, and what they reach serves.

    The multipliers minimise the dual without its bounds, so sqrt(n) max_g ||q_g||/p_g (over μ for
    the elastic penalty) is tau_max. Where M is singular (a polynomial of few monomials) they are
    not unique and give only an upper bound: harmless as the start of a path.
    """
    q, largest, reached = _conjugate_gradients(problem, rotated, metric, tolerance)
    if not reached:
        plain = replace(metric, weight=np.ones(problem.n))
        q, _, _ = _conjugate_gradients(problem, rotated, plain, tolerance)
    return q @ metric.basis.T, largest


def _conjugate_gradients(
    problem: Problem, rotated: Array, metric: Metric, tolerance: float
) -> tuple[Array, float, bool]:
    """Return q in the metric's basis, the largest eigenvalue, and whether φ(q) vanishes."""
    q = np.zeros((rotated.shape[1], problem.n))
    residual, image = np.empty_like(q), np.empty_like(q)
    Gradient(problem, rotated, metric.basis)(q, residual)
    linear = Gradient(problem.without_response(), rotated, metric.basis)
    goal, before = tolerance * np.linalg.norm(residual), 1.0
    lengths: list[float] = []
    turns: list[float] = []
    direction = np.zeros_like(q)
    while (left := np.linalg.norm(residual)) > goal and len(lengths) < MOST:
        conditioned = residual / metric.weight
        product = float(np.vdot(residual, conditioned))
        turns.append(product / before if lengths else 0.0)
        direction *= turns[-1]
        direction += conditioned
        linear(direction, image)
        image += metric.own * direction
        curvature = -float(np.vdot(direction, image))
        if not curvature > 0:
            break
        lengths.append(product / curvature)
        q += lengths[-1] * direction
        residual += lengths[-1] * image
        before = product
    return q, _largest_ritz(np.array(lengths), np.array(turns)), bool(left <= goal)


def _largest_ritz(lengths: Array, turns: Array) -> float:
    """Return the largest eigenvalue of the tridiagonal matrix of conjugate gradients."""
    if not len(lengths):
        return 1.0
    turns = turns[: len(lengths)]
    diagonal = 1 / lengths
    diagonal[1:] += turns[1:] / lengths[:-1]
    T = np.diag(diagonal)
    T[np.arange(1, len(T)), np.arange(len(T) - 1)] = np.sqrt(turns[1:]) / lengths[:-1]
    return float(np.linalg.eigvalsh(T)[-1])
