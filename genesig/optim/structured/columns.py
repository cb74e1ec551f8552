"""The design of blocks of columns: their norms, and the Gram matrix of a block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from genesig.optim.structured.blocks import Blocks

Array = np.ndarray[Any, Any]


class Design(Protocol):
    """B designs A_k, of which only inner products of samples are asked for."""

    @property
    def weights(self) -> Array:
        """Return the blocks' weights, (B,)."""

    def squares(self, alpha: Array) -> Array:
        """Return ``||A_k'alpha||²``, (B,), of alpha (n, T)."""

    def gram(self, k: int) -> Array:
        """Return ``A_k A_k'``, (n, n)."""


@dataclass(frozen=True)
class Columns:
    """Blocks of columns of X (n, d)."""

    X: Array
    blocks: Blocks

    @property
    def weights(self) -> Array:
        """Return the blocks' weights, (B,)."""
        return self.blocks.weights

    def squares(self, alpha: Array) -> Array:
        """Return ``||A_k'alpha||²``, (B,), of alpha (n, T)."""
        G = self.X.T @ alpha
        return self.blocks.sums(np.einsum("jt,jt->j", G, G))

    def gram(self, k: int) -> Array:
        """Return ``A_k A_k'``, (n, n)."""
        A = self.X[:, self.blocks.columns(k)]
        product: Array = A @ A.T
        return product
