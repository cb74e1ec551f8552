"""The record of a path over blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.optim.structured.columns import Columns

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class BlockPath:
    """Minimisers at M values of tau.

    Attributes
    ----------
    columns : Columns
        X (n, d) and the blocks.
    tau : (M,)
        Absolute; as far as the path went (see `most` of `block_path`).
    norms : (M, B) sparse
        ||v_k|| of the coefficients of each block.
    gap : (M,)
        Duality gap over all blocks, relative to ||Y||²/n.
    steps : (M,) int
    converged : (M,) bool
    alpha : (M, n, T)
        Residuals over n; the coefficients of block k lie along ``A_k'alpha``.
    message : str
        Empty, or a sentence about the fits that did not converge.
    """

    columns: Columns
    tau: Array
    norms: csr_array
    gap: Array
    steps: Array
    converged: Array
    alpha: Array
    message: str

    def support(self, m: int) -> Array:
        """Return the blocks of one fit, ascending."""
        return np.sort(self.norms.indices[self.norms.indptr[m] : self.norms.indptr[m + 1]])

    def piece(self, m: int, k: int) -> Array:
        """Return v_k, (m_k, T), in the order of the block's columns."""
        along = self.columns.X[:, self.columns.blocks.columns(k)].T @ self.alpha[m]
        return np.asarray(along * (self.norms[m, k] / (np.linalg.norm(along) or 1.0)))

    def coef(self, m: int) -> Array:
        """Return the sum of the pieces on their columns, (d, T)."""
        b = np.zeros((self.columns.X.shape[1], self.alpha.shape[2]))
        for k in self.support(m):
            b[self.columns.blocks.columns(k)] += self.piece(m, k)
        return b
