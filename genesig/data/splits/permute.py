"""Permutations of the rows of expression against the labels, within the limits of the design.

The rows of X move; the labels, the splits and the rest of the sample table stay with the sample. So
the splits of the observed study serve all permutations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import PERMUTATION, generator, spawn_key
from genesig.errors import GenesigError
from genesig.results import Dataset, Splits


def permutation(dataset: Dataset, splits: Splits, number: int, stage: int = PERMUTATION) -> Array:
    """Return rows (n,) such that ``X[rows]`` with the original y and splits is a study under H0.

    Samples are exchanged as far as they are exchangeable if expression is independent of the label:
    within a group whose labels differ; groups of one label as a whole, among groups of equal size;
    within each side of a single split into training and test; within each batch, because a label
    associated with the batch would be predicted through the batch. Without groups and batches, and
    with several splits, all samples are exchanged.

    Parameters
    ----------
    dataset : Dataset
    splits : Splits
        Their seed, and the sides of a single split, are used.
    number : int
        0 for the observed study (the identity), 1, 2, ... for permutations.
    stage : int
        Purpose of the permutation (a stage of `genesig.data.splits.folds`), with its own draws.

    Returns
    -------
    (n_samples,) int

    Raises
    ------
    GenesigError
        If no label can change place: all groups of one label have different sizes, or each batch
        has one label.

    Notes
    -----
    p = (1 + #{null >= observed}) / (B + 1): B. Phipson, G. K. Smyth (2010), Permutation p-values
    should never be zero. Restricted exchange: P. Good (2005), Permutation, parametric and
    bootstrap tests of hypotheses.
    """
    row_of_sample = np.arange(len(dataset.samples))
    if number == 0:
        return row_of_sample
    y = dataset.response()
    rng = generator(splits.seed, spawn_key(stage, permutation=number))
    any_exchange = False
    batches = dataset.batches()
    for blocks in _exchangeable_blocks(y, dataset.groups(), batches, _sides(dataset, splits)):
        rows = np.array(blocks)
        any_exchange = any_exchange or len(np.unique(y[rows])) > 1
        row_of_sample[rows] = rows[rng.permutation(len(rows))]
    if not any_exchange and dataset.design.batch is not None:
        raise GenesigError(
            "controls.permutations: no label can change place inside its batch, because each batch "
            "has one label (or groups of one label, none of equal size with the other); set "
            "controls.permutations: 0, or take data.batch away"
        )
    if not any_exchange:
        raise GenesigError(
            "controls.permutations: no label can change place, because groups with one label are "
            "exchanged as a whole with groups of equal size, and there are none with the other "
            "label; set controls.permutations: 0"
        )
    return row_of_sample


def shuffled(
    y: Array, groups: Array | None, batches: Array | None, count: int, rng: np.random.Generator
) -> Array:
    """Return `count` permutations of the responses y, as in `permutation`, (n, count).

    If the design allows no exchange of these responses, all of them are exchanged: the result
    scales weights of sums, and is no significance test.

    y (n,) float.
    groups, batches (n,) or None: of the same samples.
    """
    permuted = np.empty((count, len(y)))
    for rows in response_strata(y, groups, batches):
        order = rng.permuted(np.tile(np.arange(len(rows)), (count, 1)), axis=1)
        permuted[:, rows] = y[rows[order]]
    return permuted.T


def response_strata(y: Array, groups: Array | None, batches: Array | None) -> list[Array]:
    """Return arrays (n_units, unit_size) of the rows that `shuffled` exchanges, unit by unit."""
    one_side = np.zeros(len(y))
    strata = [np.array(units) for units in _exchangeable_blocks(y, groups, batches, one_side)]
    if all(len(np.unique(y[rows])) == 1 for rows in strata):
        return [np.arange(len(y))[:, None]]
    return strata


def _exchangeable_blocks(
    y: Array, groups: Array | None, batches: Array | None, side: Array
) -> list[list[Array]]:
    """Return lists of blocks of rows (m,); the blocks of one list may be exchanged."""
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
            for batch_name in np.unique(batch[rows]):
                strata[side[rows[0]], batch_name, group] = list(
                    rows[batch[rows] == batch_name][:, None]
                )
    return list(strata.values())


def _sides(dataset: Dataset, splits: Splits) -> Array:
    """Return, for a single split, 0 for training, 1 for test, 2 for other samples; else all 0."""
    side = np.zeros(len(dataset.samples), dtype=np.int64)
    if len(splits.outer) == 1:
        side[:] = 2
        side[dataset.rows(splits.outer[0].train)] = 0
        side[dataset.rows(splits.outer[0].test)] = 1
    return side
