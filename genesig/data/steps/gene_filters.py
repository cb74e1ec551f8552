"""Gene filters, which choose genes on training rows and take the same genes of any other row.

`Normaliser` in `normalise.py` explains the class variables `kind` and `genes` of a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError


@dataclass(frozen=True, eq=False)
class KeptGenes:
    """The genes that a filter chose."""

    genes: Array  # (n_kept,) int, ascending
    kind: ClassVar[Literal["fold"]] = "fold"

    def transform(self, X: Array) -> Array:
        """Return the kept columns."""
        return X[:, self.genes]


@dataclass(frozen=True)
class Filter:
    """A rule that chooses genes: `fit`, or a call with stored genes, returns `KeptGenes`."""

    choose: Callable[..., Array]  # function of (X, settings): returns the kept columns, ascending
    kind: ClassVar[Literal["fold"]] = "fold"

    def fit(self, X: Array, **settings: float) -> KeptGenes:
        """Choose genes by their values over the rows."""
        return KeptGenes(self.choose(X, **settings))

    def __call__(self, genes: Array) -> KeptGenes:
        """Return the fitted filter with these genes, as a model file has stored them."""
        return KeptGenes(genes)


def by_variance(X: Array, *, keep: float) -> Array:
    """Keep the share `keep` of genes (at least one) with the largest training variance.

    Of equal variances the earlier genes are kept.
    """
    n_kept = max(1, round(keep * X.shape[1]))
    largest_first = np.argsort(-X.var(axis=0), kind="stable")
    return np.sort(largest_first[:n_kept])


def by_fold(X: Array, *, above: float) -> Array:
    """Return the genes with ``max / min > above`` over the training samples (n_train, n_genes).

    Raises GenesigError: a value is not positive.
    """
    minimum = X.min(axis=0)
    if minimum.min() <= 0:
        raise GenesigError(
            f"normalise.folds: fold_filter needs positive values, found {minimum.min():g}; use "
            "range_filter, or put log2 after it in normalise.folds instead of before the splits"
        )
    return _passing_genes("fold_filter", X.max(axis=0) > above * minimum, above)


def by_range(X: Array, *, above: float) -> Array:
    """Keep genes with ``max - min > above`` over the training samples."""
    return _passing_genes("range_filter", np.ptp(X, axis=0) > above, above)


def by_detection(X: Array, *, above: float, samples: float) -> Array:
    """Keep genes with ``x > above`` in at least the share `samples` of the training samples."""
    min_samples = int(np.ceil(samples * len(X) * (1 - 1e-12)))  # 0.2 of 5 rows is 1, not 2
    return _passing_genes("detection_filter", (above < X).sum(axis=0) >= min_samples, above)


def _passing_genes(step: str, passes: Array, above: float) -> Array:
    """Return the columns that pass a filter; raise if there is none."""
    if not passes.any():
        raise GenesigError(
            f"normalise.folds: {step} leaves no gene above {above:g}; lower its 'above'"
        )
    return np.flatnonzero(passes)
