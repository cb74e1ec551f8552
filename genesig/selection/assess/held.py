"""What the fits of a study hold fixed: covariates and weights, and expression that moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.optim.adjustment import Adjustment, adjustment
from genesig.response.covariates import knot_counts, knots_at, splined
from genesig.response.design import BALANCED
from genesig.results import Dataset

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Held:
    """What each sample has.

    Attributes
    ----------
    covariates : (n, r) float
        As `encoded` gives them, NaN where missing.
    weights : (n,) float or None
    balanced : bool
        Whether classes count alike.
    knots : r of int
        Number of knots of each covariate.
    """

    covariates: Array
    weights: Array | None
    balanced: bool
    knots: tuple[int, ...] = ()

    @classmethod
    def of(cls, dataset: Dataset) -> Held | None:
        """Return what a study holds fixed, of its samples, or None where that is nothing."""
        design = dataset.design
        if not design.covariates and design.weights is None:
            return None
        return cls(dataset.covariates(), dataset.sample_weights(), design.weights == BALANCED,
                   knot_counts(design.covariates))  # fmt: skip

    def knots_in(self, rows: Array) -> Array:
        """Return the knots (r, K) of the training set of some rows (n,) bool, see `knots_at`."""
        known = rows if self.weights is None else rows & (self.weights > 0)
        return knots_at(self.covariates[known], self.knots)

    def permuted(self, pi: Array) -> Held:
        """Give row pi[i] what sample i has."""
        place = np.argsort(pi)
        weights = None if self.weights is None else self.weights[place]
        return replace(self, covariates=self.covariates[place], weights=weights)

    def weights_in(self, y: Array, rows: Array) -> Array:
        """Return the weight of each sample (n,) in the training set of some rows (n,) bool."""
        if self.balanced:
            _, number, size = np.unique(y[rows], return_inverse=True, return_counts=True)
            weights = np.zeros(len(y))
            weights[rows] = 1 / size[number]
            return weights
        return np.ones(len(y)) if self.weights is None else self.weights


def held_fixed(sets: Sequence[Held | None], Y: Array, rows: Array) -> Adjustment | None:
    """Return the adjustment of k training sets, or None where nothing is held fixed.

    Parameters
    ----------
    sets : k of Held, or of None
    Y : (n, k) float
        Responses.
    rows : (n, k) bool
        Training rows of each set.
    """
    known = [held for held in sets if held is not None]
    if not known:
        return None
    weights = None
    if any(held.balanced or held.weights is not None for held in known):
        weights = np.column_stack([
            held.weights_in(Y[:, k], rows[:, k]) for k, held in enumerate(known)
        ])  # fmt: skip
    splines = [splined(each.covariates, each.knots_in(own))
               for each, own in zip(known, rows.T, strict=True)]  # fmt: skip
    return adjustment(rows, np.stack(splines), weights)


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
