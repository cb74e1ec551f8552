"""Starting values of all solvers: the largest tau, the metric and the length of dual steps.

M acts on features and samples. Its average over the features, M̄ = Σ_a M_aa/d (n, n), keeps the
part of its conditioning that the kernel causes, and is cheap to divide by: steps in this metric
are a quarter to a tenth as many as plain ones.

The metric acts on the samples alone, alike on every feature, so that the bounds of the features
stay apart: in its basis the prox of a feature is one equation in one unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from genesig.arrays import Array, row_squares
from genesig.compiled.descent import (
    ANDERSON_WINDOW,
    INSIDE_BOUND,
    NEW_POINT,
    NO_POINT,
    DualBounds,
    IterationMemory,
    advance_iteration,
)
from genesig.optim.kernels import dense_blocks
from genesig.optim.nonlinear.penalties import Penalty
from genesig.optim.nonlinear.problem import Gradient, Problem

MIN_WEIGHT_SHARE = 1e-6  # smallest weight, over the largest one


@dataclass(frozen=True)
class Metric:
    """Weights w with H(q) ≤ H(z) - <φ(z), q - z> + ||q - z||²_w/2, in a basis of the samples."""

    basis: Array  # (n, n): orthogonal; its columns are the directions
    weight: Array  # (n,): w. Where it is too small, the steps notice and double it.
    # (n,): diagonal of the first of the two terms of `Problem.gradient`, in this basis
    first_term: Array

    @classmethod
    def from_problem(cls, problem: Problem, inner: Array, d: int) -> Metric:
        """Return w of the average of M/2ν, in the directions of the table `first`."""
        eigenvalues, basis = np.linalg.eigh(problem.table.first)
        mean = np.einsum("ik,ik->k", basis, _average(problem, inner, d) @ basis)
        weight = np.maximum(mean, MIN_WEIGHT_SHARE * mean.max()) / (2 * problem.nu)
        return cls(basis, weight, np.maximum(eigenvalues, 0) * (-0.5 / problem.nu))

    def times(self, factor: float) -> Metric:
        """Return the metric with all weights multiplied, so that steps are shorter."""
        return replace(self, weight=factor * self.weight)


def _average(problem: Problem, inner: Array, d: int) -> Array:
    """Return Σ_a M_aa/d of M = L - D C D', C = (K + n ν I)⁻¹, from inner products alone."""
    table = problem.table
    inverse = problem.solve(np.eye(problem.n))
    first_table = table.first
    projected = first_table @ inverse @ first_table.T
    correction = first_table @ (inverse * inner) @ first_table.T
    second_part = table.second * inner
    if table.stationary:
        norms = np.diag(inner)
        mixed_part = first_table @ (inner * (inverse @ first_table.T))
        correction += inner * projected - mixed_part - mixed_part.T
        second_part = table.second * (2 * inner - norms[:, None] - norms)
    mean: Array = first_table + (second_part - correction) / d
    return (mean + mean.T) / 2


def accelerate(
    gradient: Callable[[Array, Array], None],
    penalty: Penalty,
    metric: Metric,
    q: Array,
    is_done: Callable[[float], bool],
    max_iterations: int,
    *,
    free: int = 0,
    slack: float = 0.0,
) -> tuple[Array, int]:
    """Return the minimiser of H(q) + Ω*(q), from q (m, n) within its bounds, and the steps.

    gradient: (q, out), fills out (m, n) with φ(q) = -∇H(q) less `metric.first_term` q; in the
        metric's basis, like q.
    penalty: of the rows after the first `free` ones, which have no bound.
    is_done: whether a duality gap is small enough.
    slack: bound of Σ r_g ||φ_g|| over ||φ|| for the features that the free rows represent.
    """
    bounds = DualBounds(
        free,
        penalty.block.astype(np.int64),
        penalty.radius,
        float(penalty.curvature),
        float(slack),
    )
    memory = _memory(metric, q, len(penalty.radius))
    memory.conjugate[0] = penalty.conjugate(row_squares(q[free:]))
    points, slopes = (a.reshape(-1, *q.shape) for a in (memory.points, memory.slopes))
    steps = 0
    while True:
        current = memory.counters[NEW_POINT]
        steps = steps + 1
        gradient(points[current], slopes[current])
        if is_done(advance_iteration(bounds, memory)) or steps >= max_iterations:
            return points[current], steps


def _memory(metric: Metric, q: Array, groups: int) -> IterationMemory:
    """Return arrays for the last points of the iteration, with q as the first point."""
    (m, n) = q.shape
    slots = ANDERSON_WINDOW + 1
    memory = IterationMemory(
        points=np.empty((slots, m * n)),
        slopes=np.empty((slots, m * n)),
        moves=np.empty((slots, m * n)),
        gram=np.zeros((slots, slots)),
        ahead=np.empty(m * n),
        slope=np.empty(m * n),
        weight=metric.weight.copy(),
        first_term=metric.first_term,
        conjugate=np.zeros(slots),
        multiplier=np.full(groups, INSIDE_BOUND),
        counters=np.array([0, 0, NO_POINT]),
        scratch=np.empty((5, max(n, groups))),
        squares=np.empty((groups, n)),
    )
    memory.points[0] = q.ravel()
    return memory


MAX_FACTOR_BYTES = 5e8
"""Memory of cached Cholesky factors, 8 (n d)² bytes each; at least two, as κ alternates."""


@dataclass(frozen=True)
class Dense:
    """M (n d, n d) and φ_y = D (K + n ν I)⁻¹ y of one instance."""

    M: Array
    phi_y: Array
    factors: dict[float, Any] = field(default_factory=dict)

    @classmethod
    def from_problem(cls, problem: Problem, X: Array) -> Dense:
        """Return M = L - D (K + n ν I)⁻¹ D' and φ_y of training rows X (n, d).

        D and L are the first and second derivatives of the kernel (see `dense_blocks`). The largest
        memory is 24 (n d)² bytes.
        """
        d = X.shape[1]
        n = problem.n
        D, L = dense_blocks(problem.table, X)
        flat_D = D.reshape(d * n, n)
        M = L.transpose(0, 2, 1, 3).reshape(d * n, d * n)
        M = M - flat_D @ problem.solve(flat_D.T)
        return cls((M + M.T) / 2, flat_D @ problem.solve(problem.y))

    def factor(self, nu: float, kappa: float) -> Any:
        """Return the Cholesky factor of M + (2ν/κ) I, from the cache if it is there."""
        from scipy.linalg import cho_factor

        shift = 2 * nu / kappa
        factor = self.factors.pop(shift, None)
        if factor is None:
            while len(self.factors) >= max(2, MAX_FACTOR_BYTES // self.M.nbytes):
                self.factors.pop(next(iter(self.factors)))
            shifted = self.M.copy()
            shifted[np.diag_indices(len(shifted))] += shift
            factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        self.factors[shift] = factor
        return factor


EIGENVALUE_MARGIN = 1.01
"""Factor of the estimated largest eigenvalue, which Lanczos approaches from below."""
MAX_CG_STEPS = 2000  # largest number of iterations of conjugate gradients


def row_space(inner: Array) -> tuple[Array, Array]:
    """Return V (n, r) and s (r,) with X X' = V diag(s²) V', without directions of rounding size.

    The rotation of the features, X -> V diag(s), leaves the smooth part of the problem unchanged.
    """
    eigenvalues, eigenvectors = np.linalg.eigh(inner)
    is_nonzero = eigenvalues > max(len(inner), 8) * np.finfo(float).eps * eigenvalues[-1]
    return eigenvectors[:, is_nonzero], np.sqrt(eigenvalues[is_nonzero])


def largest_eigenvalue(apply: Callable[[Array], Array], rotated: Array) -> float:
    """Return λ_max of a symmetric operator on (r, n) arrays, by Lanczos, to one part in 10³.

    rotated (n, r): only its shape is used. Lanczos' method needs more than a few dimensions, so
    that a small operator is written out as a matrix.
    """
    n, r = rotated.shape
    if n * r < 40:
        basis = np.eye(n * r).reshape(-1, r, n)
        dense = np.array([apply(basis_array).ravel() for basis_array in basis])
        return float(np.linalg.eigvalsh((dense + dense.T) / 2)[-1])
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator = LinearOperator(
        (n * r, n * r), matvec=lambda q: apply(q.reshape(r, n)).ravel(), dtype=float
    )
    start = np.random.default_rng(0).standard_normal(n * r)
    eigenvalues = eigsh(operator, k=1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)
    return float(eigenvalues[0])


def vanishing_gradient(
    problem: Problem, rotated: Array, metric: Metric, tolerance: float
) -> tuple[Array, float]:
    """Return multipliers (r, n) with φ(q) = 0, and the largest eigenvalue of M/2ν in the metric.

    Conjugate gradients on M q/2ν = φ(0), preconditioned by the metric; their coefficients are
    those of Lanczos' method, which give the eigenvalue. With many more samples than features M is
    so nearly singular that rounding grows in the metric, and the iteration does not converge. It is
    then repeated without the metric, and its last iterate is used.

    The multipliers minimise the dual without its bounds, so sqrt(n) max_g ||q_g||/p_g (over μ for
    the elastic penalty) is tau_max. Where M is singular (a polynomial of few monomials) they are
    not unique and give only an upper bound: harmless as the start of a path.
    """
    q, largest_eigenvalue_of_M, has_converged = _conjugate_gradients(
        problem, rotated, metric, tolerance
    )
    if not has_converged:
        plain_metric = replace(metric, weight=np.ones(problem.n))
        q, _, _ = _conjugate_gradients(problem, rotated, plain_metric, tolerance)
    return q @ metric.basis.T, largest_eigenvalue_of_M


def _conjugate_gradients(
    problem: Problem, rotated: Array, metric: Metric, tolerance: float
) -> tuple[Array, float, bool]:
    """Return q in the metric's basis, the largest eigenvalue, and whether φ(q) vanishes."""
    q = np.zeros((rotated.shape[1], problem.n))
    residual = np.empty_like(q)
    image = np.empty_like(q)
    Gradient(problem, rotated, metric.basis)(q, residual)
    linear = Gradient(problem.without_response(), rotated, metric.basis)
    max_residual = tolerance * np.linalg.norm(residual)
    previous_product = 1.0
    step_lengths: list[float] = []
    conjugacy_coefficients: list[float] = []
    direction = np.zeros_like(q)
    while (residual_norm := np.linalg.norm(residual)) > max_residual and len(
        step_lengths
    ) < MAX_CG_STEPS:
        conditioned = residual / metric.weight
        product = float(np.vdot(residual, conditioned))
        conjugacy_coefficients.append(product / previous_product if step_lengths else 0.0)
        direction *= conjugacy_coefficients[-1]
        direction += conditioned
        linear(direction, image)
        image += metric.first_term * direction
        curvature = -float(np.vdot(direction, image))
        if not curvature > 0:
            break
        step_lengths.append(product / curvature)
        q += step_lengths[-1] * direction
        residual += step_lengths[-1] * image
        previous_product = product
    return (
        q,
        _largest_ritz(np.array(step_lengths), np.array(conjugacy_coefficients)),
        bool(residual_norm <= max_residual),
    )


def _largest_ritz(step_lengths: Array, conjugacy_coefficients: Array) -> float:
    """Return the largest eigenvalue of the tridiagonal matrix that conjugate gradients imply."""
    if not len(step_lengths):
        return 1.0
    conjugacy_coefficients = conjugacy_coefficients[: len(step_lengths)]
    diagonal = 1 / step_lengths
    diagonal[1:] += conjugacy_coefficients[1:] / step_lengths[:-1]
    tridiagonal = np.diag(diagonal)
    tridiagonal[np.arange(1, len(tridiagonal)), np.arange(len(tridiagonal) - 1)] = (
        np.sqrt(conjugacy_coefficients[1:]) / step_lengths[:-1]
    )
    return float(np.linalg.eigvalsh(tridiagonal)[-1])
