"""The metric of the steps: how strongly the dual curves, direction by direction of the samples.

M acts on features and samples. Its average over the features, M̄ = Σ_a M_aa/d (n, n), keeps the
part of its conditioning that the kernel causes, and is cheap to divide by: steps in this metric
are a quarter to a tenth as many as plain ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.optim.nonlinear.problem import Problem

Array = np.ndarray[Any, Any]

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
    table, C = problem.table, problem.solve(np.eye(problem.n))
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
