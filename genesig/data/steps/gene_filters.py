"""Filters: which genes are worth looking at, chosen on training rows and kept for any other row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError


@dataclass(frozen=True, eq=False)
class KeptGenes:
    """The genes that a filter chose.

    Attributes
    ----------
    genes : (n_kept,) int, growing
    """

    genes: Array
    kind: ClassVar[Literal["fold"]] = "fold"

    def transform(self, X: Array) -> Array:
        """Take the kept columns."""
        return X[:, self.genes]


@dataclass(frozen=True)
class Filter:
    """A rule that chooses genes, as the registry has it; called with its state, a `KeptGenes`.

    Attributes
    ----------
    choose : function of (X, settings)
        Returns the kept columns, growing.
    """

    choose: Callable[..., Array]
    kind: ClassVar[Literal["fold"]] = "fold"

    def fit(self, X: Array, **settings: float) -> KeptGenes:
        """Choose genes by their values over the rows."""
        return KeptGenes(self.choose(X, **settings))

    def __call__(self, genes: Array) -> KeptGenes:
        """Build the fitted filter again."""
        return KeptGenes(genes)


def by_variance(X: Array, *, keep: float) -> Array:
    """Keep the share `keep` of genes (at least one) with the largest training variance.

    Of equal variances the earlier genes are kept.
    """
    number = max(1, round(keep * X.shape[1]))
    largest_first = np.argsort(-X.var(axis=0), kind="stable")
    return np.sort(largest_first[:number])


def by_fold(X: Array, *, above: float) -> Array:
    """Keep genes with ``max / min > above`` over the training samples, which must be positive."""
    low = X.min(axis=0)
    if low.min() <= 0:
        raise GenesigError(
            f"normalise.folds: fold_filter needs positive values, found {low.min():g}; use "
            "range_filter, or put log2 after it in normalise.folds instead of before the splits"
        )
    return _kept("fold_filter", X.max(axis=0) > above * low, above)


def by_range(X: Array, *, above: float) -> Array:
    """Keep genes with ``max - min > above`` over the training samples."""
    return _kept("range_filter", np.ptp(X, axis=0) > above, above)


def by_detection(X: Array, *, above: float, samples: float) -> Array:
    """Keep genes with ``x > above`` in at least the share `samples` of the training samples."""
    number = int(np.ceil(samples * len(X) * (1 - 1e-12)))  # 0.2 of 5 rows is 1, not 2
    return _kept("detection_filter", (above < X).sum(axis=0) >= number, above)


def _kept(step: str, mask: Array, above: float) -> Array:
    if not mask.any():
        raise GenesigError(
            f"normalise.folds: {step} leaves no gene above {above:g}; lower its 'above'"
        )
    return np.flatnonzero(mask)
