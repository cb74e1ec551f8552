"""The baseline hazard of a fitted Cox model: when events come, beside whom they come to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.optim.cox.risk_sets import RiskSets

Array = np.ndarray[Any, Any]


class Hazard(NamedTuple):
    """Event times (T,), ascending, and the cumulative hazard ``H_0`` (T,) from each on."""

    times: Array
    cumulative: Array

    def survival(self, eta: Array, at: Array) -> Array:
        """Return ``S(t | x) = exp(-H_0(t) exp η)``, (n, len(at)); 1 before the first event.

        After the last event it stays as it is: nothing is known of later times.
        """
        steps = np.concatenate([[0.0], self.cumulative])
        H = steps[np.searchsorted(self.times, np.asarray(at, dtype=float), side="right")]
        with np.errstate(over="ignore", divide="ignore"):
            return np.asarray(np.exp(-np.exp(np.log(H) + np.asarray(eta, dtype=float)[:, None])))


def baseline_hazard(risk: RiskSets, eta: Array) -> Hazard:
    """Return ``H_0(t) = Σ_{l: t_l <= t} ω_l / Σ_j c_lj exp η_j`` of η (n,), in their order.

    Breslow's estimator, with the terms of Efron's likelihood where that is how ties are treated; at
    η = 0 that of Nelson and Aalen, or of Fleming and Harrington (1984).

    Source: Breslow 1972 (in the discussion of Cox 1972); Therneau and Grambsch 2000, section 10.2.
    """
    steps = risk.omega / (risk.c @ np.exp(eta))
    times, place = np.unique(risk.times, return_inverse=True)
    return Hazard(times, np.cumsum(np.bincount(place, weights=steps)))
