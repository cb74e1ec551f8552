"""Missing values, from genes that behave alike in the training samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

Array = np.ndarray[Any, Any]

MOST_MISSING = 0.5


@dataclass(frozen=True, eq=False)
class KnnImpute:
    """``x_ij = mean over the k genes nearest to j of their values in sample i``.

    Genes are near by their mean squared difference over the training samples that have both;
    neighbours that the sample misses, too, are left out. Where it misses all of them, and for a
    gene that more than half of the training samples miss, the value is the sample's mean over the
    other genes.

    Attributes
    ----------
    donors : (n_train, n_genes) float
        The training samples, NaN where a value is missing.
    neighbours : int
        k.

    Notes
    -----
    O. Troyanskaya et al. (2001), Bioinformatics 17:520. On the training samples the numbers of
    impute.knn, as long as that looks at all genes together (``maxp``, 1500 of them).
    """

    donors: Array
    neighbours: int
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array, *, neighbours: int) -> KnnImpute:
        """Keep the training samples."""
        return cls(X.copy(), neighbours)

    def transform(self, X: Array) -> Array:
        """Fill in what is NaN; what is not stays."""
        missing = np.isnan(X)
        if not missing.any():
            return X
        donors = np.asarray(self.donors, dtype=np.float64)
        present = ~np.isnan(donors)
        usable = present.mean(axis=0) >= 1 - MOST_MISSING
        tables = _Tables.of(donors, present)
        filled = X.copy()
        for gene in map(int, np.flatnonzero(missing.any(axis=0))):
            rows = missing[:, gene]
            filled[rows, gene] = _own_means(X[rows], usable)
            if usable[gene]:
                near = tables.nearest(gene, usable, self.neighbours)
                values, there = X[np.ix_(rows, near)], ~missing[np.ix_(rows, near)]
                counts, sums = there.sum(axis=1), np.where(there, values, 0).sum(axis=1)
                known = np.flatnonzero(rows)[counts > 0]
                filled[known, gene] = sums[counts > 0] / counts[counts > 0]
        return filled


@dataclass(frozen=True, eq=False)
class _Tables:
    """Presence, values and squares of the donors, (n_train, n_genes) each, one above the other."""

    present: Array
    stacked: Array

    @classmethod
    def of(cls, donors: Array, present: Array) -> _Tables:
        values = np.where(present, donors - donors[present].mean(), 0)  # smaller, so more digits
        return cls(present.astype(float), np.vstack([present, values, values**2]))

    def nearest(self, gene: int, usable: Array, k: int) -> Array:
        """Return the k nearest genes; of equally near ones the earlier."""
        here, values, squares = np.split(self.stacked[:, gene], 3)
        sums = np.concatenate([squares, -2 * values, here]) @ self.stacked
        counts = here @ self.present
        possible = usable & (counts > 0)
        possible[gene] = False
        distance = np.where(possible, sums / np.maximum(counts, 1), np.inf)
        last = np.partition(distance, min(k, len(distance)) - 1)[min(k, len(distance)) - 1]
        candidates = np.flatnonzero(possible & (distance <= last))
        return np.asarray(candidates[np.argsort(distance[candidates], kind="stable")[:k]])


def _own_means(X: Array, usable: Array) -> Array:
    """Return each sample's mean over the genes it has; 0 for a sample that has none."""
    there = usable & ~np.isnan(X)
    return np.asarray(np.where(there, X, 0).sum(axis=1) / np.maximum(there.sum(axis=1), 1))
