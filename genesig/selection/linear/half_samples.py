"""Gene lists of half-samples, under the observed and under permuted labels.

The training rows of a set, or those that train an inner fold, are divided into halves, as several
complementary pairs: P pairs are 2P halves. In each half the elastic net selects genes at a fixed
mu, along a short path of tau; they make two lists, all of them and those with the larger weights
(`LIST_SHARES`). The lists choose no setting, so that a permutation costs one path for each half.

The half-subsamples of stability (`Splits.subsamples`) are others: each is a study of its own.

Complementary pairs: Shah and Samworth 2013, J R Stat Soc B 75:55.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import CHANCE, HalfCounts
from genesig.errors import GenesigError
from genesig.results import Fits, Split
from genesig.results.fits import LassoLists
from genesig.results.splits import (
    PAIRS_OF_ALL_SAMPLES,
    PAIRS_OF_INNER_FOLD,
    PAIRS_OF_TRAINING_SET,
    HalfSampleStudy,
)
from genesig.selection.genes.frequency import (
    HALF_SAMPLE_MU,
    LIST_SHARES,
    MAX_LIST_GENES,
    MAX_LIST_SHARE,
    count_tails,
    round_sizes,
)
from genesig.selection.linear.elastic_nets import ElasticNets
from genesig.selection.linear.kinds import outer_elastic_nets
from genesig.selection.linear.training_sets import (
    MAX_MOMENTS,
    LinearSettings,
    PreparedStudy,
    TrainingSet,
)

log = logging.getLogger(__name__)

HALF_SAMPLE_TAU = np.geomspace(0.9, 0.15, 8)  # fractions of each half's tau_max, falling


def count_pairs(n_pairs: int, settings: LinearSettings) -> HalfCounts:
    """Return `n_pairs` of half-samples for a training set, and the pairs for each of its folds.

    Folds need more pairs if their half-sample lists take part in the choice of the predictive list.
    """
    return HalfCounts(n_pairs, PAIRS_OF_INNER_FOLD if settings.list in ("best", "fdr") else 1)


def count_pairs_of_half_samples(settings: LinearSettings) -> HalfCounts:
    """Return the pairs to draw of a half-subsample, and of its folds only if they need several."""
    half_counts = count_pairs(PAIRS_OF_TRAINING_SET, settings)
    needs_folds = half_counts.inner == PAIRS_OF_INNER_FOLD
    return half_counts if needs_folds else half_counts._replace(inner=0)


@dataclass(frozen=True)
class HalfSampleLists:
    """T half-sample lists of each of k training sets."""

    indptr: Array  # (T k + 1,) int: begin of each list in `indices`, the lists of a set in a row
    indices: Array  # (nnz,) int: genes of the lists
    weights: Array  # (nnz,) float: size of the standardised weight of each of these
    n_lists: int  # number T of lists of each training set
    n_genes: int  # number d of genes that could be in a list

    def counts(self) -> Array:
        """Return the number of lists of each set that hold each gene, (k, d)."""
        return self._sum_by_gene(np.ones(len(self.indices), dtype=np.int32))

    def weight_sums(self) -> Array:
        """Return the sum of each gene's weights, (k, d), which orders genes of equal counts."""
        return self._sum_by_gene(self.weights)

    def _sum_by_gene(self, values: Array) -> Array:
        """Return the sum of each gene's values over the lists of each set, (n_sets, n_genes)."""
        n_all_lists = len(self.indptr) - 1
        sums = np.zeros((n_all_lists // max(1, self.n_lists), self.n_genes), dtype=values.dtype)
        set_number = np.repeat(np.arange(n_all_lists) // self.n_lists, np.diff(self.indptr))
        np.add.at(sums, (set_number, self.indices), values)
        return sums

    def with_gene_numbers(self, genes: Array, n_genes: int) -> HalfSampleLists:
        """Return the lists in the numbers of the data set, of whose genes a matrix has `genes`."""
        return replace(self, indices=genes[self.indices], n_genes=n_genes)

    @classmethod
    def join(cls, parts: Sequence[HalfSampleLists]) -> HalfSampleLists:
        """Return the lists of several groups of training sets, alike in number and in genes."""
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        return replace(
            parts[0],
            indptr=np.concatenate([[0], np.cumsum(sizes)]),
            indices=np.concatenate([part.indices for part in parts]),
            weights=np.concatenate([part.weights for part in parts]),
        )


def select_half_samples(
    outer: ElasticNets,
    training_sets: Sequence[TrainingSet],
    halves: Sequence[tuple[int, Array]],
    settings: LinearSettings,
) -> HalfSampleLists:
    """Return the lists of halves of training sets or of the rows that train their inner folds.

    outer: elastic nets of the training sets.
    halves: number of a training set, and masks (n, 2 P) of halves of some of its training rows; P
    is the same for all. Each entry is a set of `HalfSampleLists`.
    """
    n_genes = outer.X.shape[1]
    n_halves = halves[0][1].shape[1]
    parts = []
    batch_size = max(1, int(MAX_MOMENTS / (n_halves * n_genes)))
    for start in range(0, len(halves), batch_size):
        batch = halves[start : start + batch_size]
        parents = np.repeat([number for number, _ in batch], n_halves)
        masks = np.hstack([mask for _, mask in batch])
        lists = [
            list_of_half
            for genes, values in _select_genes(outer, training_sets, parents, masks, settings)
            for list_of_half in nested_halves(genes, values)
        ]
        parts.append(
            HalfSampleLists(
                indptr=np.cumsum([0, *(len(genes) for genes, _ in lists)]),
                indices=np.concatenate([genes for genes, _ in lists]),
                weights=_weight_sizes(np.concatenate([values for _, values in lists])),
                n_lists=n_halves * len(LIST_SHARES),
                n_genes=n_genes,
            )
        )
    return HalfSampleLists.join(parts)


def _select_genes(
    outer: ElasticNets,
    training_sets: Sequence[TrainingSet],
    parents: Array,
    masks: Array,
    settings: LinearSettings,
) -> list[tuple[Array, Array]]:
    """Return the genes and weights that the elastic net selects in each half, (m,) pairs.

    They are those of the last point before the path exceeds `max_list_length` genes.

    parents (m,): number of the training set of each half. masks (n, m): rows of each half.
    """
    max_genes = max_list_length(outer.X.shape[1])
    Y = np.column_stack([training_sets[number].y for number in parents])
    covariates = [training_sets[number].covariates for number in parents]
    nets = outer.inside(Y, masks, covariates, parents, end_together=False)
    tau = HALF_SAMPLE_TAU * nets.tau_max[:, None]
    mu = HALF_SAMPLE_MU * nets.norm[:, None]
    path = nets.path(tau, mu, settings, max_genes)
    last_kept = path.last_kept()
    without_list = np.flatnonzero(last_kept < 0)  # their selections are replaced below
    selections = [path.coef(half, max(last, 0)) for half, last in enumerate(last_kept)]
    if len(without_list):
        # Few samples let many genes in at once, so that even the first list is too long. It is
        # selected again without a limit, and its genes with the largest weights are taken.
        long_nets = outer.inside(
            Y[:, without_list],
            masks[:, without_list],
            [covariates[half] for half in without_list],
            parents[without_list],
            end_together=False,
        )
        first_tau = tau[without_list, :1]
        long_path = long_nets.path(first_tau, mu[without_list], settings, max_genes=None)
        for row, half in enumerate(without_list):
            selections[half] = largest_weights(*long_path.coef(row, 0), max_genes)
    return selections


def nested_halves(genes: Array, values: Array) -> Iterator[tuple[Array, Array]]:
    """Yield a list (genes, their weights) for each of `LIST_SHARES`, genes ascending.

    A list holds that share of the genes, those with the largest weights. The first genes are in
    several lists, because the order of the weights is evidence as well.
    """
    for share in LIST_SHARES:
        yield largest_weights(genes, values, int(np.ceil(share * len(genes))))


def largest_weights(genes: Array, values: Array, n_genes: int) -> tuple[Array, Array]:
    """Return the `n_genes` genes with the largest weights, ascending, and these weights."""
    order = np.argsort(-round_sizes(_weight_sizes(values)), kind="stable")
    strongest_genes = np.sort(order[:n_genes])
    return genes[strongest_genes], values[strongest_genes]


def max_list_length(n_genes: int) -> int:
    """Return the largest length of a half-sample list, of `n_genes` genes.

    All lists are about that long, under permuted labels, too. Lists at a fixed fraction of tau_max
    would be longer without any effect, so that the null would look larger than it is.
    """
    return max(1, min(MAX_LIST_GENES, int(MAX_LIST_SHARE * n_genes)))


def _weight_sizes(values: Array) -> Array:
    """Return the absolute weights, or for several classes the norm of each gene's weights."""
    return np.abs(values if values.ndim == 1 else np.linalg.norm(values, axis=1))


N_LASSO_POINTS = 20  # points of the lasso's path, from 0.95 tau_max to the smallest tau of the grid


def add_lasso_lists(outer: ElasticNets, fits: Fits, genes: Array, settings: LinearSettings) -> Fits:
    """Return the fits with a list of the lasso each, as long as the predictive list.

    It holds the genes with the largest weights in the first list of the lasso's path that is long
    enough. If none is, the longest serves: the lasso selects no more genes than there are samples.
    The lasso is the elastic net at the smallest mu of the settings.

    outer: elastic nets of the training sets of the fits. genes (d,) int: number in the data set of
    each column of the matrix.
    """
    # `with_chosen` appends the predictive list as the last one.
    sizes = fits.with_chosen().sizes()[:, -1].astype(np.int64)
    tau = np.geomspace(0.95, settings.tau_min, N_LASSO_POINTS) * outer.tau_max[:, None]
    mu = min(settings.mu) * outer.norm[:, None]
    path = outer.path(tau, mu, settings, max_genes=None)
    list_sizes = path.sizes()
    lists = []
    for fit, size in enumerate(sizes):
        long_enough = np.flatnonzero(list_sizes[fit] >= size)
        list_index = long_enough[0] if len(long_enough) else int(np.argmax(list_sizes[fit]))
        lists.append(genes[largest_weights(*path.coef(fit, list_index), size)[0]])
    indptr = np.cumsum([0, *map(len, lists)])
    return replace(fits, lasso_lists=LassoLists(indptr, np.concatenate(lists)))


def study_half_samples(
    study: PreparedStudy, settings: LinearSettings, *, permutations: int
) -> HalfSampleStudy:
    """Return counts of genes in half-sample lists by permuted labels, and the lists of all samples.

    Each permutation is studied at one outer split and one half-subsample, in turn, and on all
    samples. The counts do not depend on the observed labels, so that they serve all training sets
    of a size.

    permutations: ``signature.permutations`` of the config.
    """
    # With the penalty ``fused`` no gene is selected by itself, so that there is nothing to count.
    if settings.penalty != "l1" or not permutations:
        return HalfSampleStudy.none()
    permutation_numbers = range(1, permutations + 1)
    make_null_sets = partial(_null_training_sets, study, permutation_numbers)
    splits = study.splits
    try:
        outer_sets = make_null_sets(splits.outer, count_pairs(PAIRS_OF_TRAINING_SET, settings))
        final_sets = make_null_sets([splits.final], count_pairs(PAIRS_OF_ALL_SAMPLES, settings))
        half_sets = make_null_sets(splits.subsamples, count_pairs_of_half_samples(settings))
    except GenesigError as error:
        log.warning("no evidence for single genes: %s", error)
        return HalfSampleStudy.none()
    outer_lists, inner_lists = _select_in_training_sets(study, outer_sets, settings)
    final_lists, final_inner_lists = _select_in_training_sets(study, final_sets, settings)
    half_lists, half_inner_lists = _select_in_training_sets(study, half_sets, settings)
    observed = study.make_training_sets(
        [splits.final], half_counts=HalfCounts(PAIRS_OF_ALL_SAMPLES)
    )
    observed_lists, _ = _select_in_training_sets(study, observed, settings)
    assert observed_lists is not None
    assert final_lists is not None
    all_lists = HalfSampleLists.join([observed_lists, final_lists])
    return HalfSampleStudy(
        number=np.array(permutation_numbers),
        outer=_tails_by_permutation(outer_lists, permutation_numbers),
        inner=_tails_by_permutation(inner_lists, permutation_numbers),
        final=_tails_by_permutation(final_lists, permutation_numbers),
        final_inner=_tails_by_permutation(final_inner_lists, permutation_numbers),
        half=_tails_by_permutation(half_lists, permutation_numbers),
        half_inner=_tails_by_permutation(half_inner_lists, permutation_numbers),
        indptr=all_lists.indptr,
        indices=all_lists.indices,
        lists=np.array(all_lists.n_lists),
        strength=observed_lists.weight_sums()[0],
    )


def _null_training_sets(
    study: PreparedStudy,
    permutations: Sequence[int],
    training_splits: Sequence[Split],
    half_counts: HalfCounts,
) -> list[TrainingSet]:
    """Return a training set of each permutation, at one of the splits in turn; none without splits.

    They are in ascending order of the permutation. Stage `CHANCE` makes these permutations others
    than those of the permutation test with the same numbers. Halves stay with the samples, so those
    of a split are drawn once for all its permutations.
    """
    training_sets: list[TrainingSet] = []
    for split_number, split in enumerate(training_splits):
        if split_permutations := permutations[split_number :: len(training_splits)]:
            training_sets += study.make_training_sets(
                [split], split_permutations, half_counts=half_counts, stage=CHANCE
            )
    return sorted(training_sets, key=lambda training_set: training_set.permutation)


def _select_in_training_sets(
    study: PreparedStudy, training_sets: list[TrainingSet], settings: LinearSettings
) -> tuple[HalfSampleLists | None, HalfSampleLists | None]:
    """Return the half-sample lists of each training set, and of the rows that train one inner fold.

    The folds take turns by the number of the permutation. None without training sets or folds.
    Lists have the gene numbers of the data set, although filters leave each matrix other genes.
    """
    outer_parts = []
    inner_parts = []
    n_genes = len(study.dataset.genes)
    max_sets = max(1, int(MAX_MOMENTS / max(1, n_genes)))
    for matrix in study.group_by_matrix(training_sets, max_sets):
        outer = outer_elastic_nets(matrix, settings)
        halves = []
        fold_halves = []
        for number, training_set in enumerate(matrix.training_sets):
            halves.append((number, training_set.halves))
            inner_halves = training_set.inner_halves
            if len(inner_halves):
                fold = training_set.permutation % len(inner_halves)
                fold_halves.append((number, inner_halves[fold]))
        lists = select_half_samples(outer, matrix.training_sets, halves, settings)
        outer_parts.append(lists.with_gene_numbers(matrix.genes, n_genes))
        if fold_halves:
            lists = select_half_samples(outer, matrix.training_sets, fold_halves, settings)
            inner_parts.append(lists.with_gene_numbers(matrix.genes, n_genes))
    return (
        HalfSampleLists.join(outer_parts) if outer_parts else None,
        HalfSampleLists.join(inner_parts) if inner_parts else None,
    )


def _tails_by_permutation(
    lists: HalfSampleLists | None, permutation_numbers: Sequence[int]
) -> Array:
    """Return the number of genes in at least t of T lists, t = 0 ... T, for each permutation.

    Shape (B, T + 1), or (B, 0) without lists.
    """
    if lists is None:
        return np.zeros((len(permutation_numbers), 0), dtype=np.int64)
    return np.stack([count_tails(counts[None], lists.n_lists)[0] for counts in lists.counts()])
