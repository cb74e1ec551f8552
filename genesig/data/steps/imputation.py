"""Missing values, from genes that behave alike, or as too small to be measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError

MOST_MISSING = 0.5
"""Largest share of the training samples that a neighbour may miss."""
ROUNDING = 1e-12
"""Of a share of samples: 0.3 of 10 are 3."""
TOGETHER = 256
NUMBERS = 500_000
"""Most training sets whose neighbours are sought at once; about as many numbers are held for it."""
LIKELY = 3
"""Times as many are nearest over all samples; how near these are in a set bounds what is sought."""
FARTHEST = 8.0
"""More than any squared difference of values below 1."""
EVEN = 2e-6
LEAST = 1e-37
"""What a sum in single precision is off by at most for each row, of the squares and besides."""


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
        cls,
        X: Array,
        *,
        neighbours: int,
        missing_most: float = 1.0,
        classes: Array | None = None,
        near: Near | None = None,
    ) -> KnnImpute:
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
    ) -> Iterator[dict[str, Any]]:
        """Yield, for each set of training rows of X, the settings with the neighbours there."""
        wanted = np.flatnonzero(np.isnan(X).any(axis=0))
        many = int(np.clip(40 * NUMBERS // max(1, len(wanted) * neighbours), 1, TOGETHER))
        for first in range(0, len(trains), many):
            for near in _nearest(X, trains[first : first + many], wanted, neighbours):
                yield {**others, "neighbours": neighbours, "near": Near(wanted, near)}

    def transform(self, X: Array) -> Array:
        """Fill in what is NaN; what is not stays. Take the columns that are left."""
        X = np.asarray(X, dtype=np.float64)
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
            for values, result in zip(X, filled, strict=True):
                lacks = np.isnan(values[wanted])
                means = _means_of(values, near[lacks])
                result[wanted[lacks]] = np.where(np.isnan(means), result[wanted[lacks]], means)
        return filled if self.genes is None else filled[:, self.genes]


@dataclass(frozen=True, eq=False)
class MeanImpute:
    """``x_ij = mean of gene j over the training samples that have it``, where missing.

    It says nothing of the sample: once the gene is centred it is about 0. For omics that some
    patients lack. A gene that no training sample has gets the mean of all values.

    Attributes
    ----------
    means : (n_genes,) float
    """

    means: Array
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array) -> MeanImpute:
        """Find the mean of each gene over the rows of X (n_train, n_genes)."""
        known = ~np.isnan(X)
        count = known.sum(axis=0)
        means = np.sum(X, axis=0, where=known) / np.maximum(count, 1)
        every = np.sum(X, where=known) / max(1, count.sum())
        return cls(np.where(count > 0, means, every))

    def transform(self, X: Array) -> Array:
        """Fill in what is NaN; what is not stays."""
        return np.where(np.isnan(X), np.asarray(self.means, dtype=np.float64), X)


def left_out(X: Array, missing_most: float, classes: Array | None) -> Array:
    """Tell of each gene whether more than a share of a class of X (n, n_genes) misses it."""
    missing = np.isnan(X)
    parts = [missing] if classes is None else [missing[classes == c] for c in np.unique(classes)]
    share = np.max([part.mean(axis=0) for part in parts], axis=0)
    return np.asarray(share > missing_most * (1 + ROUNDING))


def _usable(donors: Array) -> Array:
    return np.asarray((~np.isnan(donors)).mean(axis=0) >= 1 - MOST_MISSING)


def _nearest(X: Array, trains: Sequence[Array], wanted: Array, k: int) -> Array:
    """Return the k usable genes nearest to each one wanted on some rows of X, (T, q, k); or -1.

    Of equally near ones the earlier is taken. Matrix products over all rows, less those over the
    rows that a set lacks, tell which genes may be near; their differences tell how near these are.
    """
    (n, d) = X.shape
    here = ~np.isnan(X)
    k = max(1, min(k, d - 1))  # a model from elsewhere may ask for any number
    near = np.full((len(trains), len(wanted), k), -1, np.int32)
    X = np.ldexp(X, -np.frexp(np.max(np.abs(X), where=here, initial=0))[1])  # below 1
    centre = X[here].mean() if here.any() else 0.0  # what is smaller has more digits
    Z = np.where(here, X - centre, 0.0).astype(np.float32)
    slack = n * (EVEN * (Z * Z).sum(axis=0) + LEAST)
    theirs = np.stack([here.astype(np.float32), Z * Z, Z])
    lacking = [np.setdiff1d(np.arange(n), train) for train in trains]
    usable = np.array([_usable(X[train]) for train in trains])
    parts = 1 + len(wanted) * max(d, LIKELY * k * len(trains)) // NUMBERS
    for genes in np.array_split(np.arange(len(wanted)), parts):
        i = wanted[genes]
        own = np.stack([theirs[1, :, i].T, theirs[0, :, i].T, -2 * Z[:, i]])
        sums = _products(own, theirs)
        counts = own[1].T @ theirs[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            likely = np.argpartition(sums / counts, min(LIKELY * k, d) - 1, axis=1)[:, : LIKELY * k]
        limits = _limits(X, trains, usable, i, likely, k).astype(np.float32)
        sums -= slack + slack[i][:, None]  # no more than they are, whatever is rounded
        counts += n * n * EVEN
        for t, train in enumerate(trains):
            part = own[:, lacking[t]]
            part[0] -= limits[t] * part[1]
            less = _products(part, theirs[:, lacking[t]])
            row, j = np.divmod(np.flatnonzero(sums - limits[t][:, None] * counts <= less), d)
            kept = usable[t, j] & (i[row] != j)
            near[t, genes] = _ordered(X, train, i, (row[kept], j[kept]), k)
    return near


def _products(own: Array, theirs: Array) -> Array:
    """Return ``x²'1 + 1'y² - 2 x'y``, (q, d), of such parts of x (3, n, q) and y (3, n, d)."""
    return np.asarray(np.concatenate(own).T @ np.concatenate(theirs))


def _limits(
    X: Array, trains: Sequence[Array], usable: Array, i: Array, likely: Array, k: int
) -> Array:
    """Return how far the k-th nearest to each gene i is at most in each set, (T, q)."""
    inside = np.zeros((len(X), len(trains)))
    for t, train in enumerate(trains):
        inside[train, t] = 1
    gap = X.T[likely] - X.T[i][:, None]
    own = ~np.isnan(gap)
    gap[~own] = 0.0
    with np.errstate(invalid="ignore"):
        apart = (gap * gap) @ inside / (own @ inside)
    apart[np.isnan(apart) | ~usable.T[likely] | (likely == i[:, None])[:, :, None]] = FARTHEST
    return np.asarray(np.sort(apart, axis=1)[:, :k][:, -1].T)


def _ordered(X: Array, train: Array, i: Array, pairs: tuple[Array, Array], k: int) -> Array:
    """Return the k nearest to each gene i of some pairs (place in i, gene), (q, k); or -1."""
    row, j = pairs
    distance = np.empty(len(row))
    for part in np.array_split(np.arange(len(row)), 1 + len(row) * len(X) // NUMBERS):
        gap = (np.take(X, i[row[part]], axis=1) - np.take(X, j[part], axis=1))[train]
        gap *= gap
        lacks = np.isnan(gap)
        gap[lacks] = 0.0
        with np.errstate(invalid="ignore"):
            distance[part] = gap.sum(axis=0) / (len(gap) - lacks.sum(axis=0))
    order = np.lexsort((j, distance, row))
    place = np.arange(len(row)) - np.searchsorted(row, row)
    kept = (place < k) & ~np.isnan(distance[order])
    near = np.full((len(i), k), -1, np.int32)
    near[row[kept], place[kept]] = j[order][kept]
    return near


def _means_of(values: Array, near: Array) -> Array:
    """Return the mean of those of one sample's values that it has, (q,), of each row of `near`."""
    theirs = np.where(near < 0, np.nan, values[near])
    own = ~np.isnan(theirs)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(own, theirs, 0.0).sum(axis=1) / own.sum(axis=1))


def gene_means(X: Array) -> Array:
    """Return each gene's mean over the samples that have it; that of all values where none has."""
    there = ~np.isnan(X)
    counts = there.sum(axis=0)
    sums = np.where(there, X, 0).sum(axis=0)
    overall = sums.sum() / max(1, counts.sum())
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), overall))


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
        ordered = np.sort(X[:, some], axis=0)
        at = quantile * (known[:, some].sum(axis=0) - 1)
        below = np.floor(at).astype(np.int64)
        part = at % 1.0
        each = np.arange(len(some))
        left = ordered[below, each]
        right = ordered[below + (part > 0), each]
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
