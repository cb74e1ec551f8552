"""Whether as many have the event by a horizon as predicted, and whether the score is too steep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.cox.risk_sets import USUAL, RiskSets
from genesig.selection.assess.calibration import GROUP, MOST_GROUPS
from genesig.selection.assess.intervals import NOTHING, Interval, Z
from genesig.selection.assess.survival.curves import kaplan_meier

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Risk:
    """Of some samples: the mean predicted risk by the horizon, and the observed with its limits."""

    samples: int
    expected: float
    observed: float
    interval: Interval

    @property
    def ratio(self) -> tuple[float, Interval]:
        """Return observed over expected risk, 1 where calibrated, with its 95 % interval."""
        low, high = self.interval
        return self.observed / self.expected, (low / self.expected, high / self.expected)


def risk_at(time: Array, event: Array, S: Array, horizon: float) -> Risk:
    """Return 1 - S(horizon), predicted (mean of S (n,)) and by Kaplan-Meier.

    NaN where nobody was followed to the horizon.
    """
    curve = kaplan_meier(time, event)
    place = int(np.searchsorted(curve.times, horizon, side="right")) - 1
    expected, n = float(np.mean(1 - S)), len(S)
    if np.isnan(curve.at(np.array([horizon]))[0]):
        return Risk(n, expected, np.nan, NOTHING)
    if place < 0 or curve.value[place] in (0.0, 1.0):
        return Risk(n, expected, 0.0 if place < 0 else float(1 - curve.value[place]), NOTHING)
    low, high = (float(1 - limit[place]) for limit in curve.interval())
    return Risk(n, expected, float(1 - curve.value[place]), (high, low))


def risk_groups(time: Array, event: Array, S: Array, horizon: float) -> Iterator[Risk]:
    """Yield groups of similar predicted survival S (n,), lowest risk first.

    Of equal numbers as far as equal predictions stay together, as in `assess.calibration`.
    """
    groups = int(np.clip(len(S) // GROUP, 1, MOST_GROUPS))
    number = np.searchsorted(np.sort(-S), -S, side="left") * groups // max(len(S), 1)
    for group in np.unique(number):
        inside = number == group
        yield risk_at(time[inside], event[inside], S[inside], horizon)


def slope(time: Array, event: Array, f: Array, ties: str = USUAL) -> tuple[float, Interval]:
    """Return b of the Cox model b f on held-out samples, with Wald's 95 % interval.

    1 where scores are calibrated, below 1 where they are too far apart (van Houwelingen 2000). NaN
    where there is no event, all scores are equal, or they order all events.
    """
    from genesig.optim.cox.ridge import ridge  # here, because the report imports this module

    f = np.asarray(f, dtype=float)
    if not np.any(event) or np.isnan(f).any() or np.ptp(f) <= 1e-12 * np.abs(f).max():
        return np.nan, NOTHING
    risk, scale = RiskSets.of(time, event, ties), f.std()
    Z_ = ((f - f.mean()) / scale)[risk.order][:, None]
    fit = ridge(risk, Z_, Z_[:, :0], np.zeros(1))
    if not fit.gap[0] <= 1e-7:
        return np.nan, NOTHING
    b = float(fit.b[0, 0])
    information = len(f) / 2 * risk.hessian(risk.shares(Z_[:, 0] * b), Z_)[0, 0]
    half = Z / float(np.sqrt(information))
    return b / scale, ((b - half) / scale, (b + half) / scale)
