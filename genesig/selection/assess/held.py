"""What the fits of a study hold fixed, and what expression adds to covariates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.permute import permutation
from genesig.optim.adjustment import Adjustment, adjustment
from genesig.optim.classes import coded, shares
from genesig.optim.cox.risk_sets import RiskSets
from genesig.response.covariates import knot_counts, knots_at, splined
from genesig.response.design import BALANCED, SEVERAL
from genesig.response.known import ByKind
from genesig.results import Dataset, Split, Splits
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.survival import SURVIVAL


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
    from genesig.models.baselines import ridge_beside  # here: other jobs need no compiler

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


def p_of_all_genes(dataset: Dataset, splits: Splits, permutations: int) -> float:
    r"""Return the p of the global test of all genes beside the covariates; NaN without either.

    With R (n, T) the residuals of the model of the covariates alone, P what `said_by` spans, and Z
    the standardised genes,

    .. math:: S = \|Z' (I - P) R\|_F^2 / \|(I - P) R\|_F^2,

    the score of a common variance of all weights, of which ridge is the estimate; large where many
    genes go with what the covariates leave. Its null are the S of the matrices of `exchanged`:
    ``Z*'(I - P) R = Z'W`` with W = (I - P) ((I - P) R)[inverse of pi], so that tr W'(ZZ')W, over
    tr W'W because W has lost what P takes, needs n² numbers for each, however many genes there are.

    Notes
    -----
    J. J. Goeman et al. (2004), A global test for groups of genes, Bioinformatics 20:93; and (2005),
    Testing association of a pathway with survival, 21:1950.
    """
    held = Held.of(dataset)
    if held is None or not dataset.design.covariates or not permutations:
        return np.nan
    y, every = dataset.response(), np.ones((len(dataset.samples), 1), dtype=bool)
    fixed = held_fixed([held], y[:, None], every)
    assert fixed is not None
    Q = said_by(dataset)
    R = LEFT[dataset.design.kind](fixed, y)
    R = R - Q @ (Q.T @ R)
    known = np.isfinite(dataset.X)
    mean = np.sum(dataset.X, axis=0, where=known) / np.maximum(known.sum(axis=0), 1)
    Z = np.where(known, dataset.X - mean, 0.0)
    spread = Z.std(axis=0)
    Z = Z / np.where(spread > 0, spread, 1.0)
    K, sizes = Z @ Z.T, []
    for number in range(permutations + 1):
        W = R[np.argsort(permutation(dataset, splits, number))]
        W = W - Q @ (Q.T @ W)
        sizes.append(float(np.sum(W * (K @ W)) / np.sum(np.square(W))))
    return float(np.mean(np.array(sizes) >= sizes[0] * (1 - 1e-12)))


def _of_numbers(fixed: Adjustment, y: Array) -> Array:
    return fixed.root * fixed.centred(y[:, None])[0]


def _of_classes(fixed: Adjustment, y: Array) -> Array:
    share = shares(y[:, None], fixed.root > 0, int(y.max()) + 1, np.square(fixed.root))
    columns = coded(y[:, None], share)[:, 0]
    return np.hstack([_of_numbers(fixed, column) for column in columns.T])


def _of_times(fixed: Adjustment, y: Array) -> Array:
    """Return the martingale residuals of Cox's model of the covariates, up to a factor."""
    known = np.flatnonzero(fixed.root[:, 0])
    eta = SURVIVAL.alone(fixed, y, fixed.root > 0, [])[known]
    weights = None if fixed.weights is None else fixed.weights[known, 0]
    risk = RiskSets.of(y["time"][known], y["event"][known], weights=weights)
    R = np.zeros((len(y), 1))
    R[known[risk.order], 0] = -risk.gradient(risk.shares(eta[risk.order]))
    return R


LEFT = ByKind({
    "regression": _of_numbers, "classification": _of_numbers, SEVERAL: _of_classes,
    "survival": _of_times,
})  # fmt: skip
