"""Cox's score test of one gene at a time."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.risk_sets import RiskSets

GENES_AT_ONCE = 1024  # genes of one call, because a test holds several matrices of them in memory


def score_test(
    X: Array, y: Array, stratum: Array | None, ties: str, covariates: Array | None = None
) -> tuple[Array, Array]:
    """Return z = U/√V of each gene and its two-sided p; NaN if V is 0.

    U = Σ_l (x of the deaths - mean of x over the risk set), V the sum of its variances there, both
    at b = 0 and summed over the strata: for two groups, the log-rank test. z > 0 means that samples
    of higher expression have earlier events.

    X (n, d) float.
    y (n,) of times and events.
    stratum (n,) or None: each has a baseline hazard of its own.
    ties: a name in `risk_sets.TIES`; Efron's variance is that of the test.
    covariates (n, q) or None: then U and V are those of the gene beside them, at their own fit in
        each stratum: ``V = z'Hz - z'HC (C'HC)^-1 C'Hz``.

    Source: Cox 1972; Mantel 1966 for two groups.
    """
    from scipy.special import ndtr

    stratum_of_row = np.zeros(len(y), dtype=int) if stratum is None else stratum
    U = np.zeros(X.shape[1])
    V = np.zeros(X.shape[1])
    for stratum_name in np.unique(stratum_of_row):
        rows = np.flatnonzero(stratum_of_row == stratum_name)
        if y["event"][rows].any():
            risk = RiskSets.from_times(y["time"][rows], y["event"][rows], ties)
            C = np.zeros((len(rows), 0)) if covariates is None else covariates[rows[risk.order]]
            for start in range(0, X.shape[1], GENES_AT_ONCE):
                columns = slice(start, start + GENES_AT_ONCE)
                u, v = _score_and_variance(risk, X[rows[risk.order], columns], C)
                U[columns] += u
                V[columns] += v
    is_above_rounding = 1e-12 * np.maximum(np.var(X, axis=0), 1e-300) < V
    standard_error = np.sqrt(np.where(is_above_rounding, V, np.nan))
    z = U / standard_error
    return z, 2 * ndtr(-np.abs(z))


def _score_and_variance(risk: RiskSets, Z: Array, C: Array) -> tuple[Array, Array]:
    """Return U and V of each gene in one stratum, of genes Z (n, d) and covariates C (n, q).

    The rows are in the order of `risk`. Term l of the likelihood has the weight omega_l, and
    shares (T, n) of the samples at risk, by which their mean and variance are taken.
    """
    from genesig.optim.cox.path import ridge

    Z = Z - Z.mean(axis=0)
    C = C - C.mean(axis=0)
    C = C / np.where(C.std(axis=0) > 0, C.std(axis=0), 1.0)
    eta = np.zeros(len(Z))
    if C.shape[1]:  # the covariates alone, without a penalty: lam is that of no columns
        eta = C @ ridge(risk, C[:, :0], C, lam=np.ones(1)).b[:, 0]
    shares = risk.shares(eta)
    mean = shares @ Z
    variance = risk.omega @ (shares @ np.square(Z) - np.square(mean))
    if C.shape[1]:
        covariate_means = shares @ C
        total_shares = risk.omega @ shares
        H = (
            C.T @ (total_shares[:, None] * C)
            - (risk.omega[:, None] * covariate_means).T @ covariate_means
        )
        cross = C.T @ (total_shares[:, None] * Z) - (risk.omega[:, None] * covariate_means).T @ mean
        variance = variance - np.einsum("qd,qd->d", cross, np.linalg.pinv(H, rcond=1e-10) @ cross)
    return risk.died @ Z - risk.omega @ mean, variance
