"""What the covariates say without any gene, on the same splits: what expression is to add to."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.results import Dataset, Split
from genesig.selection.assess.held import Held, held_fixed

Array = np.ndarray[Any, Any]

NAME = "covariates"
"""Of this predictor among the baselines."""


def covariates_alone(dataset: Dataset, split: Split) -> Array | None:
    """Return the scores (n_test,) of an outer split's test samples, or None without covariates.

    Least squares of the response on the covariates, with the weights of the samples: the model of
    the study with an empty list. For two classes 0 is the midpoint of the class means of scores of
    training samples, each from the inner fold that left it out.
    """
    held, y = Held.of(dataset), dataset.response()
    if held is None or not dataset.design.covariates:
        return None
    train, test = dataset.rows(split.train), dataset.rows(split.test)
    inner = [dataset.rows(fold) for fold in split.inner]
    rows = np.zeros((len(y), 1 + len(inner)), dtype=bool)
    rows[train] = True
    for k, fold in enumerate(inner, 1):
        rows[fold, k] = False
    Y = np.tile(y[:, None], rows.shape[1])
    fixed = held_fixed([held] * rows.shape[1], Y, rows)
    if fixed is None:
        return None
    _, mean, of_y = fixed.centred(Y)
    f = mean[:, None] + fixed.scores(of_y)
    cut = 0.0
    if dataset.design.classes is not None and inner:
        left_out = np.concatenate([f[k, fold] for k, fold in enumerate(inner, 1)])
        told = y[np.concatenate(inner)]
        cut = float(np.mean([left_out[told == sign].mean() for sign in (-1.0, 1.0)]))
    return np.asarray(f[0, test] - cut)
