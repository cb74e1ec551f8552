"""The mean of three linear models of one training set, which is a linear model itself.

They select genes in different ways, so that their errors may differ, too: the chosen list of the
two stages; the genes with the highest selection frequency in half-samples; the genes that are, each
alone, most associated with the outcome. All are refitted by ridge. The inner folds choose the
length of the last two lists, and their lambda.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.selection.genes.frequency import rank_genes, round_sizes

if TYPE_CHECKING:
    from genesig.selection.linear.elastic_nets import LinearModel

LIST_LENGTHS = (5, 10, 20, 35, 50, 70, 100)
"""Lengths of the lists from which the inner folds choose."""


def first_genes(genes: Array) -> tuple[Array, ...]:
    """Return the first genes of an order, as lists of each of `LIST_LENGTHS`, ascending."""
    return tuple(np.sort(genes[:length]) for length in LIST_LENGTHS)


def by_frequency(counts: Array, weight_sums: Array) -> tuple[Array, ...]:
    """Return lists of the genes with the highest selection frequency, see `rank_genes`."""
    return first_genes(rank_genes(counts, weight_sums))


def by_gradient(gradient: Array) -> tuple[Array, ...]:
    """Return lists of the genes with the largest gradient (d,); none with gradient 0."""
    order = np.argsort(-round_sizes(gradient), kind="stable")
    return first_genes(order[: np.count_nonzero(gradient)])


def mean_model(models: Sequence[LinearModel]) -> LinearModel:
    """Return the linear model whose scores are the mean of the scores of some models.

    All are refits of one outcome in one unit, each less its threshold: a score of 0 is halfway
    between the classes for each, and so for the mean.
    """
    genes = np.unique(np.concatenate([model.genes for model in models]))
    values = np.zeros((len(genes), *models[0].values.shape[1:]))
    for model in models:
        values[np.searchsorted(genes, model.genes)] += model.values / len(models)
    return replace(
        models[0],
        genes=genes,
        values=values,
        intercept=sum(model.intercept for model in models) / len(models),
        gamma=_mean_or_none([model.gamma for model in models]),
        crossfitted_scores=_mean_or_none([model.crossfitted_scores for model in models]),
    )


def _mean_or_none(arrays: Sequence[Array | None]) -> Array | None:
    """Return the mean of arrays; None if any of them is None."""
    present = [array for array in arrays if array is not None]
    if len(present) < len(arrays):
        return None
    return np.asarray(sum(present) / len(present))
