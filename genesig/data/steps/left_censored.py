"""Missing values that were too small to be measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class LeftCensored:
    """``x_ij = the q-quantile of gene j over the training samples that have it``, where missing.

    For proteins and spots below detection: that a value is missing says that it is small. A gene
    that no training sample has gets the quantile of all values.

    Attributes
    ----------
    low : (n_genes,) float
        What each gene's missing values become.

    Notes
    -----
    MinDet of the R package imputeLCMD (C. Lazar et al. 2016, J. Proteome Res. 15:1116), by gene
    and not by sample, so that a sample's value depends on nothing else of it.
    """

    low: Array
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array, *, quantile: float) -> LeftCensored:
        """Find the quantile of each gene over the rows of X (n_train, n_genes)."""
        known = ~np.isnan(X)
        low = np.full(X.shape[1], np.quantile(X[known], quantile) if known.any() else 0.0)
        some = np.flatnonzero(known.any(axis=0))
        # np.nanquantile looks at one gene after the other, in seconds; NaN are sorted to the end.
        ordered, at = np.sort(X[:, some], axis=0), quantile * (known[:, some].sum(axis=0) - 1)
        below, part = np.floor(at).astype(np.int64), at % 1.0
        each = np.arange(len(some))
        left, right = ordered[below, each], ordered[below + (part > 0), each]
        low[some] = left + part * (right - left)
        return cls(low)

    def transform(self, X: Array) -> Array:
        """Fill in what is NaN; what is not stays."""
        return np.where(np.isnan(X), np.asarray(self.low, dtype=np.float64), X)
