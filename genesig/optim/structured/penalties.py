"""Norms of blocks, and what every penalty on blocks can say.

A penalty is a norm Omega. K = {g: Omega°(g) <= 1} is where its dual norm is at most 1, and the
proximal map at level l is the identity less the projection on l K (Moreau), so that one scheme
serves all of them.

Source: Mosci 2009, section 5.2 and table of section 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.structured.blocks import Blocks


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
        norms = self._norms(Z)
        cut = level * self.blocks.weights
        blocks = self.blocks
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


SWEEPS = 10_000


class Layer(NamedTuple):
    """Blocks that do not overlap, which an ascent can treat at once.

    places (p,) in the pieces, rows (p,) of the coefficients, starts and sizes of the blocks, and
    their weights.
    """

    places: Array
    rows: Array
    starts: Array
    sizes: Array
    weights: Array


@dataclass(frozen=True)
class Composite:
    """``Omega(B) = sum_k w_k ||B_k||`` for blocks of the rows of B (d, T) that may overlap.

    Its zeros are a union of blocks: right for trees (a probe only with its gene, a gene only with
    its pathway). Source: Mosci 2009, section 5.4.3, with |b_j| where it prints b_j.
    """

    blocks: Blocks
    apart: ClassVar[bool] = False

    def value(self, B: Array) -> float:
        """Return the sum of the weighted norms."""
        return float(self.blocks.weights @ self._norms(B[self.blocks.members]))

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return a bound on ``min max_k ||U_k|| / w_k over sum U_k = G``.

        Pieces that nearly add up to G share what is missing; without them all of G is missing.

        Raises
        ------
        GenesigError
            For a row in no block, where the penalty is no norm.
        """
        members = self.blocks.members
        count = np.bincount(self.blocks.members, minlength=len(G))
        if (count == 0).any():
            raise GenesigError(
                f"column {np.argmin(count)}, counted from 0, is in no group: give it one of its own"
            )
        had = np.zeros((len(members), G.shape[1])) if pieces is None else pieces
        U = had + ((G - self._scattered(had, len(G))) / count[:, None])[members]
        return float((self._norms(U) / self.blocks.weights).max())

    def prox(
        self, Z: Array, level: float, pieces: Array | None = None, tolerance: float = 1e-14
    ) -> tuple[Array, Array]:
        """Return Z less its projection, a sum of pieces in balls, by exact block ascent.

        ``xi_k <- projection of (Z - sum_{l != k} xi_l)_k on ||.|| <= level w_k``, block after
        block, small ones first: where they are nested, one sweep is exact. It ends when the gap,
        ``level Omega(B) - <B, Z - B>``, is at most the tolerance, relative to ||Z||²/2.
        """
        xi = np.zeros((len(self.blocks.members), Z.shape[1])) if pieces is None else pieces.copy()
        B = Z - self._scattered(xi, len(Z))
        goal = tolerance * float(np.vdot(Z, Z)) / 2
        for _ in range(SWEEPS):
            for layer in self._layers:
                self._project(layer, level, B, xi)
            if level * self.value(B) - float(np.vdot(B, Z - B)) <= goal:
                break
        return B, xi

    def _project(self, layer: Layer, level: float, B: Array, xi: Array) -> None:
        free = B[layer.rows] + xi[layer.places]
        norms = np.sqrt(np.add.reduceat(row_squares(free), layer.starts))
        short = np.minimum(level * layer.weights / np.where(norms > 0, norms, np.inf), 1)
        xi[layer.places] = free * np.repeat(short, layer.sizes)[:, None]
        B[layer.rows] = free - xi[layer.places]

    def _norms(self, stacked: Array) -> Array:
        return np.sqrt(np.add.reduceat(row_squares(stacked), self.blocks.starts[:-1]))

    def _scattered(self, pieces: Array, d: int) -> Array:
        total = np.zeros((d, pieces.shape[1]))
        np.add.at(total, self.blocks.members, pieces)
        return total

    @cached_property
    def _layers(self) -> list[Layer]:
        """Return the blocks from small to large, those together that overlap none before."""
        blocks = self.blocks
        sizes = self.blocks.sizes()
        depth = np.zeros(blocks.members.max() + 1, dtype=int)
        layers = np.zeros(len(blocks), int)
        for k in np.argsort(sizes, kind="stable"):
            layers[k] = depth[blocks.columns(k)].max()
            depth[blocks.columns(k)] = layers[k] + 1
        return [self._layer(np.flatnonzero(layers == each)) for each in range(layers.max() + 1)]

    def _layer(self, members: Array) -> Layer:
        blocks = self.blocks
        sizes = self.blocks.sizes()[members]
        places = np.concatenate(
            [np.arange(blocks.starts[k], blocks.starts[k + 1]) for k in members]
        )
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return Layer(places, blocks.members[places], starts, sizes, blocks.weights[members])
