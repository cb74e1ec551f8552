"""What the fits of a study hold fixed: covariates and weights of its samples."""

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
