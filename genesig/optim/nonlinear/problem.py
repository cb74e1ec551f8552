"""The regularised least-squares problem, and its dual in the derivatives' multipliers.

Primal, with y centred, F = [K, D'], Z = [D, L], G = [[K, D'], [D, L]], w = (α, β):

    P(w) = (1/n) ||y - F w||² + Ω(Z w) + ν w'G w.

At the minimum α = (y - f)/(n ν) and β = -q/(2 ν) with q in ∂Ω(φ), so that q alone is left:

    min_q H(q) + Ω*(q),  ∇H(q) = -φ(q),  α = (K + n ν I)⁻¹ (y - D'β),  φ = D α + L β.

The Hessian of H is M/(2ν) with M = L - D (K + n ν I)⁻¹ D'. Every variable has a multiplier: zeros
are in φ, never in β. So a variable that is not selected still constrains f (its gradient vanishes
at all n points), and to screen it away changes the problem, unlike in the lasso.

ν must be positive: for a Gaussian kernel, and whenever the n (d + 1) functionals are independent,
some f has f(x_i) = y_i and zero gradient at all x_i, so that with ν = 0 the minimum is 0 for
every τ, nothing is ever selected, and f is not unique.

Source: Gregorova et al. (2018), section 4; Rosasco et al. (2010), with their τ half of this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.compiled.descent import Sums, pull_in_place
from genesig.optim.kernels import Tables, directional, pull, values

Array = np.ndarray[Any, Any]


BLOCK = 2048
"""Variables at a time where all are gone through: their arrays stay in the cache."""


def slices(d: int) -> Iterator[slice]:
    """Yield the variables in blocks."""
    for first in range(0, d, BLOCK):
        yield slice(first, min(first + BLOCK, d))


@dataclass(frozen=True)
class Expansion:
    """What follows from multipliers q.

    Attributes
    ----------
    alpha, f : (n,)
        Weights of the kernel and values at the training points.
    spread : (n, n)
        R with φ = -q `first` / 2ν + X'R' for the same table.
    """

    alpha: Array
    f: Array
    spread: Array


@dataclass(frozen=True)
class Problem:
    """Data of the problem that every choice of features shares.

    Attributes
    ----------
    table : Tables
        Of the training points against themselves.
    y : (n,)
        Centred.
    nu : float
        Absolute, in units of 1 over those of k.
    eigenvalues, eigenvectors : (n,), (n, n)
        Of the kernel's values K.
    """

    table: Tables
    y: Array
    nu: float
    eigenvalues: Array
    eigenvectors: Array

    @classmethod
    def of(cls, table: Tables, y: Array, nu: float) -> Problem:
        """Decompose the kernel matrix; `nu` is relative to mean(diag K)/n."""
        eigenvalues, eigenvectors = np.linalg.eigh(table.value)
        absolute = nu * float(np.mean(np.diag(table.value))) / len(y)
        return cls(table, y, absolute, np.maximum(eigenvalues, 0), eigenvectors)

    @property
    def n(self) -> int:
        """Return the number of training points."""
        return len(self.y)

    def solve(self, b: Array) -> Array:
        """(K + n ν I)⁻¹ b."""
        V = self.eigenvectors
        out: Array = V @ ((V.T @ b).T / (self.eigenvalues + self.n * self.nu)).T
        return out

    def expand(self, U: Array) -> Expansion:
        """Return the expansion of multipliers q from U = X q (n, n); β = -q/2ν is put in here."""
        S = directional(self.table, U, np.diag(U)) * (-0.5 / self.nu)
        kernel_free = np.einsum("ij,ij->i", self.table.first, S)
        alpha = self.solve(self.y - kernel_free)
        R = pull(self.table, S, alpha)
        if self.table.stationary:
            R[np.diag_indices(self.n)] -= R.sum(axis=1)
        return Expansion(alpha, values(self.table, S, alpha), R)

    def gradient(self, X: Array, q: Array) -> Array:
        """φ(q) (d, n), the partial derivatives at the training points, in 6 n² d flops."""
        R = self.expand(X @ q).spread
        first = self.table.first * (-0.5 / self.nu)
        phi = np.empty_like(q)
        for part in slices(len(q)):
            np.matmul(q[part], first, out=phi[part])
            phi[part] += X[:, part].T @ R.T
        return phi

    def sums(self) -> Sums:
        """Return what the compiled gradient takes."""
        scale = np.array([-0.5 / self.nu, float(self.table.stationary)])
        inverse = np.ascontiguousarray(self.solve(np.eye(self.n)))
        return Sums(self.table.first, self.table.second, inverse, self.y, scale)

    def without_response(self) -> Problem:
        """Return the problem with y = 0, whose gradient is linear in q."""
        return Problem(self.table, np.zeros(self.n), self.nu, self.eigenvalues, self.eigenvectors)


class Gradient:
    """φ(q) less its first term, fast, many times: for features (n, m), in a basis of the samples.

    4 n² (n + m) flops a call.
    """

    def __init__(self, problem: Problem, features: Array, basis: Array) -> None:
        n = problem.n
        self.sums, self.features, self.basis = problem.sums(), features, basis
        self.U, self.rotated, self.work = np.empty((n, n)), np.empty((n, n)), np.empty((3, n))

    def __call__(self, q: Array, out: Array) -> None:
        """Fill out (m, n) with X'R' for q (m, n)."""
        np.matmul(self.features, q, out=self.rotated)
        np.matmul(self.rotated, self.basis.T, out=self.U)
        pull_in_place(self.sums, self.U, self.work)
        np.matmul(self.U.T, self.basis, out=self.rotated)
        np.matmul(self.features.T, self.rotated, out=out)
