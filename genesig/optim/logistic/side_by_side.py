"""Training sets side by side at one point of their paths: working sets, fits, and their gaps.

With ``q_i`` in [0, 1] and ``u_i = -y_i v_i q_i`` every s in [0, 1] gives a dual value,

    D(s) = -Σ_i v_i (s q_i log(s q_i) + (1 - s q_i) log(1 - s q_i))
           - Σ_j max(|s z_j'u| - cut_j, 0)² / (4 mu),

or none at mu = 0 where ``|s z_j'u| > cut_j``; u must be orthogonal to what has no penalty. At the
minimum the derivatives of the loss give its value (Fenchel).

Source: Fenchel 1949; Ndiaye, Fercoq, Gramfort and Salmon 2017 (scaling a dual point).
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from genesig.optim.logistic import algebra, newton
from genesig.optim.logistic.algebra import compiled, dot, factor, substitute
from genesig.optim.logistic.newton import (
    Problem,
    derivatives,
    loss,
    solve_working_set,
)  # fmt: skip

Array = np.ndarray[Any, Any]


class Ground(NamedTuple):
    """What T training sets are: N >= n samples, filled up with zeros; v is 0 on left-out ones.

    F (d, N) holds all features, ``z_tj = inverse_tj (F_j - mean_tj)``, and weights (d,) are those
    of their l1 terms; mean and inverse (T, d), y of -1 and 1 and v (T, N), of sum 1; columns
    (T, c, N) are those beside the features, ease (T, c) their ridge, mostly 0.
    """

    F: Array
    mean: Array
    inverse: Array
    weights: Array
    y: Array
    v: Array
    columns: Array
    ease: Array


class State(NamedTuple):
    """Where T training sets are: coefficients b (T, d), a (T, c) and predictors η (T, N).

    u (T, N) is the dual point there, g (T, d) its products with the features.
    """

    b: Array
    a: Array
    eta: Array
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
    y, v, columns, m = ground.y[t], ground.v[t], ground.columns[t], len(places)
    D, inside = np.empty((m + len(columns), len(v))), np.empty(len(v))
    for i in range(len(v)):
        inside[i] = 1.0 if v[i] > 0.0 else 0.0
    for p in range(m):
        j = places[p]
        mean, inverse, row = ground.mean[t, j], ground.inverse[t, j], ground.F[j]
        for i in range(len(v)):
            D[p, i] = inside[i] * inverse * (row[i] - mean)
    cut, ridge = np.zeros(len(D)), np.empty(len(D))
    for p in range(len(columns)):
        ridge[m + p] = ground.ease[t, p]
        for i in range(len(v)):
            D[m + p, i] = inside[i] * columns[p, i]
    for p in range(m):
        cut[p], ridge[p] = tau * ground.weights[places[p]], 2.0 * mu
    return Problem(D, y, v, cut, ridge)


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
def dual_point(problem: Problem, eta: Array, out: Array) -> None:
    """Fill u with the derivatives of the loss, less what they have of what has no penalty.

    With ``C W C' ζ = C u`` for its rows C, ``u - W C' ζ`` is orthogonal to them.
    """
    w, free, count = np.empty_like(eta), np.empty(len(problem.D), np.int64), 0
    derivatives(problem.y, problem.v, eta, out, w)
    for j in range(len(problem.D)):
        if problem.cut[j] == 0.0 and problem.ridge[j] == 0.0:
            free[count] = j
            count += 1
    A, zeta = np.empty((count, count)), np.empty(count)
    for j in range(count):
        C = problem.D[free[j]]
        zeta[j] = dot(C, out)
        for k in range(j + 1):
            A[j, k] = 0.0
            for i in range(len(w)):
                A[j, k] += w[i] * C[i] * problem.D[free[k], i]
    factor(A)
    substitute(A, zeta)
    for j in range(count):
        for i in range(len(w)):
            out[i] -= w[i] * problem.D[free[j], i] * zeta[j]


@compiled
def solve_each(ground: Ground, state: State, which: Array, levels: Levels, steps: Array) -> None:
    """Fit some training sets on their working sets; fill b, a, η and u, add the Newton steps."""
    for t in which:
        places = working_set(ground, state, t, levels.least[t])
        problem = problem_of(ground, t, places, levels.tau[t], levels.mu[t])
        m, eta, x = len(places), state.eta[t], np.empty(len(problem.D))
        for p in range(len(x)):
            x[p] = state.b[t, places[p]] if p < m else state.a[t, p - m]
        steps[t] += solve_working_set(problem, x, eta, levels.slack[t])
        for p in range(len(x)):
            if p < m:
                state.b[t, places[p]] = x[p]
            else:
                state.a[t, p - m] = x[p]
        dual_point(problem, eta, state.u[t])


@compiled
def entropy(y: Array, v: Array, u: Array, s: float) -> float:
    """Return ``Σ_i v_i (s q_i log(s q_i) + (1 - s q_i) log(1 - s q_i))``; ∞ for no q in [0, 1]."""
    total = 0.0
    for i in range(len(y)):
        if v[i] > 0.0:
            q = -s * y[i] * u[i] / v[i]
            if q < 0.0 or q > 1.0:
                return np.inf
            total += v[i] * ((q * np.log(q) if q > 0.0 else 0.0)
                             + ((1.0 - q) * np.log1p(-q) if q < 1.0 else 0.0))  # fmt: skip
    return total


@compiled
def judge(ground: Ground, state: State, t: int, tau: float, mu: float) -> tuple[float, float]:
    """Return the duality gap, not relative, and the largest ``|g_j| / w_j`` where b_j is 0."""
    y, v, b, g, u = ground.y[t], ground.v[t], state.b[t], state.g[t], state.u[t]
    top, outside, penalty = 0.0, 0.0, 0.0
    for j in range(len(b)):
        weight = ground.weights[j]
        penalty += tau * weight * abs(b[j]) + mu * b[j] * b[j]
        if weight > 0.0:
            ratio = abs(g[j] + 2.0 * mu * b[j]) / weight
            top = max(top, ratio)
            if b[j] == 0.0:
                outside = max(outside, ratio)
    s = tau / top if 0.0 < tau < top else 1.0
    bound = entropy(y, v, u, s)
    if mu > 0.0:
        for j in range(len(b)):
            beyond = s * abs(g[j]) - tau * ground.weights[j]
            if beyond > 0.0:
                bound += beyond * beyond / (4.0 * mu)
    for p in range(len(state.a[t])):
        ridge = ground.ease[t, p]
        if ridge > 0.0:
            penalty += 0.5 * ridge * state.a[t, p] ** 2
            bound += (s * dot(ground.columns[t, p], u)) ** 2 / (2.0 * ridge)
    return max(loss(y, v, state.eta[t]) + penalty + bound, 0.0), outside


@compiled
def judge_each(
    ground: Ground, state: State, which: Array, levels: Levels, gap: Array, outside: Array
) -> None:  # fmt: skip
    """Scale the products Fu in g to those with the features; fill what `judge` returns."""
    for t in which:
        for j in range(len(state.g[t])):
            state.g[t, j] *= ground.inverse[t, j]
        gap[t], outside[t] = judge(ground, state, t, levels.tau[t], levels.mu[t])


def _entry_points(content: str) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return `solve_each` and `judge_each`, kept on disk by the content of what they call.

    numba looks at their own file and at what they enclose; their helpers have others.
    """

    @compiled
    def solve(ground: Ground, state: State, which: Array, levels: Levels, steps: Array) -> None:
        len(content)
        solve_each(ground, state, which, levels, steps)

    @compiled
    def judged(
        ground: Ground, state: State, which: Array, levels: Levels, gap: Array, outside: Array
    ) -> None:  # fmt: skip
        len(content)
        judge_each(ground, state, which, levels, gap, outside)

    return solve, judged


def _content() -> str:
    """Return the SHA-256 of the other files."""
    return hashlib.sha256("".join(map(inspect.getsource, (algebra, newton))).encode()).hexdigest()


solve_sets, judge_sets = _entry_points(_content())
