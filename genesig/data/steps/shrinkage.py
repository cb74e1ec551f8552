"""ComBat's empirical Bayes: each gene's shift and variance, drawn towards those of all genes."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

TOLERANCE = 1e-4
ITERATIONS = 1000


def shrunken(Z: Array) -> tuple[Array, Array]:
    """Estimate shift and variance of each gene in one batch.

    ``gamma ~ N(mean, tau²)``, ``delta ~ inverse gamma(a, b)`` over the genes, their moments those
    of the batch's own means g and variances d. The two conditional expectations are taken in turn::

        gamma = (n tau² g + delta mean) / (n tau² + delta)
        delta = (b + 1/2 sum_i (z_i - gamma)²) / (n / 2 + a - 1)

    until neither grows by more than 1e-4 of itself: sva's rule, which looks at all genes together
    and at the sign, so that the numbers are the same; and never more than 1000 times.

    Parameters
    ----------
    Z : (n_samples, n_genes) float, n_samples >= 2
        Standardised values of the batch; no gene is constant.

    Returns
    -------
    gamma, delta : (n_genes,) float
        With one gene, or one variance for all, there is nothing to be drawn to: g and d.

    Notes
    -----
    W. E. Johnson et al. (2007), Biostatistics 8:118, equations 3.1 and 3.2.
    """
    n, mean, variance = len(Z), Z.mean(axis=0), Z.var(axis=0, ddof=1)
    if len(mean) < 2 or np.ptp(variance) == 0:
        return mean, variance
    centre, tau2 = mean.mean(), mean.var(ddof=1)
    m, s2 = variance.mean(), variance.var(ddof=1)
    a, b = (2 * s2 + m**2) / s2, (m * s2 + m**3) / s2
    gamma, delta = mean, variance
    for _ in range(ITERATIONS):
        new_gamma = (n * tau2 * mean + delta * centre) / (n * tau2 + delta)
        squares = (n - 1) * variance + n * (mean - new_gamma) ** 2
        new_delta = (b + squares / 2) / (n / 2 + a - 1)
        change = max(_change(gamma, new_gamma), _change(delta, new_delta))
        gamma, delta = new_gamma, new_delta
        if change <= TOLERANCE:
            break
    return gamma, delta


def _change(old: Array, new: Array) -> float:
    moved = np.divide(np.abs(new - old), old, out=np.zeros_like(old), where=old != 0)
    return float(moved.max())
