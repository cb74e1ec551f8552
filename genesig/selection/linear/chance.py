"""Half-frequencies under permuted labels: what chance gives, at each size of training set."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from genesig.data.splits.seeds import CHANCE
from genesig.data.steps.normalise import bound
from genesig.errors import GenesigError
from genesig.results import Dataset, Splits
from genesig.results.chance import Chance
from genesig.selection.genes.evidence import tails
from genesig.selection.linear.ground import Steps, outer_sets
from genesig.selection.linear.halves import FINAL, HALVED, TRAINING, Counts, count_lists
from genesig.selection.linear.protocol import Protocol
from genesig.selection.linear.tasks import Pairs, Task, shared_matrices, tasks

Array = np.ndarray[Any, Any]

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
    protocol = Protocol(**linear)
    asked = range(1, permutations * (protocol.penalty == "l1") + 1)
    parts = [_one(dataset, splits, number, folds, protocol) for number in asked]
    if not all(parts):
        return Chance.none()
    todo = tasks(dataset, splits, [splits.final], [0], pairs=Pairs(FINAL.outer))
    found, _ = _counted(dataset, todo, folds, protocol, 0)
    return replace(Chance.joined(parts), observed=found.times[0], strength=found.strength[0])


def _one(
    dataset: Dataset, splits: Splits, number: int, folds: Steps, protocol: Protocol
) -> Chance | None:  # fmt: skip
    """Return what one permutation gives; None where no label can change its place."""
    asked = [(splits.outer, TRAINING), ((splits.final,), FINAL), (splits.subsamples, HALVED)]
    parts: list[Counts | None] = []
    try:
        for some, pairs in asked:
            chosen = some[(number - 1) % len(some) :][:1] if some else ()
            todo = tasks(dataset, splits, chosen, [number], pairs=pairs, stage=CHANCE)
            parts += _counted(dataset, todo, folds, protocol, number)
    except GenesigError as error:
        log.warning("no evidence for single genes: %s", error)
        return None
    outer, inner, final, final_inner, half, _ = parts
    assert final is not None
    genes = np.flatnonzero(final.times[0])
    return Chance(
        number=np.array([number]), outer=_tails(outer), inner=_tails(inner), final=_tails(final),
        final_inner=_tails(final_inner), half=_tails(half), indptr=np.array([0, len(genes)]),
        indices=genes, times=final.times[0, genes], observed=genes[:0], strength=np.zeros(0),
    )  # fmt: skip


def _counted(
    dataset: Dataset, todo: list[Task], folds: Steps, protocol: Protocol, number: int
) -> tuple[Counts | None, Counts | None]:  # fmt: skip
    """Return the counts of a task and of one of its inner folds."""
    for X, reference, (task,) in shared_matrices(dataset, todo, bound(folds, dataset), 1):
        outer = outer_sets(X, folds, dataset, reference.genes, protocol, [task])
        whole = count_lists(outer, [task], [(0, task.halves)], protocol)
        whole = whole.of_all(reference.genes, len(dataset.genes))
        if not len(task.inner_halves):
            return whole, None
        fold = task.inner_halves[number % len(task.inner_halves)]
        return whole, count_lists(outer, [task], [(0, fold)], protocol)
    return None, None


def _tails(counts: Counts | None) -> Array:
    return np.zeros((1, 0), np.int64) if counts is None else tails(counts.times, counts.most)
