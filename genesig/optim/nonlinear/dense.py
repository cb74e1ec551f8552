"""The Hessian of the dual as a matrix, for problems small enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from genesig.optim.kernels import dense_blocks
from genesig.optim.nonlinear.problem import Problem

Array = np.ndarray[Any, Any]


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
        d, n = X.shape[1], problem.n
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
