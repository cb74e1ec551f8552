"""How often halves of training samples list each gene, and how often they do under permuted labels.

Each half makes two lists of the first genes of a path of the elastic net: all of them, and those of
the larger weights. Nothing is chosen, so that a permuted study costs one short path a half, and no
more.

Complementary pairs: Shah and Samworth 2013, J R Stat Soc B 75:55.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import CHANCE
from genesig.data.steps.normalise import learned_steps
from genesig.errors import GenesigError
from genesig.results import Dataset, Fits, Split, Splits
from genesig.results.splits import FINAL, FOLDS, TRAINING, Chance
from genesig.selection.genes.frequency import LONGEST, MU, NESTED, SHARE, rounded, tails
from genesig.selection.linear.kinds.known import FoldSteps, outer_elastic_nets
from genesig.selection.linear.kinds.record import ElasticNets
from genesig.selection.linear.tasks import (
    HalfCounts,
    LinearSettings,
    TrainingSet,
    group_by_matrix,
    make_training_sets,
    require_halves,
)

HALF_SAMPLE_TAU = np.geomspace(0.9, 0.15, 8)
"""Fractions of each half's tau_max at which its path has lists; the last one counts that has at
most `max_list_length` genes."""

MAX_HALF_SAMPLE_MOMENTS = 5e6
"""Numbers that the halves of one call may hold (means and scales of k × n_features)."""


def count_pairs(outer: int, settings: LinearSettings) -> HalfCounts:
    """Return how many pairs are drawn of training sets, and of what trains their folds."""
    return HalfCounts(outer, FOLDS if settings.list in ("best", "fdr") else 1)


def count_pairs_of_half_samples(settings: LinearSettings) -> HalfCounts:
    """Return how many pairs are drawn of half the samples.

    What trains its folds has some only where they have a say in which list predicts.
    """
    half_counts = count_pairs(TRAINING, settings)
    return half_counts if half_counts.inner == FOLDS else HalfCounts(half_counts.outer)


@dataclass(frozen=True)
class HalfSampleLists:
    """The half-sample lists, P complementary pairs of each of k sets of rows.

    Attributes
    ----------
    indptr, indices, strength : (T k + 1,), (nnz,), (nnz,)
        Genes of each list, those of a set one after the other, and their absolute standardised
        weights.
    lists : int
        T, 2 P times those of a half.
    d : int
        Number of genes.
    """

    indptr: Array
    indices: Array
    strength: Array
    lists: int
    d: int

    def times(self) -> Array:
        """Return how many lists of each set hold each gene, (k, d)."""
        return self._sums(np.ones(len(self.indices), dtype=np.int32))

    def weights(self) -> Array:
        """Return the sum of the weights of each gene, (k, d), by which equals are told apart."""
        return self._sums(self.strength)

    def _sums(self, values: Array) -> Array:
        sums = np.zeros(((len(self.indptr) - 1) // max(1, self.lists), self.d), dtype=values.dtype)
        set_number = np.repeat(np.arange(len(self.indptr) - 1) // self.lists, np.diff(self.indptr))
        np.add.at(sums, (set_number, self.indices), values)
        return sums

    def renamed(self, genes: Array, n_genes: int) -> HalfSampleLists:
        """Return the lists as numbers of d genes, of which these are the ones that took part."""
        return replace(self, indices=genes[self.indices], d=n_genes)

    @classmethod
    def joined(cls, parts: Sequence[HalfSampleLists]) -> HalfSampleLists:
        """Join the lists of several sets of rows."""
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        return replace(
            parts[0],
            indptr=np.concatenate([[0], np.cumsum(sizes)]),
            indices=np.concatenate([part.indices for part in parts]),
            strength=np.concatenate([part.strength for part in parts]),
        )


def select_half_samples(
    outer: ElasticNets,
    training_sets: Sequence[TrainingSet],
    halves: Sequence[tuple[int, Array]],
    settings: LinearSettings,
) -> HalfSampleLists:
    """List genes in halves of training sets, or of what is inside of these.

    Parameters
    ----------
    outer : Sets
        Of the tasks, one column each.
    training_sets : list of Task
    halves : list of (int, (n, 2 P) bool)
        The number of a task, and halves of rows that it trains on; all of one P.
    settings : Protocol
    """
    d = outer.X.shape[1]
    each = halves[0][1].shape[1]
    longest = max_list_length(d)
    parts = []
    for part in _batches(len(halves), each * d):
        of = np.repeat([number for number, _ in halves[part]], each)
        some = [training_sets[k] for k in of]
        rows = np.hstack([masks for _, masks in halves[part]])
        Y = np.column_stack([training_set.y for training_set in some])
        sets = outer.inside(
            Y, rows, [training_set.covariates for training_set in some], of, end_together=False
        )
        tau = HALF_SAMPLE_TAU * sets.tau_max[:, None]
        mu = MU * sets.norm[:, None]
        lists = sets.path(tau, mu, settings, longest)
        last = np.count_nonzero(lists.iterations >= 0, axis=1) - 1
        found = [lists.coef(half, max(at, 0)) for half, at in enumerate(last)]
        if len(long := np.flatnonzero(last < 0)):
            some = [some[half] for half in long]
            again = outer.inside(
                Y[:, long],
                rows[:, long],
                [training_set.covariates for training_set in some],
                of[long],
                end_together=False,
            )
            whole = again.path(tau[long, :1], mu[long], settings, None)
            for at, half in enumerate(long):
                found[half] = largest_weights(*whole.coef(at, 0), longest)
        found = [part for genes, values in found for part in lists_of_half(genes, values)]
        indptr = np.cumsum([0, *(len(genes) for genes, _ in found)])
        genes, values = (np.concatenate([one[at] for one in found]) for at in range(2))
        parts.append(HalfSampleLists(indptr, genes, _weight_sizes(values), each * len(NESTED), d))
    return HalfSampleLists.joined(parts)


def lists_of_half(genes: Array, values: Array) -> Iterator[tuple[Array, Array]]:
    """Return the lists of a half, the shortest first: how early it lists a gene tells, too."""
    order = np.argsort(-rounded(_weight_sizes(values)), kind="stable")
    for share in NESTED:
        list_genes = np.sort(order[: int(np.ceil(share * len(genes)))])
        yield genes[list_genes], values[list_genes]


def largest_weights(genes: Array, values: Array, n_genes: int) -> tuple[Array, Array]:
    """Return the genes of the largest weights, ascending: few samples let too many in at once."""
    strongest_genes = np.sort(np.argsort(-rounded(_weight_sizes(values)), kind="stable")[:n_genes])
    return genes[strongest_genes], values[strongest_genes]


def max_list_length(n_genes: int) -> int:
    """Return the most genes of a list, of d.

    All lists are about as long, under permuted labels, too: those at a fixed share of tau_max are
    longer where there is nothing to be found, so that chance would look larger than it is.
    """
    return max(1, min(LONGEST, int(SHARE * n_genes)))


def _weight_sizes(values: Array) -> Array:
    """Return the absolute weights, or the length of those of several classes."""
    return np.abs(values if values.ndim == 1 else np.linalg.norm(values, axis=1))


def _batches(count: int, numbers: int) -> Iterator[slice]:
    batch_size = max(1, int(MAX_HALF_SAMPLE_MOMENTS / numbers))
    for start in range(0, count, batch_size):
        yield slice(start, min(start + batch_size, count))


N_LASSO_POINTS = 20
"""Lists of a path, from .95 tau_max to the smallest tau of the grid."""


def add_lasso_lists(outer: ElasticNets, fits: Fits, genes: Array, settings: LinearSettings) -> Fits:
    """Return the fits with a list of the lasso each, as long as the one that predicts.

    Its genes are those of the largest weights in the first list of the lasso's path that has as
    many, or in the longest one: the lasso takes no more genes than there are samples. The lasso is
    the elastic net at the smallest mu of the protocol.

    Parameters
    ----------
    outer : Sets
        The training sets of the fits, one column each.
    fits : Fits
    genes : (d,) int
        Numbers in the data set of the columns of the matrix.
    settings : Protocol
    """
    sizes = fits.with_chosen().sizes()[:, -1].astype(np.int64)
    tau = np.geomspace(0.95, settings.tau_min, N_LASSO_POINTS) * outer.tau_max[:, None]
    mu = min(settings.mu) * outer.norm[:, None]
    path = outer.path(tau, mu, settings, None)
    list_sizes = path.sizes()
    lists = []
    for fit, size in enumerate(sizes):
        long_enough = np.flatnonzero(list_sizes[fit] >= size)
        list_index = long_enough[0] if len(long_enough) else int(np.argmax(list_sizes[fit]))
        lists.append(genes[largest_weights(*path.coef(fit, list_index), size)[0]])
    indptr = np.cumsum([0, *map(len, lists)])
    return replace(fits, rival_indptr=indptr, rival_indices=np.concatenate(lists))


log = logging.getLogger(__name__)


def study_half_samples(
    dataset: Dataset, splits: Splits, *, permutations: int, folds: FoldSteps, **linear: Any
) -> Chance:
    """Count how often halves list each gene under permuted labels.

    Each permutation looks at one outer split, in turn, at all samples, and at one half of them: the
    labels are permuted, so that nothing of the observed ones is seen, and one E serves all training
    sets of a size.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    permutations : int
        ``signature.permutations`` of the config.
    folds : list of dict
        ``normalise.folds`` of the config.
    **linear
        See `Protocol`.
    """
    settings = LinearSettings(**linear)
    permutation_numbers = range(1, permutations * (settings.penalty == "l1") + 1)
    final_counts = count_pairs(FINAL, settings)
    training_counts = count_pairs(TRAINING, settings)
    levels = (
        (splits.outer, training_counts),
        ((splits.final,), final_counts),
        (splits.subsamples, count_pairs_of_half_samples(settings)),
    )
    try:
        level_sets = [
            _null_training_sets(dataset, splits, level_splits, permutation_numbers, level_counts)
            for level_splits, level_counts in levels
        ]
    except GenesigError as error:
        log.warning("no evidence for single genes: %s", error)
        return Chance.none()
    if not permutation_numbers:
        return Chance.none()
    outer_lists, inner_lists = _select_in_training_sets(dataset, level_sets[0], folds, settings)
    final_lists, final_inner_lists = _select_in_training_sets(
        dataset, level_sets[1], folds, settings
    )
    half_lists, half_inner_lists = _select_in_training_sets(dataset, level_sets[2], folds, settings)
    observed = make_training_sets(
        dataset, splits, [splits.final], [0], half_counts=HalfCounts(FINAL)
    )
    observed_lists, _ = _select_in_training_sets(dataset, observed, folds, settings)
    assert observed_lists is not None
    assert final_lists is not None
    all_lists = HalfSampleLists.joined([observed_lists, final_lists])
    return Chance(
        number=np.array(permutation_numbers),
        outer=_tails_by_permutation(outer_lists, permutation_numbers),
        inner=_tails_by_permutation(inner_lists, permutation_numbers),
        final=_tails_by_permutation(final_lists, permutation_numbers),
        final_inner=_tails_by_permutation(final_inner_lists, permutation_numbers),
        half=_tails_by_permutation(half_lists, permutation_numbers),
        half_inner=_tails_by_permutation(half_inner_lists, permutation_numbers),
        indptr=all_lists.indptr,
        indices=all_lists.indices,
        lists=np.array(all_lists.lists),
        strength=observed_lists.weights()[0],
    )


def _null_training_sets(
    dataset: Dataset,
    splits: Splits,
    chosen: Sequence[Split],
    permutations: Sequence[int],
    half_counts: HalfCounts,
) -> list[TrainingSet]:
    """Return a training set of each permutation, at one of the splits in turn; none without splits.

    Halves stay with the samples, so those of a split are drawn once for all its permutations.
    """
    training_sets: list[TrainingSet] = []
    for split_number, split in enumerate(chosen):
        if split_permutations := permutations[split_number :: len(chosen)]:
            training_sets += make_training_sets(
                dataset, splits, [split], split_permutations, half_counts=half_counts, stage=CHANCE
            )
    return sorted(training_sets, key=lambda training_set: training_set.permutation)


def _select_in_training_sets(
    dataset: Dataset,
    training_sets: list[TrainingSet],
    fold_steps: FoldSteps,
    settings: LinearSettings,
) -> tuple[HalfSampleLists | None, HalfSampleLists | None]:
    """Return the half-sample lists of each task, and of one of its inner folds, by its number."""
    outer_parts = []
    inner = []
    bound_steps = learned_steps(fold_steps, dataset)
    max_sets = max(1, int(MAX_HALF_SAMPLE_MOMENTS / max(1, len(dataset.genes))))
    for X, reference, matrix_sets in group_by_matrix(dataset, training_sets, bound_steps, max_sets):
        outer = outer_elastic_nets(X, fold_steps, dataset, reference.genes, settings, matrix_sets)
        halves = [
            (k, require_halves(training_set.halves)) for k, training_set in enumerate(matrix_sets)
        ]
        half_lists = select_half_samples(outer, matrix_sets, halves, settings)
        outer_parts.append(half_lists.renamed(reference.genes, len(dataset.genes)))
        fold_halves = [
            (k, training_set.permutation, require_halves(training_set.inner_halves))
            for k, training_set in enumerate(matrix_sets)
        ]
        if chosen_folds := [
            (k, each[number % len(each)]) for k, number, each in fold_halves if len(each)
        ]:
            half_lists = select_half_samples(outer, matrix_sets, chosen_folds, settings)
            inner.append(half_lists.renamed(reference.genes, len(dataset.genes)))
    outer_lists, fold_lists = (
        HalfSampleLists.joined(each) if each else None for each in (outer_parts, inner)
    )
    return outer_lists, fold_lists


def _tails_by_permutation(
    lists: HalfSampleLists | None, permutation_numbers: Sequence[int]
) -> Array:
    if lists is None:
        return np.zeros((len(permutation_numbers), 0), dtype=np.int64)
    return np.stack([tails(counts[None], lists.lists)[0] for counts in lists.times()])
