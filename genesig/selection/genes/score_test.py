"""Cox's score test of each gene by itself: the log-rank test of a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.cox.risk_sets import RiskSets

Array = np.ndarray[Any, Any]
AT_ONCE = 1024


def score_test(X: Array, y: Array, stratum: Array | None, ties: str) -> tuple[Array, Array]:
    """Return z = U/√V of each gene and its two-sided p; NaN where V is 0.

    U = Σ_l (x of the deaths - mean of x over the risk set), V the sum of its variances there, both
    at b = 0 and summed over the strata: of two groups, the log-rank test. Above 0, higher
    expression goes with earlier events.

    Parameters
    ----------
    X : (n, d) float
    y : (n,) of times and events
    stratum : (n,) or None
        Each has a baseline hazard of its own.
    ties : str
        A name in `risk_sets.TIES`; Efron's variance is that of the test.

    Source: Cox 1972; Mantel 1966 for two groups.
    """
    from scipy.special import ndtr

    inside = np.zeros(len(y), dtype=int) if stratum is None else stratum
    U, V = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for each in np.unique(inside):
        rows = np.flatnonzero(inside == each)
        if y["event"][rows].any():
            risk = RiskSets.of(y["time"][rows], y["event"][rows], ties)
            for first in range(0, X.shape[1], AT_ONCE):
                part = slice(first, first + AT_ONCE)
                u, v = _score(risk, X[rows[risk.order], part])
                U[part] += u
                V[part] += v
    spread = np.sqrt(np.where(1e-12 * np.maximum(np.var(X, axis=0), 1e-300) < V, V, np.nan))
    z = U / spread
    return z, 2 * ndtr(-np.abs(z))


def _score(risk: RiskSets, Z: Array) -> tuple[Array, Array]:
    Z = Z - Z.mean(axis=0)
    p = risk.shares(np.zeros(len(Z)))
    mean = p @ Z
    variance = risk.omega @ (p @ np.square(Z) - np.square(mean))
    return risk.died @ Z - risk.omega @ mean, variance
