"""Expression that has changed places, as the permutations of a study take it."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.adjustment import adjustment
from genesig.response.covariates import knot_counts, knots_at, splined
from genesig.results import Dataset

Array = np.ndarray[Any, Any]

EACH = 6
"""Samples for each column of covariates that is taken out of the expression."""
FINE = 7
"""Knots of the finer spline."""


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
    C. J. F. ter Braak (1992), Permutation versus bootstrap significance tests in multiple
    regression and ANOVA. A. M. Winkler et al. (2014), Permutation inference for the general linear
    model, NeuroImage 92:381, where Smith's method permutes so.
    """
    X = dataset.X
    if not dataset.design.covariates or (pi == np.arange(len(pi))).all():
        return X[pi]
    Q, known = said_by(dataset), np.isfinite(X)
    mean = np.sum(X, axis=0, where=known) / np.maximum(known.sum(axis=0), 1)
    said = mean + Q @ (Q.T @ np.where(known, X - mean, 0.0))
    return np.asarray(said + (X - said)[pi])


def said_by(dataset: Dataset) -> Array:
    """Return orthonormal columns (n, c) that span what the covariates are taken to say of a gene.

    More than models have: beside their columns the products of two covariates, and a spline with
    more knots, up to a column for every `EACH` samples. What a gene owes to covariates in a way
    that models do not hold fixed then stays where it is, and is no evidence of anything else.
    """
    C, counts = dataset.covariates(), knot_counts(dataset.design.covariates)
    several = [len(np.unique(column[~np.isnan(column)])) > 2 for column in C.T]
    C = np.where(np.isnan(C), np.nanmean(C, axis=0), C)
    spread = C.std(axis=0)
    C = (C - C.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    base = splined(C, knots_at(C, counts))
    of = np.repeat(np.arange(len(counts)), [max(1, knots - 1) for knots in counts])
    pairs = [base[:, i] * base[:, j] for i in range(len(of)) for j in range(i) if of[i] != of[j]]
    curved = C[:, several]
    fine = splined(curved, knots_at(curved, [FINE] * curved.shape[1]))
    lines = np.arange(curved.shape[1]) * (FINE - 1)
    columns = np.column_stack([base, *pairs, np.delete(fine, lines, axis=1)])
    columns = columns[:, : max(base.shape[1], len(C) // EACH)]
    every = np.ones((len(C), 1), dtype=bool)
    return adjustment(every, columns[None]).columns(0)
