"""Penalties on the norms of partial derivatives, their conjugates and proximal maps.

With φ (d, n) the partial derivatives at the n training points, all three members are

    Ω(φ) = Σ_g r_g ||φ_g|| + (ε/2) ||φ||²

for a partition of the variables into blocks g:

* lasso:   one variable per block, r = τ/√n, ε = 0
* group:   r_g = τ p_g/√n, ε = 0
* elastic: one variable per block, r = τ μ/√n, ε = 2 τ (1 - μ)/n

Source: Gregorova et al. (2018), equations 7-9 and proposition 4 (with (v)_+ = max(0, v)); their
paper's group weight is p_g itself, for example the square root of the group's size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array, row_squares
from genesig.plugins import Registry


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
