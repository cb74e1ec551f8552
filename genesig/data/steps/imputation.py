"""Imputation of missing values: from the nearest genes, by a mean, or as a small value.

`Normaliser` in `normalise.py` explains the class variables `kind` and `genes` of a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.scale import never_logged
from genesig.data.steps.transforms import LearnedStep
from genesig.errors import GenesigError

MAX_MISSING_OF_NEIGHBOUR = 0.5  # largest share of the training samples that a neighbour may miss
SHARE_ROUNDING = 1e-12  # relative rounding error of a share of samples: 0.3 of 10 are 3
MAX_SETS_AT_ONCE = 256  # largest number of training sets whose neighbours are computed at once
MAX_ARRAY_ELEMENTS = 500_000  # about the largest number of array elements that it holds, then
MAX_TABLE_ENTRIES = 40 * MAX_ARRAY_ELEMENTS
"""Largest number of entries in the neighbour tables (T, q, k) of sets at once: int32, 80 MB."""
CANDIDATES_PER_NEIGHBOUR = 3
"""This many times k genes, nearest over all samples, bound the k-th distance in a training set."""
MAX_SQUARED_DIFFERENCE = 8.0  # more than any squared difference of values below 1
SINGLE_ERROR_PER_ROW = 2e-6
"""Largest error of a sum of squares in single precision, for each row, as a share of the sum."""
SINGLE_ERROR_FLOOR = 1e-37  # largest error besides, for each row


class KnownNeighbours(NamedTuple):
    """Nearest genes that were computed before, for many sets of training samples at once."""

    genes: Array  # (q,) int, ascending
    # (q, k) int, the genes nearest to each of `genes`; -1 if there are fewer than k
    neighbours: Array

    def for_genes(self, requested: Array) -> Array | None:
        """Return the neighbours of the requested genes; None if one of these is not known."""
        all_known = np.isin(requested, self.genes).all()
        return self.neighbours[np.searchsorted(self.genes, requested)] if all_known else None


@dataclass(frozen=True, eq=False)
class KnnImpute:
    """``x_ij = mean over the k genes nearest to j of their values in sample i``.

    Genes are near by their mean squared difference over the training samples that have both;
    neighbours that the sample misses, too, are left out. Where it misses all of them, and for a
    gene that more than half of the training samples miss, the value is the gene's mean over the
    training samples that have it: it says nothing of the sample.

    A gene that more than a share of a class misses is left out: the values of other genes would
    replace most of its values in that class.

    Notes
    -----
    O. Troyanskaya et al. (2001), Bioinformatics 17:520. On the training samples the numbers of
    impute.knn, as long as that looks at all genes together (``maxp``, 1500 of them) and some
    neighbour has a value; where none has, it takes the sample's mean over the other genes.
    """

    donors: Array  # (n_train, n_genes) float: the training samples, NaN where a value is missing
    neighbours: int  # number k of nearest genes
    # (n_kept,) int, growing, or None: columns that are left; None for all
    genes: Array | None = None
    # nearest genes by these donors, from `settings_by_training_set`; None: `transform` finds them
    known_neighbours: KnownNeighbours | None = field(default=None, metadata={"stored": False})
    kind: ClassVar[Literal["fold"]] = "fold"

    @classmethod
    def fit(
        cls,
        X: Array,
        *,
        neighbours: int,
        missing_most: float = 1.0,
        classes: Array | None = None,
        known_neighbours: KnownNeighbours | None = None,
    ) -> KnnImpute:
        """Keep the training samples, and the genes that enough samples of each class have.

        X (n_train, n_genes) float.
        missing_most: largest share of a class that may miss a gene, or of all training samples if
            there are no classes. 1 keeps every gene.
        classes (n_train,) numbers or None: the class of each training sample.

        Raises GenesigError: no gene is left.
        """
        kept_genes = np.flatnonzero(~exceeds_missing_share(X, missing_most, classes))
        if not len(kept_genes):
            raise GenesigError(
                f"normalise.folds: knn_impute leaves no gene that at most a share of"
                f" {missing_most:g} of a class misses; raise its 'missing_most'"
            )
        return cls(
            X.copy(),
            neighbours,
            kept_genes if len(kept_genes) < X.shape[1] else None,
            known_neighbours,
        )

    @classmethod
    def settings_by_training_set(
        cls, X: Array, training_rows: Sequence[Array], *, neighbours: int, **other_settings: Any
    ) -> Iterator[dict[str, Any]]:
        """Yield the settings of the step for each set of training rows of X (n, n_genes).

        The neighbours of many sets are computed at once, and become the setting
        ``known_neighbours`` of each. Other settings are passed on as they are.
        """
        incomplete_genes = np.flatnonzero(np.isnan(X).any(axis=0))
        n_sets = int(
            np.clip(
                MAX_TABLE_ENTRIES // max(1, len(incomplete_genes) * neighbours), 1, MAX_SETS_AT_ONCE
            )
        )
        for start in range(0, len(training_rows), n_sets):
            for neighbour_table in _nearest_genes(
                X, training_rows[start : start + n_sets], incomplete_genes, neighbours
            ):
                known_neighbours = KnownNeighbours(incomplete_genes, neighbour_table)
                yield {
                    **other_settings,
                    "neighbours": neighbours,
                    "known_neighbours": known_neighbours,
                }

    def transform(self, X: Array) -> Array:
        """Fill in missing values from the neighbours, and return the kept columns."""
        X = np.asarray(X, dtype=np.float64)
        is_kept = self.genes is None or np.isin(np.arange(X.shape[1]), self.genes)
        to_fill = np.isnan(X) & is_kept
        filled = X
        if to_fill.any():
            donors = np.asarray(self.donors, dtype=np.float64)
            usable = _is_usable(donors)
            filled = np.where(to_fill, gene_means(donors), X)
            incomplete_genes = np.flatnonzero(to_fill.any(axis=0) & usable)
            neighbour_table = (
                None
                if self.known_neighbours is None
                else self.known_neighbours.for_genes(incomplete_genes)
            )
            if neighbour_table is None:
                neighbour_table = _nearest_genes(
                    donors, [np.arange(len(donors))], incomplete_genes, self.neighbours
                )[0]
            for values, result in zip(X, filled, strict=True):
                is_lacking = np.isnan(values[incomplete_genes])
                means = _neighbour_means(values, neighbour_table[is_lacking])
                result[incomplete_genes[is_lacking]] = np.where(
                    np.isnan(means), result[incomplete_genes[is_lacking]], means
                )
        return filled if self.genes is None else filled[:, self.genes]


@dataclass(frozen=True, eq=False)
class MeanImpute(LearnedStep):
    """``x_ij = mean of gene j over the training samples that have it``, where missing.

    For omics that some patients lack: once the gene is centred, a filled-in value is about 0 and
    has no effect. A gene that no training sample has gets the mean of all values.
    """

    means: Array  # (n_genes,) float

    @classmethod
    def fit(cls, X: Array) -> MeanImpute:
        """Find the mean of each gene over the rows of X (n_train, n_genes)."""
        return cls(gene_means(X))

    def transform(self, X: Array) -> Array:
        """Return X with missing values filled in."""
        return np.where(np.isnan(X), np.asarray(self.means, dtype=np.float64), X)


def exceeds_missing_share(X: Array, missing_most: float, classes: Array | None) -> Array:
    """Return the mask of genes that more than a share of some class of X (n, n_genes) misses."""
    missing = np.isnan(X)
    class_missing = (
        [missing]
        if classes is None
        else [missing[classes == label] for label in np.unique(classes)]
    )
    share = np.max([class_rows.mean(axis=0) for class_rows in class_missing], axis=0)
    return np.asarray(share > missing_most * (1 + SHARE_ROUNDING))


def _is_usable(donors: Array) -> Array:
    """Return the mask of the genes that enough training samples have to be a neighbour."""
    return np.asarray((~np.isnan(donors)).mean(axis=0) >= 1 - MAX_MISSING_OF_NEIGHBOUR)


def _nearest_genes(X: Array, training_rows: Sequence[Array], target_genes: Array, k: int) -> Array:
    """Return the k usable genes nearest to each target gene in each of T training sets, (T, q, k).

    target_genes (q,) int: columns of X (n, d). -1 if there are fewer. Of equally near genes the
    earlier one is taken.

    Mean squared differences over all rows, less the rows that a set lacks, come from matrix
    products in single precision. They only exclude genes that cannot be among the k nearest: the
    distances of the remaining candidates are computed again from the differences, in double
    precision.
    """
    n, d = X.shape
    measured = ~np.isnan(X)
    k = max(1, min(k, d - 1))  # a model from elsewhere may ask for any number
    neighbours = np.full((len(training_rows), len(target_genes), k), -1, np.int32)
    X = np.ldexp(X, -np.frexp(np.max(np.abs(X), where=measured, initial=0))[1])  # below 1
    centre = X[measured].mean() if measured.any() else 0.0  # smaller numbers have more digits
    Z = np.where(measured, X - centre, 0.0).astype(np.float32)
    rounding_error = n * (SINGLE_ERROR_PER_ROW * (Z * Z).sum(axis=0) + SINGLE_ERROR_FLOOR)
    # (3, n, d), see `_pairwise_sums`
    all_parts = np.stack([measured.astype(np.float32), Z * Z, Z])
    absent_rows = [np.setdiff1d(np.arange(n), train) for train in training_rows]
    usable = np.array([_is_usable(X[train]) for train in training_rows])
    n_chunks = (
        1
        + len(target_genes)
        * max(d, CANDIDATES_PER_NEIGHBOUR * k * len(training_rows))
        // MAX_ARRAY_ELEMENTS
    )
    for chunk in np.array_split(np.arange(len(target_genes)), n_chunks):
        chunk_genes = target_genes[chunk]
        target_parts = np.stack(
            [all_parts[1, :, chunk_genes].T, all_parts[0, :, chunk_genes].T, -2 * Z[:, chunk_genes]]
        )
        squared_sums = _pairwise_sums(target_parts, all_parts)
        counts = target_parts[1].T @ all_parts[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            likely_neighbours = np.argpartition(
                squared_sums / counts, min(CANDIDATES_PER_NEIGHBOUR * k, d) - 1, axis=1
            )[:, : CANDIDATES_PER_NEIGHBOUR * k]
        distance_limits = _distance_limits(
            X, training_rows, usable, chunk_genes, likely_neighbours, k
        ).astype(np.float32)
        # Lower bounds of the sums and upper bounds of the counts, so that rounding excludes no
        # gene.
        squared_sums -= rounding_error + rounding_error[chunk_genes][:, None]
        counts += n * n * SINGLE_ERROR_PER_ROW
        # A candidate's distance, (sum - absent sum) / (count - absent count), is within the limit.
        for set_index, train in enumerate(training_rows):
            absent_parts = target_parts[:, absent_rows[set_index]]
            absent_parts[0] -= distance_limits[set_index] * absent_parts[1]
            absent_sums = _pairwise_sums(absent_parts, all_parts[:, absent_rows[set_index]])
            row, candidate = np.divmod(
                np.flatnonzero(
                    squared_sums - distance_limits[set_index][:, None] * counts <= absent_sums
                ),
                d,
            )
            is_candidate = usable[set_index, candidate] & (chunk_genes[row] != candidate)
            neighbours[set_index, chunk] = _sort_candidates(
                X, train, chunk_genes, (row[is_candidate], candidate[is_candidate]), k
            )
    return neighbours


def _pairwise_sums(target_parts: Array, all_parts: Array) -> Array:
    """Return ``x²'1 + 1'y² - 2 x'y`` (q, d): sums of squared differences of columns x and y.

    `target_parts` (3, n, q) hold x², 1 and -2x; `all_parts` (3, n, d) hold 1, y² and y.
    """
    return np.asarray(np.concatenate(target_parts).T @ np.concatenate(all_parts))


def _distance_limits(
    X: Array,
    training_rows: Sequence[Array],
    usable: Array,
    genes: Array,
    likely_neighbours: Array,
    k: int,
) -> Array:
    """Return an upper bound of the distance of the k-th nearest gene in each set, (T, q).

    It is the k-th smallest distance, a mean squared difference, among the likely neighbours (q, m)
    of the genes (q,). usable (T, d) bool: genes that may be neighbours in each set; a distance to
    others, or to the gene itself, counts as `MAX_SQUARED_DIFFERENCE`.
    """
    membership = np.zeros((len(X), len(training_rows)))
    for set_index, train in enumerate(training_rows):
        membership[train, set_index] = 1
    gap = X.T[likely_neighbours] - X.T[genes][:, None]
    both_measured = ~np.isnan(gap)
    gap[~both_measured] = 0.0
    with np.errstate(invalid="ignore"):
        distances = (gap * gap) @ membership / (both_measured @ membership)
    distances[
        np.isnan(distances)
        | ~usable.T[likely_neighbours]
        | (likely_neighbours == genes[:, None])[:, :, None]
    ] = MAX_SQUARED_DIFFERENCE
    return np.asarray(np.sort(distances, axis=1)[:, :k][:, -1].T)


def _sort_candidates(
    X: Array, train: Array, genes: Array, pairs: tuple[Array, Array], k: int
) -> Array:
    """Return the k nearest candidates of each gene, (q, k); -1 if there are fewer.

    pairs: index in `genes`, ascending, and candidate gene. Distances are over the training rows of
        X.
    """
    row, candidate = pairs
    distance = np.empty(len(row))
    for chunk in np.array_split(np.arange(len(row)), 1 + len(row) * len(X) // MAX_ARRAY_ELEMENTS):
        difference = (np.take(X, genes[row[chunk]], axis=1) - np.take(X, candidate[chunk], axis=1))[
            train
        ]
        difference *= difference
        is_missing = np.isnan(difference)
        difference[is_missing] = 0.0
        with np.errstate(invalid="ignore"):
            distance[chunk] = difference.sum(axis=0) / (len(difference) - is_missing.sum(axis=0))
    order = np.lexsort((candidate, distance, row))
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    is_near = (rank < k) & ~np.isnan(distance[order])
    neighbours = np.full((len(genes), k), -1, np.int32)
    neighbours[row[is_near], rank[is_near]] = candidate[order][is_near]
    return neighbours


def _neighbour_means(values: Array, neighbours: Array) -> Array:
    """Return the mean (q,) of one sample's values at each row of neighbours (q, k); NaN if none."""
    neighbour_values = np.where(neighbours < 0, np.nan, values[neighbours])
    measured = ~np.isnan(neighbour_values)
    with np.errstate(invalid="ignore"):
        return np.asarray(
            np.where(measured, neighbour_values, 0.0).sum(axis=1) / measured.sum(axis=1)
        )


def gene_means(X: Array) -> Array:
    """Return each gene's mean (d,) over the samples that have it; the overall mean if none has."""
    measured = ~np.isnan(X)
    counts = measured.sum(axis=0)
    sums = np.where(measured, X, 0).sum(axis=0)
    overall = sums.sum() / max(1, counts.sum())
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), overall))


@dataclass(frozen=True, eq=False)
class LowValueImpute(LearnedStep):
    """A step that replaces each gene's missing values by one low value."""

    low: Array  # (n_genes,) float: value that replaces each gene's missing values

    def transform(self, X: Array) -> Array:
        """Return X with missing values filled in."""
        return np.where(np.isnan(X), np.asarray(self.low, dtype=np.float64), X)


class LeftCensored(LowValueImpute):
    """``x_ij = the q-quantile of gene j over the training samples that have it``, where missing.

    For proteins and spots below detection, whose values are missing because they are small. A gene
    that no training sample has gets the quantile of all values.

    Notes
    -----
    MinDet of the R package imputeLCMD (C. Lazar et al. 2016, J. Proteome Res. 15:1116), by gene
    instead of by sample, so that a filled-in value does not depend on the sample's other genes.
    """

    @classmethod
    def fit(cls, X: Array, *, quantile: float) -> LeftCensored:
        """Find the quantile of each gene over the rows of X (n_train, n_genes)."""
        measured = ~np.isnan(X)
        low = np.full(X.shape[1], np.quantile(X[measured], quantile) if measured.any() else 0.0)
        measured_genes = np.flatnonzero(measured.any(axis=0))
        # np.nanquantile looks at one gene after the other, in seconds; NaN are sorted to the end.
        ordered = np.sort(X[:, measured_genes], axis=0)
        rank = quantile * (measured[:, measured_genes].sum(axis=0) - 1)
        lower_rank = np.floor(rank).astype(np.int64)
        fraction = rank % 1.0
        columns = np.arange(len(measured_genes))
        lower_values = ordered[lower_rank, columns]
        upper_values = ordered[lower_rank + (fraction > 0), columns]
        low[measured_genes] = lower_values + fraction * (upper_values - lower_values)
        return cls(low)


class HalfMinimum(LowValueImpute):
    """``x_ij = half the smallest value of gene j over the training samples``, where missing.

    For logarithms to base 2 this is the smallest value less 1. For metabolites and proteins below
    the limit of detection. A gene that no training sample has gets half the smallest of all values.

    Notes
    -----
    Compared by R. Wei et al. (2018), Sci. Rep. 8:663.
    """

    @classmethod
    def fit(cls, X: Array, *, logarithms: bool) -> HalfMinimum:
        """Return the step with half the smallest value of each gene over the rows of X.

        X (n_train, n_genes) float.
        logarithms: whether the values are logarithms to base 2.

        Raises GenesigError: a value is negative and no logarithm.
        """
        smallest = LeftCensored.fit(X, quantile=0.0).low
        if not logarithms and smallest.min(initial=0) < 0:
            raise GenesigError(
                f"normalise.folds: half_minimum found {smallest.min():.4g}, of which no half is"
                " smaller; if values are logarithms set its 'logarithms' to true"
            )
        return cls(smallest - 1 if logarithms else smallest / 2)


def step_for_missing(X: Array) -> str:
    """Return the step for the missing values of X (n, n_genes), by `missing_when_low`."""
    return "left_censored" if missing_when_low(X) else "knn_impute"


def missing_when_low(X: Array) -> bool:
    """Tell whether values of X (n, n_genes) are missing where they would be small.

    Each cell has the mean of its gene. Those of the missing cells lie half a standard deviation of
    the genes' means below those of the measured cells, and two standard errors, by the number of
    genes with missing cells: such values are not missing at random. Of values that were never
    logged the means are those of logarithms, as few large genes have most of the spread.
    """
    X = X[:, np.isfinite(X).any(axis=0)]
    n_missing = np.isnan(X).sum(axis=0)
    n_genes_with_missing = np.sum(n_missing > 0)
    if n_genes_with_missing < 2:
        return False
    if np.nanmin(X) > 0 and never_logged(X):
        X = np.log2(X)
    means = np.nanmean(X, axis=0)
    gap = np.average(means, weights=len(X) - n_missing) - np.average(means, weights=n_missing)
    return bool(gap > means.std() * max(1 / 2, 2 / np.sqrt(n_genes_with_missing)))
