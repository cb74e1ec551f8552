"""Expression that has changed places, as the permutations of a study take it."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.adjustment import adjustment
from genesig.response.covariates import knot_counts, knots_at, splined
from genesig.results import Dataset

Array = np.ndarray[Any, Any]


def exchanged(dataset: Dataset, pi: Array) -> Array:
    r"""Return the expression of a study in which it tells nothing beyond the covariates.

    Without covariates X[pi]. With them, P(C) being what least squares say by the covariates,

    .. math:: X^* = P(C) X + (X - P(C) X)[pi],

    so that genes go with the covariates as they do, the label goes with the covariates as it does,
    and nothing else of a gene goes with the label. A value that is missing goes with its residual.

    Parameters
    ----------
    dataset : Dataset
    pi : (n,) int
        A permutation of the rows, see `permute.permutation`.

    Notes
    -----
    C. J. F. ter Braak (1992), Permutation versus bootstrap significance tests in multiple regression
    and ANOVA. A. M. Winkler et al. (2014), Permutation inference for the general linear model,
    NeuroImage 92:381, where the expression is what Smith's method permutes.
    """
    X = dataset.X
    if not dataset.design.covariates or (pi == np.arange(len(pi))).all():
        return X[pi]
    Q, known = said_by(dataset), np.isfinite(X)
    mean = np.sum(X, axis=0, where=known) / np.maximum(known.sum(axis=0), 1)
    said = mean + Q @ (Q.T @ np.where(known, X - mean, 0.0))
    return np.asarray(said + (X - said)[pi])


def said_by(dataset: Dataset) -> Array:
    C, counts = dataset.covariates(), knot_counts(dataset.design.covariates)
    C = np.where(np.isnan(C), np.nanmean(C, axis=0), C)
    C = (C - C.mean(axis=0)) / np.where(C.std(axis=0) > 0, C.std(axis=0), 1.0)
    base = splined(C, knots_at(C, counts))
    of = np.repeat(np.arange(len(counts)), [max(1, k - 1) for k in counts])
    pairs = [base[:, i] * base[:, j] for i in range(len(of)) for j in range(i) if of[i] != of[j]]
    fine = splined(C, knots_at(C, [FINE * (k > 0) for k in counts]))
    import os
    RICH = float(os.environ.get('RICH', 6))
    more = np.column_stack([base, *pairs, fine])
    rank = [np.linalg.matrix_rank(more[:, :k]) for k in range(1, more.shape[1] + 1)]
    allowed = max(base.shape[1], int(len(C) / RICH))
    kept = sum(1 for r in rank if r <= allowed)
    found = more[:, : max(kept, base.shape[1])]
    return adjustment(np.ones((len(C), 1), dtype=bool), found[None]).columns(0)


FINE = 5
