"""Cox's partial likelihood of right-censored times by risk sets, and the score test of a gene.

With the risk set ``R_t = {j: t_j >= t}``, the deaths D_t of an event time and their number d::

    -l(η) = Σ_t Σ_{k < K_t} ω_tk (log Σ_{j in R_t} c_tkj exp η_j  -  mean of η over D_t)

Efron: K_t = d, ω = 1, c = 1 - k/d on D_t and 1 elsewhere. Breslow: K_t = 1, ω = d, c = 1. Sample
weights v multiply c, weigh the mean, and are summed over D_t to d, as in R's ``coxph``. Each term
is convex, and a constant added to η changes none.

Source: Cox 1975, Breslow 1974, Efron 1977.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError, pick

MAX_ETA_RANGE = 600.0  # range of η above which the likelihood is infinite: no hazard ratio is e^600
DEFAULT_TIES = "efron"  # default treatment of ties
GENES_AT_ONCE = 1024  # genes of one call, because a test holds several matrices of them in memory


def efron_terms(n_deaths: Array) -> tuple[Array, Array]:
    """Return K_t of each event time (int, its deaths), and the shares k/d that left, end to end."""
    rank = np.arange(n_deaths.sum()) - np.repeat(np.cumsum(n_deaths) - n_deaths, n_deaths)
    return n_deaths, rank / np.repeat(n_deaths, n_deaths)


def breslow_terms(n_deaths: Array) -> tuple[Array, Array]:
    """Return one term for each event time, and a share of 0: nobody left the risk set."""
    return np.ones_like(n_deaths), np.zeros(len(n_deaths))


class Terms(NamedTuple):
    """The T terms of n samples: ``Σ_l ω_l log Σ_j c_lj exp η_j - Σ_j died_j η_j``.

    At risk in term l are the samples before end_death_l: c_lj is v_j before first_death_l, and
    death_share_l v_j for the deaths, which follow. Compiled code depends on this record.
    """

    weight: Array  # (n,) v
    died: Array  # (n,) v δ
    first_death: Array  # (T,) int, non-decreasing
    end_death: Array  # (T,) int, non-decreasing
    death_share: Array  # (T,)
    omega: Array  # (T,) ω


TIES = {"efron": efron_terms, "breslow": breslow_terms}


@dataclass(frozen=True)
class RiskSets:
    """The T terms of the likelihood of n samples, in the order of falling time."""

    # (n,) int, the samples, longest time first; deaths come after the censored of their time
    order: Array
    terms: Terms  # positions and weights of samples in them follow `order`
    times: Array  # (T,) event time of each term, falling

    @classmethod
    def from_times(
        cls, time: Array, event: Array, ties: str = DEFAULT_TIES, weights: Array | None = None
    ) -> RiskSets:
        """Return the risk sets of n samples.

        time, event (n,): follow-up, and whether it ended with the event. A sample censored at the
        time of an event is still at risk then. ties: A name in `TIES`. weights (n,), optional:
        positive; scaled to a mean of 1.

        Raises GenesigError: times that are negative or missing, no event, other weights, unknown
        ties.
        """
        time, event, v = _checked_times(time, event, weights)
        make_terms = pick("ties", TIES, ties)
        order = np.lexsort((event, -time))
        time = time[order]
        event = event[order]
        v = v[order]
        death_positions = np.flatnonzero(event)
        starts = np.flatnonzero(np.diff(time[death_positions], prepend=np.inf))
        n_deaths = np.diff(starts, append=len(death_positions))
        n_terms, shares_out = make_terms(n_deaths)
        first_death = np.repeat(death_positions[starts], n_terms)
        omega = np.repeat(np.add.reduceat(v[death_positions], starts) / n_terms, n_terms)
        terms = Terms(
            v,
            np.where(event, v, 0),
            first_death,
            first_death + np.repeat(n_deaths, n_terms),
            1 - shares_out,
            omega,
        )
        return cls(order, terms, time[first_death])

    @property
    def omega(self) -> Array:
        """Weight of each term, (T,)."""
        return self.terms.omega

    @property
    def died(self) -> Array:
        """Weight of the samples that died, 0 for the censored, (n,): ``Σ_l ω_l base_l``."""
        return self.terms.died

    @cached_property
    def c(self) -> Array:
        """Factor of each sample in each term, (T, n); 0 outside of the risk set."""
        terms = self.terms
        position = np.arange(len(self.order))
        death_share = np.where(
            position >= terms.first_death[:, None], terms.death_share[:, None], 1
        )
        return np.asarray(terms.weight * (position < terms.end_death[:, None]) * death_share)

    @cached_property
    def base(self) -> Array:
        """Share v/Σv of each death in its term, (T, n)."""
        terms = self.terms
        position = np.arange(len(self.order))
        is_death = (position >= terms.first_death[:, None]) & (position < terms.end_death[:, None])
        v = np.where(is_death, terms.weight, 0)
        return np.asarray(v / v.sum(axis=1, keepdims=True))

    def value(self, eta: Array) -> float:
        """Return ``h(η) = -(2/n) l(η)``, η in `order`; infinite if η is not finite or too wide."""
        if not np.ptp(eta) <= MAX_ETA_RANGE:
            return np.inf
        top = eta.max()
        sums = np.log(self.c @ np.exp(eta - top)) + top
        return float(2 / len(eta) * (self.omega @ sums - self.died @ eta))

    @cached_property
    def null_deviance(self) -> float:
        """``h(0) - inf h = 2 (l_saturated - l(0)) / n``, which gaps are relative to.

        1 if it is 0 up to rounding: each event happens to all who are at risk.
        """
        ratio = np.divide(self.base, self.c, out=np.ones_like(self.c), where=self.base > 0)
        entropy = float(self.omega @ np.sum(self.base * np.log(ratio), axis=1))
        deviance = self.value(np.zeros(len(self.died))) + 2 / len(self.died) * entropy
        return deviance if deviance > 1e-12 else 1.0

    def log_likelihood(self, eta: Array) -> Array:
        """Return l of several η, (n, m) to (m,); -∞ if η is too wide."""
        top = eta.max(axis=0)
        is_narrow = top - eta.min(axis=0) <= MAX_ETA_RANGE
        sums = np.log(self.c @ np.exp(np.where(is_narrow, eta - top, 0.0))) + top
        return np.where(is_narrow, self.died @ eta - self.omega @ sums, -np.inf)

    def shares(self, eta: Array) -> Array:
        """Return ``p_lj = c_lj exp η_j / Σ_i c_li exp η_i``, (T, n): who of those at risk dies."""
        p = self.c * np.exp(eta - eta.max())
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def gradient(self, p: Array) -> Array:
        """Return ``∇h = (2/n) (Σ_l ω_l p_l - v δ)``, (n,), of `shares`."""
        return np.asarray(2 / p.shape[1] * (self.omega @ p - self.died))

    def hessian(self, p: Array, Z: Array) -> Array:
        """Return ``Z'HZ`` for Z (n, m), ``H = (2/n) Σ_l ω_l (diag p_l - p_l p_l')``."""
        products = p @ Z
        diagonal_part = Z.T @ ((self.omega @ p)[:, None] * Z)
        return np.asarray(
            2 / p.shape[1] * (diagonal_part - (self.omega[:, None] * products).T @ products)
        )


def _checked_times(time: Array, event: Array, weights: Array | None) -> tuple[Array, Array, Array]:
    """Return times, events as bool, and weights of mean 1; raise for values that do not fit."""
    time = np.asarray(time, dtype=float)
    event = np.asarray(event)
    if time.ndim != 1 or event.shape != time.shape or not len(time):
        raise GenesigError(
            f"survival needs one time and one event for each sample; found {time.shape} times"
            f" and {event.shape} events"
        )
    is_valid = np.isfinite(time) & (time >= 0)
    if not is_valid.all():
        first_invalid = int(np.argmin(is_valid))
        raise GenesigError(
            f"sample {first_invalid} (counted from 0) has time {time[first_invalid]:g};"
            " times must be finite numbers >= 0: correct it or leave the sample out"
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


class Hazard(NamedTuple):
    """A cumulative baseline hazard."""

    times: Array  # (T,) event times, ascending
    cumulative: Array  # (T,) ``H_0`` from each time on

    def survival(self, eta: Array, at_times: Array) -> Array:
        """Return ``S(t | x) = exp(-H_0(t) exp η)``, (n, len(at_times)); 1 before the first event.

        After the last event it stays constant: nothing is known of later times.
        """
        steps = np.concatenate([[0.0], self.cumulative])
        H = steps[np.searchsorted(self.times, np.asarray(at_times, dtype=float), side="right")]
        with np.errstate(over="ignore", divide="ignore"):
            return np.asarray(np.exp(-np.exp(np.log(H) + np.asarray(eta, dtype=float)[:, None])))


def baseline_hazard(risk: RiskSets, eta: Array) -> Hazard:
    """Return ``H_0(t) = Σ_{l: t_l <= t} ω_l / Σ_j c_lj exp η_j``, for η (n,) in `risk.order`.

    Breslow's estimator, with the terms of Efron's likelihood if ties are treated so; at η = 0 that
    of Nelson and Aalen, or of Fleming and Harrington (1984).

    Source: Breslow 1972 (in the discussion of Cox 1972); Therneau and Grambsch 2000, section 10.2.
    """
    steps = risk.omega / (risk.c @ np.exp(eta))
    times, position = np.unique(risk.times, return_inverse=True)
    return Hazard(times, np.cumsum(np.bincount(position, weights=steps)))


def left_out_deviance(
    time: Array,
    event: Array,
    folds: Sequence[Array],
    scores: Array,
    ties: str,
    weights: Array | None = None,
) -> tuple[Array, Array]:
    """Return the deviance of left-out samples for each event, and its standard error, (m,).

    D_k = -2 (l(η_k) - l_k(η_k)), η_k the scores of the fit without fold k, l over all samples and
    l_k over those of the fit: a fold alone has few events and small risk sets. E = Σ D_k / d, d the
    events; with the share s_k of the samples and E_k = D_k/(d s_k), SE² = Σ s_k (E_k - E)²/(K - 1).
    η of a sample left out is bounded to what can be told from those of the fit, see `limit_eta`; an
    infinite E is the worst there is and has no SE: 0.

    time, event (n,). folds: the samples left out of each fit, of these n. scores (K, m, n): of all
    samples. ties: A name in `TIES`. weights (n,), optional: of the samples: they are
    summed where otherwise samples are counted.

    Source: van Houwelingen, Bruinsma, Hart, van 't Veer and Wessels 2006; ``cv.glmnet`` with
    ``grouped = TRUE``.
    """
    v = np.ones(len(time)) if weights is None else weights
    D = np.empty((len(folds), scores.shape[1]))
    shares = np.empty(len(folds))
    full_likelihood = _Likelihood(time, event, ties, v, v > 0)
    in_fit = np.ones(len(time), dtype=bool)
    for k, fold in enumerate(folds):
        in_fit[:] = v > 0
        in_fit[fold] = False
        eta = limit_eta(scores[k].T, np.flatnonzero(in_fit))
        with np.errstate(invalid="ignore"):  # too wide for both
            D[k] = -2 * (full_likelihood(eta) - _Likelihood(time, event, ties, v, in_fit)(eta))
        shares[k] = v[fold].sum() / v.sum()
    D = np.where(np.isnan(D), np.inf, D)
    n_events = float(v @ (np.asarray(event) > 0))
    error = D.sum(axis=0) / n_events
    with np.errstate(invalid="ignore"):
        spread = np.square(D / (n_events * shares[:, None]) - error)
    spread = np.where(np.isinf(error), 0.0, shares @ spread)
    return error, np.sqrt(spread / max(1, len(folds) - 1))


class _Likelihood:
    """``l(η)`` of some rows, with weights v that are not scaled to mean 1 as in risk sets.

    With u = v / v̄, ``l_v(η) = v̄ (l_u(η) - log v̄ Σ ω_u)``.
    """

    def __init__(self, time: Array, event: Array, ties: str, v: Array, rows: Array) -> None:
        self.risk = RiskSets.from_times(time[rows], event[rows], ties, v[rows])
        self.mean = v[rows].mean()
        self.order = np.flatnonzero(rows)[self.risk.order]

    def __call__(self, eta: Array) -> Array:
        """Return l of several η, (n, m) to (m,)."""
        constant = np.log(self.mean) * self.risk.omega.sum()
        return np.asarray(self.mean * (self.risk.log_likelihood(eta[self.order]) - constant))


def limit_eta(eta: Array, in_fit: Array) -> Array:
    """Return η (n, m) with left-out samples moved into the range of those of the fit.

    One outlying cell of expression can move η so far from all others that no likelihood is
    defined: beyond `MAX_ETA_RANGE` hazards differ by a factor that is no floating-point number.

    eta (n, m). in_fit: rows of the samples of the fit; theirs stay as they are.
    """
    low = eta[in_fit].min(axis=0)
    high = eta[in_fit].max(axis=0)
    middle = (low + high) / 2
    reach = np.maximum(0.99 * MAX_ETA_RANGE, high - low) / 2
    return np.asarray(np.clip(eta, middle - reach, middle + reach))


def score_test(
    X: Array, y: Array, stratum: Array | None, ties: str, covariates: Array | None = None
) -> tuple[Array, Array]:
    """Return z = U/√V of each gene and its two-sided p; NaN if V is 0.

    U = Σ_l (x of the deaths - mean of x over the risk set), V the sum of its variances there, both
    at b = 0 and summed over the strata: for two groups, the log-rank test. z > 0 means that samples
    of higher expression have earlier events.

    X (n, d) float.
    y (n,) of times and events.
    stratum (n,) or None: each has a baseline hazard of its own.
    ties: a name in `TIES`; Efron's variance is that of the test.
    covariates (n, q) or None: then U and V are those of the gene beside them, at their own fit in
        each stratum: ``V = z'Hz - z'HC (C'HC)^-1 C'Hz``.

    Source: Cox 1972; Mantel 1966 for two groups.
    """
    from scipy.special import ndtr

    stratum_of_row = np.zeros(len(y), dtype=int) if stratum is None else stratum
    U = np.zeros(X.shape[1])
    V = np.zeros(X.shape[1])
    for stratum_name in np.unique(stratum_of_row):
        rows = np.flatnonzero(stratum_of_row == stratum_name)
        if y["event"][rows].any():
            risk = RiskSets.from_times(y["time"][rows], y["event"][rows], ties)
            C = np.zeros((len(rows), 0)) if covariates is None else covariates[rows[risk.order]]
            for start in range(0, X.shape[1], GENES_AT_ONCE):
                columns = slice(start, start + GENES_AT_ONCE)
                u, v = _score_and_variance(risk, X[rows[risk.order], columns], C)
                U[columns] += u
                V[columns] += v
    is_above_rounding = 1e-12 * np.maximum(np.var(X, axis=0), 1e-300) < V
    standard_error = np.sqrt(np.where(is_above_rounding, V, np.nan))
    z = U / standard_error
    return z, 2 * ndtr(-np.abs(z))


def _score_and_variance(risk: RiskSets, Z: Array, C: Array) -> tuple[Array, Array]:
    """Return U and V of each gene in one stratum, of genes Z (n, d) and covariates C (n, q).

    The rows are in the order of `risk`. Term l of the likelihood has the weight omega_l, and
    shares (T, n) of the samples at risk, by which their mean and variance are taken.
    """
    from genesig.optim.cox.path import ridge  # which imports this module

    Z = Z - Z.mean(axis=0)
    C = C - C.mean(axis=0)
    C = C / np.where(C.std(axis=0) > 0, C.std(axis=0), 1.0)
    eta = np.zeros(len(Z))
    if C.shape[1]:  # the covariates alone, without a penalty: lam is that of no columns
        eta = C @ ridge(risk, C[:, :0], C, lam=np.ones(1)).b[:, 0]
    shares = risk.shares(eta)
    mean = shares @ Z
    variance = risk.omega @ (shares @ np.square(Z) - np.square(mean))
    if C.shape[1]:
        covariate_means = shares @ C
        total_shares = risk.omega @ shares
        H = (
            C.T @ (total_shares[:, None] * C)
            - (risk.omega[:, None] * covariate_means).T @ covariate_means
        )
        cross = C.T @ (total_shares[:, None] * Z) - (risk.omega[:, None] * covariate_means).T @ mean
        variance = variance - np.einsum("qd,qd->d", cross, np.linalg.pinv(H, rcond=1e-10) @ cross)
    return risk.died @ Z - risk.omega @ mean, variance
