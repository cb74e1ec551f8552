"""A number for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.response.design import Design
from genesig.response.record import Classes, Response, label_words

if TYPE_CHECKING:
    import pandas as pd


def _read(obs: pd.DataFrame, design: Design) -> Array:
    return np.asarray(obs[design.label].astype(str).astype(float))


def _strata(y: Array, parts: int) -> Array:
    """Cut along the ranks, so that each part gets low, middle and high responses alike.

    The strata of -y are those of y: both are cut from the end at which the sample lies that is the
    first to be nearer to one end than to the other.
    """
    bins = np.empty(len(y), dtype=np.int64)
    up, down = (np.unique(each, return_inverse=True)[1] for each in (y, -y))
    aside = np.flatnonzero(up != down)
    turned = bool(len(aside)) and down[aside[0]] < up[aside[0]]
    by_rank = np.argsort(down if turned else up, kind="stable")
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
