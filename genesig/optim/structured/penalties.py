"""Norms of blocks as penalties.

A penalty is a norm Omega. K = {g: Omega°(g) <= 1} is where its dual norm is at most 1, and the
proximal map at level l is the identity minus the projection on l K (Moreau). So one scheme serves
all of them.

Source: Mosci 2009, section 5.2 and table of section 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from genesig.arrays import Array, row_squares
from genesig.errors import GenesigError
from genesig.optim.structured.columns import Blocks


class Penalty(Protocol):
    """A norm of coefficients B (d, T)."""

    # whether it is a sum of norms of pieces V_k, one a block, whose sum is B
    separable: ClassVar[bool]

    @property
    def blocks(self) -> Blocks:
        """Return the blocks and their weights."""

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return Omega°(G), or an upper bound from `pieces` whose sum is about G."""


class Projected(Penalty, Protocol):
    """A penalty whose proximal map is known.

    `pieces` (memberships, T) are the parts of a point that belong to the blocks, as the projection
    found them: an iterative projection starts there.
    """

    def value(self, B: Array) -> float:
        """Return Omega(B)."""

    def prox(
        self, Z: Array, level: float, pieces: Array | None = None, tolerance: float = 1e-14
    ) -> tuple[Array, Array | None]:
        """Return argmin_B ||B - Z||²/2 + level Omega(B), and the pieces of the projection."""


@dataclass(frozen=True)
class Groups:
    """``Omega(B) = sum_k w_k ||B_k||`` over disjoint blocks of rows, with Frobenius norms.

    One row a block is the weighted lasso, with several responses the multi-task norm; a partition
    is the group lasso, with several responses over the groups of all tasks together. Rows in no
    block are not in the model.

    Raises GenesigError: for a row in two blocks.
    """

    blocks: Blocks
    separable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        rows, count = np.unique(self.blocks.members, return_counts=True)
        if (count > 1).any():
            raise GenesigError(
                f"column {rows[np.argmax(count)]}, counted from 0, is in {count.max()} groups;"
                " groups that overlap need the penalty 'latent' or 'composite'"
            )

    def value(self, B: Array) -> float:
        """Return the sum of the weighted norms."""
        return float(self.blocks.weights @ self.blocks.norms(B))

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return ``max_k ||G_k|| / w_k``."""
        return _largest_norm(self.blocks, G)

    def prox(
        self, Z: Array, level: float, pieces: Array | None = None, tolerance: float = 1e-14
    ) -> tuple[Array, None]:
        """Return ``(1 - level w_k / ||Z_k||)_+ Z_k``; 0 for rows in no block.

        In closed form, so that pieces and tolerance are not used.
        """
        blocks = self.blocks
        norms = blocks.norms(Z)
        thresholds = level * blocks.weights
        factor = np.maximum(1 - thresholds / np.where(norms > 0, norms, 1), 0)
        B = np.zeros_like(Z)
        B[blocks.members] = Z[blocks.members] * np.repeat(factor, blocks.sizes())[:, None]
        return B, None


@dataclass(frozen=True)
class LatentOverlap:
    r"""The latent overlap norm, of blocks of rows that may overlap: the support is a union of them.

        Omega(B) = min sum_k w_k ||V_k||  over  sum_k V_k = B, V_k on the rows of block k

    Source: Jacob, Obozinski, Vert 2009, Group lasso with overlap and graph lasso.
    """

    blocks: Blocks
    separable: ClassVar[bool] = True

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return ``max_k ||G_k|| / w_k``."""
        return _largest_norm(self.blocks, G)


def _largest_norm(blocks: Blocks, G: Array) -> float:
    """Return ``max_k ||G_k|| / w_k``."""
    return float((blocks.norms(G) / blocks.weights).max())


MAX_PROX_SWEEPS = 10_000  # largest number of sweeps of the block ascent


class DisjointBlocks(NamedTuple):
    """Blocks that do not overlap, so that the ascent can project all of them at once."""

    places: Array  # (p,) rows of the pieces (memberships, T) that belong to these blocks
    rows: Array  # (p,) rows of the coefficients
    starts: Array  # of the blocks, in `places`
    sizes: Array  # of the blocks
    weights: Array  # of the blocks


@dataclass(frozen=True)
class Composite:
    """``Omega(B) = sum_k w_k ||B_k||`` for blocks of the rows of B (d, T) that may overlap.

    Its zeros are a union of blocks: right for trees (a probe only with its gene, a gene only with
    its pathway). Source: Mosci 2009, section 5.4.3, with |b_j| where it prints b_j.
    """

    blocks: Blocks
    separable: ClassVar[bool] = False

    def value(self, B: Array) -> float:
        """Return the sum of the weighted norms."""
        return float(self.blocks.weights @ self._norms(B[self.blocks.members]))

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return a bound on ``min max_k ||U_k|| / w_k over sum U_k = G``.

        Pieces that nearly add up to G share what is missing; without them all of G is missing.

        Raises GenesigError: for a row in no block, where the penalty is no norm.
        """
        members = self.blocks.members
        count = np.bincount(self.blocks.members, minlength=len(G))
        if (count == 0).any():
            raise GenesigError(
                f"column {np.argmin(count)}, counted from 0, is in no group: give it one of its own"
            )
        known_pieces = np.zeros((len(members), G.shape[1])) if pieces is None else pieces
        U = (
            known_pieces
            + ((G - self._sum_of_pieces(known_pieces, len(G))) / count[:, None])[members]
        )
        return float((self._norms(U) / self.blocks.weights).max())

    def prox(
        self, Z: Array, level: float, pieces: Array | None = None, tolerance: float = 1e-14
    ) -> tuple[Array, Array]:
        """Return Z less its projection, a sum of pieces in balls, by exact block ascent.

        ``xi_k <- projection of (Z - sum_{l != k} xi_l)_k on ||.|| <= level w_k``, block after
        block, small ones first: where they are nested, one sweep is exact. It ends when the gap,
        ``level Omega(B) - <B, Z - B>``, is at most the tolerance, relative to ||Z||²/2.
        """
        projected = (
            np.zeros((len(self.blocks.members), Z.shape[1])) if pieces is None else pieces.copy()
        )
        B = Z - self._sum_of_pieces(projected, len(Z))
        absolute_tolerance = tolerance * float(np.vdot(Z, Z)) / 2
        for _ in range(MAX_PROX_SWEEPS):
            for layer in self._disjoint_layers:
                self._project(layer, level, B, projected)
            if level * self.value(B) - float(np.vdot(B, Z - B)) <= absolute_tolerance:
                break
        return B, projected

    def _project(self, layer: DisjointBlocks, level: float, B: Array, projected: Array) -> None:
        """Project the blocks of one layer, which do not overlap: update B and their pieces."""
        free = B[layer.rows] + projected[layer.places]
        norms = np.sqrt(np.add.reduceat(row_squares(free), layer.starts))
        factors = np.minimum(level * layer.weights / np.where(norms > 0, norms, np.inf), 1)
        projected[layer.places] = free * np.repeat(factors, layer.sizes)[:, None]
        B[layer.rows] = free - projected[layer.places]

    def _norms(self, stacked: Array) -> Array:
        """Return the norm of each block of stacked rows (memberships, T)."""
        return np.sqrt(np.add.reduceat(row_squares(stacked), self.blocks.starts[:-1]))

    def _sum_of_pieces(self, pieces: Array, d: int) -> Array:
        """Return the sum of the pieces on d rows, (d, T)."""
        total = np.zeros((d, pieces.shape[1]))
        np.add.at(total, self.blocks.members, pieces)
        return total

    @cached_property
    def _disjoint_layers(self) -> list[DisjointBlocks]:
        """Blocks from small to large, in layers whose blocks do not overlap."""
        blocks = self.blocks
        sizes = self.blocks.sizes()
        depth = np.zeros(blocks.members.max() + 1, dtype=int)
        layers = np.zeros(len(blocks), int)
        for k in np.argsort(sizes, kind="stable"):
            layers[k] = depth[blocks.columns(k)].max()
            depth[blocks.columns(k)] = layers[k] + 1
        return [
            self._disjoint_blocks(np.flatnonzero(layers == layer_number))
            for layer_number in range(layers.max() + 1)
        ]

    def _disjoint_blocks(self, block_numbers: Array) -> DisjointBlocks:
        """Return the record of some blocks."""
        blocks = self.blocks
        sizes = self.blocks.sizes()[block_numbers]
        places = np.concatenate(
            [np.arange(blocks.starts[k], blocks.starts[k + 1]) for k in block_numbers]
        )
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return DisjointBlocks(
            places, blocks.members[places], starts, sizes, blocks.weights[block_numbers]
        )
