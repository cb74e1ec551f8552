"""How far predicted survival is from what happened: Brier scores, weighed for censoring.

    B(t) = (1/n) Σ_i (S_i(t)² 1[t_i <= t, event]/G(t_i) + (1 - S_i(t))² 1[t_i > t]/G(t))

with G the censoring of the training samples; integrated over times by trapezoids. A sample that is
censored before t adds nothing; its share is borne by those who were followed (Graf et al. 1999).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.selection.assess.intervals import Interval, mean_t
from genesig.selection.assess.survival.curves import Curve

Array = np.ndarray[Any, Any]


class Brier(NamedTuple):
    """Mean over the samples with its 95 % interval, and of each sample (n,), to be paired."""

    value: float
    interval: Interval
    samples: Array


def brier_losses(time: Array, event: Array, S: Array, times: Array, lost: Curve) -> Array:
    """Return the terms of B(t), (n, m), from predicted survival S (n, m) at times (m,).

    NaN where G is not known or 0.
    """
    time, event = np.asarray(time, dtype=float)[:, None], np.asarray(event, dtype=bool)[:, None]
    times = np.asarray(times, dtype=float)
    own, then = lost.at(time), lost.at(times)
    dead, left = (time <= times) & event, time > times
    own, then = np.where(own > 0, own, np.nan), np.where(then > 0, then, np.nan)
    return np.where(dead, S**2 / own, np.where(left, (1 - S) ** 2 / then, 0.0))


def integrated_brier(time: Array, event: Array, S: Array, times: Array, lost: Curve) -> Brier:
    """Return ∫ B(t) dt / (t_m - t_1) of S (n, m) at m >= 2 ascending times.

    Parameters
    ----------
    time, event : (n,) arrays
    S : (n, m) array
        Predicted survival; one row stands for all, as that of Kaplan-Meier (no information).
    times : (m,) array
    lost : Curve
        `curves.censoring` of the training samples.
    """
    return mean_over(brier_losses(time, event, S, times, lost), times)


def mean_over(losses: Array, times: Array) -> Brier:
    """Return the mean of the terms of B(t), (n, m), over the samples and over m ascending times."""
    each = np.trapezoid(losses, times, axis=1) / (times[-1] - times[0])
    return Brier(float(each.mean()), mean_t(each), each)


def explained(score: Brier, reference: Brier) -> tuple[float, Interval]:
    """Return 1 - B/B₀ of two scores on the same samples, and the 95 % interval of the ratio.

    Delta method on the paired terms: U_i = (b_i - (B/B₀) b₀_i)/B₀. Above 0, predictions are better
    than the reference; with Kaplan-Meier for it, the index of prediction accuracy (Kattan and Gerds
    2018).
    """
    ratio = score.value / reference.value if reference.value > 0 else np.nan
    low, high = mean_t((score.samples - ratio * reference.samples) / reference.value)
    return 1 - ratio, (1 - ratio - high, 1 - ratio - low)
