"""Norms of blocks that do not overlap, and what every penalty on blocks can say.

A penalty is a norm Omega. K = {g: Omega°(g) <= 1} is where its dual norm is at most 1, and the
proximal map at level l is the identity less the projection on l K (Moreau), so that one scheme
serves all of them.

Source: Mosci 2009, section 5.2 and table of section 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from genesig.errors import GenesigError
from genesig.optim.structured.blocks import Blocks

Array = np.ndarray[Any, Any]


class Penalty(Protocol):
    """A norm of coefficients B (d, T).

    Attributes
    ----------
    apart : bool
        Whether it is a sum of norms of pieces V_k, one a block, of which B is the sum.
    """

    apart: ClassVar[bool]

    @property
    def blocks(self) -> Blocks:
        """Return the blocks and their weights."""

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return Omega°(G), or a bound on it from above that `pieces` that add up to G make."""


class Projected(Penalty, Protocol):
    """A penalty whose proximal map is known.

    `pieces` (memberships, T) are what the blocks take of a point, as the projection found them: of
    use where it is an iteration that goes on from there.
    """

    def value(self, B: Array) -> float:
        """Return Omega(B)."""

    def prox(
        self, Z: Array, level: float, pieces: Array | None = None, tolerance: float = 1e-14
    ) -> tuple[Array, Array | None]:
        """Return argmin_B ||B - Z||²/2 + level Omega(B), and the pieces of the projection."""


@dataclass(frozen=True)
class Groups:
    """``Omega(B) = sum_k w_k ||B_k||`` over disjoint blocks of rows, ||.|| that of Frobenius.

    One row a block is the weighted lasso, with several responses the multi-task norm; a partition
    is the group lasso, with several responses that of the groups of all tasks together. What no
    block holds is not in the model.

    Raises
    ------
    GenesigError
        For a row in two blocks.
    """

    blocks: Blocks
    apart: ClassVar[bool] = True

    def __post_init__(self) -> None:
        rows, count = np.unique(self.blocks.members, return_counts=True)
        if (count > 1).any():
            raise GenesigError(
                f"column {rows[np.argmax(count)]}, counted from 0, is in {count.max()} groups;"
                " groups that overlap need the penalty 'latent' or 'composite'"
            )

    def value(self, B: Array) -> float:
        """Return the sum of the weighted norms."""
        return float(self.blocks.weights @ self._norms(B))

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return ``max_k ||G_k|| / w_k``."""
        return _largest(self.blocks, G)

    def prox(
        self, Z: Array, level: float, pieces: Array | None = None, tolerance: float = 1e-14
    ) -> tuple[Array, None]:
        """Return ``(1 - level w_k / ||Z_k||)_+ Z_k``; 0 for rows in no block."""
        norms, cut, blocks = self._norms(Z), level * self.blocks.weights, self.blocks
        factor = np.maximum(1 - cut / np.where(norms > 0, norms, 1), 0)
        B = np.zeros_like(Z)
        B[blocks.members] = Z[blocks.members] * np.repeat(factor, blocks.sizes())[:, None]
        return B, None

    def _norms(self, B: Array) -> Array:
        return np.sqrt(self.blocks.sums(row_squares(B)))


@dataclass(frozen=True)
class LatentOverlap:
    r"""The latent overlap norm, of blocks of rows that may overlap: the support is a union of them.

        Omega(B) = min sum_k w_k ||V_k||  over  sum_k V_k = B, V_k on the rows of block k

    Source: Jacob, Obozinski, Vert 2009, Group lasso with overlap and graph lasso.
    """

    blocks: Blocks
    apart: ClassVar[bool] = True

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return ``max_k ||G_k|| / w_k``."""
        return _largest(self.blocks, G)


def _largest(blocks: Blocks, G: Array) -> float:
    return float((np.sqrt(blocks.sums(row_squares(G))) / blocks.weights).max())


def row_squares(M: Array) -> Array:
    """Return the squared norm of each row."""
    found: Array = np.einsum("jt,jt->j", M, M)
    return found
