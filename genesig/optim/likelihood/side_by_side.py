"""Training sets side by side at one point of their paths: working sets, fits, and their gaps.

With a dual point u of the loss every s in [0, 1] gives a dual value,

    D(s) = -h*(s u) - Σ_j max(|s z_j'u| - cut_j, 0)² / (4 mu),

or none at mu = 0 where ``|s z_j'u| > cut_j``; u must be orthogonal to what has no penalty. At the
minimum the derivatives of the loss give its value (Fenchel).

Source: Fenchel 1949; Ndiaye, Fercoq, Gramfort and Salmon 2017 (scaling a dual point).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import compiled, made_here
from genesig.compiled.algebra import dot
from genesig.optim.likelihood.newton import Loss, Problem, dual_points, newton_steps, penalty

Array = np.ndarray[Any, Any]


class Ground(NamedTuple):
    """What T training sets are, of N >= n samples.

    F (d, N) holds all features, ``z_tj = inverse_tj (F_j - mean_tj)``, and weights (d,) are those
    of their l1 terms; mean and inverse (T, d). rows (T, N) are the samples, those of the set first,
    size (T,) their number; columns (T, c, N), in that order, stand beside the features, ease (T, c)
    is their ridge, mostly 0; response is what the loss is given of each set.
    """

    F: Array
    mean: Array
    inverse: Array
    weights: Array
    rows: Array
    size: Array
    columns: Array
    ease: Array
    response: Any


class State(NamedTuple):
    """Where T training sets are: coefficients b (T, d), a (T, c) and predictors η (T, N).

    u (T, N) is the dual point there, of all rows of F, g (T, d) its products with the features; z
    (T, N) is that of `newton.dual_points`. z and η are in the order of the ground's rows.
    """

    b: Array
    a: Array
    eta: Array
    z: Array
    u: Array
    g: Array


class Levels(NamedTuple):
    """Where they go: tau, mu; the least g of a working set; the slack of the fit; each (T,)."""

    tau: Array
    mu: Array
    least: Array
    slack: Array


@compiled
def problem_of(ground: Ground, t: int, places: Array, tau: float, mu: float) -> Problem:
    """Return the problem of some features, then the columns, of one training set."""
    n, columns, m = ground.size[t], ground.columns[t], len(places)
    D = np.empty((m + len(columns), n))
    for p in range(m):
        j = places[p]
        mean, inverse, row = ground.mean[t, j], ground.inverse[t, j], ground.F[j]
        for i in range(n):
            D[p, i] = inverse * (row[ground.rows[t, i]] - mean)
    cut, ridge = np.zeros(len(D)), np.empty(len(D))
    for p in range(len(columns)):
        ridge[m + p] = ground.ease[t, p]
        for i in range(n):
            D[m + p, i] = columns[p, i]
    for p in range(m):
        cut[p], ridge[p] = tau * ground.weights[places[p]], 2.0 * mu
    return Problem(D, cut, ridge)


@compiled
def working_set(ground: Ground, state: State, t: int, least: float) -> Array:
    """Return the features that are not 0, have no l1 term, or a product of at least `least`."""
    b, g, count = state.b[t], state.g[t], 0
    found = np.empty(len(b), np.int64)
    for j in range(len(b)):
        weight = ground.weights[j]
        if weight == 0.0 or abs(g[j]) >= least * weight or b[j] != 0.0:
            found[count] = j
            count += 1
    return found[:count]


@compiled
def steepest(ground: Ground, state: State, t: int, mu: float) -> tuple[float, float]:
    """Return the largest ``|g_j + 2 mu b_j| / w_j``, and that where b_j is 0."""
    top, outside = 0.0, 0.0
    for j in range(len(state.b[t])):
        if ground.weights[j] > 0.0:
            ratio = abs(state.g[t, j] + 2.0 * mu * state.b[t, j]) / ground.weights[j]
            top = max(top, ratio)
            if state.b[t, j] == 0.0:
                outside = max(outside, ratio)
    return top, outside


@compiled
def penalties(ground: Ground, state: State, t: int, tau: float, mu: float, s: float) -> float:
    """Return the penalty of features and columns, and what s u pays in the dual for passing it."""
    b, g, a, total = state.b[t], state.g[t], state.a[t], 0.0
    for j in range(len(b)):
        cut = tau * ground.weights[j]
        total += cut * abs(b[j]) + mu * b[j] * b[j]
        beyond = s * abs(g[j]) - cut
        if mu > 0.0 and beyond > 0.0:
            total += beyond * beyond / (4.0 * mu)
    for p in range(len(a)):
        ridge, along = ground.ease[t, p], 0.0
        if ridge > 0.0:
            for i in range(ground.size[t]):
                along += ground.columns[t, p, i] * state.u[t, ground.rows[t, i]]
            total += 0.5 * ridge * a[p] * a[p] + (s * along) ** 2 / (2.0 * ridge)
    return total


def over_sets(
    loss: Loss, given_of: Callable[[Any, int, int], Any]
) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return the compiled functions that fit training sets, and that judge the fits.

    ``given_of(response, t, n)`` is what the loss is given of training set t, of n samples.
    """
    return _solving(loss, given_of), _judging(loss, given_of)


def _solving(loss: Loss, given_of: Callable[[Any, int, int], Any]) -> Callable[..., None]:
    solve_working_set, dual_point = newton_steps(loss), dual_points(loss)

    @made_here
    def solve_each(
        ground: Ground, state: State, which: Array, levels: Levels, steps: Array
    ) -> None:  # fmt: skip
        """Fit some sets on their working sets; fill b, a, η, z and u, add the Newton steps."""
        for t in which:
            places, n = working_set(ground, state, t, levels.least[t]), ground.size[t]
            problem = problem_of(ground, t, places, levels.tau[t], levels.mu[t])
            m, eta, given = len(places), state.eta[t, :n], given_of(ground.response, t, n)
            x, u = np.empty(len(problem.D)), np.empty(n)
            for p in range(len(x)):
                x[p] = state.b[t, places[p]] if p < m else state.a[t, p - m]
            steps[t] += solve_working_set(given, problem, x, eta, levels.slack[t])
            for p in range(len(x)):
                if p < m:
                    state.b[t, places[p]] = x[p]
                else:
                    state.a[t, p - m] = x[p]
            dual_point(given, problem, eta, state.z[t, :n], u)
            for i in range(n):
                state.u[t, ground.rows[t, i]] = u[i]

    return solve_each


def _judging(loss: Loss, given_of: Callable[[Any, int, int], Any]) -> Callable[..., None]:
    at, conjugate = loss.at, loss.conjugate

    @made_here
    def judge_each(
        ground: Ground, state: State, which: Array, levels: Levels, gap: Array, outside: Array
    ) -> None:  # fmt: skip
        """Scale the products Fu in g to those with the features.

        Fill the duality gap, not relative, and the largest ``|g_j| / w_j`` where b_j is 0.
        """
        for t in which:
            tau, mu, n = levels.tau[t], levels.mu[t], ground.size[t]
            for j in range(len(state.g[t])):
                state.g[t, j] *= ground.inverse[t, j]
            top, outside[t] = steepest(ground, state, t, mu)
            s, u = tau / top if 0.0 < tau < top else 1.0, np.empty(n)
            for i in range(n):
                u[i] = state.u[t, ground.rows[t, i]]
            given, eta = given_of(ground.response, t, n), state.eta[t, :n]
            here = at(given, eta)
            found = here.value + conjugate(given, here, eta, state.z[t, :n], u, s)
            gap[t] = max(found + penalties(ground, state, t, tau, mu, s), 0.0)

    return judge_each


def fits_of_one(loss: Loss) -> Callable[[Any, Problem, Array, Array, float], float]:
    """Return the compiled function that fits one problem whose features have no l1 term.

    It fills x (m,) and η (n,), see `newton_steps`, and returns the duality gap, not relative.
    """
    at, conjugate = loss.at, loss.conjugate
    solve_working_set, dual_point = newton_steps(loss), dual_points(loss)

    @made_here
    def fit(given: Any, problem: Problem, x: Array, eta: Array, slack: float) -> float:
        solve_working_set(given, problem, x, eta, slack)
        z, u = np.empty_like(eta), np.empty_like(eta)
        dual_point(given, problem, eta, z, u)
        here = at(given, eta)
        gap = here.value + penalty(problem, x) + conjugate(given, here, eta, z, u, 1.0)
        for j in range(len(x)):
            if problem.ridge[j] > 0.0:
                gap += dot(problem.D[j], u) ** 2 / (2.0 * problem.ridge[j])
        return float(max(gap, 0.0))

    return fit
