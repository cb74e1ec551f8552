"""Proximal Newton steps on a working set: coordinate descent finds the signs, algebra the values.

At ``η = D'x`` a loss h has the model ``u'D'(x' - x) + ½ (x' - x)'D H D'(x' - x)``, u and H its
derivatives. Sweeps of coordinate descent show which x' are 0 and the signs of the others; given
these, the minimum solves a linear system. Rows of D (m, n) are features, `coordinates` the numbers
of some of them. All kernels are plain numba, which Python may call.

Source: Friedman, Hastie and Tibshirani 2010; Lee, Sun and Saunders 2014.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, jit_inline, jit_uncached
from genesig.compiled.algebra import (
    dot,
    factor_semidefinite,
    multiply_rows,
    solve_by_features,
    solve_by_samples,
    solve_factored,
)

MAX_NEWTON_STEPS = 200  # Newton steps of a fit, and rounds of sweeps for one model
MAX_SIGN_SWEEPS = 16  # sweeps over active coordinates before the linear system is tried
STEP_DECREASE_SHARE = 1e-4  # share of the promised decrease that a step must keep (Armijo)
OBJECTIVE_ROUNDING = 1e-14  # rise of the objective, as a share of it, that is rounding
MIN_STEP_SHARE = 1e-8  # smallest share of a Newton step that is tried
SLOPE_TOLERANCE = 1e-10  # largest error of a derivative of the model, as a share of its threshold


class Loss(NamedTuple):
    """A convex loss h of η (n,): compiled functions of ``loss_args``, the data of n samples."""

    # ``(loss_args, eta)`` returns a record with h's `value` and gradient `u` (n,) at η, and with
    # what the other functions need there: their argument `current`
    evaluate: Any
    # ``(loss_args, current, D, coordinates, HD)`` fills rows `coordinates` of HD with H D
    fill_hessian_products: Any
    # ``(loss_args, current, D, coordinates, E)`` fills these rows of E, ``E E' = D H D'``
    fill_hessian_root: Any
    # ``(loss_args, current, eta, z, u, s)`` returns h*(s u) or a larger number, u = ∇h - H z
    conjugate: Any


class PenalisedProblem(NamedTuple):
    """``min h(η) + Σ_j (½ ridge_j x_j² + threshold_j |x_j|)``, ``η = D'x``."""

    D: Array  # (m, n) with a feature in each row
    thresholds: Array  # (m,) >= 0; 0 for a coordinate without an l1 term
    ridge: Array  # (m,) >= 0


class QuadraticModel(NamedTuple):
    """The second-order model of a loss at a point."""

    u: Array  # (n,) gradient of the loss
    HD: Array  # (m, n) rows of H D, of the candidate coordinates only
    E: Array  # (m, n) ``E E' = D H D'``, or no rows if it is not needed


@compiled
def penalty_value(problem: PenalisedProblem, x: Array) -> float:
    """Return ``Σ_j (½ ridge_j x_j² + threshold_j |x_j|)``."""
    total = 0.0
    for j in range(len(x)):
        total += 0.5 * problem.ridge[j] * x[j] * x[j] + problem.thresholds[j] * abs(x[j])
    return total


@compiled
def fill_predictor(D: Array, x: Array, eta: Array) -> None:
    """Fill eta (n,) with D'x."""
    eta[:] = 0.0
    for j in range(len(x)):
        if x[j] != 0.0:
            for i in range(len(eta)):
                eta[i] += D[j, i] * x[j]


@compiled
def copy_into(source: Array, out: Array) -> None:
    """Copy source (n,) into out; ``out[:] = source`` would also compile its error message."""
    for i in range(len(out)):
        out[i] = source[i]


@compiled
def active_coordinates(problem: PenalisedProblem, coordinates: Array, x: Array) -> Array:
    """Return those of the coordinates that are not 0 or have no l1 term."""
    active = np.empty(len(coordinates), np.int64)
    count = 0
    for j in coordinates:
        if x[j] != 0.0 or problem.thresholds[j] == 0.0:
            active[count] = j
            count += 1
    return active[:count]


@compiled
def sweep_coordinates(
    problem: PenalisedProblem, coordinates: Array, HD: Array, curvature: Array, x: Array, r: Array
) -> None:
    """Minimise the model along each of the coordinates in turn.

    Update x and r = u + H D'(x - start). curvature (m,): diagonal of the model's second
    derivatives.
    """
    for j in coordinates:
        if curvature[j] > 0.0:
            slope = problem.ridge[j] * x[j]
            threshold = problem.thresholds[j] / curvature[j]
            for i in range(len(r)):
                slope += problem.D[j, i] * r[i]
            minimum = x[j] - slope / curvature[j]
            minimum = (
                minimum - threshold
                if minimum > threshold
                else (minimum + threshold if minimum < -threshold else 0.0)
            )
            move = minimum - x[j]
            if move != 0.0:
                for i in range(len(r)):
                    r[i] += HD[j, i] * move
                x[j] = minimum


@jit_inline
def find_signs(
    problem: PenalisedProblem, coordinates: Array, HD: Array, curvature: Array, x: Array, r: Array
) -> None:
    """Sweep over all coordinates, then over the active ones until none of these becomes 0."""
    sweep_coordinates(problem, coordinates, HD, curvature, x, r)
    active = active_coordinates(problem, coordinates, x)
    for _ in range(MAX_SIGN_SWEEPS):
        sweep_coordinates(problem, active, HD, curvature, x, r)
        remaining = active_coordinates(problem, active, x)
        if len(remaining) == len(active):
            return
        active = remaining


@compiled
def select_rows(A: Array, numbers: Array) -> Array:
    """Return some rows of A, (len(numbers), n)."""
    selected = np.empty((len(numbers), A.shape[1]))
    for p in range(len(numbers)):
        for i in range(A.shape[1]):
            selected[p, i] = A[numbers[p], i]
    return selected


@jit_inline
def fixed_sign_step(
    problem: PenalisedProblem, active: Array, model: QuadraticModel, x: Array, r: Array
) -> Array:
    """Return the step (len(active),) from x to the model's minimum at the current signs.

    r (n,) is the model's gradient in η at x, ``u + H D'(x - start)``.
    """
    step = np.empty(len(active))
    ridge = np.empty(len(active))
    n_ridged = 0
    D = problem.D
    for p in range(len(active)):
        j = active[p]
        sign = 1.0 if x[j] > 0.0 else (-1.0 if x[j] < 0.0 else 0.0)
        step[p] = -problem.ridge[j] * x[j] - problem.thresholds[j] * sign
        ridge[p] = problem.ridge[j]
        n_ridged += 1 if ridge[p] > 0.0 else 0
        for i in range(len(r)):
            step[p] -= D[j, i] * r[i]
    if n_ridged > len(r):
        solve_by_samples(select_rows(model.E, active), ridge, step)
    else:
        solve_by_features(select_rows(D, active), select_rows(model.HD, active), ridge, step)
    return step


@compiled
def is_optimal(problem: PenalisedProblem, coordinates: Array, x: Array, r: Array) -> bool:
    """Return whether no derivative of the model along the coordinates contradicts x.

    Coordinates without an l1 term are at their minimum: `fixed_sign_step` has solved for them.
    """
    for j in coordinates:
        slope = problem.ridge[j] * x[j]
        threshold = problem.thresholds[j]
        if threshold > 0.0:
            for i in range(len(r)):
                slope += problem.D[j, i] * r[i]
            slope = (
                abs(slope)
                if x[j] == 0.0
                else abs(slope + (threshold if x[j] > 0.0 else -threshold))
            )
            if slope > threshold * (SLOPE_TOLERANCE if x[j] != 0.0 else 1.0 + SLOPE_TOLERANCE):
                return False
    return True


@jit_inline
def move_to_fixed_sign_minimum(
    problem: PenalisedProblem, coordinates: Array, model: QuadraticModel, x: Array, r: Array
) -> bool:
    """Move x to the model's minimum at the current signs, or to the first sign change.

    Return whether the minimum was reached and no derivative of the coordinates contradicts these
    signs.
    """
    active = active_coordinates(problem, coordinates, x)
    step = fixed_sign_step(problem, active, model, x, r)
    share = 1.0
    first_zero = -1
    for p in range(len(active)):
        j = active[p]
        if problem.thresholds[j] > 0.0 and (x[j] + step[p]) * x[j] <= 0.0:
            reach = -x[j] / step[p]
            if reach < share or first_zero < 0:
                share = min(reach, share)
                first_zero = p
    for p in range(len(active)):
        j = active[p]
        x[j] = 0.0 if p == first_zero else x[j] + share * step[p]
        for i in range(len(r)):
            r[i] += model.HD[j, i] * share * step[p]
    return first_zero < 0 and is_optimal(problem, coordinates, x, r)


@jit_inline
def minimise_model(
    problem: PenalisedProblem, coordinates: Array, model: QuadraticModel, x: Array
) -> None:
    """Move x to the minimum of the quadratic model over the coordinates."""
    r = model.u.copy()
    curvature = np.empty(len(x))
    for j in coordinates:
        curvature[j] = problem.ridge[j] + dot(model.HD[j], problem.D[j])
    signs_known = len(active_coordinates(problem, coordinates, x)) == len(coordinates)
    for attempt in range(MAX_NEWTON_STEPS):
        if attempt > 0 or not signs_known:
            find_signs(problem, coordinates, model.HD, curvature, x, r)
        if move_to_fixed_sign_minimum(problem, coordinates, model, x, r):
            return


@jit_inline
def candidate_coordinates(problem: PenalisedProblem, x: Array, u: Array) -> Array:
    """Return the coordinates that are active, or whose derivative exceeds the threshold."""
    slope = np.empty(len(x))
    count = 0
    multiply_rows(problem.D, u, len(x), slope)
    numbers = np.empty(len(x), np.int64)
    for j in range(len(x)):
        threshold = problem.thresholds[j]
        if x[j] != 0.0 or threshold == 0.0 or abs(slope[j]) > threshold * (1.0 + SLOPE_TOLERANCE):
            numbers[count] = j
            count += 1
    return numbers[:count]


@compiled
def move_towards(
    problem: PenalisedProblem, start: Array, target: Array, share: float, x: Array, eta: Array
) -> None:
    """Fill x with the point a share of the way from start to target, and its η."""
    for j in range(len(x)):
        x[j] = target[j] if share == 1.0 else start[j] + share * (target[j] - start[j])
    fill_predictor(problem.D, x, eta)


@cache
def newton_solver(loss: Loss) -> Callable[[Any, PenalisedProblem, Array, Array, float], int]:
    """Return the compiled function that minimises a loss with a penalty over x (m,) and η = D'x.

    It returns the number of Newton steps. They end once the decrease that the model promised is
    below `slack`, or no step decreases the objective. One function is compiled for each loss, and
    cached here.
    """
    evaluate = loss.evaluate
    fill_hessian_products = loss.fill_hessian_products
    fill_hessian_root = loss.fill_hessian_root

    @jit_uncached
    def solve_working_set(
        data: Any, problem: PenalisedProblem, x: Array, eta: Array, slack: float
    ) -> int:
        start = x.copy()
        target = x.copy()
        new_eta = np.empty_like(eta)
        HD = np.empty_like(problem.D)
        n_ridged = np.sum(problem.ridge > 0.0)
        E = np.empty(problem.D.shape if n_ridged > len(eta) else (0, len(eta)))
        fill_predictor(problem.D, x, eta)
        current = evaluate(data, eta)
        value = current.value + penalty_value(problem, x)
        for step in range(1, MAX_NEWTON_STEPS + 1):
            coordinates = candidate_coordinates(problem, x, current.u)
            fill_hessian_products(data, current, problem.D, coordinates, HD)
            if len(E) > 0 and len(coordinates) > len(eta):
                fill_hessian_root(data, current, problem.D, coordinates, E)
            minimise_model(problem, coordinates, QuadraticModel(current.u, HD, E), target)
            share = 2.0  # halved before the first try
            promised = 0.0
            new_value = np.inf
            reached_loss = current
            rounding = OBJECTIVE_ROUNDING * abs(value)
            # Backtracking: the whole Newton step, a half, a quarter, ...
            while (
                share > MIN_STEP_SHARE
                and not new_value <= value + STEP_DECREASE_SHARE * share * promised + rounding
            ):
                share /= 2.0
                move_towards(problem, start, target, share, x, new_eta)
                reached_loss = evaluate(data, new_eta)
                new_value = reached_loss.value + penalty_value(problem, x)
                if share == 1.0:
                    promised = dot(current.u, new_eta) - dot(current.u, eta)
                    promised += penalty_value(problem, x) - penalty_value(problem, start)
            if share <= MIN_STEP_SHARE:
                copy_into(start, x)
                return step
            current = reached_loss
            value = new_value
            copy_into(new_eta, eta)
            copy_into(x, start)
            copy_into(x, target)
            if -promised <= slack:
                return step
        return MAX_NEWTON_STEPS

    return solve_working_set


@cache
def ridge_solver(loss: Loss) -> Callable[[Any, Array, Array, Array, Array, float], None]:
    """Return the compiled function that minimises ``h(η) + ½ Σ_j ridge_j x_j²``, h a loss.

    It overwrites x (m,) and η = D'x (n,) by Newton steps, which end as those of `newton_solver`
    do.
    """
    evaluate = loss.evaluate
    fill_hessian_products = loss.fill_hessian_products

    @jit_uncached
    def minimise_ridge(
        data: Any, D: Array, ridge: Array, x: Array, eta: Array, slack: float
    ) -> None:
        m, n = D.shape
        problem = PenalisedProblem(D, np.zeros(m), ridge)
        coordinates = np.arange(m)
        start = x.copy()
        HD = np.empty((m, n))
        hessian = np.empty((m, m))
        step = np.empty(m)
        gradient = np.empty(m)
        new_eta = np.empty(n)
        fill_predictor(D, x, eta)
        current = evaluate(data, eta)
        value = current.value + penalty_value(problem, x)
        for _ in range(MAX_NEWTON_STEPS):
            fill_hessian_products(data, current, D, coordinates, HD)
            for j in range(m):
                multiply_rows(HD, D[j], j + 1, hessian[j])
                hessian[j, j] += ridge[j]
                gradient[j] = dot(D[j], current.u) + ridge[j] * x[j]
            factor_semidefinite(hessian)
            copy_into(gradient, step)
            solve_factored(hessian, step)
            promised = dot(gradient, step)
            share = 2.0  # halved before the first try
            new_value = np.inf
            reached_loss = current
            rounding = OBJECTIVE_ROUNDING * abs(value)
            while (
                share > MIN_STEP_SHARE
                and not new_value <= value - STEP_DECREASE_SHARE * share * promised + rounding
            ):
                share /= 2.0
                for j in range(m):
                    x[j] = start[j] - share * step[j]
                fill_predictor(D, x, new_eta)
                reached_loss = evaluate(data, new_eta)
                new_value = reached_loss.value + penalty_value(problem, x)
            if share <= MIN_STEP_SHARE:
                copy_into(start, x)
                return
            current = reached_loss
            value = new_value
            copy_into(x, start)
            copy_into(new_eta, eta)
            if promised <= slack:
                return

    return minimise_ridge


@cache
def dual_point_function(loss: Loss) -> Callable[[Any, PenalisedProblem, Array, Array, Array], None]:
    """Return the compiled function that fills z and u (n,), a dual point of the loss, from η.

    u must be orthogonal to the rows C of D that have no penalty. ``u = ∇h - H z`` with z = C'ζ is,
    if ζ solves ``C H C' ζ = C ∇h``.
    """
    evaluate = loss.evaluate
    fill_hessian_products = loss.fill_hessian_products

    @jit_uncached
    def dual_point(data: Any, problem: PenalisedProblem, eta: Array, z: Array, u: Array) -> None:
        current = evaluate(data, eta)
        free = np.flatnonzero((problem.thresholds == 0.0) & (problem.ridge == 0.0))
        C = select_rows(problem.D, free)
        coordinates = np.arange(len(free))
        HC = np.empty_like(C)
        A = np.empty((len(C), len(C)))
        zeta = np.empty(len(C))
        fill_hessian_products(data, current, C, coordinates, HC)
        for j in range(len(C)):
            zeta[j] = dot(C[j], current.u)  # `current.u` is ∇h
            multiply_rows(HC, C[j], j + 1, A[j])  # the lower triangle of C H C'
        factor_semidefinite(A)
        solve_factored(A, zeta)
        copy_into(current.u, u)
        z[:] = 0.0
        for j in range(len(C)):
            for i in range(len(u)):
                z[i] += C[j, i] * zeta[j]
                u[i] -= HC[j, i] * zeta[j]

    return dual_point
