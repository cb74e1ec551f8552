"""The place of each value among those of its sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class RankSamples:
    """``(rank(x) - 1/2) / n_genes`` within a sample, in (0, 1); ties share their mean rank."""

    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Rank each row."""
        return np.asarray((average_ranks(X) - 0.5) / X.shape[1])


def average_ranks(X: Array) -> Array:
    """Return the ranks 1..n_genes of the values of each sample; ties share their mean rank."""
    ranks = np.empty(X.shape)
    for row, values in enumerate(X):
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        ranks[row] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks
