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
from genesig.selection.linear.kinds.known import Steps, outer_sets
from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.tasks import (
    HalfCounts,
    LinearSettings,
    TrainingSet,
    group_by_matrix,
    make_training_sets,
    require_halves,
)

TAU = np.geomspace(0.9, 0.15, 8)
"""Fractions of each half's tau_max at which its path has lists; the last one counts that has at
most `longest_list` genes."""

NUMBERS = 5e6
"""Numbers that the halves of one call may hold (means and scales of k × n_features)."""


def pairs_of(outer: int, protocol: LinearSettings) -> HalfCounts:
    """Return how many pairs are drawn of training sets, and of what trains their folds."""
    return HalfCounts(outer, FOLDS if protocol.list in ("best", "fdr") else 1)


def pairs_of_halves(protocol: LinearSettings) -> HalfCounts:
    """Return how many pairs are drawn of half the samples.

    What trains its folds has some only where they have a say in which list predicts.
    """
    pairs = pairs_of(TRAINING, protocol)
    return pairs if pairs.inner == FOLDS else HalfCounts(pairs.outer)


@dataclass(frozen=True)
class HalfLists:
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

    def _sums(self, each: Array) -> Array:
        out = np.zeros(((len(self.indptr) - 1) // max(1, self.lists), self.d), dtype=each.dtype)
        of = np.repeat(np.arange(len(self.indptr) - 1) // self.lists, np.diff(self.indptr))
        np.add.at(out, (of, self.indices), each)
        return out

    def renamed(self, genes: Array, d: int) -> HalfLists:
        """Return the lists as numbers of d genes, of which these are the ones that took part."""
        return replace(self, indices=genes[self.indices], d=d)

    @classmethod
    def joined(cls, parts: Sequence[HalfLists]) -> HalfLists:
        """Join the lists of several sets of rows."""
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        return replace(
            parts[0],
            indptr=np.concatenate([[0], np.cumsum(sizes)]),
            indices=np.concatenate([part.indices for part in parts]),
            strength=np.concatenate([part.strength for part in parts]),
        )


def list_halves(
    outer: Sets,
    todo: Sequence[TrainingSet],
    halves: Sequence[tuple[int, Array]],
    protocol: LinearSettings,
) -> HalfLists:
    """List genes in halves of training sets, or of what is inside of these.

    Parameters
    ----------
    outer : Sets
        Of the tasks, one column each.
    todo : list of Task
    halves : list of (int, (n, 2 P) bool)
        The number of a task, and halves of rows that it trains on; all of one P.
    protocol : Protocol
    """
    d = outer.X.shape[1]
    each = halves[0][1].shape[1]
    longest = longest_list(d)
    parts = []
    for part in _chunks(len(halves), each * d):
        of = np.repeat([number for number, _ in halves[part]], each)
        some = [todo[k] for k in of]
        rows = np.hstack([masks for _, masks in halves[part]])
        Y = np.column_stack([task.y for task in some])
        sets = outer.inner(Y, rows, [task.covariates for task in some], of, together=False)
        tau = TAU * sets.tau_max[:, None]
        mu = MU * sets.norm[:, None]
        lists = sets.path(tau, mu, protocol, longest)
        last = np.count_nonzero(lists.iterations >= 0, axis=1) - 1
        found = [lists.coef(half, max(at, 0)) for half, at in enumerate(last)]
        if len(long := np.flatnonzero(last < 0)):
            some = [some[half] for half in long]
            again = outer.inner(
                Y[:, long],
                rows[:, long],
                [task.covariates for task in some],
                of[long],
                together=False,
            )
            whole = again.path(tau[long, :1], mu[long], protocol, None)
            for at, half in enumerate(long):
                found[half] = strongest(*whole.coef(at, 0), longest)
        found = [part for genes, values in found for part in nested(genes, values)]
        indptr = np.cumsum([0, *(len(genes) for genes, _ in found)])
        genes, values = (np.concatenate([one[at] for one in found]) for at in range(2))
        parts.append(HalfLists(indptr, genes, _size(values), each * len(NESTED), d))
    return HalfLists.joined(parts)


def nested(genes: Array, values: Array) -> Iterator[tuple[Array, Array]]:
    """Return the lists of a half, the shortest first: how early it lists a gene tells, too."""
    order = np.argsort(-rounded(_size(values)), kind="stable")
    for share in NESTED:
        kept = np.sort(order[: int(np.ceil(share * len(genes)))])
        yield genes[kept], values[kept]


def strongest(genes: Array, values: Array, number: int) -> tuple[Array, Array]:
    """Return the genes of the largest weights, ascending: few samples let too many in at once."""
    kept = np.sort(np.argsort(-rounded(_size(values)), kind="stable")[:number])
    return genes[kept], values[kept]


def longest_list(d: int) -> int:
    """Return the most genes of a list, of d.

    All lists are about as long, under permuted labels, too: those at a fixed share of tau_max are
    longer where there is nothing to be found, so that chance would look larger than it is.
    """
    return max(1, min(LONGEST, int(SHARE * d)))


def _size(values: Array) -> Array:
    """Return the absolute weights, or the length of those of several classes."""
    return np.abs(values if values.ndim == 1 else np.linalg.norm(values, axis=1))


def _chunks(count: int, numbers: int) -> Iterator[slice]:
    size = max(1, int(NUMBERS / numbers))
    for first in range(0, count, size):
        yield slice(first, min(first + size, count))


STEPS = 20
"""Lists of a path, from .95 tau_max to the smallest tau of the grid."""


def rival_lists(outer: Sets, fits: Fits, genes: Array, protocol: LinearSettings) -> Fits:
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
    protocol : Protocol
    """
    sizes = fits.with_chosen().sizes()[:, -1].astype(np.int64)
    tau = np.geomspace(0.95, protocol.tau_min, STEPS) * outer.tau_max[:, None]
    mu = min(protocol.mu) * outer.norm[:, None]
    path = outer.path(tau, mu, protocol, None)
    counted = path.sizes()
    lists = []
    for fit, size in enumerate(sizes):
        enough = np.flatnonzero(counted[fit] >= size)
        at = enough[0] if len(enough) else int(np.argmax(counted[fit]))
        lists.append(genes[strongest(*path.coef(fit, at), size)[0]])
    indptr = np.cumsum([0, *map(len, lists)])
    return replace(fits, rival_indptr=indptr, rival_indices=np.concatenate(lists))


log = logging.getLogger(__name__)


def chance_study(
    dataset: Dataset, splits: Splits, *, permutations: int, folds: Steps, **linear: Any
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
    protocol = LinearSettings(**linear)
    numbers = range(1, permutations * (protocol.penalty == "l1") + 1)
    own = pairs_of(FINAL, protocol)
    folded = pairs_of(TRAINING, protocol)
    levels = (
        (splits.outer, folded),
        ((splits.final,), own),
        (splits.subsamples, pairs_of_halves(protocol)),
    )
    try:
        todo = [
            _null_training_sets(dataset, splits, some, numbers, pairs) for some, pairs in levels
        ]
    except GenesigError as error:
        log.warning("no evidence for single genes: %s", error)
        return Chance.none()
    if not numbers:
        return Chance.none()
    outer, inner = _listed(dataset, todo[0], folds, protocol)
    final, final_inner = _listed(dataset, todo[1], folds, protocol)
    half, half_inner = _listed(dataset, todo[2], folds, protocol)
    observed = make_training_sets(
        dataset, splits, [splits.final], [0], half_counts=HalfCounts(FINAL)
    )
    found, _ = _listed(dataset, observed, folds, protocol)
    assert found is not None
    assert final is not None
    whole = HalfLists.joined([found, final])
    return Chance(
        number=np.array(numbers),
        outer=_tails(outer, numbers),
        inner=_tails(inner, numbers),
        final=_tails(final, numbers),
        final_inner=_tails(final_inner, numbers),
        half=_tails(half, numbers),
        half_inner=_tails(half_inner, numbers),
        indptr=whole.indptr,
        indices=whole.indices,
        lists=np.array(whole.lists),
        strength=found.weights()[0],
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
    for number, split in enumerate(chosen):
        if in_turn := permutations[number :: len(chosen)]:
            training_sets += make_training_sets(
                dataset, splits, [split], in_turn, half_counts=half_counts, stage=CHANCE
            )
    return sorted(training_sets, key=lambda training_set: training_set.permutation)


def _listed(
    dataset: Dataset, todo: list[TrainingSet], folds: Steps, protocol: LinearSettings
) -> tuple[HalfLists | None, HalfLists | None]:
    """Return the half-sample lists of each task, and of one of its inner folds, by its number."""
    parts = []
    inner = []
    steps = learned_steps(folds, dataset)
    columns = max(1, int(NUMBERS / max(1, len(dataset.genes))))
    for X, reference, some in group_by_matrix(dataset, todo, steps, columns):
        outer = outer_sets(X, folds, dataset, reference.genes, protocol, some)
        halves = [(k, require_halves(task.halves)) for k, task in enumerate(some)]
        lists = list_halves(outer, some, halves, protocol)
        parts.append(lists.renamed(reference.genes, len(dataset.genes)))
        folded = [
            (k, task.permutation, require_halves(task.inner_halves)) for k, task in enumerate(some)
        ]
        if one := [(k, each[number % len(each)]) for k, number, each in folded if len(each)]:
            lists = list_halves(outer, some, one, protocol)
            inner.append(lists.renamed(reference.genes, len(dataset.genes)))
    whole, of_folds = (HalfLists.joined(each) if each else None for each in (parts, inner))
    return whole, of_folds


def _tails(lists: HalfLists | None, numbers: Sequence[int]) -> Array:
    if lists is None:
        return np.zeros((len(numbers), 0), dtype=np.int64)
    return np.stack([tails(times[None], lists.lists)[0] for times in lists.times()])
