"""A record of half-frequencies made from how many halves list each gene."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.results.splits import Chance
from genesig.selection.genes.frequency import tails

Array = np.ndarray[Any, Any]


def chance_of(observed: Array, permuted: Array, most: int = 10) -> Chance:
    """Return the record of so many of `most` halves listing each gene, observed and permuted.

    A gene is in the first lists.
    """
    permuted = np.asarray(permuted)
    every = [np.asarray(observed), *permuted]
    lists = [np.flatnonzero(times > half) for times in every for half in range(most)]
    tail = tails(permuted, most)
    return Chance(
        number=np.arange(1, len(permuted) + 1), outer=tail, inner=tail, final=tail,
        final_inner=tail, half=tail, half_inner=tail, indptr=np.cumsum([0, *map(len, lists)]),
        indices=np.concatenate(lists), lists=np.array(most),
        strength=np.asarray(observed, dtype=float),
    )  # fmt: skip
