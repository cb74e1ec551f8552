"""Cox's partial likelihood by sums over falling time: linear in the samples, not samples × events.

Samples stand in the order of `cox.risk_sets`, so that each risk set is all of them up to a place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import plain
from genesig.compiled.operations import larger, smaller

Array = np.ndarray[Any, Any]

WIDEST = 600.0  # range of η where the likelihood counts as infinite: no hazard ratio is e^600


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


class Here(NamedTuple):
    """The terms at one η: e (n,) = v exp(η - max η), S (T,) their sums over the risk sets.

    total (n,) = Σ_l ω_l p_l, u (n,) the gradient; root (n,) = √((2/n) total), rate (T,) =
    √((2/n) ω) / S; flow (n,), of_terms (T,) are room.
    """

    e: Array
    S: Array
    total: Array
    u: Array
    root: Array
    rate: Array
    flow: Array
    of_terms: Array


class Rough(NamedTuple):
    """A point to come back to: coefficients x (m,), eta (N,), and u (n,), the gradient there."""

    x: Array
    eta: Array
    u: Array


@plain
def over_risk_sets(terms: Terms, x: Array, out: Array) -> None:
    """Fill out (T,) with ``Σ_j (c_lj / v_j) x_j``."""
    before, deaths, place, first = 0.0, 0.0, 0, -1
    for k in range(len(out)):
        if terms.first[k] != first:
            first = terms.first[k]
            before, deaths = before + deaths, 0.0
            for j in range(place, first):
                before += x[j]
            place = terms.end[k]
            for j in range(first, place):
                deaths += x[j]
        out[k] = before + terms.kept[k] * deaths


@plain
def over_terms(terms: Terms, y: Array, out: Array) -> None:
    """Fill out (n,) with ``Σ_l (c_lj / v_j) y_l``."""
    later, k, place = 0.0, len(y) - 1, len(out)
    while k >= 0:
        first, end, own, whole = terms.first[k], terms.end[k], 0.0, 0.0
        for j in range(end, place):
            out[j] = later
        while k >= 0 and terms.first[k] == first:
            own += terms.kept[k] * y[k]
            whole += y[k]
            k -= 1
        for j in range(first, end):
            out[j] = later + own
        later, place = later + whole, first
    for j in range(place):
        out[j] = later


@plain
def value(terms: Terms, eta: Array, here: Here) -> float:
    """Return ``h(η) = -(2/n) l(η)``, and fill e and S; infinite where η is too wide."""
    n, top, low, total = len(here.e), eta[0], eta[0], 0.0
    for j in range(n):
        top, low = larger(top, eta[j]), smaller(low, eta[j])
    if not top - low <= WIDEST:
        return np.inf
    for j in range(n):
        here.e[j] = terms.weight[j] * np.exp(eta[j] - top)
        total -= terms.died[j] * (eta[j] - top)
    over_risk_sets(terms, here.e, here.S)
    for k in range(len(here.S)):
        total += terms.omega[k] * np.log(here.S[k])
    return 2.0 / n * total


@plain
def slope(terms: Terms, here: Here) -> None:
    """Fill total, the gradient ``u = (2/n) (total - died)``, and roots, where `value` was taken."""
    n = len(here.e)
    for k in range(len(here.S)):
        here.of_terms[k] = terms.omega[k] / here.S[k]
        here.rate[k] = np.sqrt(2.0 / n * terms.omega[k]) / here.S[k]
    over_terms(terms, here.of_terms, here.total)
    for j in range(n):
        here.total[j] *= here.e[j]
        here.root[j] = np.sqrt(2.0 / n * here.total[j])
        here.u[j] = 2.0 / n * (here.total[j] - terms.died[j])


@plain
def curved(terms: Terms, here: Here, x: Array, out: Array) -> None:
    """Fill out (n,) with ``H x``, H = (2/n) Σ_l ω_l (diag p_l - p_l p_l')."""
    n = len(here.e)
    for j in range(n):
        here.flow[j] = here.e[j] * x[j]
    over_risk_sets(terms, here.flow, here.of_terms)
    for k in range(len(here.S)):
        here.of_terms[k] *= here.rate[k] * here.rate[k]
    over_terms(terms, here.of_terms, here.flow)
    for j in range(n):
        out[j] = 2.0 / n * here.total[j] * x[j] - here.e[j] * here.flow[j]


@plain
def halves(terms: Terms, here: Here, z: Array, row: Array, sums: Array) -> None:
    """Fill row (N,) and sums (T',) so that ``z'H x`` is the product of the rows less of the sums.

    ``row = √((2/n) total) z``, ``sums_l = √((2/n) ω_l) p_l'z``; both are longer, 0 beyond.
    """
    for j in range(len(here.e)):
        here.flow[j] = here.e[j] * z[j]
        row[j] = here.root[j] * z[j]
    over_risk_sets(terms, here.flow, here.of_terms)
    for k in range(len(here.S)):
        sums[k] = here.rate[k] * here.of_terms[k]


@plain
def entropy(terms: Terms, here: Here, eta: Array, s: float) -> float:
    """Return ``(2/n) Σ_l ω_l Σ_j q_lj log(q_lj / c_lj)``, q = s p + (1 - s) base, after `value`.

    Without deaths a row of it is ``s Σ_j p_lj (log s + η_j - log Σ c exp η)``: sums over risk sets.
    """
    n, top, total, all_at_risk, along, place = len(here.e), eta[0], 0.0, 0.0, 0.0, 0
    for j in range(n):
        top = larger(top, eta[j])
    for k in range(len(here.S)):
        first, end = terms.first[k], terms.end[k]
        for j in range(place, first):
            all_at_risk += here.e[j]
            along += here.e[j] * (eta[j] - top)
        place = larger(place, first)
        S, sum_of_v, found = here.S[k], 0.0, 0.0
        if s > 0.0 and all_at_risk > 0.0:
            found = s / S * (along + all_at_risk * np.log(s / S))
        for j in range(first, end):
            sum_of_v += terms.weight[j]
        for j in range(first, end):
            q = s * terms.kept[k] * here.e[j] / S + (1.0 - s) * terms.weight[j] / sum_of_v
            if q > 0.0:
                found += q * np.log(q / (terms.kept[k] * terms.weight[j]))
        total += terms.omega[k] * found
    return 2.0 / n * total


def here_for(n: int, T: int) -> Here:
    """Return room for the terms."""
    (e, total, u, root, flow), (S, rate, of_terms) = np.empty((5, n)), np.empty((3, T))
    return Here(e, S, total, u, root, rate, flow, of_terms)
