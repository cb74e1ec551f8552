"""What every solver starts from: the largest tau, the metric and length of steps of the dual.

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

from genesig.arrays import Array
from genesig.compiled.descent import AT, WINDOW, Bounds, Memory, advance
from genesig.optim.kernels import dense_blocks
from genesig.optim.nonlinear.penalties import Penalty, row_squares
from genesig.optim.nonlinear.problem import Gradient, Problem

LEAST = 1e-6
"""Smallest weight, over the largest one."""


@dataclass(frozen=True)
class Metric:
    """w with H(q) ≤ H(z) - <φ(z), q - z> + ||q - z||²_w/2, diagonal in a basis of the samples.

    Attributes
    ----------
    basis : (n, n)
        Orthogonal; its columns are the directions.
    weight : (n,)
        w. Where it is too small, the steps notice and double it.
    own : (n,)
        What each unit of q adds to φ by itself, the first of the two terms of `Problem.gradient`.
    """

    basis: Array
    weight: Array
    own: Array

    @classmethod
    def of(cls, problem: Problem, inner: Array, d: int) -> Metric:
        """Return w of the average of M/2ν, in the directions of the table `first`."""
        eigenvalues, basis = np.linalg.eigh(problem.table.first)
        mean = np.einsum("ik,ik->k", basis, _average(problem, inner, d) @ basis)
        weight = np.maximum(mean, LEAST * mean.max()) / (2 * problem.nu)
        return cls(basis, weight, np.maximum(eigenvalues, 0) * (-0.5 / problem.nu))

    @classmethod
    def plain(cls, n: int, step: float) -> Metric:
        """Return the metric whose steps have one length."""
        return cls(np.eye(n), np.full(n, 1 / step), np.zeros(n))

    def times(self, factor: float) -> Metric:
        """Return a longer one."""
        return replace(self, weight=factor * self.weight)


def _average(problem: Problem, inner: Array, d: int) -> Array:
    """Σ_a M_aa/d of M = L - D C D', C = (K + n ν I)⁻¹, from inner products alone."""
    table = problem.table
    C = problem.solve(np.eye(problem.n))
    F = table.first
    along = F @ C @ F.T
    out = F @ (C * inner) @ F.T
    total = table.second * inner
    if table.stationary:
        norms = np.diag(inner)
        mixed = F @ (inner * (C @ F.T))
        out += inner * along - mixed - mixed.T
        total = table.second * (2 * inner - norms[:, None] - norms)
    mean: Array = F + (total - out) / d
    return (mean + mean.T) / 2


def accelerate(
    gradient: Callable[[Array, Array], None],
    penalty: Penalty,
    metric: Metric,
    q: Array,
    done: Callable[[float], bool],
    max_iterations: int,
    *,
    free: int = 0,
    slack: float = 0.0,
) -> tuple[Array, int]:
    """Minimise H(q) + Ω*(q) from q (m, n), within its bounds; return q and the number of steps.

    Parameters
    ----------
    gradient : callable
        (q, out), fills out (m, n) with φ(q) = -∇H(q) less `metric.own` q; in the metric's basis,
        like q.
    penalty : Penalty
        Of the rows after the first `free` ones, which have no bound.
    done : callable
        Whether a duality gap is small enough.
    max_iterations : int
    slack : float
        Bound of Σ r_g ||φ_g|| over ||φ|| for the features that the free rows stand for.
    """
    bounds = Bounds(
        np.array([free]),
        penalty.block.astype(np.int64),
        penalty.radius,
        np.array([penalty.curvature, slack]),
    )
    memory = _memory(metric, q, len(penalty.radius))
    memory.conjugate[0] = penalty.conjugate(row_squares(q[free:]))
    steps = 0
    while True:
        at = memory.place[AT]
        steps = steps + 1
        found = memory.points[at].reshape(q.shape)
        gradient(found, memory.slopes[at].reshape(q.shape))
        if done(advance(bounds, memory)) or steps >= max_iterations:
            return found, steps


def _memory(metric: Metric, q: Array, groups: int) -> Memory:
    """Return room for the last points, the first of which is q."""
    (m, n) = q.shape
    slots = WINDOW + 1
    memory = Memory(
        points=np.empty((slots, m * n)),
        slopes=np.empty((slots, m * n)),
        moves=np.empty((slots, m * n)),
        gram=np.zeros((slots, slots)),
        ahead=np.empty(m * n),
        slope=np.empty(m * n),
        weight=metric.weight.copy(),
        own=metric.own,
        conjugate=np.zeros(slots),
        shift=np.full(groups, -1.0),
        place=np.array([0, 0, -1]),
        scratch=np.empty((5, max(n, groups))),
        squares=np.empty((groups, n)),
    )
    memory.points[0] = q.ravel()
    return memory


KEPT_BYTES = 5e8
"""Cholesky factors at hand, 8 (n d)² bytes each, at least two: κ goes back and forth."""


@dataclass(frozen=True)
class Dense:
    """M (n d, n d) and φ_y = D (K + n ν I)⁻¹ y of one instance."""

    M: Array
    phi_y: Array
    factors: dict[float, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, X: Array) -> Dense:
        """Build the matrices; 24 (n d)² bytes on the way."""
        d = X.shape[1]
        n = problem.n
        D, L = dense_blocks(problem.table, X)
        flat = D.reshape(d * n, n)
        M = L.transpose(0, 2, 1, 3).reshape(d * n, d * n)
        M = M - flat @ problem.solve(flat.T)
        return cls((M + M.T) / 2, flat @ problem.solve(problem.y))

    def factor(self, nu: float, kappa: float) -> Any:
        """Return the Cholesky factor of M + (2ν/κ) I, computed or remembered."""
        from scipy.linalg import cho_factor

        shift = 2 * nu / kappa
        found = self.factors.pop(shift, None)
        if found is None:
            while len(self.factors) >= max(2, KEPT_BYTES // self.M.nbytes):
                self.factors.pop(next(iter(self.factors)))
            shifted = self.M.copy()
            shifted[np.diag_indices(len(shifted))] += shift
            found = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        self.factors[shift] = found
        return found


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
    residual = np.empty_like(q)
    image = np.empty_like(q)
    Gradient(problem, rotated, metric.basis)(q, residual)
    linear = Gradient(problem.without_response(), rotated, metric.basis)
    goal = tolerance * np.linalg.norm(residual)
    before = 1.0
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
