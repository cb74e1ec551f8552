"""The mean of three linear models of one training set, which is one linear model.

They list genes in unlike ways, so that they may err in unlike ways: the chosen list of the two
stages; the genes that halves of the training samples list most often; those that go with the
response most, each by itself. All are refitted by ridge; how many genes the last two have, and
their lam, the inner folds say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.selection.genes.frequency import ranked, rounded

if TYPE_CHECKING:
    from genesig.selection.linear.kinds.record import LinearModel

LIST_LENGTHS = (5, 10, 20, 35, 50, 70, 100)
"""Genes of the lists among which the inner folds choose, the most listed or strongest first."""


def first_genes(genes: Array) -> tuple[Array, ...]:
    """Return the first genes of an order, as lists of each of `LIST_LENGTHS`, ascending."""
    return tuple(np.sort(genes[:length]) for length in LIST_LENGTHS)


def by_frequency(counts: Array, weight_sums: Array) -> tuple[Array, ...]:
    """Return lists of the genes that halves list most often; see `frequency.ranked`."""
    return first_genes(ranked(counts, weight_sums))


def by_gradient(gradient: Array) -> tuple[Array, ...]:
    """Return lists of the genes that go with the response most, of gradient (d,); none of 0."""
    order = np.argsort(-rounded(gradient), kind="stable")
    return first_genes(order[: np.count_nonzero(gradient)])


def mean_model(models: Sequence[LinearModel]) -> LinearModel:
    """Return the mean of linear models, whose scores are means of theirs.

    All are refits of one response in one unit, each less its cut: halfway between the classes for
    each is halfway for the mean.
    """
    genes = np.unique(np.concatenate([model.genes for model in models]))
    values = np.zeros((len(genes), *models[0].values.shape[1:]))
    for model in models:
        values[np.searchsorted(genes, model.genes)] += model.values / len(models)
    parts: dict[str, Any] = {}
    for name in ("intercept", "gamma", "crossfitted_scores"):
        field_values = [getattr(model, name) for model in models]
        parts[name] = (
            None
            if any(value is None for value in field_values)
            else sum(field_values) / len(field_values)
        )
    return replace(models[0], genes=genes, values=values, **parts)
