"""What the covariates say without any gene, on the same splits: what expression is to add to."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.results import Dataset, Split
from genesig.selection.assess.held import Held, held_fixed
from genesig.selection.assess.kinds.known import ASSESSED

Array = np.ndarray[Any, Any]

NAME = "covariates"
"""Of this predictor among the baselines."""


def covariates_alone(dataset: Dataset, split: Split) -> Array | None:
    """Return the scores (n_test,) of an outer split's test samples, or None without covariates.

    The model of the study with an empty list, cut as its kind of response cuts it.
    """
    held, y = Held.of(dataset), dataset.response()
    if held is None or not dataset.design.covariates:
        return None
    inner = [dataset.rows(fold) for fold in split.inner]
    rows = np.zeros((len(y), 1 + len(inner)), dtype=bool)
    rows[dataset.rows(split.train)] = True
    for k, fold in enumerate(inner, 1):
        rows[fold, k] = False
    fixed = held_fixed([held] * rows.shape[1], np.tile(y[:, None], rows.shape[1]), rows)
    if fixed is None:
        return None
    return ASSESSED[dataset.design.kind].alone(fixed, y, rows, inner)[dataset.rows(split.test)]
