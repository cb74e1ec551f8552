"""Composite absolute penalties: blocks that overlap, whose zeros are a union of blocks.

    Omega(B) = sum_k w_k ||B_k||

Right for trees (a probe only with its gene, a gene only with its pathway); for a support that is a
union of sets see `latent`.

Source: Mosci 2009, section 5.4.3, with |b_j| where it prints b_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from genesig.errors import GenesigError
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.penalties import row_squares

Array = np.ndarray[Any, Any]

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
    """``Omega(B) = sum_k w_k ||B_k||`` for blocks of the rows of B (d, T) that may overlap."""

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
        members, count = self.blocks.members, np.bincount(self.blocks.members, minlength=len(G))
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
        B, goal = Z - self._scattered(xi, len(Z)), tolerance * float(np.vdot(Z, Z)) / 2
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
        blocks, sizes = self.blocks, self.blocks.sizes()
        depth, layers = np.zeros(blocks.members.max() + 1, dtype=int), np.zeros(len(blocks), int)
        for k in np.argsort(sizes, kind="stable"):
            layers[k] = depth[blocks.columns(k)].max()
            depth[blocks.columns(k)] = layers[k] + 1
        return [self._layer(np.flatnonzero(layers == each)) for each in range(layers.max() + 1)]

    def _layer(self, members: Array) -> Layer:
        blocks, sizes = self.blocks, self.blocks.sizes()[members]
        places = np.concatenate(
            [np.arange(blocks.starts[k], blocks.starts[k + 1]) for k in members]
        )
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return Layer(places, blocks.members[places], starts, sizes, blocks.weights[members])
