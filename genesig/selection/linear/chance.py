"""Half-frequencies under permuted labels: what chance gives, at each size of training set."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.data.splits.seeds import CHANCE
from genesig.data.steps.normalise import learned_steps
from genesig.errors import GenesigError
from genesig.results import Dataset, Split, Splits
from genesig.results.chance import FINAL, TRAINING, Chance
from genesig.selection.genes.evidence import tails
from genesig.selection.linear.ground import Steps, outer_sets
from genesig.selection.linear.halves import (
    NUMBERS,
    HalfLists,
    list_halves,
    pairs_of,
    pairs_of_halves,
)
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
    numbers = range(1, permutations * (protocol.penalty == "l1") + 1)
    own, folded = pairs_of(FINAL, protocol), pairs_of(TRAINING, protocol)
    levels = (
        (splits.outer, folded),
        ((splits.final,), own),
        (splits.subsamples, pairs_of_halves(protocol)),
    )
    try:
        todo = [_tasks(dataset, splits, some, numbers, pairs) for some, pairs in levels]
    except GenesigError as error:
        log.warning("no evidence for single genes: %s", error)
        return Chance.none()
    if not numbers:
        return Chance.none()
    outer, inner = _listed(dataset, todo[0], folds, protocol)
    final, final_inner = _listed(dataset, todo[1], folds, protocol)
    half, half_inner = _listed(dataset, todo[2], folds, protocol)
    observed = tasks(dataset, splits, [splits.final], [0], pairs=Pairs(FINAL))
    found, _ = _listed(dataset, observed, folds, protocol)
    assert found is not None
    assert final is not None
    whole = HalfLists.joined([found, final])
    return Chance(
        number=np.array(numbers), outer=_tails(outer, numbers), inner=_tails(inner, numbers),
        final=_tails(final, numbers), final_inner=_tails(final_inner, numbers),
        half=_tails(half, numbers), half_inner=_tails(half_inner, numbers),
        indptr=whole.indptr, indices=whole.indices, lists=np.array(whole.lists),
        strength=found.weights()[0],
    )  # fmt: skip


def _tasks(
    dataset: Dataset, splits: Splits, some: Sequence[Split], numbers: Sequence[int], pairs: Pairs
) -> list[Task]:  # fmt: skip
    """Return a task of each permutation, at one of the splits in turn; none without splits."""
    at = {number: [some[(number - 1) % len(some)]] for number in numbers} if some else {}
    return [
        task for number, one in at.items()
        for task in tasks(dataset, splits, one, [number], pairs=pairs, stage=CHANCE)
    ]  # fmt: skip


def _listed(
    dataset: Dataset, todo: list[Task], folds: Steps, protocol: Protocol
) -> tuple[HalfLists | None, HalfLists | None]:  # fmt: skip
    """Return the lists of halves of each task, and of one of its inner folds, by its number."""
    parts, inner, steps = [], [], learned_steps(folds, dataset)
    columns = max(1, int(NUMBERS / max(1, len(dataset.genes))))
    for X, reference, some in shared_matrices(dataset, todo, steps, columns):
        outer = outer_sets(X, folds, dataset, reference.genes, protocol, some)
        halves = [(k, known_halves(task.halves)) for k, task in enumerate(some)]
        lists = list_halves(outer, some, halves, protocol)
        parts.append(lists.renamed(reference.genes, len(dataset.genes)))
        folded = [(k, task.permutation, known_halves(task.inner_halves))
                  for k, task in enumerate(some)]  # fmt: skip
        if one := [(k, each[number % len(each)]) for k, number, each in folded if len(each)]:
            lists = list_halves(outer, some, one, protocol)
            inner.append(lists.renamed(reference.genes, len(dataset.genes)))
    whole, of_folds = (HalfLists.joined(each) if each else None for each in (parts, inner))
    return whole, of_folds


def _tails(lists: HalfLists | None, numbers: Sequence[int]) -> Array:
    if lists is None:
        return np.zeros((len(numbers), 0), dtype=np.int64)
    return np.stack([tails(times[None], lists.lists)[0] for times in lists.times()])
