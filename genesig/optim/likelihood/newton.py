"""Proximal Newton steps on a working set: coordinate descent finds the signs, algebra the rest.

At ``η = D'x`` a loss h has the model ``u'D'(x' - x) + ½ (x' - x)'D H D'(x' - x)``, u and H its
derivatives. Sweeps of coordinate descent tell which x' are 0 and the signs of the others; given
these, the minimum solves a linear system. Features are rows; all is plain numba, which Python may
call, and runs uncompiled with ``NUMBA_DISABLE_JIT=1``.

Source: Friedman, Hastie and Tibshirani 2010; Lee, Sun and Saunders 2014.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, made_here, part
from genesig.compiled.algebra import (
    dot,
    factor,
    products,
    solve_by_features,
    solve_by_samples,
    substitute,
)

STEPS = 200
"""Most Newton steps of a fit, and most rounds of sweeps for one model."""
SWEEPS = 16
"""Most sweeps over the coordinates that are not 0 before the linear system is tried."""
ARMIJO = 1e-4
"""Share of the promised decrease that a step must keep."""
MIN_SHARE = 1e-8
"""Share of a Newton step below which none is tried."""
EXACT = 1e-10
"""Share of its l1 weight by which a derivative of the model may miss."""


class Loss(NamedTuple):
    """A convex loss h of η (n,): compiled functions of what is given of n samples.

    ``at(given, eta)`` is a record of h's `value` and gradient `u` (n,) at η, and of what the others
    need there; ``curve(given, here, D, places, HD)`` fills rows `places` of HD with H D;
    ``halve(given, here, D, places, E)`` those of E so that ``E E' = D H D'``;
    ``conjugate(given, here, eta, z, u, s)`` is h*(s u) or more, of u = ∇h - H z.
    """

    at: Any
    curve: Any
    halve: Any
    conjugate: Any


class Problem(NamedTuple):
    """``min h(η) + Σ_j (½ ridge_j x_j² + cut_j |x_j|)``, ``η = D'x``.

    D (m, n) with a feature in each row, cut and ridge (m,) >= 0.
    """

    D: Array
    cut: Array
    ridge: Array


class Model(NamedTuple):
    """The loss's derivatives u (n,), rows HD (m, n), and E (m, n) or none where not needed."""

    u: Array
    HD: Array
    E: Array


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
def assign(source: Array, out: Array) -> None:
    """Fill out (n,); ``out[:] = source`` would compile what puts its error into words."""
    for i in range(len(out)):
        out[i] = source[i]


@compiled
def moving(problem: Problem, places: Array, x: Array) -> Array:
    """Return those of the coordinates `places` that are not 0 or have no l1 term."""
    found = np.empty(len(places), np.int64)
    count = 0
    for j in places:
        if x[j] != 0.0 or problem.cut[j] == 0.0:
            found[count] = j
            count += 1
    return found[:count]


@compiled
def sweep(problem: Problem, places: Array, HD: Array, bend: Array, x: Array, r: Array) -> None:
    """Minimise the model along each of the coordinates `places`; r = u + H D'(x - start)."""
    for j in places:
        if bend[j] > 0.0:
            slope = problem.ridge[j] * x[j]
            edge = problem.cut[j] / bend[j]
            for i in range(len(r)):
                slope += problem.D[j, i] * r[i]
            goal = x[j] - slope / bend[j]
            goal = goal - edge if goal > edge else (goal + edge if goal < -edge else 0.0)
            move = goal - x[j]
            if move != 0.0:
                for i in range(len(r)):
                    r[i] += HD[j, i] * move
                x[j] = goal


@part
def find_signs(problem: Problem, places: Array, HD: Array, bend: Array, x: Array, r: Array) -> None:
    """Sweep over all coordinates `places`, then over those that are not 0 until none becomes so."""
    sweep(problem, places, HD, bend, x, r)
    active = moving(problem, places, x)
    for _ in range(SWEEPS):
        sweep(problem, active, HD, bend, x, r)
        left = moving(problem, active, x)
        if len(left) == len(active):
            return
        active = left


@compiled
def rows_of(A: Array, places: Array) -> Array:
    """Return some rows of A, (m, n)."""
    out = np.empty((len(places), A.shape[1]))
    for p in range(len(places)):
        for i in range(A.shape[1]):
            out[p, i] = A[places[p], i]
    return out


@part
def face_step(problem: Problem, active: Array, model: Model, x: Array, r: Array) -> Array:
    """Return the step of the coordinates `active` to the model's minimum at these signs."""
    h = np.empty(len(active))
    ridge = np.empty(len(active))
    held = 0
    D = problem.D
    for p in range(len(active)):
        j = active[p]
        sign = 1.0 if x[j] > 0.0 else (-1.0 if x[j] < 0.0 else 0.0)
        h[p] = -problem.ridge[j] * x[j] - problem.cut[j] * sign
        ridge[p] = problem.ridge[j]
        held += 1 if ridge[p] > 0.0 else 0
        for i in range(len(r)):
            h[p] -= D[j, i] * r[i]
    if held > len(r):
        solve_by_samples(rows_of(model.E, active), ridge, h)
    else:
        solve_by_features(rows_of(D, active), rows_of(model.HD, active), ridge, h)
    return h


@compiled
def agrees(problem: Problem, places: Array, x: Array, r: Array) -> bool:
    """Tell whether no derivative of the model along the coordinates `places` speaks against x."""
    for j in places:
        slope = problem.ridge[j] * x[j]
        cut = problem.cut[j]
        if cut > 0.0:
            for i in range(len(r)):
                slope += problem.D[j, i] * r[i]
            slope = abs(slope) if x[j] == 0.0 else abs(slope + (cut if x[j] > 0.0 else -cut))
            if slope > cut * (EXACT if x[j] != 0.0 else 1.0 + EXACT):
                return False
    return True


@part
def to_face_minimum(problem: Problem, places: Array, model: Model, x: Array, r: Array) -> bool:
    """Go to the model's minimum at these signs, or to the first that changes; tell if all is done.

    It is where no derivative of the coordinates `places` speaks against these signs.
    """
    active = moving(problem, places, x)
    step = face_step(problem, active, model, x, r)
    share = 1.0
    first = -1
    for p in range(len(active)):
        j = active[p]
        if problem.cut[j] > 0.0 and (x[j] + step[p]) * x[j] <= 0.0:
            reach = -x[j] / step[p]
            if reach < share or first < 0:
                share = min(reach, share)
                first = p
    for p in range(len(active)):
        j = active[p]
        x[j] = 0.0 if p == first else x[j] + share * step[p]
        for i in range(len(r)):
            r[i] += model.HD[j, i] * share * step[p]
    return first < 0 and agrees(problem, places, x, r)


@part
def minimise_model(problem: Problem, places: Array, model: Model, x: Array) -> None:
    """Take x to the minimum of the quadratic model over the coordinates `places`."""
    r = model.u.copy()
    bend = np.empty(len(x))
    for j in places:
        bend[j] = problem.ridge[j] + dot(model.HD[j], problem.D[j])
    signs_known = len(moving(problem, places, x)) == len(places)
    for attempt in range(STEPS):
        if attempt > 0 or not signs_known:
            find_signs(problem, places, model.HD, bend, x, r)
        if to_face_minimum(problem, places, model, x, r):
            return


@part
def candidates(problem: Problem, x: Array, u: Array) -> Array:
    """Return the coordinates that are not 0, have no l1 term, or whose derivative is beyond it."""
    slope = np.empty(len(x))
    count = 0
    products(problem.D, u, len(x), slope)
    found = np.empty(len(x), np.int64)
    for j in range(len(x)):
        cut = problem.cut[j]
        if x[j] != 0.0 or cut == 0.0 or abs(slope[j]) > cut * (1.0 + EXACT):
            found[count] = j
            count += 1
    return found[:count]


@compiled
def go(problem: Problem, start: Array, aim: Array, share: float, x: Array, eta: Array) -> None:
    """Fill x a share of the way from start to aim, and its η."""
    for j in range(len(x)):
        x[j] = aim[j] if share == 1.0 else start[j] + share * (aim[j] - start[j])
    predictor(problem.D, x, eta)


@cache  # of one loss, whoever asks: each function made would be compiled
def newton_steps(loss: Loss) -> Callable[[Any, Problem, Array, Array, float], int]:
    """Return the compiled function that takes x (m,) and η = D'x (n,) to the minimum of a loss.

    It returns the Newton steps. They end where the decrease that the model promised was below
    `slack`, or none is to be had.
    """
    at = loss.at
    curve = loss.curve
    halve = loss.halve

    @made_here
    def solve_working_set(given: Any, problem: Problem, x: Array, eta: Array, slack: float) -> int:
        start = x.copy()
        aim = x.copy()
        goal = np.empty_like(eta)
        HD = np.empty_like(problem.D)
        held = np.sum(problem.ridge > 0.0)
        E = np.empty(problem.D.shape if held > len(eta) else (0, len(eta)))
        predictor(problem.D, x, eta)
        here = at(given, eta)
        now = here.value + penalty(problem, x)
        for step in range(1, STEPS + 1):
            places = candidates(problem, x, here.u)
            curve(given, here, problem.D, places, HD)
            if len(E) > 0 and len(places) > len(eta):
                halve(given, here, problem.D, places, E)
            minimise_model(problem, places, Model(here.u, HD, E), aim)
            share = 2.0
            promised = 0.0
            reached = np.inf
            there = here
            rounding = 1e-14 * abs(now)
            while share > MIN_SHARE and not reached <= now + ARMIJO * share * promised + rounding:
                share /= 2.0
                go(problem, start, aim, share, x, goal)
                there = at(given, goal)
                reached = there.value + penalty(problem, x)
                if share == 1.0:
                    promised = dot(here.u, goal) - dot(here.u, eta)
                    promised += penalty(problem, x) - penalty(problem, start)
            if share <= MIN_SHARE:
                assign(start, x)
                return step
            here = there
            now = reached
            assign(goal, eta)
            assign(x, start)
            assign(x, aim)
            if -promised <= slack:
                return step
        return STEPS

    return solve_working_set


@cache
def ridge_steps(loss: Loss) -> Callable[[Any, Array, Array, Array, Array, float], None]:
    """Return the compiled function that minimises ``h(η) + ½ Σ_j ridge_j x_j²``, h a loss.

    It takes x (m,) and η = D'x (n,) there by Newton steps. They end where one promised a decrease
    of less than `slack`, or where none decreases the sum.
    """
    at = loss.at
    curve = loss.curve

    @made_here
    def minimise_ridge(
        given: Any, D: Array, ridge: Array, x: Array, eta: Array, slack: float
    ) -> None:
        m, n = D.shape
        problem = Problem(D, np.zeros(m), ridge)
        places = np.arange(m)
        start = x.copy()
        HD = np.empty((m, n))
        hessian = np.empty((m, m))
        step = np.empty(m)
        gradient = np.empty(m)
        new_eta = np.empty(n)
        predictor(D, x, eta)
        here = at(given, eta)
        value = here.value + penalty(problem, x)
        for _ in range(STEPS):
            curve(given, here, D, places, HD)
            for j in range(m):
                products(HD, D[j], j + 1, hessian[j])
                hessian[j, j] += ridge[j]
                gradient[j] = dot(D[j], here.u) + ridge[j] * x[j]
            factor(hessian)
            assign(gradient, step)
            substitute(hessian, step)
            promised = dot(gradient, step)
            share = 2.0
            new_value = np.inf
            there = here
            rounding = 1e-14 * abs(value)
            while (
                share > MIN_SHARE and not new_value <= value - ARMIJO * share * promised + rounding
            ):
                share /= 2.0
                for j in range(m):
                    x[j] = start[j] - share * step[j]
                predictor(D, x, new_eta)
                there = at(given, new_eta)
                new_value = there.value + penalty(problem, x)
            if share <= MIN_SHARE:
                assign(start, x)
                return
            here = there
            value = new_value
            assign(x, start)
            assign(new_eta, eta)
            if promised <= slack:
                return

    return minimise_ridge


@cache
def dual_points(loss: Loss) -> Callable[[Any, Problem, Array, Array, Array], None]:
    """Return the compiled function that fills z and u (n,) by η, both for the dual.

    u is the loss's gradient less what it has of what has no penalty: with ``C H C' ζ = C ∇h`` for
    its rows C, and z = C' ζ, ``u = ∇h - H z`` is orthogonal to them.
    """
    at = loss.at
    curve = loss.curve

    @made_here
    def dual_point(given: Any, problem: Problem, eta: Array, z: Array, u: Array) -> None:
        here = at(given, eta)
        free = np.flatnonzero((problem.cut == 0.0) & (problem.ridge == 0.0))
        C = rows_of(problem.D, free)
        places = np.arange(len(free))
        HC = np.empty_like(C)
        A = np.empty((len(C), len(C)))
        zeta = np.empty(len(C))
        curve(given, here, C, places, HC)
        for j in range(len(C)):
            zeta[j] = dot(C[j], here.u)
            products(HC, C[j], j + 1, A[j])
        factor(A)
        substitute(A, zeta)
        assign(here.u, u)
        z[:] = 0.0
        for j in range(len(C)):
            for i in range(len(u)):
                z[i] += C[j, i] * zeta[j]
                u[i] -= HC[j, i] * zeta[j]

    return dual_point
