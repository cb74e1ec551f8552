"""The mean of effects that differ between studies, and where that of the next study may lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.selection.assess.intervals import LEVEL

Array = np.ndarray[Any, Any]

STEPS = 100
"""Newton steps for tau², of which some ten are taken: Q falls and is convex in it."""
CLOSE = 1e-10
GRID = (60, 40, 40)
"""Quantiles of u, of Z and of T that stand for their distributions."""


@dataclass(frozen=True, eq=False)
class Together:
    """Random-effects summaries of d effects, each from the studies that know it.

    Attributes
    ----------
    studies : (d,) int
        k, the number of studies.
    mean, error : (d,) float
        ȳ = Σ w_i y_i / Σ w_i with w_i = 1/(v_i + τ²), and its standard error 1/√Σ w_i; NaN
        without a study.
    tau2 : (d,) float
        Variance of the effects between studies.
    low, high : (d,) float
        95 % interval of the mean; NaN with one study.
    q, i2 : (d,) float
        Σ (y_i - ȳ_0)²/v_i with ȳ_0 at τ² = 0, on k - 1 degrees of freedom; the share of it above
        these, at least 0.
    """

    studies: Array
    mean: Array
    error: Array
    tau2: Array
    low: Array
    high: Array
    q: Array
    i2: Array


def together(y: Array, v: Array) -> Together:
    r"""Combine effects :math:`y_i \sim N(\theta_i, v_i)`, :math:`\theta_i \sim N(\theta, \tau^2)`.

    :math:`\tau^2` solves :math:`\sum w_i (y_i - \bar y)^2 = k - 1`, or is 0 (Paule and Mandel
    1982). The interval of the mean is :math:`\bar y \pm t_{k-1} \sqrt{\max(1, q)} / \sqrt{\sum
    w_i}` with :math:`q = \sum w_i (y_i - \bar y)^2 / (k - 1)`, that of Hartung and Knapp (2001),
    which is never taken shorter than at q = 1 (Röver, Knapp and Friede 2015).

    Parameters
    ----------
    y, v : (K, d) float
        Effects and their variances, NaN where a study does not know one.
    """
    from scipy.special import stdtrit

    known = np.isfinite(y) & np.isfinite(v) & (v > 0)
    k = known.sum(axis=0)
    y, v = np.where(known, y, 0.0), np.where(known, v, 1.0)
    tau2 = _paule_mandel(y, v, known, k - 1.0)
    mean, spread, total = weighed(y, v, known, tau2)
    fixed = weighed(y, v, known, np.zeros(len(k)))[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(k > 0, 1 / np.sqrt(total), np.nan)
        own = error * np.sqrt(np.maximum(1.0, spread / (k - 1)))
        i2 = np.where(k > 1, np.maximum(0.0, 1 - (k - 1) / fixed), np.nan)
    upper = (1 + LEVEL) / 2
    half = np.where(k > 1, stdtrit(np.maximum(k - 1, 1), upper) * own, np.nan)
    return Together(k, np.where(k > 0, mean, np.nan), error, tau2, mean - half, mean + half,
                    np.where(k > 1, fixed, np.nan), i2)  # fmt: skip


def next_study(y: Array, v: Array) -> tuple[float, float]:
    r"""Return where the effect in a further study lies with 95 %; NaN of fewer than three.

    :math:`\bar y_u + \tau_u Z + s_u T` with Z normal, T of Student on k - 1 degrees of freedom and
    :math:`\tau_u^2` from its confidence distribution: :math:`\sum w_i (y_i - \bar y)^2`, which at
    the true :math:`\tau^2` is :math:`\chi^2_{k-1}`, is a draw u of that; :math:`s_u^2 = u / ((k -
    1) \sum w_i)` (Nagashima, Noma and Furukawa 2019), over a grid of quantiles and not by chance.

    With 3, 5 and 8 studies and :math:`\tau` of 0 to 1, variances of .02 to .2, it covered in .93 to
    .97 of 1000 draws each; :math:`\bar y \pm t_{k-2} \sqrt{\tau^2 + s^2}` (Higgins, Thompson and
    Spiegelhalter 2009), which takes :math:`\tau^2` as known, in .87 to 1.

    Parameters
    ----------
    y, v : (K,) float
        Effects and their variances, NaN where a study does not know one.
    """
    from scipy.special import chdtri, ndtri, stdtrit

    known = np.isfinite(y) & np.isfinite(v) & (v > 0)
    y, v = y[known], v[known]
    if len(y) < 3:
        return np.nan, np.nan
    share = [(np.arange(number) + 0.5) / number for number in GRID]
    u = chdtri(len(y) - 1, share[0])
    Y, V = (np.repeat(x[:, None], len(u), axis=1) for x in (y, v))
    tau2 = _paule_mandel(Y, V, np.ones(Y.shape, dtype=bool), u)
    mean, spread, total = weighed(Y, V, np.ones(Y.shape, dtype=bool), tau2)
    error = np.sqrt(spread / (len(y) - 1) / total)
    drawn = (mean[:, None, None] + np.sqrt(tau2)[:, None, None] * ndtri(share[1])[:, None]
             + error[:, None, None] * stdtrit(len(y) - 1, share[2]))  # fmt: skip
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def weighed(y: Array, v: Array, known: Array, tau2: Array) -> tuple[Array, Array, Array]:
    """Return ȳ, Σ w (y - ȳ)² and Σ w at some τ²."""
    w = known / (v + tau2)
    total = w.sum(axis=0)
    mean = (w * y).sum(axis=0) / np.where(total > 0, total, 1.0)
    return mean, (w * (y - mean) ** 2).sum(axis=0), total


def pooled_tau2(y: Array, v: Array, known: Array) -> Array:
    """Return the τ² at which Σ w (y - ȳ)² of all genes together is Σ (k - 1), (d,), all alike."""
    return _paule_mandel(y, v, known, np.maximum(known.sum(axis=0) - 1.0, 0.0), pooled=True)


def _paule_mandel(y: Array, v: Array, known: Array, level: Array, *, pooled: bool = False) -> Array:
    """Return τ² at which Σ w (y - ȳ)² is so much, (d,), 0 where it is less already.

    Pooled, it is one for all columns, whose sums are added up.
    """
    tau2 = np.zeros(y.shape[1])
    for _ in range(STEPS):
        mean, spread, _ = weighed(y, v, known, tau2)
        excess = spread - level
        slope = (known * ((y - mean) / (v + tau2)) ** 2).sum(axis=0)
        if pooled:
            excess, slope = excess.sum(keepdims=True), slope.sum(keepdims=True)
        step = np.where((excess > 0) & (slope > 0), excess / np.where(slope > 0, slope, 1.0), 0.0)
        tau2 = tau2 + step
        if (step <= CLOSE * (tau2 + v.mean(axis=0))).all():
            break
    return tau2
