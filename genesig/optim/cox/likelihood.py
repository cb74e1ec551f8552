"""Cox's partial likelihood by sums over falling time: linear in the samples, not samples × events.

``h(η) = -(2/n) l(η)`` of samples in the order of `risk_sets`, so that each risk set is all of them
up to a place. Each term of it has a conjugate with an explicit domain: for probabilities q_l on its
risk set, ``f_l*(q_l - base_l) = Σ_j q_lj log(q_lj / c_lj)``, base_l the shares of the deaths. So

    h*(u) <= (2/n) Σ_l ω_l Σ_j q_lj log(q_lj / c_lj),   u = (2/n) Σ_l ω_l (q_l - base_l),

for every q. At q = p(η), who of those at risk dies, it is exact (Fenchel); ``q_l = p_l (1 - z +
p_l'z)`` gives ``u = ∇h - H z``, and a share s of u is had with ``s q + (1 - s) base``.

Source: Fenchel 1949; for lassos, Ndiaye et al. 2017; the terms of Cox's likelihood: derived here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled
from genesig.compiled.algebra import factor, row_dot
from genesig.optim.cox.risk_sets import WIDEST, Terms
from genesig.optim.likelihood.newton import Loss, Problem, assign, ridge_steps
from genesig.optim.likelihood.path import (
    Ground,
    Levels,
    State,
    over_sets,
    ridge_gaps,
)


class Here(NamedTuple):
    """h(η), its gradient u (n,), e (n,) = v exp(η - max η), S (T,) their sums over the risk sets.

    total (n,) = Σ_l ω_l p_l, rate (T,) = ω / S.
    """

    value: float
    u: Array
    e: Array
    S: Array
    total: Array
    rate: Array


class Many(NamedTuple):
    """The terms of several training sets, each array filled up to one width; sizes (K,) of T."""

    weight: Array
    died: Array
    first: Array
    end: Array
    kept: Array
    omega: Array
    sizes: Array


@compiled
def terms_of(response: Many, t: int, n: int) -> Terms:
    """Return those of one training set."""
    T = response.sizes[t]
    return Terms(
        response.weight[t, :n],
        response.died[t, :n],
        response.first[t, :T],
        response.end[t, :T],
        response.kept[t, :T],
        response.omega[t, :T],
    )


@compiled
def over_risk_sets(terms: Terms, x: Array, out: Array) -> None:
    """Fill out (T,) with ``Σ_j (c_lj / v_j) x_j``."""
    before = 0.0
    deaths = 0.0
    place = 0
    first = -1
    for k in range(len(out)):
        if terms.first[k] != first:
            first = terms.first[k]
            before = before + deaths
            deaths = 0.0
            for j in range(place, first):
                before += x[j]
            place = terms.end[k]
            for j in range(first, place):
                deaths += x[j]
        out[k] = before + terms.kept[k] * deaths


@compiled
def over_terms(terms: Terms, y: Array, out: Array) -> None:
    """Fill out (n,) with ``Σ_l (c_lj / v_j) y_l``."""
    later = 0.0
    k = len(y) - 1
    place = len(out)
    while k >= 0:
        first = terms.first[k]
        end = terms.end[k]
        own = 0.0
        whole = 0.0
        for j in range(end, place):
            out[j] = later
        while k >= 0 and terms.first[k] == first:
            own += terms.kept[k] * y[k]
            whole += y[k]
            k -= 1
        for j in range(first, end):
            out[j] = later + own
        later = later + whole
        place = first
    for j in range(place):
        out[j] = later


@compiled
def at(terms: Terms, eta: Array) -> Here:
    """Return the likelihood at η; infinite where η is too wide."""
    n = len(eta)
    T = len(terms.omega)
    top = np.max(eta)
    low = np.min(eta)
    value = 0.0
    e = np.empty(n)
    S = np.empty(T)
    total = np.empty(n)
    rate = np.empty(T)
    if not top - low <= WIDEST:
        return Here(np.inf, np.zeros(n), e, S, total, rate)
    for j in range(n):
        e[j] = terms.weight[j] * np.exp(eta[j] - top)
        value -= terms.died[j] * (eta[j] - top)
    over_risk_sets(terms, e, S)
    for k in range(T):
        value += terms.omega[k] * np.log(S[k])
        rate[k] = terms.omega[k] / S[k]
    over_terms(terms, rate, total)
    total *= e
    return Here(2.0 / n * value, 2.0 / n * (total - terms.died), e, S, total, rate)


@compiled
def curve(terms: Terms, here: Here, D: Array, places: Array, HD: Array) -> None:
    """See `Loss.curve`: H = (2/n) Σ_l ω_l (diag p_l - p_l p_l')."""
    n = len(here.e)
    flow = np.empty(len(here.e))
    of_terms = np.empty(len(here.S))
    for j in places:
        for i in range(n):
            flow[i] = here.e[i] * D[j, i]
        over_risk_sets(terms, flow, of_terms)
        for k in range(len(of_terms)):
            of_terms[k] = of_terms[k] / here.S[k] * here.rate[k]  # S² may be no number
        over_terms(terms, of_terms, flow)
        for i in range(n):
            HD[j, i] = 2.0 / n * (here.total[i] * D[j, i] - here.e[i] * flow[i])


@compiled
def halve(terms: Terms, here: Here, D: Array, places: Array, E: Array) -> None:
    """See `Loss.halve`: by a Cholesky factor of H, which is singular."""
    n = len(here.e)
    L = np.empty((n, n))
    U = np.zeros((n, n))
    curve(terms, here, np.eye(n), np.arange(n), L)
    factor(L)
    for i in range(n):
        for k in range(i + 1):
            U[k, i] = L[i, k] if L[k, k] < np.inf else 0.0
    for j in places:
        for k in range(n):
            E[j, k] = row_dot(U, k, D, j, n)


@compiled
def conjugate(terms: Terms, here: Here, eta: Array, z: Array, u: Array, s: float) -> float:
    """Return h*(s u) or more; ∞ where a q is no probability."""
    n = len(eta)
    top = np.max(eta)
    total = 0.0
    moved = np.any(z != 0.0)
    for k in range(len(here.S)):
        first = terms.first[k]
        found = 0.0
        along = 0.0
        of_v = 0.0
        for j in range(terms.end[k]):
            along += (terms.kept[k] if j >= first else 1.0) * here.e[j] / here.S[k] * z[j]
        for j in range(first, terms.end[k]):
            of_v += terms.weight[j]
        of_S = np.log(s / here.S[k]) if s > 0.0 else 0.0
        for j in range(first):
            p = s * here.e[j] / here.S[k]
            turned = 1.0 - z[j] + along
            if p > 0.0 and turned < 0.0:
                return np.inf
            if p > 0.0 and turned > 0.0:
                more = np.log(turned) if moved else 0.0
                found += p * turned * (of_S + eta[j] - top + more)
        for j in range(first, terms.end[k]):
            q = s * terms.kept[k] * here.e[j] / here.S[k] * (1.0 - z[j] + along)
            q += (1.0 - s) * terms.weight[j] / of_v
            if q < 0.0:
                return np.inf
            if q > 0.0:
                found += q * np.log(q / (terms.kept[k] * terms.weight[j]))
        total += terms.omega[k] * found
    return 2.0 / n * total


COX = Loss(at, curve, halve, conjugate)
solve_each, judge_each = over_sets(COX, terms_of)
minimise_ridge = ridge_steps(COX)
ridge_gap = ridge_gaps(COX)


@compiled
def refit_each(
    terms: Terms,
    D: Array,
    ease: Array,
    share: Array,
    lam: Array,
    slack: float,
    x: Array,
    gap: Array,
) -> None:
    """Minimise ``h(D'x) + Σ_j (ease_j + lam share_j) x_j²`` for each lam, each from the one before.

    Fill x (L, m) and the gaps (L,), not relative; gap may be empty where nobody reads it.
    """
    coef = np.zeros(len(D))
    eta = np.zeros(D.shape[1])
    for level in range(len(lam)):
        problem = Problem(D, np.zeros(len(D)), 2.0 * (ease + lam[level] * share))
        minimise_ridge(terms, D, problem.ridge, coef, eta, slack)
        if len(gap) > 0:
            gap[level] = ridge_gap(terms, problem, coef, eta)
        assign(coef, x[level])


@compiled
def solve_sets(ground: Ground, state: State, which: Array, levels: Levels, steps: Array) -> None:
    """See `over_sets`."""
    solve_each(ground, state, which, levels, steps)


@compiled
def judge_sets(
    ground: Ground, state: State, which: Array, levels: Levels, gap: Array, outside: Array
) -> None:
    """See `over_sets`."""
    judge_each(ground, state, which, levels, gap, outside)
