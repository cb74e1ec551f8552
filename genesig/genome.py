"""The order of features along chromosomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError


@dataclass(frozen=True)
class Genome:
    """Features along chromosomes."""

    order: Array  # (d,) int: numbers of the features, chromosome by chromosome, by position
    starts: Array  # (c,) int: index in `order` at which each chromosome begins, the first at 0

    @classmethod
    def from_columns(
        cls,
        n_features: int,
        chromosomes: Sequence[Any] | Array | None,
        positions: Sequence[float] | Array | None,
    ) -> Genome:
        """Return the order of d features; None is one chromosome, and features in column order.

        Chromosomes are in order of their first feature; features at one position keep their order.

        Raises GenesigError: there is not one chromosome or position for each feature, or a position
            is not finite.
        """
        names = np.zeros(n_features) if chromosomes is None else np.asarray(chromosomes)
        position = (
            np.arange(n_features) if positions is None else np.asarray(positions, dtype=float)
        )
        if (
            names.shape != (n_features,)
            or position.shape != (n_features,)
            or not np.isfinite(position).all()
        ):
            raise GenesigError(
                f"chromosomes and positions (finite) must be {n_features}, one for a feature"
            )
        _, first_index, chromosome_number = np.unique(names, return_index=True, return_inverse=True)
        chromosome_number = np.argsort(np.argsort(first_index))[chromosome_number]
        order = np.lexsort((position, chromosome_number))
        return cls(
            order, np.concatenate([[0], np.flatnonzero(np.diff(chromosome_number[order])) + 1])
        )

    def columns_by_chromosome(self) -> list[Array]:
        """Return the features of each chromosome, in order."""
        return np.split(self.order, self.starts[1:])
