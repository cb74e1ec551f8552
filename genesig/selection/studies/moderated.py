"""The mean of each gene's effects over studies, its spread between them learned from all genes.

With few studies that spread is hardly known from one gene: to take it as known names false genes (a
half of them where three studies differ by .4 standard deviations), and Student's t on k - 1 degrees
of freedom finds none among thousands.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.selection.assess.intervals import LEVEL
from genesig.selection.studies.random_effects import pooled_tau2, weighed

Array = np.ndarray[Any, Any]

FEWEST = 10
"""Genes from which on they tell of each other; of fewer each has its own spread alone."""
STEPS = 50
"""Newton steps of the inverse of the trigamma function, of which some five are taken."""
SMALLEST = 1e-5
"""Of the median spread: smaller ones, as of equal effects, count as this."""


class Moderated(NamedTuple):
    """Means (d,) with their 95 % interval and two-sided p; NaN of fewer than two studies.

    ``tau2`` is the variance between studies of all genes together, by which studies are weighed.
    """

    mean: Array
    low: Array
    high: Array
    p: Array
    tau2: float


def moderated(y: Array, v: Array) -> Moderated:
    r"""Combine the effects of d genes in K studies, (K, d), of variances v; NaN where unknown.

    With one :math:`\tau^2` for all genes, :math:`w_i = 1/(v_i + \tau^2)`, and :math:`q_g = \sum_i
    w_i (y_{ig} - \bar y_g)^2 / (k - 1)` as of Hartung and Knapp (2001), q has the distribution that
    a variance has in Smyth (2004), and is shrunk as there: :math:`\tilde q_g = (d_0 s_0^2 + (k - 1)
    q_g)/(d_0 + k - 1)`, whose :math:`\bar y_g / \sqrt{\tilde q_g / \sum w}` is Student's t on
    :math:`d_0 + k - 1` degrees of freedom. :math:`d_0` is large where studies differ alike in all
    genes, and 0 for fewer than `FEWEST` genes. As q is what is seen between studies, samples that
    are not independent within one make no gene more certain than it is.

    Share of false genes among those of q <= .05 (4000 genes, 200 of them true, 3 to 6 studies of
    40; tau from 0 to .8, alike or of some genes alone): .00 to .08; with tau taken as known .02 to
    .77. Two studies whose genes go together are too few: up to .34.
    """
    from scipy.special import stdtr, stdtrit

    known = np.isfinite(y) & np.isfinite(v) & (v > 0)
    k = known.sum(axis=0)
    y, v = np.where(known, y, 0.0), np.where(known, v, 1.0)
    tau2 = pooled_tau2(y, v, known)
    mean, spread, total = weighed(y, v, known, tau2)
    low, high, p = np.full((3, len(k)), np.nan)
    some = k > 1
    if some.any():
        q, freedom = _shrunk(spread[some], k[some] - 1.0)
        error = np.sqrt(q / total[some])
        half = stdtrit(freedom, (1 + LEVEL) / 2) * error
        low[some], high[some] = mean[some] - half, mean[some] + half
        p[some] = 2 * stdtr(freedom, -np.abs(mean[some]) / error)
    return Moderated(np.where(k > 0, mean, np.nan), low, high, p, float(tau2.max(initial=0.0)))


def _shrunk(spread: Array, own: Array) -> tuple[Array, Array]:
    """Return the variances and their degrees of freedom, of sums of squares on `own` of them."""
    q = spread / own
    q = np.maximum(q, SMALLEST * np.median(q))
    if len(q) < FEWEST:
        return q, own
    freedom, usual = _prior(q, own)
    if np.isinf(freedom):
        return np.full(len(q), usual), np.full(len(q), own.sum())
    shrunk = (freedom * usual + own * q) / (freedom + own)
    return shrunk, np.minimum(freedom + own, own.sum())


def _prior(q: Array, own: Array) -> tuple[float, float]:
    """Return d₀ and s₀² by the mean and the variance of log q (Smyth 2004, section 6.2)."""
    from scipy.special import digamma, polygamma

    e = np.log(q) - digamma(own / 2) + np.log(own / 2)
    excess = float(e.var(ddof=1) - polygamma(1, own / 2).mean())
    if not excess > 0:  # no more than chance: one variance for all
        return np.inf, float(own @ q / own.sum())
    half = _inverse_trigamma(excess)
    return 2 * half, float(np.exp(e.mean() + digamma(half) - np.log(half)))


def _inverse_trigamma(value: float) -> float:
    """Return x with ψ'(x) = value > 0, by Newton's method on 1/ψ', which is convex."""
    from scipy.special import polygamma

    x = 0.5 + 1 / value
    for _ in range(STEPS):
        now = float(polygamma(1, x))
        step = now * (1 - now / value) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-9 * x:
            break
    return x
