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
        usable = (~np.isnan(donors)).mean(axis=0) >= 1 - MOST_MISSING
        filled = np.where(missing, _own_means(X, usable)[:, None], X)
        wanted = np.flatnonzero(missing.any(axis=0) & usable)
        near = _nearest(donors, np.flatnonzero(usable), wanted, self.neighbours)
        rows, places = np.nonzero(missing[:, wanted])
        near = near[places]
        values = X[rows[:, None], near]
        there = ~np.isnan(values) & (near >= 0)
        counts, sums = there.sum(axis=1), np.where(there, values, 0).sum(axis=1)
        known = counts > 0
        filled[rows[known], wanted[places[known]]] = sums[known] / counts[known]
        return filled


def _nearest(donors: Array, genes: Array, wanted: Array, k: int) -> Array:
    """Return the k nearest of `genes` to each one wanted, (q, k); -1 where there is none."""
    from genesig.compiled.neighbours import nearest  # here, because every job imports this module
    from genesig.compiled.tiles import COLUMNS, SINGLES

    near = np.full((len(wanted), max(1, min(k, len(genes) - 1))), -1)
    here = ~np.isnan(donors)
    size = np.max(np.abs(donors), where=here, initial=0)
    X = np.ldexp(donors, -np.frexp(size)[1])  # a power of two loses nothing
    centre = X[here].mean() if here.any() else 0.0
    values = np.where(here, X - centre, 0).astype(np.float32)  # smaller, so more digits
    table = np.stack([here, values, values**2], dtype=np.float32)
    columns = np.concatenate([table[2], -2 * table[1], table[0]])[:, wanted]
    nearest(
        np.ascontiguousarray(X.T), genes, wanted,
        _tiles(table.reshape(-1, X.shape[1])[:, genes], SINGLES),
        np.pad(np.ascontiguousarray(columns), ((0, 0), (0, COLUMNS))), near,
    )  # fmt: skip
    return near


def _tiles(table: Array, width: int) -> Array:
    """Return the columns of a table in groups, (t, rows, width), filled up with 0."""
    wide = np.pad(table, ((0, 0), (0, -table.shape[1] % width)))
    return np.ascontiguousarray(wide.reshape(len(table), -1, width).transpose(1, 0, 2))


def _own_means(X: Array, usable: Array) -> Array:
    """Return each sample's mean over the genes it has; 0 for a sample that has none."""
    there = usable & ~np.isnan(X)
    return np.asarray(np.where(there, X, 0).sum(axis=1) / np.maximum(there.sum(axis=1), 1))
