"""Intervals for held-out errors; all at level 95 %.

None of them is exact: no unbiased variance of k-fold cross-validation exists (Bengio and
Grandvalet 2004). Each says what it assumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.selection.assess.scores import placements

Array = np.ndarray[Any, Any]
Interval = tuple[float, float]

LEVEL = 0.95
Z = 1.959963984540054
"""The normal quantile at (1 + LEVEL)/2."""
NOTHING: Interval = (np.nan, np.nan)


def t_quantile(freedom: float) -> float:
    """Return the quantile of Student's t at (1 + LEVEL)/2."""
    # A sixth of a second to import, which jobs that only fit need not wait for.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + LEVEL) / 2))


def wilson(share: float, n: int) -> Interval:
    """Return the score interval of a proportion p seen in n independent samples.

    The θ with |p - θ| <= z √(θ(1-θ)/n); never empty, also for p = 0 and p = 1 (Wilson 1927).
    `share` need not be a whole number of nths: it may be a mean over repeats.
    """
    if n == 0:
        return NOTHING
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def mean_of_shares(shares: Sequence[float], sizes: Sequence[int]) -> Interval:
    """Return the interval of the plain mean of independent proportions, one per class.

    With p̄ the mean of the k shares and (l, u) the Wilson interval of each,
    (p̄ - √Σ(p-l)²/k, p̄ + √Σ(u-p)²/k): the variances are recovered from the limits (MOVER; Zou and
    Donner 2008), so it is honest where no error was seen.
    """
    p = np.asarray(shares, dtype=float)
    limits = np.array([wilson(*pair) for pair in zip(shares, sizes, strict=True)])
    low, high = np.sqrt(np.sum(np.square(limits - p[:, None]), axis=0)) / len(p)
    return float(p.mean() - low), float(p.mean() + high)


def corrected_t(values: Array, centre: float, ratio: float) -> Interval:
    """Centre ± t √((1/J + n_test/n_train) s²), from the errors of J splits, t on J - 1 df.

    s² is the variance of the errors and `ratio` = n_test/n_train allows for the overlap of the
    training sets (Nadeau and Bengio 2003, section 4.3). NaN for fewer than two splits.
    """
    if len(values) < 2:
        return NOTHING
    spread = np.sqrt((1 / len(values) + ratio) * np.var(values, ddof=1))
    half = t_quantile(len(values) - 1) * float(spread)
    return centre - half, centre + half


def mean_t(values: Array) -> Interval:
    """v̄ ± t s/√n on n - 1 df, for the losses of n independent samples. NaN for n < 2."""
    return corrected_t(values, float(np.mean(values)), 0.0) if len(values) > 1 else NOTHING


def hull(*intervals: Interval) -> Interval:
    """Return the smallest interval that holds the given ones; those that are NaN are left out."""
    low, high = np.array(intervals).T
    if np.isnan(low).all():
        return NOTHING
    return float(np.nanmin(low)), float(np.nanmax(high))


def delong(y: Array, f: Array) -> tuple[float, float, float]:
    """Return the AUC and the hull of two intervals of it, clipped to [0, 1].

    AUC ± z √(var(V₊)/n₊ + var(V₋)/n₋), V₊ and V₋ the placements of each positive among the
    negatives and of each negative among the positives (DeLong, DeLong and Clarke-Pearson 1988);
    and the score interval with the variance of Hanley and McNeil (Newcombe 2006, method 5). The
    first alone is too narrow near an AUC of 1, always on the flattering side (10 to 40 samples of
    each class: 84 to 93 % coverage), and has no width at all where every pair is ordered alike.
    NaN with fewer than two samples in a class, or without a score.
    """
    positive, negative = f[y > 0], f[y < 0]
    if min(len(positive), len(negative)) < 2 or np.isnan(f).any():
        return np.nan, *NOTHING
    up, down = placements(positive, negative), 1 - placements(negative, positive)
    area = float(np.mean(up))
    variance = np.var(up, ddof=1) / len(up) + np.var(down, ddof=1) / len(down)
    half = Z * float(np.sqrt(variance))
    by_pairs = (max(0.0, area - half), min(1.0, area + half))
    return area, *hull(by_pairs, _newcombe(area, len(up), len(down)))


def _newcombe(area: float, positive: int, negative: int) -> Interval:
    """Return the θ in [0, 1] with |area - θ| <= z √V(θ), on a grid of 1e-4.

    V = θ(1-θ) (1 + N (1-θ)/(2-θ) + N θ/(1+θ)) / (n₊ n₋), N = (n₊ + n₋)/2 - 1.
    """
    theta = np.linspace(0.0, 1.0, 10001)
    n = (positive + negative) / 2 - 1
    inflation = 1 + n * (1 - theta) / (2 - theta) + n * theta / (1 + theta)
    variance = theta * (1 - theta) * inflation / (positive * negative)
    inside = theta[np.abs(area - theta) <= Z * np.sqrt(variance) + 1e-12]
    return float(inside[0]), float(inside[-1])
