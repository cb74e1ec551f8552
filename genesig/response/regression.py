"""A number for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.response.design import Design
from genesig.response.record import Classes, Response, label_words

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]


def _read(obs: pd.DataFrame, design: Design) -> Array:
    return np.asarray(obs[design.label].astype(str).astype(float))


def _strata(y: Array, parts: int) -> Array:
    """Cut along the ranks, so that each part gets low, middle and high responses alike."""
    bins = np.empty(len(y), dtype=np.int64)
    by_rank = np.argsort(y, kind="stable")
    for number, members in enumerate(np.array_split(by_rank, max(1, len(y) // parts))):
        bins[members] = number
    return bins


def _untold(y: Array, classes: Classes) -> str | None:
    return None if len(np.unique(y)) > 1 else "do not have two different responses"


REGRESSION = Response(
    read=_read,
    shown=label_words,
    plain=lambda y: y,
    number=lambda y: y,
    strata=_strata,
    needed=lambda y, classes: {"the study": np.ones(len(y), dtype=bool)},
    untold=_untold,
    counted=lambda y, classes: "",
)
