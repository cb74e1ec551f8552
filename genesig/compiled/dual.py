"""Kernels of Newton's method on the n-dimensional dual: for lists longer than the samples.

Let ``u`` be the residual and ``S`` the soft threshold at n tau/2. The fixed point of the damped
Landweber map is ``b = S(Z'u) / (n mu)``. u minimises the dual objective ``||u||²/2 - y'u +
||S(Z'u)||² / (2 n mu)``, which is strongly convex and piecewise quadratic. Its generalised Hessian
is the n × n (Woodbury) form ``I + Z_A Z_A' / (n mu)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, jit_inline, jitable
from genesig.compiled.algebra import (
    add_scaled,
    add_scaled_rows,
    cholesky,
    dot,
    indices_by_sign,
    multiply_rows,
    solve_lower,
    solve_upper,
)
from genesig.compiled.column import (
    LassoFit,
    centre_residual,
    fit_of_set,
    residual_product,
    subtract_covariates,
    summed_penalties,
)
from genesig.compiled.working_sets import (
    CHECK,
    IN_SUPPORT,
    IN_WORKING_SET,
    POLISH,
    POLISHED,
    SOLVE,
    FeatureSets,
    SolverProgress,
    append_to_support,
)

MAX_DUAL_STEPS = 200  # largest number of Newton steps of a fit
FIXED_SIGN_STEPS = 2  # Newton steps with fixed signs: one is exact, the second refines it
MAX_GRADIENT_SHARE = 1e-28  # squared gradient, as a share of ||y||², at which a fit ends
MIN_STEP = 1e-12  # smallest share of a Newton step that is tried
ARMIJO_SHARE = 1e-4  # share of the decrease along the slope that a step must reach
OBJECTIVE_ROUNDING_SHARE = 1e-14  # rise of the objective that is rounding, as a share of it


class DualProblem(NamedTuple):
    """The dual on the n training rows and the W features of a working set."""

    Z: Array  # (W, n) standardised features, times √v of the sample weights v
    y: Array  # (n,) responses, times √v
    thresholds: Array  # (W,) ``n tau w_j / 2``
    ridge: float  # ``n mu``
    in_gram: Array  # (W,) 1 for the features A that are part of `gram`, 0 for the others
    gram: Array  # (n, n) lower triangle of the sum of ``z_j z_j'`` over A


class DualLine(NamedTuple):
    """A point u of the dual, and a direction from it."""

    u: Array  # (n,)
    z_u: Array  # (W,) ``Z u``
    direction: Array  # (n,)
    z_direction: Array  # (W,) ``Z direction``


@jitable
def soft_threshold(v: float, threshold: float) -> float:
    """Return ``sign(v) max(|v| - threshold, 0)``."""
    return float(np.sign(v) * max(abs(v) - threshold, 0.0))


@jitable
def dual_objective(problem: DualProblem, line: DualLine, alpha: float) -> float:
    """Return the dual objective at ``u + alpha direction``."""
    total = 0.0
    square = 0.0
    for w in range(len(problem.Z)):
        product = line.z_u[w] + alpha * line.z_direction[w]
        excess = max(abs(product) - problem.thresholds[w], 0.0)
        total += excess * excess
    for i in range(len(line.u)):
        coordinate = line.u[i] + alpha * line.direction[i]
        square += coordinate * (0.5 * coordinate - problem.y[i])
    return total / (2.0 * problem.ridge) + square


@jit_inline
def standardised_features(fit: LassoFit, features: Array, rows: Array) -> Array:
    """Return features (W,) standardised on the training rows alone, times √v, (W, len(rows))."""
    n = len(rows)
    Z = np.empty((len(features), n))
    basis = np.empty((len(fit.basis), n))
    root_weights = fit.root_weights[rows]
    for k in range(len(basis)):
        for i in range(n):
            basis[k, i] = fit.basis[k, rows[i]]
    for w in range(len(features)):
        j = features[w]
        mean = fit.mean[j]
        inverse = fit.inverse_scale[j]
        for i in range(n):
            Z[w, i] = fit.F[j, rows[i]] - mean
        for i in range(n):
            Z[w, i] = root_weights[i] * (inverse * Z[w, i])
    if len(basis):
        for w in range(len(features)):
            subtract_covariates(basis, Z[w])
    return Z


@jit_inline
def gather_problem(
    fit: LassoFit, features: Array, rows: Array, threshold: float, ridge: float
) -> DualProblem:
    """Return the dual problem of the features (W,) on the training rows."""
    n = len(rows)
    Z = standardised_features(fit, features, rows)
    thresholds = np.empty(len(features))
    y = np.empty(n)
    for w in range(len(features)):
        thresholds[w] = threshold * fit.weights[features[w]]
    for i in range(n):
        y[i] = fit.y[rows[i]]
    return DualProblem(Z, y, thresholds, ridge, np.zeros(len(features)), np.zeros((n, n)))


@jitable
def add_outer_products(Z: Array, rows: Array, sign: Array, gram: Array) -> None:
    """Add ``Σ_k sign_k z_k z_k'``, z_k row rows[k] of Z (W, n), to the lower triangle of gram.

    A step takes four vectors z_k and two rows of gram, because memory is slower than sums. The
    first row of a pair also gets a number above the diagonal, which nobody reads.
    """
    n = len(gram)
    last_of_four = len(rows) - len(rows) % 4
    for k in range(0, last_of_four, 4):
        a = rows[k]
        b = rows[k + 1]
        c = rows[k + 2]
        d = rows[k + 3]
        for i in range(0, n - 1, 2):
            scale_a = sign[k] * Z[a, i]
            scale_b = sign[k + 1] * Z[b, i]
            scale_c = sign[k + 2] * Z[c, i]
            scale_d = sign[k + 3] * Z[d, i]
            next_scale_a = sign[k] * Z[a, i + 1]
            next_scale_b = sign[k + 1] * Z[b, i + 1]
            next_scale_c = sign[k + 2] * Z[c, i + 1]
            next_scale_d = sign[k + 3] * Z[d, i + 1]
            for e in range(i + 2):
                z_a = Z[a, e]
                z_b = Z[b, e]
                z_c = Z[c, e]
                z_d = Z[d, e]
                gram[i, e] += (scale_a * z_a + scale_b * z_b) + (scale_c * z_c + scale_d * z_d)
                gram[i + 1, e] += (next_scale_a * z_a + next_scale_b * z_b) + (
                    next_scale_c * z_c + next_scale_d * z_d
                )
        if n % 2:  # the last row is alone
            last_row = n - 1
            scale_a = sign[k] * Z[a, last_row]
            scale_b = sign[k + 1] * Z[b, last_row]
            scale_c = sign[k + 2] * Z[c, last_row]
            scale_d = sign[k + 3] * Z[d, last_row]
            for e in range(n):
                gram[last_row, e] += (scale_a * Z[a, e] + scale_b * Z[b, e]) + (
                    scale_c * Z[c, e] + scale_d * Z[d, e]
                )
    for k in range(last_of_four, len(rows)):
        for i in range(n):
            scale = sign[k] * Z[rows[k], i]
            for e in range(i + 1):
                gram[i, e] += scale * Z[rows[k], e]


@jit_inline
def update_gram(problem: DualProblem, sign: Array) -> bool:
    """Update the gram to the features with a sign (W,); return whether it changed."""
    changed = np.empty(len(sign), np.int64)
    added_sign = np.empty(len(sign))
    count = 0
    for w in range(len(sign)):
        is_active = sign[w] != 0.0
        if is_active != (problem.in_gram[w] != 0):
            problem.in_gram[w] = is_active
            changed[count] = w
            added_sign[count] = 1.0 if is_active else -1.0
            count += 1
    add_outer_products(problem.Z, changed[:count], added_sign, problem.gram)
    return count > 0


@jitable
def factor_by_samples(gram: Array, ridge: float, K: Array) -> None:
    """Fill the lower triangle of K (n, n) with the Cholesky factor of ``I + gram/ridge``."""
    for i in range(len(K)):
        for k in range(i + 1):
            K[i, k] = gram[i, k] / ridge
        K[i, i] += 1.0
    cholesky(K, len(K))


@jitable
def fill_direction(
    problem: DualProblem, line: DualLine, scaled_coef: Array, sign: Array, fixed: bool
) -> None:
    """Set the direction to minus the gradient, ``y - u - Z'a / ridge``.

    Fill scaled_coef (W,), a = S(z_u), and its signs. With fixed signs, a is the linear function
    that S is as long as z_u keeps them.
    """
    nonzero_features = np.empty(len(scaled_coef), np.int64)
    m = 0
    for w in range(len(scaled_coef)):
        if fixed:
            scaled_coef[w] = line.z_u[w] - problem.thresholds[w] * sign[w]
        else:
            scaled_coef[w] = soft_threshold(line.z_u[w], problem.thresholds[w])
            sign[w] = np.sign(scaled_coef[w])
        if scaled_coef[w] != 0.0:
            nonzero_features[m] = w
            m += 1
    line.direction[:] = 0.0
    add_scaled_rows(problem.Z, nonzero_features[:m], scaled_coef, line.direction)
    for i in range(len(line.direction)):
        line.direction[i] = problem.y[i] - line.u[i] - line.direction[i] / problem.ridge


@jit_inline
def start_line(fit: LassoFit, features: Array, rows: Array, fixed: bool) -> DualLine:
    """Return the line at the current residual or, with fixed signs, at 0; its direction is unset.

    From 0 the result does not depend on earlier steps.
    """
    line = DualLine(
        np.zeros(len(rows)), np.zeros(len(features)), np.empty(len(rows)), np.empty(len(features))
    )
    if not fixed:
        for i in range(len(rows)):
            line.u[i] = fit.residual[rows[i]]
        for w in range(len(features)):
            # The product is that of `column.feature_gradient`: both agree to the last digit.
            line.z_u[w] = fit.inverse_scale[features[w]] * residual_product(fit, features[w])
    return line


@jit_inline
def solve_dual(
    fit: LassoFit, features: Array, signs: Array, coef: Array, steps: Array, fixed: bool
) -> None:
    """Minimise over the features (W,); fill signs and coef (W,), and set the residual of the fit.

    With `fixed` signs one step is exact, and a second one refines it; steps[0] counts the others.
    """
    rows = indices_by_sign(fit.root_weights, positive=True)
    threshold, ridge = summed_penalties(fit.point, fit.n_rows)
    problem = gather_problem(fit, features, rows, threshold, ridge)
    line = start_line(fit, features, rows, fixed)
    n = len(rows)
    K = np.empty((n, n))
    steepest_descent = np.empty(n)
    tolerance = MAX_GRADIENT_SHARE * dot(fit.y, fit.y)
    for step in range(MAX_DUAL_STEPS):
        steps[0] += not fixed
        fill_direction(problem, line, coef, signs, fixed)
        if (fixed and step == FIXED_SIGN_STEPS) or dot(line.direction, line.direction) <= tolerance:
            break
        if update_gram(problem, signs) or step == 0:
            factor_by_samples(problem.gram, problem.ridge, K)
        for i in range(n):
            steepest_descent[i] = line.direction[i]
        solve_lower(K, n, line.direction)
        solve_upper(K, n, line.direction)
        multiply_rows(problem.Z, line.direction, len(features), line.z_direction)
        alpha = 1.0 if fixed else line_search(problem, line, dot(steepest_descent, line.direction))
        changed = move_along(problem, line, alpha, signs)
        if alpha == 1.0 and changed == 0 and not fixed:
            break
    for w in range(len(features)):
        coef[w] /= problem.ridge
    set_dual_residual(fit, rows, line, fixed)


@jit_inline
def line_search(problem: DualProblem, line: DualLine, descent_rate: float) -> float:
    """Return the step along the direction: 1, halved until the objective falls (Armijo).

    descent_rate: minus the slope of the objective along the direction, at the step 0.
    """
    current = dual_objective(problem, line, alpha=0.0)
    alpha = 1.0
    while alpha > MIN_STEP:
        reached = dual_objective(problem, line, alpha)
        if reached <= current - ARMIJO_SHARE * alpha * descent_rate + (
            OBJECTIVE_ROUNDING_SHARE * abs(current)
        ):
            break
        alpha *= 0.5
    return alpha


@jitable
def move_along(problem: DualProblem, line: DualLine, alpha: float, signs: Array) -> int:
    """Move by alpha times the direction; return the number of signs that change."""
    count = 0
    add_scaled(alpha, line.direction, line.u)
    add_scaled(alpha, line.z_direction, line.z_u)
    for w in range(len(signs)):
        count += np.sign(soft_threshold(line.z_u[w], problem.thresholds[w])) != signs[w]
    return count


@jitable
def set_dual_residual(fit: LassoFit, rows: Array, line: DualLine, fixed: bool) -> None:
    """Set the residual to u; with fixed signs to ``u + direction = y - Z'b`` of the coefficients.

    At the minimum both are equal, up to the rounding that the second one avoids.
    """
    for i in range(len(rows)):
        fit.residual[rows[i]] = line.u[i] + line.direction[i] if fixed else line.u[i]
    centre_residual(fit)


@compiled
def solve_by_dual(fits: LassoFit, sets: FeatureSets, progress: SolverProgress, fixed: bool) -> None:
    """Solve the training sets with `by_dual`: fill their support, signs and residual.

    Unless `fixed`, sets of stage `SOLVE`, whose signs go into `FeatureSets.coef`. With `fixed`,
    sets of stage `POLISH`, which have no violator: with these signs they are solved from scratch
    for their support, and `coef` gets the coefficients.
    """
    for q in range(len(progress.stage)):
        if not fits.point.by_dual[q] or progress.stage[q] != (POLISH if fixed else SOLVE):
            continue
        fit = fit_of_set(fits, q)
        m = sets.n_support[q]
        features = sets.support[q, :m] if fixed else sets.working[q, : sets.n_working[q]]
        signs = sets.coef[q, :m].copy() if fixed else np.zeros(len(features))
        coef = np.empty(len(features))
        solve_dual(fit, features, signs, coef, progress.steps[q], fixed)
        if fixed:
            store_coefficients(sets, q, coef, signs)
            progress.stage[q] = POLISHED
        else:
            store_signs(sets, q, signs)
            progress.stage[q] = CHECK


@jitable
def store_signs(sets: FeatureSets, q: int, signs: Array) -> None:
    """Set the support to the features with a sign, ascending, with their signs as coefficients."""
    marks = sets.marks[q]
    coef = sets.coef[q]
    m = 0
    # `coef` by feature number first; the second loop moves the support's entries to the front.
    for w in range(len(signs)):
        coef[sets.working[q, w]] = signs[w]
    for j in range(len(marks)):
        if marks[j] & IN_WORKING_SET and coef[j] != 0.0:
            sets.support[q, m] = j
            coef[m] = coef[j]
            marks[j] |= IN_SUPPORT
            m += 1
    sets.n_support[q] = m


@jitable
def store_coefficients(sets: FeatureSets, q: int, coef: Array, signs: Array) -> None:
    """Replace the signs in the support by the coefficients; a coefficient of another sign leaves.

    The support is written in place, never ahead of the position a that is read.
    """
    sets.n_support[q] = 0
    for a in range(len(coef)):
        append_to_support(sets, q, sets.support[q, a], coef[a], signs[a])
