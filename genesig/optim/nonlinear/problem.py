"""The regularised least-squares problem of derivative penalties: penalties, dual, solvability.

With φ (d, n) the partial derivatives at the n training points, all three members are

    Ω(φ) = Σ_g r_g ||φ_g|| + (ε/2) ||φ||²

for a partition of the variables into blocks g:

* lasso:   one variable per block, r = τ/√n, ε = 0
* group:   r_g = τ p_g/√n, ε = 0
* elastic: one variable per block, r = τ μ/√n, ε = 2 τ (1 - μ)/n

Source: Gregorova et al. (2018), equations 7-9 and proposition 4 (with (v)_+ = max(0, v)); their
paper's group weight is p_g itself, for example the square root of the group's size.

Primal, with y centred, F = [K, D'], Z = [D, L], G = [[K, D'], [D, L]], w = (α, β):

    P(w) = (1/n) ||y - F w||² + Ω(Z w) + ν w'G w.

At the minimum α = (y - f)/(n ν) and β = -q/(2 ν) with q in ∂Ω(φ), so that q alone is left:

    min_q H(q) + Ω*(q),  ∇H(q) = -φ(q),  α = (K + n ν I)⁻¹ (y - D'β),  φ = D α + L β.

The Hessian of H is M/(2ν) with M = L - D (K + n ν I)⁻¹ D'. Every variable has a multiplier: zeros
are in φ, never in β. So a variable that is not selected still constrains f (its gradient vanishes
at all n points), and to screen it away changes the problem, unlike in the lasso.

ν must be positive. For a Gaussian kernel, and whenever the n (d + 1) functionals are independent,
some f has f(x_i) = y_i and zero gradient at all x_i. With ν = 0 the minimum would then be 0 for
every τ: nothing is ever selected, and f is not unique.

Source: Gregorova et al. (2018), section 4; Rosasco et al. (2010), with their τ half of this one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from genesig.arrays import Array, row_squares
from genesig.errors import GenesigError
from genesig.optim.kernels import KernelTables, directional, pull, values
from genesig.plugins import Registry

FEATURES_PER_SLICE = 2048
"""Features of one pass of a loop over all features, so that arrays stay in the cache."""

ARRAYS_OF_SOLVER = {"compressed": 2, "fista": 40, "projection": 45, "auto": 2}
"""Arrays of n × d that a solver keeps at once; `admm` keeps four matrices of n d × n d."""


@dataclass(frozen=True)
class Penalty:
    """Ω(φ) = Σ_g r_g ||φ_g|| + (ε/2) ||φ||²."""

    radius: Array  # (G,): r_g, in units of the response squared over those of φ
    block: Array  # (d,) int: number of the block of each variable
    curvature: float = 0.0  # ε

    @property
    def separate(self) -> bool:
        """Whether every block is a single variable."""
        return len(self.radius) == len(self.block)

    def norms(self, squared: Array) -> Array:
        """Return block norms (G,) from the squared norms of the rows (d,)."""
        if not self.separate:
            squared = np.bincount(self.block, squared, len(self.radius))
        return np.sqrt(squared)

    def value(self, squared: Array) -> float:
        """Return Ω(φ), from the squared norms of the rows of φ (d,)."""
        return float(self.radius @ self.norms(squared) + self.curvature / 2 * squared.sum())

    def conjugate(self, squared: Array) -> float:
        """Return Ω*(q) = Σ_g (||q_g|| - r_g)_+² / 2ε, for ε = 0 the indicator of ||q_g|| ≤ r_g.

        From the squared norms of the rows of q (d,). The indicator forgives the rounding of a
        projection: a relative 1e-12.
        """
        excess = np.maximum(self.norms(squared) - self.radius, 0)
        if self.curvature > 0:
            return float(excess @ excess) / (2 * self.curvature)
        return 0.0 if (excess <= 1e-12 * self.radius).all() else np.inf

    def prox(self, v: Array, step: float) -> Array:
        """Return argmin_u Ω(u) + ||u - v||²/2t = (1 - t r_g/||v_g||)_+ v_g / (1 + t ε)."""
        norms = self.norms(row_squares(v))
        factor = shrinkage(norms, step * self.radius) / (1 + step * self.curvature)
        return self.spread(factor) * v

    def prox_conjugate(self, v: Array, step: float) -> Array:
        """Return argmin_q Ω*(q) + ||q - v||²/2t; the projection on ||q_g|| ≤ r_g where ε = 0."""
        return self.spread(self.conjugate_factor(row_squares(v), step)) * v

    def project_to_bounds(self, q: Array) -> Array:
        """Return q (d, n) with finite Ω*: projected on its bounds if ε = 0."""
        # A projection is the same for each step, so any step will do.
        return self.prox_conjugate(q, 1.0) if self.curvature == 0 else q

    def conjugate_factor(self, squared: Array, step: float) -> Array:
        """Return the factor of each block (G,) in `prox_conjugate`; 1 where a block is zero."""
        shrinkage_factors = shrinkage(self.norms(squared), self.radius)
        return np.asarray(1 - shrinkage_factors / (1 + self.curvature / step))

    def spread(self, block_values: Array) -> Array:
        """Return the value of each variable's block, as a column (d, 1)."""
        return np.asarray(block_values[self.block, None])

    def take(self, features: Array) -> Penalty:
        """Return the penalty of some variables; they must form whole blocks."""
        blocks, renumbered = np.unique(self.block[features], return_inverse=True)
        return Penalty(self.radius[blocks], renumbered, self.curvature)


def shrinkage(norms: Array, threshold: Array) -> Array:
    """Return (1 - threshold/norm)_+, the factor by which a norm shrinks."""
    is_above = norms > threshold
    return np.where(is_above, 1 - threshold / np.where(is_above, norms, 1), 0.0)


def lasso(tau: float, n: int, block: Array, weights: Array, mu: float) -> Penalty:
    """Return Ω = τ/√n Σ_a ||φ_a||; blocks, weights and μ are not used."""
    return Penalty(np.full(len(block), tau / np.sqrt(n)), np.arange(len(block)))


def group(tau: float, n: int, block: Array, weights: Array, mu: float) -> Penalty:
    """Return Ω = τ/√n Σ_g p_g ||φ_g||; μ is not used."""
    return Penalty(tau / np.sqrt(n) * weights, block)


def elastic(tau: float, n: int, block: Array, weights: Array, mu: float) -> Penalty:
    """Return Ω = τ μ/√n Σ_a ||φ_a|| + τ (1 - μ)/n Σ_a ||φ_a||²; block and weights are unused."""
    radius = np.full(len(block), tau * mu / np.sqrt(n))
    return Penalty(radius, np.arange(len(block)), 2 * tau * (1 - mu) / n)


PENALTIES: Registry[Callable[..., Penalty]] = Registry(
    "penalties", {"lasso": lasso, "group": group, "elastic": elastic}
)


def slice_features(d: int) -> Iterator[slice]:
    """Yield slices of d features, each of at most `FEATURES_PER_SLICE`."""
    for start in range(0, d, FEATURES_PER_SLICE):
        yield slice(start, min(start + FEATURES_PER_SLICE, d))


@dataclass(frozen=True)
class Expansion:
    """The primal function of multipliers q."""

    alpha: Array  # (n,) float: weights of the kernel
    f: Array  # (n,) float: values at the training points
    spread: Array  # (n, n) float: R with φ = -q `first` / 2ν + X'R' for the same table


@dataclass(frozen=True)
class Problem:
    """Data of the problem that every choice of features shares."""

    table: KernelTables  # kernel tables of the training points against themselves
    y: Array  # (n,) float: centred response
    nu: float  # ν, absolute, in units of 1 over those of k
    eigenvalues: Array  # (n,) float: eigenvalues of the kernel matrix K
    eigenvectors: Array  # (n, n) float: its eigenvectors

    @classmethod
    def from_tables(cls, table: KernelTables, y: Array, nu: float) -> Problem:
        """Decompose the kernel matrix; `nu` is relative to mean(diag K)/n."""
        eigenvalues, eigenvectors = np.linalg.eigh(table.value)
        absolute = nu * float(np.mean(np.diag(table.value))) / len(y)
        return cls(table, y, absolute, np.maximum(eigenvalues, 0), eigenvectors)

    @property
    def n(self) -> int:
        """Return the number of training points."""
        return len(self.y)

    @cached_property
    def inverse(self) -> Array:
        """Return (K + n ν I)⁻¹."""
        return np.ascontiguousarray(self.solve(np.eye(self.n)))

    def solve(self, b: Array) -> Array:
        """Return (K + n ν I)⁻¹ b."""
        eigenvectors = self.eigenvectors
        return np.asarray(
            eigenvectors @ ((eigenvectors.T @ b).T / (self.eigenvalues + self.n * self.nu)).T
        )

    def expand(self, product_Xq: Array) -> Expansion:
        """Return the expansion of multipliers q from X q (n, n); β = -q/2ν is inserted here."""
        directional_sums = directional(self.table, product_Xq, np.diag(product_Xq)) * (
            -0.5 / self.nu
        )
        derivative_part = np.einsum("ij,ij->i", self.table.first, directional_sums)
        alpha = self.solve(self.y - derivative_part)
        spread = self.spread(directional_sums, alpha)
        return Expansion(alpha, values(self.table, directional_sums, alpha), spread)

    def spread(self, S: Array, alpha: Array) -> Array:
        """Return R (n, n) of the second term X'R' of the partial derivatives, see `Expansion`.

        S (n, n): as by `kernels.directional`. alpha (n,).
        """
        R = pull(self.table, S, alpha)
        if self.table.stationary:
            R[np.diag_indices(self.n)] -= R.sum(axis=1)
        return R

    def gradient(self, X: Array, q: Array) -> Array:
        """Return φ(q) (d, n), the partial derivatives at the training points, in 6 n² d flops."""
        pull_matrix = self.expand(X @ q).spread
        scaled_first = self.table.first * (-0.5 / self.nu)
        phi = np.empty_like(q)
        for columns in slice_features(len(q)):
            np.matmul(q[columns], scaled_first, out=phi[columns])
            phi[columns] += X[:, columns].T @ pull_matrix.T
        return phi


class InvalidProblem(GenesigError, ValueError):
    """Data or settings that no model can be fitted to."""


def check_data(X: Array, y: Array) -> None:
    """Raise if there are fewer than three samples, values that are not finite, constant columns."""
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise InvalidProblem(f"X must be (n, d) and y (n,); found {X.shape} and {y.shape}")
    if len(y) < 3:
        raise InvalidProblem(f"at least 3 samples are needed; found {len(y)}")
    if X.shape[1] < 1:
        raise InvalidProblem("at least one feature is needed; found none")
    # a sum is finite only if all terms are, and needs no mask of the size of X
    if not (np.isfinite(X.sum(axis=0)).all() and np.isfinite(y).all()):
        raise InvalidProblem("X and y must be finite: NaN or infinity was found")
    constant = np.flatnonzero(X.max(axis=0) == X.min(axis=0))
    if len(constant):
        raise InvalidProblem(
            f"{len(constant)} of {X.shape[1]} features are constant on these samples, the first"
            f" is number {constant[0]}; remove them: their derivative means nothing"
        )
    if y.max() == y.min():
        raise InvalidProblem(f"the response is constant ({y[0]:g}): there is nothing to explain")


def check_settings(*, nu: float, width: float, mu: float, degree: int) -> None:
    """Raise at ν ≤ 0, a width that is not positive, μ outside (0, 1], or a degree below 1."""
    if not (np.isfinite(nu) and nu > 0):
        raise InvalidProblem(
            f"nu must be positive, found {nu:g}: with nu = 0 a function of zero gradient at every"
            " sample fits any response exactly, and nothing is selected"
        )
    if not (np.isfinite(width) and width > 0):
        raise InvalidProblem(f"the kernel's width must be a positive number, found {width:g}")
    if not 0 < mu <= 1:
        raise InvalidProblem(f"mu must lie in (0, 1], found {mu:g}")
    if degree < 1 or degree != int(degree):
        raise InvalidProblem(f"the kernel's degree must be 1, 2, 3, ..., found {degree:g}")


def check_tau(tau: Sequence[float]) -> None:
    """Raise if fractions of tau_max are not positive or not falling."""
    fractions = np.asarray(tau, dtype=float)
    if not (fractions.size and np.isfinite(fractions).all() and (fractions > 0).all()):
        raise InvalidProblem(f"tau must be positive fractions of tau_max, found {list(tau)}")
    if (np.diff(fractions) > 0).any():
        raise InvalidProblem("tau must fall along the path, so that each fit starts the next")


def number_groups(groups: Sequence[Sequence[int]] | None, d: int, penalty: str) -> Array:
    """Return the number of each feature's group (d,); each feature is in exactly one.

    groups list of lists of feature numbers, or None: None makes every feature a group by itself. d:
    number of features.
    """
    if groups is None:
        if penalty == "group":
            raise InvalidProblem(
                "the group penalty needs groups: a list of lists of feature numbers"
            )
        return np.arange(d)
    group_of_feature = np.full(d, -1)
    for group_number, members in enumerate(groups):
        features = np.asarray(members, dtype=np.int64)
        if len(features) == 0:
            raise InvalidProblem(f"group {group_number} is empty")
        if features.min() < 0 or features.max() >= d:
            raise InvalidProblem(f"group {group_number} names a feature outside 0..{d - 1}")
        if (group_of_feature[features] >= 0).any() or len(np.unique(features)) < len(features):
            raise InvalidProblem(f"group {group_number} holds a feature that is in a group already")
        group_of_feature[features] = group_number
    if (group_of_feature < 0).any():
        raise InvalidProblem(
            f"groups must cover all {d} features; {np.sum(group_of_feature < 0)} are in none, the"
            f" first is number {np.flatnonzero(group_of_feature < 0)[0]}"
        )
    return group_of_feature


def check_weights(weights: Array | None, count: int) -> Array:
    """Return the weights of the groups, (count,), 1 if `weights` is None; raise if not positive."""
    checked = np.ones(count) if weights is None else np.asarray(weights, dtype=float)
    if checked.shape != (count,) or not (np.isfinite(checked).all() and (checked > 0).all()):
        raise InvalidProblem(f"weights must be {count} positive numbers, one for each group")
    return checked


def check_memory(n: int, d: int, solver: str) -> None:
    """Raise if a problem does not fit into the machine's memory."""
    needed_bytes = 8 * ARRAYS_OF_SOLVER.get(solver, 2) * n * d
    if solver == "admm":
        needed_bytes = 4 * 8 * (n * d) ** 2
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed_bytes > memory_bytes:
        raise InvalidProblem(
            f"{n} samples and {d} features need about {needed_bytes / 1e9:.3g} GB with the solver"
            f" '{solver}', more than the {memory_bytes / 1e9:.3g} GB of this machine; use the"
            " solver 'compressed', or keep fewer features"
        )
