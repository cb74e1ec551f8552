"""Whether expression as a whole tells anything beyond the covariates: one p for all genes."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.data.splits.permute import permutation
from genesig.optim.adjustment import Adjustment
from genesig.optim.classes import coded, shares
from genesig.optim.cox.risk_sets import RiskSets
from genesig.response.design import SEVERAL
from genesig.results import Dataset, Splits
from genesig.selection.assess.exchanged import said_by
from genesig.selection.assess.held import Held, held_fixed
from genesig.selection.assess.kinds.survival import SURVIVAL

Array = np.ndarray[Any, Any]


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
