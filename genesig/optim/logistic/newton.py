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
def sweep(problem: Problem, places: Array, w: Array, bend: Array, x: Array, r: Array) -> None:
    """Minimise the model along each of the coordinates `places`; r = u + W D'(x - start)."""
    for p in range(len(places)):
        j = places[p]
        if bend[p] > 0.0:
            row = problem.D[j]
            goal = x[j] - (dot(row, r) + problem.ridge[j] * x[j]) / bend[p]
            edge = problem.cut[j] / bend[p]
            goal = goal - edge if goal > edge else (goal + edge if goal < -edge else 0.0)
            move = goal - x[j]
            if move != 0.0:
                for i in range(len(r)):
                    r[i] += w[i] * row[i] * move
                x[j] = goal


@compiled
def face_step(problem: Problem, active: Array, w: Array, x: Array, r: Array) -> Array:
    """Return the step of the coordinates `active` to the model's minimum at these signs."""
    E, h = np.empty((len(active), len(w))), np.empty(len(active))
    root = np.sqrt(w)
    for p in range(len(active)):
        j = active[p]
        h[p] = -dot(problem.D[j], r) - problem.ridge[j] * x[j] - problem.cut[j] * np.sign(x[j])
        for i in range(len(w)):
            E[p, i] = root[i] * problem.D[j, i]
    ridge = problem.ridge[active]
    if (ridge > 0.0).sum() > len(w):
        solve_by_samples(E, ridge, h)
    else:
        solve_by_features(E, ridge, h)
    return h


@compiled
def to_face_minimum(problem: Problem, places: Array, w: Array, x: Array, r: Array) -> bool:
    """Go to the model's minimum at these signs, or to the first that changes; tell if all is done.

    It is where no derivative of the coordinates `places` speaks against these signs.
    """
    active = np.array([j for j in places if x[j] != 0.0 or problem.cut[j] == 0.0])
    if len(active) > 0:
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
        if first >= 0:
            return False
    for j in places:
        slope = dot(problem.D[j], r) + problem.ridge[j] * x[j]
        off = abs(slope + problem.cut[j] * np.sign(x[j])) if x[j] != 0.0 else abs(slope)
        bound = problem.cut[j] * (EXACT if x[j] != 0.0 else 1.0 + EXACT)
        if problem.cut[j] > 0.0 and off > bound:
            return False
    return True


@compiled
def find_signs(
    problem: Problem, places: Array, w: Array, bend: Array, x: Array, r: Array
) -> None:  # fmt: skip
    """Sweep over all coordinates `places`, then over those that are not 0 until none becomes so."""
    sweep(problem, places, w, bend, x, r)
    for _ in range(SWEEPS):
        active = np.flatnonzero((x[places] != 0.0) | (problem.cut[places] == 0.0))
        sweep(problem, places[active], w, bend[active], x, r)
        if (x[places[active]] != 0.0).all():
            return


@compiled
def minimise_model(problem: Problem, places: Array, u: Array, w: Array, x: Array) -> None:
    """Take x to the minimum of the quadratic model over the coordinates `places`."""
    r, bend = u.copy(), np.empty(len(places))
    for p in range(len(places)):
        row = problem.D[places[p]]
        bend[p] = problem.ridge[places[p]]
        for i in range(len(w)):
            bend[p] += w[i] * row[i] * row[i]
    signs_known = ((x[places] != 0.0) | (problem.cut[places] == 0.0)).all()
    for attempt in range(STEPS):
        if attempt > 0 or not signs_known:
            find_signs(problem, places, w, bend, x, r)
        if to_face_minimum(problem, places, w, x, r):
            return


@compiled
def solve_working_set(problem: Problem, x: Array, eta: Array, slack: float) -> int:
    """Take x (m,) and η = D'x (n,) to the minimum; return the Newton steps.

    They end where the decrease that the model promised was below `slack`, or none is to be had.
    """
    D, y, v, cut, ridge = problem
    u, w, start, goal = np.empty_like(eta), np.empty_like(eta), x.copy(), eta.copy()
    slope = np.empty_like(x)
    now = loss(y, v, eta) + penalty(problem, x)
    for step in range(1, STEPS + 1):
        derivatives(y, v, eta, u, w)
        products(D, u, len(D), slope)
        off = np.abs(slope + ridge * x) > cut
        start[:] = x
        minimise_model(problem, np.flatnonzero((x != 0.0) | off | (cut == 0.0)), u, w, x)
        predictor(D, x, goal)
        promised = dot(u, goal - eta) + penalty(problem, x) - penalty(problem, start)
        share, aim, value = 1.0, x.copy(), loss(y, v, goal) + penalty(problem, x)
        while value > now + ARMIJO * share * promised + 1e-14 * abs(now) and share > 1e-8:
            share /= 2.0
            x[:] = start + share * (aim - start)
            predictor(D, x, goal)
            value = loss(y, v, goal) + penalty(problem, x)
        if share <= 1e-8:
            x[:] = start
            return step
        eta[:], now = goal, value
        if -promised <= slack:
            return step
    return STEPS
