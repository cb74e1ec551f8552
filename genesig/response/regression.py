"""A number for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.response.design import Design
from genesig.response.record import ClassNames, Response, label_words

if TYPE_CHECKING:
    import pandas as pd


def _read(obs: pd.DataFrame, design: Design) -> Array:
    return np.asarray(obs[design.label].astype(str).astype(float))


def _strata(y: Array, parts: int) -> Array:
    """Return strata along the ranks, so that each part gets low, middle and high responses.

    -y has the same strata as y: the ranks count from the end that is nearer to the first sample
    whose two ranks differ.
    """
    bins = np.empty(len(y), dtype=np.int64)
    rank_from_below, rank_from_above = (
        np.unique(values, return_inverse=True)[1] for values in (y, -y)
    )
    unequal_ranks = np.flatnonzero(rank_from_below != rank_from_above)
    is_reversed = (
        bool(len(unequal_ranks))
        and rank_from_above[unequal_ranks[0]] < rank_from_below[unequal_ranks[0]]
    )
    by_rank = np.argsort(rank_from_above if is_reversed else rank_from_below, kind="stable")
    for number, members in enumerate(np.array_split(by_rank, max(1, len(y) // parts))):
        bins[members] = number
    return bins


def _training_fault(y: Array, classes: ClassNames) -> str | None:
    return None if len(np.unique(y)) > 1 else "do not have two different responses"


REGRESSION = Response(
    read=_read,
    label_cells=label_words,
    plain=lambda y: y,
    number=lambda y: y,
    strata=_strata,
    required_samples=lambda y, classes: {"the study": np.ones(len(y), dtype=bool)},
    training_fault=_training_fault,
    describe_counts=lambda y, classes: "",
)
