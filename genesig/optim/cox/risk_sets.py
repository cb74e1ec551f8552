"""Cox's partial likelihood of right-censored times, as a sum of log-sum-exp terms.

With the risk set ``R_t = {j: t_j >= t}``, the deaths D_t of an event time and their number d::

    -l(η) = Σ_t Σ_{k < K_t} ω_tk (log Σ_{j in R_t} c_tkj exp η_j  -  mean of η over D_t)

Efron: K_t = d, ω = 1, c = 1 - k/d on D_t and 1 elsewhere. Breslow: K_t = 1, ω = d, c = 1. Sample
weights v multiply c, weigh the mean, and are summed over D_t to d, as in R's ``coxph``. Each term
is convex, and a constant added to η changes none.

Source: Cox 1975, Breslow 1974, Efron 1977.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from genesig.errors import GenesigError, pick

Array = np.ndarray[Any, Any]


def efron(deaths: int) -> Array:
    """Return k/d, the share of the deaths that is out of the risk set in each term."""
    return np.arange(deaths) / deaths


def breslow(deaths: int) -> Array:
    """Return 0 for the one term."""
    return np.zeros(1)


WIDEST = 600.0
"""Range of η from which on the likelihood counts as infinite: no hazard ratio is e^600."""


class Terms(NamedTuple):
    """The T terms of n samples: ``Σ_l ω_l log Σ_j c_lj exp η_j - Σ_j died_j η_j``.

    weight, died (n,) = v, v δ. At risk in term l are the samples before end_l; c_lj is v_j before
    first_l, and kept_l v_j of the deaths, which follow. first, end (T,) int, growing; kept, omega.
    """

    weight: Array
    died: Array
    first: Array
    end: Array
    kept: Array
    omega: Array


TIES = {"efron": efron, "breslow": breslow}
USUAL = "efron"
"""How ties are treated where nothing else is asked for."""


@dataclass(frozen=True)
class RiskSets:
    """The T terms of the likelihood of n samples, in their order of falling time.

    Attributes
    ----------
    order : (n,) int array
        The samples, longest time first; deaths stand behind the censored of their time.
    terms : Terms
        Who is at risk in each, in that order.
    times : (T,) array
        Event time of each term, falling.
    """

    order: Array
    terms: Terms
    times: Array

    @classmethod
    def of(
        cls, time: Array, event: Array, ties: str = USUAL, weights: Array | None = None
    ) -> RiskSets:
        """Sort n samples.

        Parameters
        ----------
        time, event : (n,) arrays
            Follow-up, and whether it ended with the event. Who is censored at a time of an event is
            still at risk then.
        ties : str
            A name in `TIES`.
        weights : (n,) array, optional
            Positive; scaled to a mean of 1.

        Raises
        ------
        GenesigError
            Times that are negative or missing, no event, other weights, unknown ties.
        """
        time, event, v = _checked(time, event, weights)
        shares = pick("ties", TIES, ties)
        order = np.lexsort((event, -time))
        time, event, v = time[order], event[order], v[order]
        dead = np.flatnonzero(event)
        starts = np.flatnonzero(np.diff(time[dead], prepend=np.inf))
        deaths = np.diff(starts, append=len(dead))
        out = [shares(count) for count in deaths.tolist()]
        many = [len(each) for each in out]
        first = np.repeat(dead[starts], many)
        omega = np.repeat(np.add.reduceat(v[dead], starts) / many, many)
        terms = Terms(v, np.where(event, v, 0), first, first + np.repeat(deaths, many),
                      1 - np.concatenate(out), omega)  # fmt: skip
        return cls(order, terms, time[first])

    @property
    def omega(self) -> Array:
        """Weight of each term, (T,)."""
        return self.terms.omega

    @property
    def died(self) -> Array:
        """Σ ω base: v of the samples that died, 0 for the censored, (n,)."""
        return self.terms.died

    @cached_property
    def c(self) -> Array:
        """What samples count for in each term, (T, n); 0 outside of the risk set."""
        of, place = self.terms, np.arange(len(self.order))
        kept = np.where(place >= of.first[:, None], of.kept[:, None], 1)
        return np.asarray(of.weight * (place < of.end[:, None]) * kept)

    @cached_property
    def base(self) -> Array:
        """The shares v/Σv of the deaths in each term, (T, n)."""
        of, place = self.terms, np.arange(len(self.order))
        inside = (place >= of.first[:, None]) & (place < of.end[:, None])
        v = np.where(inside, of.weight, 0)
        return np.asarray(v / v.sum(axis=1, keepdims=True))

    def value(self, eta: Array) -> float:
        """Return ``h(η) = -(2/n) l(η)``; infinite where η is not finite or too wide."""
        if not np.ptp(eta) <= WIDEST:
            return np.inf
        top = eta.max()
        sums = np.log(self.c @ np.exp(eta - top)) + top
        return float(2 / len(eta) * (self.omega @ sums - self.died @ eta))

    @cached_property
    def null_deviance(self) -> float:
        """``h(0) - inf h = 2 (l_saturated - l(0)) / n``, what gaps are relative to.

        1 where it is 0 but for rounding: each event comes to all who are at risk.
        """
        rest = np.divide(self.base, self.c, out=np.ones_like(self.c), where=self.base > 0)
        lost = float(self.omega @ np.sum(self.base * np.log(rest), axis=1))
        found = self.value(np.zeros(len(self.died))) + 2 / len(self.died) * lost
        return found if found > 1e-12 else 1.0

    def log_likelihood(self, eta: Array) -> Array:
        """Return l of several η, (n, m) to (m,); -infinity where η is too wide."""
        top = eta.max(axis=0)
        narrow = top - eta.min(axis=0) <= WIDEST
        sums = np.log(self.c @ np.exp(np.where(narrow, eta - top, 0.0))) + top
        return np.where(narrow, self.died @ eta - self.omega @ sums, -np.inf)

    def shares(self, eta: Array) -> Array:
        """Return ``p_lj = c_lj exp η_j / Σ_i c_li exp η_i``, (T, n): who of those at risk dies."""
        p = self.c * np.exp(eta - eta.max())
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def gradient(self, p: Array) -> Array:
        """Return ``∇h = (2/n) (Σ_l ω_l p_l - v δ)``, (n,), of `shares`."""
        return np.asarray(2 / p.shape[1] * (self.omega @ p - self.died))

    def curvature(self, p: Array) -> Array:
        """Return the diagonal of the Hessian, ``(2/n) Σ_l ω_l p_l (1 - p_l)``."""
        return np.asarray(2 / p.shape[1] * (self.omega @ (p * (1 - p))))

    def hessian(self, p: Array, Z: Array | None = None) -> Array:
        """Return ``Z'HZ`` for Z (n, m), or H, ``H = (2/n) Σ_l ω_l (diag p_l - p_l p_l')``."""
        total = self.omega @ p
        rest = p if Z is None else p @ Z
        first = np.diag(total) if Z is None else Z.T @ (total[:, None] * Z)
        return np.asarray(2 / p.shape[1] * (first - (self.omega[:, None] * rest).T @ rest))


def _checked(time: Array, event: Array, weights: Array | None) -> tuple[Array, Array, Array]:
    time, event = np.asarray(time, dtype=float), np.asarray(event)
    if time.ndim != 1 or event.shape != time.shape or not len(time):
        raise GenesigError(
            f"survival needs one time and one event for each sample; found {time.shape} times"
            f" and {event.shape} events"
        )
    known = np.isfinite(time) & (time >= 0)
    if not known.all():
        bad = int(np.argmin(known))
        raise GenesigError(
            f"sample {bad} (counted from 0) has time {time[bad]:g}; times must be finite numbers"
            " >= 0: correct it or leave the sample out"
        )
    if not np.isin(event, (0, 1)).all():
        raise GenesigError("events must be 1 (it happened) or 0 (censored)")
    event = event.astype(bool)
    if not event.any():
        raise GenesigError("no event in the samples: nothing can be learned from censored ones")
    v = np.ones(len(time)) if weights is None else np.asarray(weights, dtype=float)
    if v.shape != time.shape or not (np.isfinite(v) & (v > 0)).all():
        raise GenesigError(f"sample weights must be {len(time)} finite numbers above 0")
    return time, event, v / v.mean()
