"""Models of the covariates alone, and whether all genes together add to them."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.draw import draw_permutation
from genesig.optim.adjustment import Adjustment
from genesig.optim.classes import coded, shares
from genesig.optim.cox.risk_sets import RiskSets
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.results import Dataset, Split, Splits
from genesig.selection.assess.covariates import Covariates, adjust_for_covariates, covariate_basis
from genesig.selection.assess.kinds import ASSESSMENT_KINDS


def score_covariates(dataset: Dataset, split: Split) -> Array | None:
    """Return the scores of an outer split's test samples by the covariates alone.

    They are (n_test,), or (n_test, T) with several classes. The model is that of the study without
    genes; its threshold is subtracted (see `AssessmentKind.score_covariates`). None in a study
    without covariates.
    """
    if not dataset.design.covariates:  # `Covariates` may hold weights alone, which score nobody
        return None
    covariates = Covariates.from_dataset(dataset)
    y = dataset.response()
    inner_folds = [dataset.rows(fold) for fold in split.inner]
    is_training = np.zeros((len(y), 1 + len(inner_folds)), dtype=bool)
    is_training[dataset.rows(split.train)] = True  # column 0: the outer training set
    for k, fold in enumerate(inner_folds, 1):
        is_training[fold, k] = False
    n_training_sets = is_training.shape[1]
    adjustment = adjust_for_covariates(
        [covariates] * n_training_sets, np.tile(y[:, None], n_training_sets), is_training
    )
    assert adjustment is not None
    kind = ASSESSMENT_KINDS[dataset.design.kind]
    return kind.score_covariates(adjustment, y, is_training, inner_folds)[dataset.rows(split.test)]


def global_test_p(dataset: Dataset, splits: Splits, n_permutations: int) -> float:
    r"""Return the p of the global test that all genes together add to the covariates.

    With R (n, T) the residuals of the model of the covariates alone, P the projection on
    `covariate_basis`, and Z the standardised genes,

    .. math:: S = \|Z' (I - P) R\|_F^2 / \|(I - P) R\|_F^2,

    the score of a common variance of all weights, of which ridge is the estimate; large if many
    genes are associated with the residuals. Its null distribution are the S of the matrices of
    `exchange_residuals`: ``Z*'(I - P) R = Z'W`` with W = (I - P) ((I - P) R)[inverse of π]. So S is
    tr W'(ZZ')W over tr W'W, because W has lost its part in P. Each permutation needs n² numbers,
    however many genes there are.

    NaN without covariates or permutations.

    J. J. Goeman et al. (2004), A global test for groups of genes, Bioinformatics 20:93; and (2005),
    Testing association of a pathway with survival, 21:1950.
    """
    if not dataset.design.covariates or not n_permutations:
        return np.nan
    covariates = Covariates.from_dataset(dataset)
    y = dataset.response()
    all_rows = np.ones((len(dataset.samples), 1), dtype=bool)
    adjustment = adjust_for_covariates([covariates], y[:, None], all_rows)
    assert adjustment is not None
    Q = covariate_basis(dataset)
    R = RESIDUALS[dataset.design.kind](adjustment, y)
    R = R - Q @ (Q.T @ R)
    finite = np.isfinite(dataset.X)
    mean = np.sum(dataset.X, axis=0, where=finite) / np.maximum(finite.sum(axis=0), 1)
    Z = np.where(finite, dataset.X - mean, 0.0)
    sd = Z.std(axis=0)
    Z = Z / np.where(sd > 0, sd, 1.0)
    K = Z @ Z.T  # (n, n), as Z has many more columns than rows
    statistics = []
    for permutation_number in range(n_permutations + 1):  # number 0 leaves all rows in place
        W = R[np.argsort(draw_permutation(dataset, splits, permutation_number))]
        W = W - Q @ (Q.T @ W)
        statistics.append(float(np.sum(W * (K @ W)) / np.sum(np.square(W))))
    return float(np.mean(np.array(statistics) >= statistics[0] * (1 - 1e-12)))


def _number_residuals(adjustment: Adjustment, y: Array) -> Array:
    """Return the residuals (n, 1) of a number, or of a class coded as a number."""
    return adjustment.root_weights * adjustment.centred(y[:, None])[0]


def _class_residuals(adjustment: Adjustment, y: Array) -> Array:
    """Return the residuals (n, T) of the codes of several classes."""
    class_shares = shares(
        y[:, None],
        adjustment.root_weights > 0,
        int(y.max()) + 1,
        np.square(adjustment.root_weights),
    )
    codes = coded(y[:, None], class_shares)[:, 0]
    return np.hstack([_number_residuals(adjustment, code) for code in codes.T])


def _martingale_residuals(adjustment: Adjustment, y: Array) -> Array:
    """Return the martingale residuals (n, 1) of Cox's model of the covariates, up to a factor."""
    weighted_rows = np.flatnonzero(adjustment.root_weights[:, 0])
    no_inner_folds: list[Array] = []
    eta = ASSESSMENT_KINDS["survival"].score_covariates(
        adjustment, y, adjustment.root_weights > 0, no_inner_folds
    )[weighted_rows]
    weights = None if adjustment.weights is None else adjustment.weights[weighted_rows, 0]
    risk = RiskSets.from_times(y["time"][weighted_rows], y["event"][weighted_rows], weights=weights)
    residuals = np.zeros((len(y), 1))
    residuals[weighted_rows[risk.order], 0] = -risk.gradient(risk.shares(eta[risk.order]))
    return residuals


RESIDUALS = ByKind(
    {
        "regression": _number_residuals,
        "classification": _number_residuals,
        SEVERAL_CLASSES: _class_residuals,
        "survival": _martingale_residuals,
    }
)
"""Residuals of the model of the covariates alone, by kind of response."""
