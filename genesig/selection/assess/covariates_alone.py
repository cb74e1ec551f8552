"""What the covariates say without any gene, and with all, on the same splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.response.covariates import splined
from genesig.results import Dataset, Split
from genesig.selection.assess.held import Held, held_fixed
from genesig.selection.assess.kinds.known import ASSESSED

Array = np.ndarray[Any, Any]

NAME = "covariates"
"""Of this predictor among the baselines."""
WITH_ALL = "covariates and ridge"
"""Of the covariates with ridge on all genes beside them."""


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


def covariates_and_ridge(
    dataset: Dataset, split: Split, X: Array, X_test: Array, inner: Sequence[Array]
) -> Array | None:
    """Return the scores (n_test,) of ridge on all genes beside the covariates; None without these.

    Samples weigh alike.

    Parameters
    ----------
    X, X_test : (n_train, d), (n_test, d) float
        After the learned steps.
    inner : sequence of int arrays
        Validation rows of the inner folds, numbers of training rows.
    """
    from genesig.models.beside import ridge_beside  # here: other jobs need no compiler

    held = Held.of(dataset)
    if held is None or not dataset.design.covariates:
        return None
    train, test = dataset.rows(split.train), dataset.rows(split.test)
    inside = np.isin(np.arange(len(dataset.samples)), train)
    C = splined(held.covariates, held.knots_in(inside))
    C = np.where(np.isnan(C), np.nanmean(C[train], axis=0), C)
    score = ridge_beside(C.shape[1])[dataset.design.kind]
    given = np.hstack([C[train], X]), dataset.response()[train], np.hstack([C[test], X_test])
    return score(*given, inner, 0)
