"""One distribution for all samples: that of the training samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.data.steps.ranks import average_ranks

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Quantile:
    """Give each sample the mean distribution of the training samples.

    ``target[i] = mean over training samples of their i-th smallest value``; a value of (average)
    rank r becomes target at r, halfway between two where r is.

    Attributes
    ----------
    target : (n_genes,) float, growing

    Notes
    -----
    B. M. Bolstad et al. (2003), Bioinformatics 19:185. Ties as in limma's normalizeQuantiles.
    """

    target: Array
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array) -> Quantile:
        """Average the sorted rows."""
        return cls(np.sort(X, axis=1).mean(axis=0))

    def transform(self, X: Array) -> Array:
        """Look the ranks of each row up in the target."""
        twice = (2 * average_ranks(X)).astype(np.int64)  # average ranks are whole or half
        lower, upper = self.target[twice // 2 - 1], self.target[(twice + 1) // 2 - 1]
        return np.asarray((lower + upper) / 2)
