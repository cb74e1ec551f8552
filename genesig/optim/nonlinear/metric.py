"""Metric of the dual steps, their compiled loop, and the path's start.

Notation, for n samples and d features:

* q (m, n) are multipliers of m features; φ(q) = -∇H(q) (m, n) are the partial derivatives of their
  function at the samples. H, ν, Ω* and r_g are those of `problem`.
* M/2ν is the Hessian of H. It acts on features and samples: M_ab (n, n) for features a and b.
* The metric is ||q||²_w = Σ_ak w_k (q_a'v_k)²: one weight w_k for each direction v_k of samples,
  alike for all features, so that the prox of a feature is one equation in one unknown.
* w_k is v_k'M̄v_k/2ν times a factor, M̄ = Σ_a M_aa/d. It keeps the part of M's conditioning that the
  kernel causes: steps in this metric are a quarter to a tenth as many as plain ones.
* v_k are the eigenvectors of the kernel's table `first`, so that the first term of φ is diagonal.
* Unbounded rows of q are rotated features, which represent the inactive ones (see `solvers`).
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
    DualGradient,
    IterationMemory,
    fill_gradient,
    minimise_dual,
)
from genesig.optim.kernels import dense_blocks
from genesig.optim.nonlinear.problem import Penalty, Problem

MIN_WEIGHT_SHARE = 1e-6  # smallest weight, over the largest one


@dataclass(frozen=True)
class Metric:
    """Weights w with H(q) ≤ H(z) - <φ(z), q - z> + ||q - z||²_w/2, in a basis of the samples."""

    basis: Array  # (n, n): orthogonal; its columns are the directions v_k
    weight: Array  # (n,): w. Where it is too small, the steps notice and double it.
    first_term: Array  # (n,): -(1/2ν) `first` in this basis, where it is diagonal

    @classmethod
    def from_problem(cls, problem: Problem, inner: Array, d: int) -> Metric:
        """Return the metric of M̄/2ν, for d features with X X' = inner (n, n)."""
        eigenvalues, basis = np.linalg.eigh(problem.table.first)
        curvatures = np.einsum("ik,ik->k", basis, _average_block(problem, inner, d) @ basis)
        weight = np.maximum(curvatures, MIN_WEIGHT_SHARE * curvatures.max()) / (2 * problem.nu)
        return cls(basis, weight, np.maximum(eigenvalues, 0) * (-0.5 / problem.nu))

    def times(self, factor: float) -> Metric:
        """Return the metric with all weights multiplied, so that steps are shorter."""
        return replace(self, weight=factor * self.weight)

    def gradient(self, problem: Problem, features: Array) -> DualGradient:
        """Return the arrays of φ(q) for features (n, m), with q in this basis."""
        n = problem.n
        return DualGradient(
            np.ascontiguousarray(features),
            np.ascontiguousarray(features.T),
            np.ascontiguousarray(self.basis),
            np.ascontiguousarray(self.basis.T),
            self.first_term,
            problem.table.first,
            problem.table.second,
            problem.inverse,
            problem.y,
            -0.5 / problem.nu,
            problem.table.stationary,
            np.empty((2, n, n)),
            np.empty((3, n)),
        )


def _average_block(problem: Problem, inner: Array, d: int) -> Array:
    """Return M̄ = Σ_a M_aa/d of M = L - D C D', C = (K + n ν I)⁻¹, from inner products alone.

    D^a and L^aa of `kernels` have factors x_ja, less x_ia if stationary; products of two of them,
    summed over a, are sums of inner products.
    """
    table = problem.table
    inverse = problem.inverse
    first_table = table.first
    projected = first_table @ inverse @ first_table.T
    correction = first_table @ (inverse * inner) @ first_table.T
    second_part = table.second * inner
    if table.stationary:
        norms = np.diag(inner)
        mixed_part = first_table @ (inner * (inverse @ first_table.T))
        correction += inner * projected - mixed_part - mixed_part.T
        second_part = table.second * (2 * inner - norms[:, None] - norms)
    average_block: Array = first_table + (second_part - correction) / d
    return (average_block + average_block.T) / 2


def minimise(
    problem: Problem,
    features: Array,
    penalty: Penalty,
    metric: Metric,
    q: Array,
    max_gap: float,
    max_steps: int,
    unbounded_radius: float = 0.0,
) -> tuple[Array, int]:
    """Return the minimiser (m, n) of H(q) + Ω*(q) for features (n, m), and the number of steps.

    penalty: of the last rows; the rows before them are unbounded.
    q (m, n): the start, within its bounds.
    max_gap: duality gap at which the steps end, not relative.
    unbounded_radius: √(Σ r_g²) of the features that the unbounded rows represent.
    """
    start = q @ metric.basis
    n_unbounded = len(q) - len(penalty.block)
    block = penalty.block.astype(np.int64)
    curvature = float(penalty.curvature)
    bounds = DualBounds(n_unbounded, block, penalty.radius, curvature, float(unbounded_radius))
    memory = make_memory(metric, start, penalty)
    gradient = metric.gradient(problem, features)
    steps = minimise_dual(gradient, bounds, memory, float(max_gap), max_steps)
    return memory.points[memory.counters[NEW_POINT]].reshape(q.shape) @ metric.basis.T, steps


def make_memory(metric: Metric, q: Array, penalty: Penalty) -> IterationMemory:
    """Return the memory of the iteration with q (m, n), in the metric's basis, as its new point.

    penalty: of the last rows, as in `minimise`.
    """
    m, n = q.shape
    n_blocks = len(penalty.radius)
    slots = ANDERSON_WINDOW + 1
    memory = IterationMemory(
        points=np.zeros((slots, m * n)),
        slopes=np.zeros((slots, m * n)),
        moves=np.zeros((slots, m * n)),
        gram=np.zeros((slots, slots)),
        ahead=np.empty(m * n),
        slope=np.empty(m * n),
        weight=metric.weight.copy(),
        conjugate=np.zeros(slots),
        multiplier=np.full(n_blocks, INSIDE_BOUND),
        counters=np.array([0, 0, NO_POINT]),  # new point, number combined, best point
        norms=np.empty(n_blocks),
        squares=np.empty((n_blocks, n)),
    )
    memory.points[0] = q.ravel()
    memory.conjugate[0] = penalty.conjugate(row_squares(q[m - len(penalty.block) :]))
    return memory


MAX_FACTOR_BYTES = 5e8
"""Memory of cached Cholesky factors, 8 (n d)² bytes each; at least two, as κ of ADMM alternates."""


@dataclass(frozen=True)
class Dense:
    """M (n d, n d) and φ_y = D (K + n ν I)⁻¹ y of one instance, and factors by their 2ν/κ."""

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
        """Return the Cholesky factor of M + (2ν/κ) I, from the cache if it is there.

        The last one used is the last of the dictionary, so that the first is deleted first.
        """
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
    q, largest, has_converged = _conjugate_gradients(problem, rotated, metric, tolerance)
    if not has_converged:
        plain_metric = replace(metric, weight=np.ones(problem.n))
        q, _, _ = _conjugate_gradients(problem, rotated, plain_metric, tolerance)
    return q @ metric.basis.T, largest


def _conjugate_gradients(
    problem: Problem, rotated: Array, metric: Metric, tolerance: float
) -> tuple[Array, float, bool]:
    """Return q in the metric's basis, the largest eigenvalue, and whether φ(q) vanishes."""
    q = np.zeros((rotated.shape[1], problem.n))
    residual = np.empty_like(q)
    image = np.empty_like(q)
    gradient = metric.gradient(problem, rotated)
    fill_gradient(gradient, q, residual)
    linear = gradient._replace(y=np.zeros(problem.n))  # fills -M q/2ν, without φ(0)
    max_residual = tolerance * np.linalg.norm(residual)
    previous_product = np.inf
    lengths: list[float] = []
    shares: list[float] = []  # of the direction before
    direction = np.zeros_like(q)
    while np.linalg.norm(residual) > max_residual and len(lengths) < MAX_CG_STEPS:
        conditioned = residual / metric.weight
        product = float(np.vdot(residual, conditioned))
        share = product / previous_product
        direction *= share
        direction += conditioned
        fill_gradient(linear, direction, image)
        curvature = -float(np.vdot(direction, image))
        if not curvature > 0:
            break
        lengths.append(product / curvature)
        shares.append(share)
        q += lengths[-1] * direction
        residual += lengths[-1] * image
        previous_product = product
    has_converged = bool(np.linalg.norm(residual) <= max_residual)
    return q, _largest_ritz(np.array(lengths), np.array(shares)), has_converged


def _largest_ritz(lengths: Array, shares: Array) -> float:
    """Return the largest eigenvalue of the tridiagonal matrix that conjugate gradients imply.

    lengths, shares: of each step, and of the direction before in it. 1 if no step was needed.
    """
    from scipy.linalg import eigvalsh_tridiagonal

    if not len(lengths):
        return 1.0
    diagonal = 1 / lengths
    diagonal[1:] += shares[1:] / lengths[:-1]
    return float(eigvalsh_tridiagonal(diagonal, np.sqrt(shares[1:]) / lengths[:-1])[-1])
