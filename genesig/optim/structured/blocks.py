"""Blocks of columns, and the weight of each block's norm in the penalty."""

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

    Raises GenesigError: for a block without columns, or a weight that is not positive.
    """

    members: Array
    """(memberships,) int, columns of X, block after block."""
    starts: Array
    """(B + 1,) int; block k is ``members[starts[k] : starts[k + 1]]``, each column once."""
    weights: Array
    """(B,) weight w_k > 0 of each block's norm in the penalty."""

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
    def from_lists(cls, lists: Sequence[Sequence[int]], weights: Sequence[float] | Array) -> Blocks:
        """Return the blocks of lists of columns; raise if a list has a column twice."""
        members_of_block = [np.asarray(columns, dtype=np.int64) for columns in lists]
        has_repeats = [
            k for k, part in enumerate(members_of_block) if len(np.unique(part)) < len(part)
        ]
        if has_repeats:
            raise GenesigError(f"block {has_repeats[0]} names a column twice")
        starts = np.concatenate([[0], np.cumsum([len(part) for part in members_of_block])]).astype(
            np.int64
        )
        members = np.concatenate([np.zeros(0, np.int64), *members_of_block])
        return cls(members, starts, np.array(weights, dtype=float))

    @classmethod
    def singletons(cls, d: int, weights: Sequence[float] | Array | float) -> Blocks:
        """Return a block for each of d columns: the lasso, or with several responses its rows."""
        all_weights = np.broadcast_to(np.asarray(weights, dtype=float), (d,)).copy()
        return cls(np.arange(d), np.arange(d + 1), all_weights)

    def __len__(self) -> int:
        return len(self.weights)

    def check(self, d: int) -> None:
        """Raise if the blocks do not fit d columns."""
        if self.members.max() >= d:
            raise GenesigError(
                f"blocks name column {self.members.max()}, counted from 0, of {d} columns"
            )

    def columns(self, k: int) -> Array:
        """Return the columns of block k."""
        columns: Array = self.members[self.starts[k] : self.starts[k + 1]]
        return columns

    def sizes(self) -> Array:
        """Return the number of columns of each block, (B,)."""
        return np.diff(self.starts)

    @cached_property
    def used_columns(self) -> Array:
        """Columns that are in a block, ascending."""
        return np.flatnonzero(np.bincount(self.members))

    @cached_property
    def member_positions(self) -> Array:
        """Position of each membership among the used columns."""
        position_of_column = np.zeros(self.used_columns[-1] + 1, dtype=np.int64)
        position_of_column[self.used_columns] = np.arange(len(self.used_columns))
        return position_of_column[self.members]

    def block_sums(self, of_column: Array) -> Array:
        """Return the sum over each block's columns: (d, ...) gives (B, ...)."""
        total: Array = np.add.reduceat(of_column[self.members], self.starts[:-1], axis=0)
        return total
