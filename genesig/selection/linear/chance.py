"""Half-frequencies under permuted labels: what chance gives, at each size of training set."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from genesig.data.splits.seeds import CHANCE
from genesig.data.steps.normalise import bound
from genesig.errors import GenesigError
from genesig.results import Dataset, Splits
from genesig.results.chance import Chance
from genesig.selection.genes.evidence import FINAL, TRAINING, tails
from genesig.selection.linear.ground import Steps, outer_sets
from genesig.selection.linear.halves import HalfLists, list_halves, pairs_of
from genesig.selection.linear.protocol import Protocol
from genesig.selection.linear.tasks import Pairs, Task, known_halves, shared_matrices, tasks

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
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return Chance.none()
    todo = tasks(dataset, splits, [splits.final], [0], pairs=Pairs(FINAL))
    found, _ = _listed(dataset, todo, folds, protocol, 0)
    assert found is not None
    own = Chance(
        number=np.zeros(0, np.int64), outer=_tails(None)[:0], inner=_tails(None)[:0],
        final=_tails(None)[:0], final_inner=_tails(None)[:0], half=_tails(None)[:0],
        indptr=found.indptr, indices=found.indices, halves=np.array(found.halves),
        strength=found.weights()[0],
    )  # fmt: skip
    return Chance.joined(own, known)


def _one(
    dataset: Dataset, splits: Splits, number: int, folds: Steps, protocol: Protocol
) -> Chance | None:  # fmt: skip
    """Return what one permutation gives; None where no label can change its place."""
    training, all_samples = pairs_of(TRAINING, protocol), pairs_of(FINAL, protocol)
    asked = [(splits.outer, training), ((splits.final,), all_samples),
             (splits.subsamples, Pairs(TRAINING))]  # fmt: skip
    parts: list[HalfLists | None] = []
    try:
        for some, pairs in asked:
            chosen = some[(number - 1) % len(some) :][:1] if some else ()
            todo = tasks(dataset, splits, chosen, [number], pairs=pairs, stage=CHANCE)
            parts += _listed(dataset, todo, folds, protocol, number)
    except GenesigError as error:
        log.warning("no evidence for single genes: %s", error)
        return None
    outer, inner, final, final_inner, half, _ = parts
    assert final is not None
    return Chance(
        number=np.array([number]), outer=_tails(outer), inner=_tails(inner), final=_tails(final),
        final_inner=_tails(final_inner), half=_tails(half), indptr=final.indptr,
        indices=final.indices, halves=np.array(final.halves), strength=np.zeros(0),
    )  # fmt: skip


def _listed(
    dataset: Dataset, todo: list[Task], folds: Steps, protocol: Protocol, number: int
) -> tuple[HalfLists | None, HalfLists | None]:  # fmt: skip
    """Return the lists of halves of a task, and of one of its inner folds."""
    for X, reference, (task,) in shared_matrices(dataset, todo, bound(folds, dataset), 1):
        outer = outer_sets(X, folds, dataset, reference.genes, protocol, [task])
        whole = list_halves(outer, [task], [(0, known_halves(task.halves))], protocol)
        whole = whole.renamed(reference.genes, len(dataset.genes))
        folded = known_halves(task.inner_halves)
        if not len(folded):
            return whole, None
        fold = folded[number % len(folded)]
        return whole, list_halves(outer, [task], [(0, fold)], protocol)
    return None, None


def _tails(lists: HalfLists | None) -> Array:
    return np.zeros((1, 0), np.int64) if lists is None else tails(lists.times(), lists.halves)
