"""The slope of one score in Cox's model: how far apart the risks are that the scores deserve."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.path import ridge
from genesig.optim.cox.risk_sets import DEFAULT_TIES, RiskSets

MAX_GAP = 1e-7
"""Relative duality gap of a fit that counts as converged; it is larger if no slope is finite."""

MIN_RANGE = 1e-12
"""Range of the scores over the largest of them, up to which all count as equal."""


class ScoreSlope(NamedTuple):
    """Slope b of the hazard exp(b f) of scores f; NaN if there is no finite slope."""

    value: float
    variance: float
    """Inverse of the information at b."""


NO_SLOPE = ScoreSlope(np.nan, np.nan)


def fit_slope(
    time: Array, event: Array, scores: Array, ties: str = DEFAULT_TIES, weights: Array | None = None
) -> ScoreSlope:
    """Return the slope of largest partial likelihood, and its variance.

    `NO_SLOPE` without an event, for equal scores, and for scores that order all events.

    time, event, scores (n,). ties: A name in `risk_sets.TIES`. weights (n,), optional: of the
    samples, positive.
    """
    scores = np.asarray(scores, dtype=float)
    constant = np.ptp(scores) <= MIN_RANGE * np.abs(scores).max()
    if not np.any(event) or np.isnan(scores).any() or constant:
        return NO_SLOPE
    risk = RiskSets.from_times(time, event, ties, weights)
    scale = float(scores.std())
    standardised = ((scores - scores.mean()) / scale)[risk.order][:, None]
    fit = ridge(risk, standardised, standardised[:, :0], np.zeros(1))
    if not fit.gap[0] <= MAX_GAP:
        return NO_SLOPE
    slope = float(fit.b[0, 0])
    shares = risk.shares(standardised[:, 0] * slope)
    information = len(scores) / 2 * float(risk.hessian(shares, standardised)[0, 0])
    return ScoreSlope(slope / scale, 1 / (information * scale**2))


def slope_influence(time: Array, event: Array, scores: Array, slope: float) -> tuple[Array, Array]:
    """Return the score residual of each sample at a slope, and its part of the information, (n,).

    Ties are Breslow's. Source: Lin and Wei 1989, J Am Stat Assoc 84:1074.
    """
    time = np.asarray(time, dtype=float)
    event = np.asarray(event, dtype=bool)
    relative_risk = np.exp(slope * (scores - scores.mean()))
    residual = np.zeros(len(scores))
    information = np.zeros(len(scores))
    for event_time in np.unique(time[event]):
        has_event = event & (time == event_time)
        at_risk = relative_risk * (time >= event_time)
        mean = (at_risk @ scores) / at_risk.sum()
        hazard = at_risk * has_event.sum() / at_risk.sum()
        residual += (scores - mean) * (has_event - hazard)
        information += hazard * np.square(scores - mean)
    return residual, information
