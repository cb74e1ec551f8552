"""How many are left at a time, and whether groups differ: Kaplan-Meier, Nelson-Aalen, log-rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from genesig.selection.assess.intervals import Z

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Curve:
    """A step function of right-censored times, constant from each of its times on.

    Attributes
    ----------
    times, at_risk, events : (m,)
        The distinct times of all samples, ascending; how many are at risk just before, and how many
        of them have the event then.
    value, variance : (m,)
        From that time on.
    start : float
        Value before the first time.
    """

    times: Array
    at_risk: Array
    events: Array
    value: Array
    variance: Array
    start: float

    def at(self, times: Array) -> Array:
        """Return the value at any times; NaN where the last sample was censored before."""
        times = np.asarray(times, dtype=float)
        known = np.concatenate([[self.start], self.value])
        found = known[np.searchsorted(self.times, times, side="right")]
        open_end = self.at_risk[-1] > self.events[-1]
        return np.where((times > self.times[-1]) & open_end, np.nan, found)

    def interval(self) -> tuple[Array, Array]:
        """Return the 95 % limits of a survival curve, on the scale of log(-log S).

        S^exp(±z √V / (S log S)), V Greenwood's; NaN where S is 1 or 0 (Kalbfleisch and Prentice).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = Z * np.sqrt(self.variance) / np.abs(self.value * np.log(self.value))
            return self.value ** np.exp(spread), self.value ** np.exp(-spread)

    def median(self) -> float:
        """Return the first time at which at most half are left; NaN where more are."""
        below = np.flatnonzero(self.value <= 0.5)
        return float(self.times[below[0]]) if len(below) else np.nan


def kaplan_meier(time: Array, event: Array) -> Curve:
    """S(t) = Π_{t_i <= t} (1 - d_i/n_i), with Greenwood's variance S² Σ d_i/(n_i (n_i - d_i)).

    d_i events among n_i at risk; who is censored at a time of an event is at risk then.

    Parameters
    ----------
    time, event : (n,) arrays
        Follow-up, and whether it ended with the event.

    Source: Kaplan and Meier 1958; Greenwood 1926.
    """
    times, n, d = _counts(time, event)
    S = np.cumprod(1 - d / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(S > 0, S**2 * np.cumsum(d / (n * (n - d))), 0.0)
    return Curve(times, n, d, S, variance, 1.0)


def censoring(time: Array, event: Array) -> Curve:
    """G(t) = P(censoring after t), by Kaplan-Meier; events come before censoring at equal times.

    Weights 1/G make up for those who are censored. They need it at the times of events of other
    samples: with `Curve.at` NaN where these lie beyond the last sample here.
    """
    times, n, d = _counts(time, event)
    n = n - d
    lost = _counts(time, ~np.asarray(event, dtype=bool))[2]
    G = np.cumprod(1 - lost / np.maximum(n, 1))
    return Curve(times, n, lost, G, np.full(len(G), np.nan), 1.0)


def _counts(time: Array, event: Array) -> tuple[Array, Array, Array]:
    """Return the distinct times, who is at risk, and who has the event."""
    times, place = np.unique(np.asarray(time, dtype=float), return_inverse=True)
    here = np.bincount(place)
    events = np.bincount(place, weights=np.asarray(event, dtype=float))
    return times, here[::-1].cumsum()[::-1].astype(float), events


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
