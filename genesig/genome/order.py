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
    """Features along chromosomes.

    Attributes
    ----------
    order : (d,) int
        Numbers of the features, chromosome by chromosome, by position.
    starts : (c,) int
        Where in `order` each chromosome begins, the first at 0.
    """

    order: Array
    starts: Array

    @classmethod
    def of(
        cls,
        d: int,
        chromosomes: Sequence[Any] | Array | None,
        positions: Sequence[float] | Array | None,
    ) -> Genome:
        """Order d features; None is one chromosome, and the order in which they stand.

        Chromosomes keep the order of their first feature, features of one position theirs.

        Raises
        ------
        GenesigError
            Where there is not one of them for each feature, or a position is no finite number.
        """
        names = np.zeros(d) if chromosomes is None else np.asarray(chromosomes)
        place = np.arange(d) if positions is None else np.asarray(positions, dtype=float)
        if names.shape != (d,) or place.shape != (d,) or not np.isfinite(place).all():
            raise GenesigError(f"chromosomes and positions (finite) must be {d}, one for a feature")
        _, first, number = np.unique(names, return_index=True, return_inverse=True)
        number = np.argsort(np.argsort(first))[number]
        order = np.lexsort((place, number))
        return cls(order, np.concatenate([[0], np.flatnonzero(np.diff(number[order])) + 1]))

    def parts(self) -> list[Array]:
        """Return the features of each chromosome, in order."""
        return np.split(self.order, self.starts[1:])
