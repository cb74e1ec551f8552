"""Missing values, from genes that behave alike in the training samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from genesig.errors import GenesigError

if TYPE_CHECKING:
    from genesig.compiled.near import Samples

Array = np.ndarray[Any, Any]

MOST_MISSING = 0.5
"""Largest share of the training samples that a neighbour may miss."""
ROUNDING = 1e-12
"""Of a share of samples: 0.3 of 10 are 3."""
TOGETHER, NUMBERS = 256, 20_000_000
"""Most sets of training samples whose neighbours are sought at once, and numbers of neighbours."""
LIKELY = 5
"""Times as many neighbours over all samples as are sought in each set, to begin with."""


class Near(NamedTuple):
    """Genes wanted (q,), ascending, and the nearest to each, (q, k); -1 where there is none."""

    wanted: Array
    near: Array

    def of(self, wanted: Array) -> Array | None:
        """Return the nearest of some of the genes; None where one is not among them."""
        known = np.isin(wanted, self.wanted).all()
        return self.near[np.searchsorted(self.wanted, wanted)] if known else None


@dataclass(frozen=True, eq=False)
class KnnImpute:
    """``x_ij = mean over the k genes nearest to j of their values in sample i``.

    Genes are near by their mean squared difference over the training samples that have both;
    neighbours that the sample misses, too, are left out. Where it misses all of them, and for a
    gene that more than half of the training samples miss, the value is the gene's mean over the
    training samples that have it: it says nothing of the sample.

    A gene that more than a share of a class misses is left out: what other genes say of it would
    be most of what the class is known by.

    Attributes
    ----------
    donors : (n_train, n_genes) float
        The training samples, NaN where a value is missing.
    neighbours : int
        k.
    genes : (n_kept,) int, growing, or None
        Columns that are left; None for all.
    near : Near or None
        Nearest genes that were found before, for many sets of training samples at once.

    Notes
    -----
    O. Troyanskaya et al. (2001), Bioinformatics 17:520. On the training samples the numbers of
    impute.knn, as long as that looks at all genes together (``maxp``, 1500 of them) and some
    neighbour has a value; where none has, it takes the sample's mean over the other genes.
    """

    donors: Array
    neighbours: int
    genes: Array | None = None
    near: Near | None = field(default=None, metadata={"stored": False})
    kind: ClassVar[Literal["fold"]] = "fold"

    @classmethod
    def fit(
        cls, X: Array, *, neighbours: int, missing_most: float = 1.0,
        classes: Array | None = None, near: Near | None = None,
    ) -> KnnImpute:  # fmt: skip
        """Keep the training samples, and the genes that no class of them misses mostly.

        Parameters
        ----------
        X : (n_train, n_genes) float
        neighbours : int
        missing_most : float
            Largest share of a class that may miss a gene; of all training samples where there are
            no classes. 1 keeps every gene.
        classes : (n_train,) numbers or None
            The class of each training sample.
        near : Near or None

        Raises
        ------
        GenesigError
            No gene is left.
        """
        kept = np.flatnonzero(~left_out(X, missing_most, classes))
        if not len(kept):
            raise GenesigError(
                f"normalise.folds: knn_impute leaves no gene that at most a share of"
                f" {missing_most:g} of a class misses; raise its 'missing_most'"
            )
        return cls(X.copy(), neighbours, kept if len(kept) < X.shape[1] else None, near)

    @classmethod
    def together(
        cls, X: Array, trains: Sequence[Array], *, neighbours: int, **others: Any
    ) -> Iterator[dict[str, Any]]:  # fmt: skip
        """Yield, for each set of training rows of X, the settings with the neighbours there."""
        wanted = np.flatnonzero(np.isnan(X).any(axis=0))
        many = int(np.clip(NUMBERS // max(1, len(wanted) * neighbours), 1, TOGETHER))
        # Genes that are near over all samples are likely to be near in a set, and change no answer.
        whole = [np.arange(len(X))]
        seeds = _nearest(X, whole, wanted, LIKELY * neighbours)[0] if len(trains) > 1 else None
        for first in range(0, len(trains), many):
            for near in _nearest(X, trains[first : first + many], wanted, neighbours, seeds):
                yield {**others, "neighbours": neighbours, "near": Near(wanted, near)}

    def transform(self, X: Array) -> Array:
        """Fill in what is NaN; what is not stays. Take the columns that are left."""
        from genesig.compiled.neighbours import fill  # here, as every job imports this module

        X = np.ascontiguousarray(X, dtype=np.float64)
        kept = np.ones(X.shape[1], dtype=bool)
        if self.genes is not None:
            kept[:] = False
            kept[self.genes] = True
        missing = np.isnan(X) & kept
        filled = X
        if missing.any():
            donors = np.asarray(self.donors, dtype=np.float64)
            usable = _usable(donors)
            filled = np.where(missing, gene_means(donors), X)
            wanted = np.flatnonzero(missing.any(axis=0) & usable)
            near = None if self.near is None else self.near.of(wanted)
            if near is None:
                near = _nearest(donors, [np.arange(len(donors))], wanted, self.neighbours)[0]
            most = max(1, min(self.neighbours, usable.sum() - 1))
            fill(X, wanted, np.ascontiguousarray(near[:, :most]), filled)
        return filled if self.genes is None else filled[:, self.genes]


def left_out(X: Array, missing_most: float, classes: Array | None) -> Array:
    """Tell of each gene whether more than a share of a class of X (n, n_genes) misses it."""
    missing = np.isnan(X)
    parts = [missing] if classes is None else [missing[classes == c] for c in np.unique(classes)]
    share = np.max([part.mean(axis=0) for part in parts], axis=0)
    return np.asarray(share > missing_most * (1 + ROUNDING))


def _usable(donors: Array) -> Array:
    return np.asarray((~np.isnan(donors)).mean(axis=0) >= 1 - MOST_MISSING)


def _nearest(
    X: Array, trains: Sequence[Array], wanted: Array, k: int, seeds: Array | None = None
) -> Array:
    """Return the k nearest usable genes to each one wanted on some rows of X, (T, q, k); or -1."""
    # Here, as every job imports this module.
    from genesig.compiled.lanes import LANES
    from genesig.compiled.near import Genes, room_for, whole_lines
    from genesig.compiled.neighbours import nearest
    from genesig.compiled.subsets import SHORTS

    here = ~np.isnan(X)
    size = np.max(np.abs(X), where=here, initial=0)
    X = np.ldexp(X, -np.frexp(size)[1])  # a power of two loses nothing
    centre = X[here].mean() if here.any() else 0.0
    single = (X - centre).astype(np.float32)  # smaller, so more digits
    wide = whole_lines((X.shape[1], len(X) + -len(X) % LANES), np.float64)
    wide[:, : len(X)], wide[:, len(X) :] = X.T, np.nan
    genes = Genes(wide, np.ascontiguousarray(single.T), _tiles(single, SHORTS))
    near = np.full((len(trains), len(wanted), max(1, min(k, X.shape[1] - 1))), -1, np.int32)
    seeds = np.full((len(wanted), 0), -1, np.int32) if seeds is None else seeds
    samples = _samples(X, trains)
    nearest(genes, samples, room_for(genes, samples, near.shape[2]), wanted, seeds, near)
    return near


def _samples(X: Array, trains: Sequence[Array]) -> Samples:
    """Describe sets of rows of X."""
    from genesig.compiled.lanes import LANES
    from genesig.compiled.near import Samples, whole_lines
    from genesig.compiled.tiles import DOUBLES

    T, n = len(trains), len(X)
    size = np.array([len(train) for train in trains])
    rows, out = np.zeros((T, size.max()), np.int64), np.full((T, n - size.min()), n, np.int32)
    inside = whole_lines((n, T + -T % DOUBLES), np.float64)
    for t, train in enumerate(trains):
        rows[t, : size[t]], inside[train, t] = train, 1
        out[t, : n - size[t]] = np.flatnonzero(inside[:, t] == 0)
    outside = whole_lines((T, n + -n % LANES), np.float64)
    outside[:, :n][inside[:, :T].T == 0] = np.nan
    usable = np.zeros((T, -(-X.shape[1] // 64), 64), bool)
    usable.reshape(T, -1)[:, : X.shape[1]] = [_usable(X[train]) for train in trains]
    bits = np.packbits(usable, axis=2, bitorder="little").view("<i8")[..., 0].astype(np.int64)
    return Samples(rows, size, inside, outside, out, bits)


def _tiles(values: Array, width: int) -> Array:
    """Return the columns of a table in groups of `width`, (t, rows, width), NaN beyond them."""
    from genesig.compiled.near import whole_lines

    rows, d = values.shape
    tiles = whole_lines((-(-d // width), rows, width), values.dtype)
    tiles[-1:] = np.nan
    for number, tile in enumerate(tiles):
        part = values[:, number * width :][:, :width]
        tile[:, : part.shape[1]] = part
    return tiles


def gene_means(X: Array) -> Array:
    """Return each gene's mean over the samples that have it; that of all values where none has."""
    there = ~np.isnan(X)
    counts, sums = there.sum(axis=0), np.where(there, X, 0).sum(axis=0)
    overall = sums.sum() / max(1, counts.sum())
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), overall))
