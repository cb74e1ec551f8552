"""What covariates say without any gene and with all, and whether expression adds to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.data.splits.permute import permutation
from genesig.optim.adjustment import Adjustment
from genesig.optim.classes import coded, shares
from genesig.optim.cox.risk_sets import RiskSets
from genesig.response.covariates import splined
from genesig.response.design import SEVERAL
from genesig.results import Dataset, Split, Splits
from genesig.selection.assess.held import Held, held_fixed, said_by
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.survival import SURVIVAL

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


LEFT = {"regression": _of_numbers, "classification": _of_numbers, SEVERAL: _of_classes,
        "survival": _of_times}  # fmt: skip
