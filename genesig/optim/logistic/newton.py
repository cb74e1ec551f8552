"""Proximal Newton steps on a working set: coordinate descent finds the signs, algebra the rest.

At ``η = D'x`` the loss has the model ``u'D'(x' - x) + ½ (x' - x)'D W D'(x' - x)``, u and W its
derivatives. Sweeps of coordinate descent tell which x' are 0 and the signs of the others; given
these, the minimum solves a linear system. Features are rows; all is plain numba, which Python may
call, and runs uncompiled with ``NUMBA_DISABLE_JIT=1``.

Source: Friedman, Hastie and Tibshirani 2010; Lee, Sun and Saunders 2014.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.optim.logistic.algebra import (
    compiled,
    dot,
    products,
    solve_by_features,
    solve_by_samples,
)  # fmt: skip

Array = np.ndarray[Any, Any]

STEPS = 200
"""Most Newton steps of a fit, and most rounds of sweeps for one model."""
SWEEPS = 16
"""Most sweeps over the coordinates that are not 0 before the linear system is tried."""
ARMIJO = 1e-4
"""Share of the promised decrease that a step must keep."""
EXACT = 1e-10
"""Share of its l1 weight by which a derivative of the model may miss."""


class Problem(NamedTuple):
    """``min Σ_i v_i log(1 + exp(-y_i η_i)) + Σ_j (½ ridge_j x_j² + cut_j |x_j|)``, ``η = D'x``.

    D (m, n) with a feature in each row, y (n,) of -1 and 1, v (n,) >= 0, cut and ridge (m,) >= 0.
    """

    D: Array
    y: Array
    v: Array
    cut: Array
    ridge: Array


@compiled
def loss(y: Array, v: Array, eta: Array) -> float:
    """Return ``Σ_i v_i log(1 + exp(-y_i η_i))``."""
    total = 0.0
    for i in range(len(y)):
        z = y[i] * eta[i]
        total += v[i] * (max(-z, 0.0) + np.log1p(np.exp(-abs(z))))
    return total


@compiled
def derivatives(y: Array, v: Array, eta: Array, u: Array, w: Array) -> None:
    """Fill u and w with the first and second derivatives of the loss."""
    for i in range(len(y)):
        z = y[i] * eta[i]
        e = np.exp(-abs(z))
        u[i] = -y[i] * v[i] * (e if z > 0 else 1.0) / (1.0 + e)
        w[i] = v[i] * e / ((1.0 + e) * (1.0 + e))


@compiled
def penalty(problem: Problem, x: Array) -> float:
    """Return ``Σ_j (½ ridge_j x_j² + cut_j |x_j|)``."""
    total = 0.0
    for j in range(len(x)):
        total += 0.5 * problem.ridge[j] * x[j] * x[j] + problem.cut[j] * abs(x[j])
    return total


@compiled
def predictor(D: Array, x: Array, eta: Array) -> None:
    """Fill η = D'x."""
    eta[:] = 0.0
    for j in range(len(x)):
        if x[j] != 0.0:
            for i in range(len(eta)):
                eta[i] += D[j, i] * x[j]


@compiled
def moving(problem: Problem, places: Array, x: Array) -> Array:
    """Return those of the coordinates `places` that are not 0 or have no l1 term."""
    found, count = np.empty(len(places), np.int64), 0
    for j in places:
        if x[j] != 0.0 or problem.cut[j] == 0.0:
            found[count] = j
            count += 1
    return found[:count]


@compiled
def sweep(problem: Problem, places: Array, w: Array, bend: Array, x: Array, r: Array) -> None:
    """Minimise the model along each of the coordinates `places`; r = u + W D'(x - start)."""
    for j in places:
        if bend[j] > 0.0:
            slope, edge = problem.ridge[j] * x[j], problem.cut[j] / bend[j]
            for i in range(len(r)):
                slope += problem.D[j, i] * r[i]
            goal = x[j] - slope / bend[j]
            goal = goal - edge if goal > edge else (goal + edge if goal < -edge else 0.0)
            move = goal - x[j]
            if move != 0.0:
                for i in range(len(r)):
                    r[i] += w[i] * problem.D[j, i] * move
                x[j] = goal


@compiled
def find_signs(
    problem: Problem, places: Array, w: Array, bend: Array, x: Array, r: Array
) -> None:  # fmt: skip
    """Sweep over all coordinates `places`, then over those that are not 0 until none becomes so."""
    sweep(problem, places, w, bend, x, r)
    active = moving(problem, places, x)
    for _ in range(SWEEPS):
        sweep(problem, active, w, bend, x, r)
        left = moving(problem, active, x)
        if len(left) == len(active):
            return
        active = left


@compiled
def face_step(problem: Problem, active: Array, w: Array, x: Array, r: Array) -> Array:
    """Return the step of the coordinates `active` to the model's minimum at these signs."""
    m, n, held = len(active), len(w), 0
    E, h, ridge = np.empty((m, n)), np.empty(m), np.empty(m)
    for p in range(m):
        j = active[p]
        sign = 1.0 if x[j] > 0.0 else (-1.0 if x[j] < 0.0 else 0.0)
        h[p] = -problem.ridge[j] * x[j] - problem.cut[j] * sign
        ridge[p] = problem.ridge[j]
        held += 1 if ridge[p] > 0.0 else 0
        for i in range(n):
            h[p] -= problem.D[j, i] * r[i]
            E[p, i] = np.sqrt(w[i]) * problem.D[j, i]
    if held > n:
        solve_by_samples(E, ridge, h)
    else:
        solve_by_features(E, ridge, h)
    return h


@compiled
def agrees(problem: Problem, places: Array, x: Array, r: Array) -> bool:
    """Tell whether no derivative of the model along the coordinates `places` speaks against x."""
    for j in places:
        slope, cut = problem.ridge[j] * x[j], problem.cut[j]
        for i in range(len(r)):
            slope += problem.D[j, i] * r[i]
        slope = abs(slope) if x[j] == 0.0 else abs(slope + (cut if x[j] > 0.0 else -cut))
        if cut > 0.0 and slope > cut * (EXACT if x[j] != 0.0 else 1.0 + EXACT):
            return False
    return True


@compiled
def to_face_minimum(problem: Problem, places: Array, w: Array, x: Array, r: Array) -> bool:
    """Go to the model's minimum at these signs, or to the first that changes; tell if all is done.

    It is where no derivative of the coordinates `places` speaks against these signs.
    """
    active = moving(problem, places, x)
    step, share, first = face_step(problem, active, w, x, r), 1.0, -1
    for p in range(len(active)):
        j = active[p]
        if problem.cut[j] > 0.0 and (x[j] + step[p]) * x[j] <= 0.0:
            reach = -x[j] / step[p]
            if reach < share or first < 0:
                share, first = min(reach, share), p
    for p in range(len(active)):
        j = active[p]
        x[j] = 0.0 if p == first else x[j] + share * step[p]
        for i in range(len(r)):
            r[i] += w[i] * problem.D[j, i] * share * step[p]
    return first < 0 and agrees(problem, places, x, r)


@compiled
def minimise_model(problem: Problem, places: Array, u: Array, w: Array, x: Array) -> None:
    """Take x to the minimum of the quadratic model over the coordinates `places`."""
    r, bend = u.copy(), np.empty(len(x))
    for j in places:
        bend[j] = problem.ridge[j]
        for i in range(len(w)):
            bend[j] += w[i] * problem.D[j, i] * problem.D[j, i]
    signs_known = len(moving(problem, places, x)) == len(places)
    for attempt in range(STEPS):
        if attempt > 0 or not signs_known:
            find_signs(problem, places, w, bend, x, r)
        if to_face_minimum(problem, places, w, x, r):
            return


@compiled
def value_between(
    problem: Problem, start: Array, aim: Array, share: float, x: Array, eta: Array
) -> float:  # fmt: skip
    """Go to x, a share of the way from start to aim, and its η; return the objective there."""
    for j in range(len(x)):
        x[j] = aim[j] if share == 1.0 else start[j] + share * (aim[j] - start[j])
    predictor(problem.D, x, eta)
    return loss(problem.y, problem.v, eta) + penalty(problem, x)


@compiled
def candidates(problem: Problem, x: Array, u: Array) -> Array:
    """Return the coordinates that are not 0, have no l1 term, or whose derivative is beyond it."""
    slope, count = np.empty(len(x)), 0
    products(problem.D, u, len(x), slope)
    found = np.empty(len(x), np.int64)
    for j in range(len(x)):
        cut = problem.cut[j]
        if x[j] != 0.0 or cut == 0.0 or abs(slope[j]) > cut:
            found[count] = j
            count += 1
    return found[:count]


@compiled
def solve_working_set(problem: Problem, x: Array, eta: Array, slack: float) -> int:
    """Take x (m,) and η = D'x (n,) to the minimum; return the Newton steps.

    They end where the decrease that the model promised was below `slack`, or none is to be had.
    """
    u, w, goal = np.empty_like(eta), np.empty_like(eta), np.empty_like(eta)
    start, aim = x.copy(), x.copy()
    now = value_between(problem, start, aim, 1.0, x, eta)
    for step in range(1, STEPS + 1):
        derivatives(problem.y, problem.v, eta, u, w)
        minimise_model(problem, candidates(problem, x, u), u, w, aim)
        share, value = 1.0, value_between(problem, start, aim, 1.0, x, goal)
        promised = dot(u, goal) - dot(u, eta) + penalty(problem, x) - penalty(problem, start)
        while value > now + ARMIJO * share * promised + 1e-14 * abs(now) and share > 1e-8:
            share /= 2.0
            value = value_between(problem, start, aim, share, x, goal)
        if share <= 1e-8:
            x[:] = start
            return step
        eta[:], start[:], aim[:], now = goal, x, x, value
        if -promised <= slack:
            return step
    return STEPS
