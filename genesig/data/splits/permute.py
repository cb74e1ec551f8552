"""Permutations of the samples against their expression, as the design allows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import PERMUTATION, generator, spawn_key
from genesig.errors import GenesigError
from genesig.results import Dataset, Splits


def permutation(dataset: Dataset, splits: Splits, number: int, stage: int = PERMUTATION) -> Array:
    """Return rows pi such that ``X[pi]`` with the unpermuted y and splits is a study under H0.

    Samples are exchanged as far as they are exchangeable when expression tells nothing of the
    label: inside a group where the label varies there; groups of constant label as a whole, among
    those of equal size; inside each side of a single split into training and test; inside each
    batch, because a label that goes with the batch would be predicted by way of it. Without groups
    and batches, and with several splits, all samples are exchanged.

    Parameters
    ----------
    dataset : Dataset
    splits : Splits
        Their seed, and the sides of a single split, are used.
    number : int
        0 for the observed study (the identity), 1, 2, ... for permutations.
    stage : int
        What the permutation is for, see `seeds`: each has draws of its own.

    Returns
    -------
    (n_samples,) int

    Raises
    ------
    GenesigError
        If no label can change place: all groups of constant label are of different size, or each
        batch has one label.

    Notes
    -----
    p = (1 + #{null >= observed}) / (B + 1): B. Phipson, G. K. Smyth (2010), Permutation p-values
    should never be zero. Restricted exchange: P. Good (2005), Permutation, parametric and
    bootstrap tests of hypotheses.
    """
    pi = np.arange(len(dataset.samples))
    if number == 0:
        return pi
    y = dataset.response()
    rng = generator(splits.seed, spawn_key(stage, permutation=number))
    moved = False
    batches = dataset.batches()
    for blocks in _exchangeable(y, dataset.groups(), batches, _sides(dataset, splits)):
        rows = np.array(blocks)
        moved = moved or len(np.unique(y[rows])) > 1
        pi[rows] = rows[rng.permutation(len(rows))]
    if not moved and dataset.design.batch is not None:
        raise GenesigError(
            "controls.permutations: no label can change place inside its batch, because each batch "
            "has one label (or groups of one label, none of equal size with the other); set "
            "controls.permutations: 0, or take data.batch away"
        )
    if not moved:
        raise GenesigError(
            "controls.permutations: no label can change place, because groups with one label are "
            "exchanged as a whole with groups of equal size, and there are none with the other "
            "label; set controls.permutations: 0"
        )
    return pi


def shuffled(
    y: Array, groups: Array | None, batches: Array | None, count: int, rng: np.random.Generator
) -> Array:
    """Return responses of some samples that have changed place as in `permutation`, (n, count).

    Where the design lets no response of these samples change place, all do: what is asked here is
    how large sums become by chance, not whether a finding is one.

    Parameters
    ----------
    y : (n,) float
    groups, batches : (n,) or None
        Of the same samples.
    """
    blocks = [np.array(each) for each in _exchangeable(y, groups, batches, np.zeros(len(y)))]
    if all(len(np.unique(y[rows])) == 1 for rows in blocks):
        blocks = [np.arange(len(y))[:, None]]
    out = np.empty((count, len(y)))
    for rows in blocks:
        order = rng.permuted(np.tile(np.arange(len(rows)), (count, 1)), axis=1)
        out[:, rows] = y[rows[order]]
    return out.T


def _exchangeable(
    y: Array, groups: Array | None, batches: Array | None, side: Array
) -> list[list[Array]]:
    """Return lists of blocks of rows; the blocks of one list may change places."""
    groups = np.arange(len(y)) if groups is None else groups
    batch = np.zeros(len(y)) if batches is None else batches
    strata: dict[tuple[Any, ...], list[Array]] = {}
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        if len(np.unique(y[rows])) == 1:
            # Samples of one batch have one number; a group in several batches is exchanged with
            # those that have as many samples in each.
            rows = rows[np.argsort(batch[rows], kind="stable")]
            strata.setdefault((side[rows[0]], tuple(batch[rows])), []).append(rows)
        else:
            for each in np.unique(batch[rows]):
                strata[side[rows[0]], each, group] = list(rows[batch[rows] == each][:, None])
    return list(strata.values())


def _sides(dataset: Dataset, splits: Splits) -> Array:
    """Return 0 or 1 (test) of a single split, 2 for samples it leaves out; else all 0."""
    side = np.zeros(len(dataset.samples), dtype=np.int64)
    if len(splits.outer) == 1:
        side[:] = 2
        side[dataset.rows(splits.outer[0].train)] = 0
        side[dataset.rows(splits.outer[0].test)] = 1
    return side
