"""Whether groups differ in their survival: the log-rank test."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class LogRank(NamedTuple):
    """Observed and expected events of each group (k,), chi-squared on k - 1 df, and its p."""

    observed: Array
    expected: Array
    chi_squared: float
    p: float


def log_rank(time: Array, event: Array, group: Array) -> LogRank:
    """Return (O - E)'V⁺(O - E), the sum over event times of hypergeometric counts.

    At each time, d events among n at risk, n_k in group k: E_k = d n_k/n and
    V_kl = d (n - d)/(n - 1) (δ_kl n_k/n - n_k n_l/n²). The same as Cox's score test of the groups.
    NaN where there is one group, or no time at which two groups are at risk.

    Parameters
    ----------
    time, event, group : (n,) arrays

    Source: Mantel 1966; Peto and Peto 1972.
    """
    time, event = np.asarray(time, dtype=float), np.asarray(event, dtype=bool)
    names, member = np.unique(group, return_inverse=True)
    inside = member == np.arange(len(names))[:, None]
    observed = inside[:, event].sum(axis=1).astype(float)
    expected, V = np.zeros(len(names)), np.zeros((len(names), len(names)))
    for t in np.unique(time[event]):
        at_risk = inside[:, time >= t].sum(axis=1)
        n, d = at_risk.sum(), np.sum(event & (time == t))
        share = at_risk / n
        expected += d * share
        V += d * (n - d) / max(n - 1, 1) * (np.diag(share) - np.outer(share, share))
    rest = (observed - expected)[:-1]
    if len(names) < 2 or not V.any():
        return LogRank(observed, expected, np.nan, np.nan)
    # scipy.stats takes half a second to import, which studies without survival need not wait for.
    from scipy.special import chdtrc

    value = float(rest @ np.linalg.pinv(V[:-1, :-1]) @ rest)
    return LogRank(observed, expected, value, float(chdtrc(len(names) - 1, value)))


def numbers_at_risk(time: Array, group: Array, at: Array) -> Array:
    """Return how many of each group (ascending) are still followed at some times, (k, m)."""
    time, at = np.asarray(time, dtype=float), np.asarray(at, dtype=float)
    return np.array([np.sum(time[group == name][:, None] >= at, axis=0)
                     for name in np.unique(group)])  # fmt: skip
