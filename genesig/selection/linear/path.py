"""Stage II: nested lists over growing mu at the chosen tau and lam.

Mosci 2009, section 4.4. For mu to infinity the support tends to {j: (2/n)|x_j'y| > tau}, a
univariate screen: the longest lists are correlation-aware and close to marginal screening at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.optim.solution import Path
from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.tasks import LinearSettings


@dataclass(frozen=True)
class Lists:
    """Coefficients of several training sets over growing mu.

    Attributes
    ----------
    indptr, indices, values : (k * n_mu + 1,), (nnz,), (nnz,)
        Refitted weights per unit of X, as in `genesig.results.Fits`.
    intercept, gap : (k, n_mu) float
        The gap is NaN where lists had grown too long to be kept.
    gamma, covariate_mean : (k, n_mu, q), (k, q) float, or None
        Weights of the covariates, (k, n_mu, q, T) with several classes; their means
        over the training samples; None without covariates.
    """

    indptr: Array
    indices: Array
    values: Array
    intercept: Array
    gap: Array
    gamma: Array | None
    covariate_mean: Array | None


def stage_two(sets: Sets, tau: Array, lam: Array, protocol: LinearSettings) -> Lists:
    """Select over growing mu at fixed tau, and refit each support by ridge.

    A training set's lists end before the first one of more than `longest` genes.

    Parameters
    ----------
    sets : Sets
        The k outer training sets.
    tau : (k,) float
        Chosen tau as a fraction of tau_max.
    lam : (k,) float
        Chosen lam in units of ||X'X||/n.
    protocol : Protocol
    """
    mu = np.asarray(protocol.mu) * sets.norm[:, None]
    chosen = sets.path((tau * sets.tau_max)[:, None], mu, protocol, protocol.longest)
    return refitted(sets, chosen, lam)


def refitted(sets: Sets, chosen: Path, lam: Array) -> Lists:
    """Refit each support by ridge, lam (k,) in units of ||X'X||/n."""
    values, intercept = sets.coef(chosen, lam * sets.norm)
    gamma, mean = sets.covariates(chosen, values, lam * sets.norm)
    if gamma is not None and mean is not None:
        intercept = intercept - np.einsum("kmq...,kq->km...", gamma, mean)
    found = (chosen.indptr, chosen.indices, values)
    return Lists(*found, intercept, chosen.gap, gamma, mean)
