"""Kernels with their first and second derivatives, and the sums of them that solvers need.

A function of the reproducing kernel Hilbert space is held by two sets of weights,

    f(x) = Σ_j α_j k(x_j, x) + Σ_aj B_aj ∂_a k(·, x)|_{x_j},

so that values f(x_i) = (K α + D'β)_i and partial derivatives ∂_a f(x_i) = (D α + L β)_ai with
D^a_ij = ∂_{s_a} k(s, x_j)|_{x_i} and L^ab_ij = ∂²k(s, r)/∂s_a ∂r_b|_{x_i, x_j}. For kernels of an
inner product or of a distance both follow from three n × n tables and three matrix products,
without D (n d × n) or L (n d × n d) ever being formed.

Source: Gregorova et al. (2018), appendix C; the three products: derivation in this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from genesig.arrays import Array, row_squares


@dataclass(frozen=True)
class KernelTables:
    """Kernel values and the two factors of its derivatives, for m points against n points.

    With differences z = x_i - x_j where `stationary`, and z = x_i otherwise::

        D^a_ij = first_ij x_ja (less x_ia where stationary)
        L^ab_ij = δ_ab first_ij + second_ij (x_ja less x_ia where stationary) z_b
    """

    value: Array  # (m, n)
    first: Array  # (m, n)
    second: Array  # (m, n)
    stationary: bool

    def weighed(self, root_weights: Array) -> KernelTables:
        """Return the tables of n points against themselves, times the root weights of both."""
        root_products = np.outer(root_weights, root_weights)
        return KernelTables(
            root_products * self.value,
            root_products * self.first,
            root_products * self.second,
            self.stationary,
        )


class Kernel(Protocol):
    """A kernel that is twice differentiable and depends on inner products only."""

    def tables(self, inner: Array, left_squares: Array, right_squares: Array) -> KernelTables:
        """Return the tables from inner products (m, n) and squared norms (m,), (n,)."""


@dataclass(frozen=True)
class Polynomial:
    """k(x, z) = (x'z + offset)^degree.

    D^a_ij = p (t + c)^(p-1) x_ja, L^ab_ij = p (p-1) (t + c)^(p-2) x_ja x_ib + δ_ab p (t + c)^(p-1).
    """

    degree: int = 3
    offset: float = 1.0

    def tables(self, inner: Array, left_squares: Array, right_squares: Array) -> KernelTables:
        """Return the tables; the squared norms are not used."""
        p = self.degree
        t = inner + self.offset
        second = p * (p - 1) * t ** (p - 2) if p > 1 else np.zeros_like(t)
        return KernelTables(t**p, p * t ** (p - 1), second, stationary=False)


@dataclass(frozen=True)
class Gaussian:
    """k(x, z) = exp(-||x - z||² / 2 s²), s = `width` in the units of the features.

    D^a_ij = k_ij (x_ja - x_ia)/s², L^ab_ij = k_ij (δ_ab/s² - (x_ia - x_ja)(x_ib - x_jb)/s⁴).
    Inner products are of centred features where digits matter.
    """

    width: float

    def tables(self, inner: Array, left_squares: Array, right_squares: Array) -> KernelTables:
        """See `Kernel.tables`."""
        scale = self.width**-2
        squared = np.maximum(left_squares[:, None] + right_squares - 2 * inner, 0)
        value = np.exp(-0.5 * scale * squared)
        return KernelTables(value, scale * value, scale**2 * value, stationary=True)


def gaussian(*, width: float, degree: int, offset: float) -> Kernel:
    """Return a Gaussian kernel; degree and offset are not used."""
    return Gaussian(width)


def polynomial(*, width: float, degree: int, offset: float) -> Kernel:
    """Return a polynomial kernel; the width is not used."""
    return Polynomial(degree, offset)


def linear(*, width: float, degree: int, offset: float) -> Kernel:
    """Return the linear kernel, k(x, z) = x'z; no setting is used.

    With it a penalty on the partial derivatives is that of the lasso: f has a weight w_a for each
    feature, and ||∂_a f|| = sqrt(n) |w_a| over the n samples.
    """
    return Polynomial(degree=1, offset=0.0)


KERNELS = {"gaussian": gaussian, "polynomial": polynomial, "linear": linear}


def tables(kernel: Kernel, X: Array, Z: Array) -> KernelTables:
    """Return the tables of points X (m, d) against points Z (n, d)."""
    return kernel.tables(X @ Z.T, row_squares(X), row_squares(Z))


def median_distance(inner: Array, counts: Array | None = None) -> float:
    """Return the median distance between different points, from their inner products (n, n).

    A point that occurs `counts` (n,) times counts as so many points at distance 0.
    """
    squared_norms = np.diag(inner)
    pairs = ~np.tri(len(inner), dtype=bool)
    squared = np.maximum((squared_norms[:, None] + squared_norms - 2 * inner)[pairs], 0)
    if counts is None:
        return float(np.sqrt(np.median(squared)))
    copies = np.maximum(counts * (counts - 1) / 2, 0).sum()
    squared = np.append(squared, 0.0)
    pair_counts = np.append(np.outer(counts, counts)[pairs], copies)
    order = np.argsort(squared, kind="stable")
    cumulative_counts = np.cumsum(pair_counts[order])
    middle_pairs = [
        np.searchsorted(cumulative_counts, cumulative_counts[-1] / 2, side)
        for side in ("left", "right")
    ]
    return float(np.sqrt(squared[order][middle_pairs].mean()))


def directional(table: KernelTables, inner: Array, anchors: Array) -> Array:
    """Return S_ij = Σ_b z_b B_bj (m, n), z as in `KernelTables`.

    inner (m, n): x_i'B_j, B_j the derivative weights (d,) of point j. anchors (n,): x_j'B_j.
    """
    return inner - anchors if table.stationary else inner


def values(table: KernelTables, S: Array, alpha: Array) -> Array:
    """Return f(x_i) = Σ_j value_ij α_j + first_ij S_ij, (m,)."""
    return np.asarray(table.value @ alpha + np.einsum("ij,ij->i", table.first, S))


def pull(table: KernelTables, S: Array, alpha: Array) -> Array:
    """Return E_ij = first_ij α_j + second_ij S_ij, (m, n): weight of x_j in the gradient at x_i.

    The sign is plus in both families of kernels, because for a stationary kernel
    (x_ja - x_ia)(x_ib - x_jb) carries the minus of L.
    """
    return np.asarray(table.first * alpha + table.second * S)


def evaluate(
    kernel: Kernel, points: Array, X: Array, alpha: Array, B: Array
) -> tuple[Array, Array]:
    """Return values (m,) and partial derivatives (d, m) of f at new points.

    points (m, d). X (n, d): the points that f is expanded in. alpha, B (n,), (d, n).

    6 m n d flops and O(m n + m d) memory.
    """
    table = tables(kernel, points, X)
    S = directional(table, points @ B, np.einsum("ja,aj->j", X, B))
    E = pull(table, S, alpha)
    gradient = B @ table.first.T + X.T @ E.T
    if table.stationary:
        gradient -= points.T * E.sum(axis=1)
    return values(table, S, alpha), gradient


def dense_blocks(table: KernelTables, X: Array) -> tuple[Array, Array]:
    """Return D (d, n, n) and L (d, d, n, n), for small problems and as a reference.

    8 (n d)² bytes: 0.8 GB at n = d = 100.
    """
    first_factors = np.repeat(X.T[:, None, :], len(X), axis=1)
    second_factors = np.repeat(X.T[:, :, None], len(X), axis=2)
    if table.stationary:
        first_factors, second_factors = (
            first_factors - second_factors,
            second_factors - first_factors,
        )
    D = table.first * first_factors
    L = table.second * first_factors[:, None] * second_factors[None]
    L[np.diag_indices(X.shape[1])] += table.first
    return D, L
