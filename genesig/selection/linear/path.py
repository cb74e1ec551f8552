"""Stage II: nested lists over growing mu at the chosen tau and lambda.

Mosci 2009, section 4.4. As mu grows, the support tends to {j: (2/n)|x_j'y| > tau}, a univariate
screen: the longest lists hold correlated genes and are close to marginal screening.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.optim.solution import Path
from genesig.selection.linear.elastic_nets import ElasticNets
from genesig.selection.linear.training_sets import LinearSettings


@dataclass(frozen=True)
class NestedModels:
    """Models of k training sets over growing mu."""

    indptr: Array
    """(k * n_mu + 1,) int: index in `indices` at which each list begins."""
    indices: Array
    """(nnz,) int: columns of the matrix."""
    values: Array
    """(nnz,) or (nnz, T) float: ridge weights per unit of X."""
    intercept: Array
    """(k, n_mu) float."""
    gap: Array
    """(k, n_mu) float: relative duality gap; NaN if the list was longer than ``linear.longest``."""
    gamma: Array | None
    """(k, n_mu, q) or (k, n_mu, q, T) float: weights of covariates; None without covariates."""
    covariate_mean: Array | None
    """(k, q) float: mean of each covariate over the training samples."""


def fit_nested_lists(
    nets: ElasticNets, tau: Array, lam: Array, settings: LinearSettings
) -> NestedModels:
    """Select genes over growing mu at fixed tau, and refit each list by ridge.

    tau (k,) is a fraction of tau_max, lam (k,) counts in ||X'X||/n. The lists of a training set end
    before the first one of more than ``linear.longest`` genes.
    """
    mu = np.asarray(settings.mu) * nets.norm[:, None]
    absolute_tau = (tau * nets.tau_max)[:, None]
    selection = nets.path(absolute_tau, mu, settings, settings.longest)
    return refit_by_ridge(nets, selection, lam)


def refit_by_ridge(nets: ElasticNets, selection: Path, lam: Array) -> NestedModels:
    """Refit each list of a selection by ridge, with lam (k,) in units of ||X'X||/n."""
    values, intercept = nets.ridge_coef(selection, lam * nets.norm)
    gamma, covariate_mean = nets.covariate_coef(selection, values, lam * nets.norm)
    if gamma is not None and covariate_mean is not None:
        intercept = intercept - np.einsum("kmq...,kq->km...", gamma, covariate_mean)
    return NestedModels(
        selection.indptr, selection.indices, values, intercept, selection.gap, gamma, covariate_mean
    )


def lists_as_path(lists: Sequence[Sequence[Array]]) -> Path:
    """Return (k, m) lists of genes, ascending, as the supports that `refit_by_ridge` takes."""
    shape = (len(lists), len(lists[0]))
    coefs = [(genes, np.ones(len(genes))) for row in lists for genes in row]
    return Path.from_coefs(shape, coefs, np.zeros(shape), np.ones(shape, dtype=np.int64), 0.0)
