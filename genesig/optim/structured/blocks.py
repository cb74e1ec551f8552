"""Which columns belong together, and how much a block of them is penalised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError


@dataclass(frozen=True)
class Blocks:
    """B blocks of columns, which may overlap.

    Attributes
    ----------
    members : (memberships,) int
        Columns of X, block after block.
    starts : (B + 1,) int
        Block k is ``members[starts[k] : starts[k + 1]]``, each column once (`of` checks it).
    weights : (B,) float
        Weight w_k > 0 of each block's norm in the penalty.

    Raises
    ------
    GenesigError
        For a block without columns, or a weight that is not positive.
    """

    members: Array
    starts: Array
    weights: Array

    def __post_init__(self) -> None:
        sizes = np.diff(self.starts)
        weights = self.weights
        if not (len(sizes) and (sizes > 0).all()):
            raise GenesigError("there must be blocks, and each needs at least one column")
        if weights.shape != sizes.shape or not (np.isfinite(weights) & (weights > 0)).all():
            raise GenesigError(f"weights must be {len(sizes)} finite numbers > 0, one for a block")
        if self.members.min() < 0:
            raise GenesigError("columns are counted from 0; found a negative number")

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]], weights: Sequence[float] | Array) -> Blocks:
        """Make the blocks of lists of columns, none of which has a column twice."""
        parts = [np.asarray(each, dtype=np.int64) for each in lists]
        twice = [k for k, part in enumerate(parts) if len(np.unique(part)) < len(part)]
        if twice:
            raise GenesigError(f"block {twice[0]} names a column twice")
        starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        members = np.concatenate([np.zeros(0, np.int64), *parts])
        return cls(members, starts, np.array(weights, dtype=float))

    @classmethod
    def singletons(cls, d: int, weights: Sequence[float] | Array | float) -> Blocks:
        """Make a block of each of d columns: the lasso, or with several responses its rows."""
        every = np.broadcast_to(np.asarray(weights, dtype=float), (d,)).copy()
        return cls(np.arange(d), np.arange(d + 1), every)

    def __len__(self) -> int:
        return len(self.weights)

    def check(self, d: int) -> None:
        """Refuse blocks that do not fit d columns."""
        if self.members.max() >= d:
            raise GenesigError(
                f"blocks name column {self.members.max()}, counted from 0, of {d} columns"
            )

    def columns(self, k: int) -> Array:
        """Return the columns of block k."""
        found: Array = self.members[self.starts[k] : self.starts[k + 1]]
        return found

    def sizes(self) -> Array:
        """Return the number of columns of each block, (B,)."""
        return np.diff(self.starts)

    @cached_property
    def used(self) -> Array:
        """Return the columns that some block has, ascending."""
        return np.flatnonzero(np.bincount(self.members))

    @cached_property
    def place(self) -> Array:
        """Return the place of each membership among the columns used."""
        places = np.zeros(self.used[-1] + 1, dtype=np.int64)
        places[self.used] = np.arange(len(self.used))
        return places[self.members]

    def sums(self, of_column: Array) -> Array:
        """Add up, block by block, what each column has: (d, ...) gives (B, ...)."""
        total: Array = np.add.reduceat(of_column[self.members], self.starts[:-1], axis=0)
        return total
