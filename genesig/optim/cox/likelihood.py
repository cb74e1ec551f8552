"""Kernels of Cox's partial likelihood by sums over falling time: linear in the samples.

``h(η) = -(2/n) l(η) = (2/n) Σ_l (ω_l log Σ_j c_lj exp η_j) - (2/n) Σ_j v_j δ_j η_j`` of n samples
with weights v and events δ, longest time first, so that each risk set is all samples up to a
position. c_lj is v_j, for the deaths of the term times its share `death_share_l`; of tied times
Efron has a term for each death (`risk_sets`). Each term has a conjugate with an explicit domain:
for probabilities q_l on its risk set, ``f_l*(q_l - base_l) = Σ_j q_lj log(q_lj / c_lj)``, base_l
the shares v_j / Σ v of its deaths. So

    h*(u) <= (2/n) Σ_l ω_l Σ_j q_lj log(q_lj / c_lj),   u = (2/n) Σ_l ω_l (q_l - base_l),

for every q. At q = p(η), the probabilities of who of those at risk dies, it is exact (Fenchel);
``q_l = p_l (1 - z + p_l'z)`` gives ``u = ∇h - H z``, and ``s q + (1 - s) base`` gives s u.

Source: Fenchel 1949; for lassos, Ndiaye et al. 2017; the terms of Cox's likelihood: derived here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled
from genesig.compiled.algebra import dot_rows, factor_semidefinite
from genesig.optim.cox.risk_sets import MAX_ETA_RANGE, Terms
from genesig.optim.likelihood_newton import Loss, PenalisedProblem, copy_into, ridge_solver
from genesig.optim.likelihood_path import (
    LossData,
    PathLevels,
    PathState,
    ridge_gap_function,
    set_kernels,
)


class CoxLoss(NamedTuple):
    """h(η) and its derivatives at a point of n samples with T terms."""

    value: float  # ∞ if η is too wide
    u: Array  # (n,) gradient
    e: Array  # (n,) ``v exp(η - max η)``
    S: Array  # (T,) sums of e over the risk sets
    total: Array  # (n,) ``Σ_l ω_l p_l``
    rate: Array  # (T,) ``ω / S``


class PaddedTerms(NamedTuple):
    """`Terms` of K training sets, padded to N samples and T terms."""

    weight: Array  # (K, N)
    died: Array  # (K, N)
    first_death: Array  # (K, T)
    end_death: Array  # (K, T)
    death_share: Array  # (K, T)
    omega: Array  # (K, T)
    sizes: Array  # (K,) number of terms of each set


@compiled
def terms_of_set(response: PaddedTerms, t: int, n: int) -> Terms:
    """Return the terms of training set t, which has n samples."""
    T = response.sizes[t]
    return Terms(
        response.weight[t, :n],
        response.died[t, :n],
        response.first_death[t, :T],
        response.end_death[t, :T],
        response.death_share[t, :T],
        response.omega[t, :T],
    )


@compiled
def fill_risk_set_sums(terms: Terms, x: Array, out: Array) -> None:
    """Fill out (T,) with ``Σ_j (c_lj / v_j) x_j``, sums over the risk set of each term."""
    sum_before = 0.0
    sum_of_deaths = 0.0
    position = 0
    first_death = -1
    for k in range(len(out)):
        if terms.first_death[k] != first_death:  # the first term of its time; others share its sums
            first_death = terms.first_death[k]
            sum_before = sum_before + sum_of_deaths
            sum_of_deaths = 0.0
            for j in range(position, first_death):
                sum_before += x[j]
            position = terms.end_death[k]
            for j in range(first_death, position):
                sum_of_deaths += x[j]
        out[k] = sum_before + terms.death_share[k] * sum_of_deaths


@compiled
def fill_term_sums(terms: Terms, y: Array, out: Array) -> None:
    """Fill out (n,) with ``Σ_l (c_lj / v_j) y_l``, y (T,), over the terms l with j at risk."""
    sum_after = 0.0
    k = len(y) - 1
    position = len(out)
    while k >= 0:
        first_death = terms.first_death[k]
        end_death = terms.end_death[k]
        sum_of_deaths_at_time = 0.0
        sum_of_terms_at_time = 0.0
        for j in range(end_death, position):
            out[j] = sum_after
        while k >= 0 and terms.first_death[k] == first_death:
            sum_of_deaths_at_time += terms.death_share[k] * y[k]
            sum_of_terms_at_time += y[k]
            k -= 1
        for j in range(first_death, end_death):
            out[j] = sum_after + sum_of_deaths_at_time
        sum_after = sum_after + sum_of_terms_at_time
        position = first_death
    for j in range(position):
        out[j] = sum_after


@compiled
def evaluate(terms: Terms, eta: Array) -> CoxLoss:
    """Return the loss at η (n,); infinite if η is too wide."""
    n = len(eta)
    T = len(terms.omega)
    largest = np.max(eta)
    smallest = np.min(eta)
    value = 0.0
    e = np.empty(n)
    S = np.empty(T)
    total = np.empty(n)
    rate = np.empty(T)
    if not largest - smallest <= MAX_ETA_RANGE:
        return CoxLoss(np.inf, np.zeros(n), e, S, total, rate)
    for j in range(n):
        e[j] = terms.weight[j] * np.exp(eta[j] - largest)
        value -= terms.died[j] * (eta[j] - largest)
    fill_risk_set_sums(terms, e, S)
    for k in range(T):
        value += terms.omega[k] * np.log(S[k])
        rate[k] = terms.omega[k] / S[k]
    fill_term_sums(terms, rate, total)
    total *= e
    return CoxLoss(2.0 / n * value, 2.0 / n * (total - terms.died), e, S, total, rate)


@compiled
def fill_hessian_products(
    terms: Terms, current: CoxLoss, D: Array, coordinates: Array, HD: Array
) -> None:
    """See `Loss.fill_hessian_products`: H = (2/n) Σ_l ω_l (diag p_l - p_l p_l')."""
    n = len(current.e)
    weighted = np.empty(len(current.e))
    term_sums = np.empty(len(current.S))
    for j in coordinates:
        for i in range(n):
            weighted[i] = current.e[i] * D[j, i]
        fill_risk_set_sums(terms, weighted, term_sums)
        for k in range(len(term_sums)):
            # Two divisions, because S² may overflow.
            term_sums[k] = term_sums[k] / current.S[k] * current.rate[k]
        fill_term_sums(terms, term_sums, weighted)
        for i in range(n):
            HD[j, i] = 2.0 / n * (current.total[i] * D[j, i] - current.e[i] * weighted[i])


@compiled
def fill_hessian_root(
    terms: Terms, current: CoxLoss, D: Array, coordinates: Array, E: Array
) -> None:
    """See `Loss.fill_hessian_root`: by a Cholesky factor of H, which is singular."""
    n = len(current.e)
    L = np.empty((n, n))
    U = np.zeros((n, n))
    fill_hessian_products(terms, current, np.eye(n), np.arange(n), L)
    factor_semidefinite(L)
    for i in range(n):
        for k in range(i + 1):
            U[k, i] = L[i, k] if L[k, k] < np.inf else 0.0
    for j in coordinates:
        for k in range(n):
            E[j, k] = dot_rows(U, k, D, j, n)


@compiled
def conjugate(terms: Terms, current: CoxLoss, eta: Array, z: Array, u: Array, s: float) -> float:
    """Return h*(s u) or a larger number; ∞ if a q is no probability.

    By the q of the module's docstring, at p(η); u = ∇h - H z follows from z and is not read.
    """
    n = len(eta)
    top = np.max(eta)
    total = 0.0
    has_z = np.any(z != 0.0)
    for k in range(len(current.S)):
        first_death = terms.first_death[k]
        entropy = 0.0
        mean_z = 0.0
        death_weight = 0.0
        # p_l'z, and the weight of the deaths of the term
        for j in range(terms.end_death[k]):
            mean_z += (
                (terms.death_share[k] if j >= first_death else 1.0)
                * current.e[j]
                / current.S[k]
                * z[j]
            )
        for j in range(first_death, terms.end_death[k]):
            death_weight += terms.weight[j]
        log_scale = np.log(s / current.S[k]) if s > 0.0 else 0.0
        for j in range(first_death):
            p = s * current.e[j] / current.S[k]
            factor = 1.0 - z[j] + mean_z
            if p > 0.0 and factor < 0.0:
                return np.inf
            if p > 0.0 and factor > 0.0:
                log_factor = np.log(factor) if has_z else 0.0
                entropy += p * factor * (log_scale + eta[j] - top + log_factor)
        for j in range(first_death, terms.end_death[k]):
            q = s * terms.death_share[k] * current.e[j] / current.S[k] * (1.0 - z[j] + mean_z)
            q += (1.0 - s) * terms.weight[j] / death_weight
            if q < 0.0:
                return np.inf
            if q > 0.0:
                entropy += q * np.log(q / (terms.death_share[k] * terms.weight[j]))
        total += terms.omega[k] * entropy
    return 2.0 / n * total


COX = Loss(evaluate, fill_hessian_products, fill_hessian_root, conjugate)
solve_all, certify_all = set_kernels(COX, terms_of_set)
minimise_ridge = ridge_solver(COX)
ridge_gap = ridge_gap_function(COX)


@compiled
def refit_ridge_path(
    terms: Terms,
    D: Array,
    column_ridge: Array,
    share: Array,
    lam: Array,
    slack: float,
    x: Array,
    gap: Array,
) -> None:
    """Minimise ``h(D'x) + Σ_j (column_ridge_j + lam share_j) x_j²`` for each lam (L,) in turn.

    Each fit starts at the one before, and ends once a step promises to decrease h by less than
    `slack`. Fill x (L, m) and the gaps (L,), not relative.
    """
    coef = np.zeros(len(D))
    eta = np.zeros(D.shape[1])
    for level in range(len(lam)):
        problem = PenalisedProblem(D, np.zeros(len(D)), 2.0 * (column_ridge + lam[level] * share))
        minimise_ridge(terms, D, problem.ridge, coef, eta, slack)
        gap[level] = ridge_gap(terms, problem, coef, eta)
        copy_into(coef, x[level])


@compiled
def solve_sets(
    data: LossData, state: PathState, set_numbers: Array, levels: PathLevels, steps: Array
) -> None:
    """Fit the training sets `set_numbers` on their working sets; add the Newton steps, (T,).

    The one compiled caller into which `solve_all` is copied, see `set_kernels`.
    """
    solve_all(data, state, set_numbers, levels, steps)


@compiled
def certify_sets(
    data: LossData,
    state: PathState,
    set_numbers: Array,
    levels: PathLevels,
    gap: Array,
    largest_gradient_outside: Array,
) -> None:
    """Fill gap (T,) and largest_gradient_outside (T,) for the training sets `set_numbers`.

    The one compiled caller into which `certify_all` is copied, see `set_kernels`.
    """
    certify_all(data, state, set_numbers, levels, gap, largest_gradient_outside)
