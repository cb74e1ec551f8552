"""Missing values that were too small to be measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.errors import GenesigError

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


@dataclass(frozen=True, eq=False)
class HalfMinimum:
    """``x_ij = half the smallest value of gene j over the training samples``, where missing.

    Of logarithms to base 2 that is the smallest value less 1. For metabolites and proteins below
    the limit of detection. A gene that no training sample has gets that of all values.

    Attributes
    ----------
    low : (n_genes,) float
        What each gene's missing values become.

    Notes
    -----
    Compared by R. Wei et al. (2018), Sci. Rep. 8:663.
    """

    low: Array
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array, *, logarithms: bool) -> HalfMinimum:
        """Find the smallest value of each gene over the rows of X (n_train, n_genes).

        Raises
        ------
        GenesigError
            Without logarithms, a value is negative.
        """
        least = LeftCensored.fit(X, quantile=0.0).low
        if not logarithms and least.min(initial=0) < 0:
            raise GenesigError(
                f"normalise.folds: half_minimum found {least.min():.4g}, of which no half is"
                " smaller; if values are logarithms set its 'logarithms' to true"
            )
        return cls(least - 1 if logarithms else least / 2)

    def transform(self, X: Array) -> Array:
        """Fill in what is NaN; what is not stays."""
        return np.where(np.isnan(X), np.asarray(self.low, dtype=np.float64), X)


def of_low_genes(X: Array) -> bool:
    """Tell whether values of X (n, n_genes) are missing where they would be small.

    The genes that some samples miss have a mean that lies half a standard deviation of the genes'
    means below the median gene's: such values are not missing at random.
    """
    lost = np.isnan(X)
    means = np.where(lost, 0.0, X).sum(axis=0) / np.maximum(1, (~lost).sum(axis=0))
    some = lost.any(axis=0) & ~lost.all(axis=0)
    return bool(some.sum() > 1 and means[some].mean() < np.median(means) - means.std() / 2)
