"""Kernels that minimise over a working set by Newton steps from sign pattern to sign pattern.

The problem is that of `column`. On a support A with signs s its minimum, the fixed point of the
damped Landweber map, solves ``(Z_A'Z_A + n mu I) b = Z_A'y - (n tau/2) s``: with weights w_j of the
l1 terms, s_j is w_j times the sign. A step goes there, or to the first coefficient that would
change its sign, which leaves. Once all signs agree, the features that violate optimality most
enter. The objective falls at every step, so no sign pattern comes twice.

Notation: `p` numbers the features of the pool (E,), whose values and inner products are at hand;
`a`, `e` and `position` its m active ones, in the order of the rows of `pool.factor`, the Cholesky
factor of their ``Z_A'Z_A + ridge I``; `j` numbers all d features, `w` those of the working set
(W,). `marks` (d,) are bits of each feature. `threshold` is n tau/2, `ridge` is n mu.
"""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.compiled import jit_inline, jitable
from genesig.compiled.algebra import cholesky, dot, drop_row, solve_lower, solve_upper
from genesig.compiled.column import (
    NO_FACTOR,
    NOT_IN_POOL,
    FeaturePool,
    LassoFit,
    add_to_pool,
    clear_active,
    drop_inactive,
    feature_gradient,
    summed_penalties,
    update_residual,
)

ENTRY_SLACK = 1e-11  # share of tau by which a gradient must exceed it before its feature enters
MIN_NEW_SHARE = 1e-11  # smallest share of a feature's square outside the span of active features
ENTRY_SHARE = 0.6  # share of the largest violation from which features enter together
BLOCKED = 4  # bit of a feature's mark, beside `IN_WORKING_SET` and `IN_SUPPORT` of `working_sets`

# Results of `solve_working_set`.
SOLVED = 0
NO_ROOM = 1  # the pool is too small
STUCK = 2  # rounding prevents further steps; the duality gap shows how good the fit is
TOO_MANY_ACTIVE = 3  # the dual is faster
NO_SIGN_CHANGE = -1  # the leaving feature of `first_sign_change` if no sign changes

# Largest number of steps of `solve_working_set`, which only rounding can reach.
MIN_STEP_LIMIT = 1000
STEPS_PER_FEATURE = 20


@jitable
def remove_active(pool: FeaturePool, position: int) -> None:
    """Make the active feature at `position` inactive, and update the factor."""
    m = pool.counts.n_active
    feature = pool.features[pool.active[position]]
    feature.coef = feature.sign = 0.0
    feature.is_active = False
    drop_row(pool.factor, m, position)
    for i in range(position, m - 1):
        pool.active[i] = pool.active[i + 1]
    pool.counts.n_active = m - 1


@jitable
def append_active(pool: FeaturePool, p: int, sign: float, ridge: float) -> bool:
    """Make feature p of the pool active with coefficient 0; the factor must have a row to spare.

    Return False if it depends on the active features; that row of L is then L⁻¹ Z_A'z_p.
    """
    m = pool.counts.n_active
    feature = pool.features[p]
    row = pool.factor[m]
    for a in range(m):
        row[a] = pool.gram[p, pool.active[a]]
    solve_lower(pool.factor, m, row)
    pivot = pool.gram[p, p] + ridge - dot(row[:m], row[:m])
    if not pivot > MIN_NEW_SHARE * pool.gram[p, p]:
        return False
    row[m] = np.sqrt(pivot)
    pool.active[m] = p
    feature.sign = sign
    feature.coef = 0.0
    feature.is_active = True
    pool.counts.n_active = m + 1
    return True


@jit_inline
def swap_dependent(pool: FeaturePool, p: int, sign: float, ridge: float) -> bool:
    """Make a feature active that depends on the others, and remove the first that comes to 0.

    The coefficients move along the null direction of the dependent features. Return False if none
    comes to 0, or the feature still depends on the others (the removal stays). `append_active` must
    have failed for p just before: row m of the factor is read.
    """
    m = pool.counts.n_active
    null_direction = pool.scratch
    for a in range(m):
        null_direction[a] = -sign * pool.factor[m, a]
    solve_upper(pool.factor, m, null_direction)
    step = np.inf
    leaving = NO_SIGN_CHANGE
    for a in range(m):
        feature = pool.features[pool.active[a]]
        if null_direction[a] * feature.sign < 0.0 and -feature.coef / null_direction[a] < step:
            step = -feature.coef / null_direction[a]
            leaving = a
    if leaving == NO_SIGN_CHANGE:
        return False
    for a in range(m):
        pool.features[pool.active[a]].coef += step * null_direction[a]
    remove_active(pool, leaving)
    if not append_active(pool, p, sign, ridge):
        return False
    pool.features[p].coef = sign * step
    return True


@jitable
def first_sign_change(
    active: Array, m: int, coef: Array, sign: Array, target: Array
) -> tuple[float, int]:
    """Return the share of the way to the target at which a sign first changes, and where.

    The second is a position among the m active features; 1 and `NO_SIGN_CHANGE` if there is none.
    coef, sign (E,): of the pool, sign 0 without an l1 term; active[:m]: positions in the pool;
    target[:m]: coefficients of the active features to move to.
    """
    step = 1.0
    leaving = NO_SIGN_CHANGE
    for a in range(m):
        p = active[a]
        if sign[p] != 0.0 and target[a] * sign[p] <= 0.0:
            distance = coef[p] - target[a]
            ratio = coef[p] / distance if distance != 0.0 else 0.0
            if leaving == NO_SIGN_CHANGE or ratio < step:
                step = ratio
                leaving = a
    return step, leaving


@jit_inline
def newton_step(pool: FeaturePool, threshold: float) -> bool:
    """Move to the fixed point of the signs, or to the first sign change, whose feature leaves.

    Return whether it reached the fixed point.
    """
    m = pool.counts.n_active
    target = pool.scratch
    for a in range(m):
        feature = pool.features[pool.active[a]]
        target[a] = feature.z_y - threshold * feature.weight * feature.sign
    solve_lower(pool.factor, m, target)
    solve_upper(pool.factor, m, target)
    step, leaving = first_sign_change(
        pool.active, m, pool.features["coef"], pool.features["sign"], target
    )
    if leaving != NO_SIGN_CHANGE and step == 0.0:
        remove_wrong_signs(pool, target)
        return False
    reaches_target = leaving == NO_SIGN_CHANGE
    for a in range(m):
        feature = pool.features[pool.active[a]]
        start = feature.coef
        feature.coef = target[a] if reaches_target else start + step * (target[a] - start)
    if not reaches_target:
        remove_active(pool, leaving)
    return reaches_target


@jit_inline
def remove_wrong_signs(pool: FeaturePool, target: Array) -> None:
    """Make all active features inactive that are at 0 and would leave it against their sign.

    Of those that entered together at least one has a right sign, because the objective falls.
    """
    for a in range(pool.counts.n_active - 1, -1, -1):
        feature = pool.features[pool.active[a]]
        if feature.sign != 0.0 and feature.coef == 0.0 and target[a] * feature.sign <= 0.0:
            remove_active(pool, a)


@jitable
def sort_active(pool: FeaturePool) -> None:
    """Sort the active features by number; their factor is void, so the ridge is `NO_FACTOR`."""
    features = pool.features
    pool.counts.ridge = NO_FACTOR
    for a in range(1, pool.counts.n_active):
        p = pool.active[a]
        e = a
        while e > 0 and features[pool.active[e - 1]].number > features[p].number:
            pool.active[e] = pool.active[e - 1]
            e -= 1
        pool.active[e] = p


@jitable
def factor_active(pool: FeaturePool, ridge: float) -> bool:
    """Sort the active features, and compute the factor of their Gram matrix with the ridge.

    `counts.ridge` becomes the ridge of the factor. Return False if the matrix is not positive
    definite: `counts.ridge` is then `NO_FACTOR`, and no feature may enter before `clear_active`.
    """
    m = pool.counts.n_active
    sort_active(pool)
    for a in range(m):
        row = pool.factor[a]
        gram = pool.gram[pool.active[a]]
        for e in range(a + 1):
            row[e] = gram[pool.active[e]]
        row[a] += ridge
    if not cholesky(pool.factor, m):
        return False
    pool.counts.ridge = ridge
    return True


@jit_inline
def refine_solution(fit: LassoFit, pool: FeaturePool, threshold: float, ridge: float) -> bool:
    """Solve for the active features from scratch, in the order of their numbers, and refine once.

    So the result does not depend on the steps that led to the support. Return False, with the
    coefficients unchanged, if `factor_active` does.
    """
    if not factor_active(pool, ridge):
        return False
    m = pool.counts.n_active
    change = pool.scratch
    for attempt in range(2):
        for a in range(m):
            feature = pool.features[pool.active[a]]
            product = feature.z_y
            if attempt:
                product = -ridge * feature.coef
                for i in range(len(fit.residual)):
                    product += pool.Z[pool.active[a], i] * fit.residual[i]
            change[a] = product - threshold * feature.weight * feature.sign
        solve_lower(pool.factor, m, change)
        solve_upper(pool.factor, m, change)
        for a in range(m):
            feature = pool.features[pool.active[a]]
            feature.coef = feature.coef + change[a] if attempt else change[a]
        update_residual(fit, pool)
    return True


@jitable
def fill_violations(
    fit: LassoFit, pool: FeaturePool, working: Array, marks: Array, excess: Array
) -> float:
    """Fill excess (W,) with each feature's violation of optimality, signed as its gradient.

    0 for active, blocked and constant ones. Return the largest size; 0 if there is none.
    """
    largest = 0.0
    for w in range(len(working)):
        j = working[w]
        p = pool.position[j]
        excess[w] = 0.0
        is_active = p != NOT_IN_POOL and pool.features[p].is_active
        if marks[j] & BLOCKED or is_active or fit.inverse_scale[j] == 0.0:
            continue
        g = feature_gradient(fit, j)
        violation = (
            abs(g)
            - fit.point.tau * fit.weights[j] * (1.0 + ENTRY_SLACK)
            - fit.point.gradient_rounding
        )
        if violation > 0.0:
            excess[w] = violation * np.sign(g)
            largest = max(largest, violation)
    return largest


@jitable
def choose_entering(entering_sign: Array, largest: float, limit: int) -> None:
    """Overwrite the excess (W,) by the sign of each feature that enters, NaN for the others.

    At most `limit` features enter, the number of samples: of many correlated genes thousands
    violate optimality by nearly as much as the worst, and hardly any of them stays.
    """
    share = ENTRY_SHARE
    count = limit + 1
    while count > limit and share < 1.0 - ENTRY_SLACK:
        count = 0
        for excess in entering_sign:
            count += abs(excess) >= share * largest
        share = share if count <= limit else 0.5 * (1.0 + share)
    count = 0
    for w in range(len(entering_sign)):
        enters = count < limit and abs(entering_sign[w]) >= share * largest
        entering_sign[w] = np.sign(entering_sign[w]) if enters else np.nan
        count += enters


@jitable
def count_new_features(position: Array, working: Array, entering_sign: Array) -> int:
    """Return how many of the entering features are not in the pool."""
    count = 0
    for w in range(len(working)):
        count += not np.isnan(entering_sign[w]) and position[working[w]] == NOT_IN_POOL
    return count


@jit_inline
def make_room(pool: FeaturePool, working: Array, entering_sign: Array) -> bool:
    """Drop inactive features if the entering ones do not fit.

    Return False if the pool would stay more than half full: it would soon be full again.
    """
    capacity = len(pool.features)
    n_new = count_new_features(pool.position, working, entering_sign)
    if pool.counts.n_features + n_new <= capacity:
        return True
    drop_inactive(pool)
    n_new = count_new_features(pool.position, working, entering_sign)
    return bool(2 * (pool.counts.n_features + n_new) <= capacity)


@jit_inline
def enter_features(
    fit: LassoFit,
    pool: FeaturePool,
    working: Array,
    entering_sign: Array,
    ridge: float,
    marks: Array,
) -> bool:
    """Make features active, each with its entering sign unless that is NaN; False without room.

    A dependent feature enters only alone: then all others are at their optimum, and the objective
    falls along its null direction. A dependent one without an l1 term (sign 0) adds nothing.
    """
    if not make_room(pool, working, entering_sign):
        return False
    n_active_before = pool.counts.n_active
    for w in range(len(working)):
        sign = entering_sign[w]
        if np.isnan(sign):
            continue
        # One row of the factor is kept free for `append_active`.
        if pool.counts.n_active + 1 >= len(pool.features):
            return False
        if pool.position[working[w]] == NOT_IN_POOL:
            add_to_pool(fit, pool, working[w])
        p = pool.position[working[w]]
        is_alone = pool.counts.n_active == n_active_before
        if append_active(pool, p, sign, ridge) or (sign != 0.0 and not is_alone):
            continue
        if sign != 0.0 and swap_dependent(pool, p, sign, ridge):
            break
        marks[working[w]] |= BLOCKED
    return True


@jit_inline
def solve_working_set(
    fit: LassoFit, pool: FeaturePool, working: Array, marks: Array, n_steps: Array
) -> int:
    """Minimise over the features `working` (W,) from the current state; return a result code.

    n_steps[0] counts the steps. A feature that enters and is thrown out at once would come back
    for ever: it is `BLOCKED`, with one try per call. The duality gap shows whether that was right.
    """
    threshold, ridge = summed_penalties(fit.point, fit.n_rows)
    entering_sign = np.zeros(len(working))
    if pool.counts.ridge != ridge and not factor_active(pool, ridge):
        clear_active(pool)
        pool.counts.ridge = ridge  # the factor of no features belongs to any ridge
    for w in range(len(working)):
        j = working[w]
        marks[j] &= 255 - BLOCKED
        # Unpenalised features are always active, without a sign.
        is_unpenalised = fit.point.tau * fit.weights[j] == 0.0 and fit.inverse_scale[j] != 0.0
        p = pool.position[j]
        is_active = p != NOT_IN_POOL and pool.features[p].is_active
        entering_sign[w] = 0.0 if is_unpenalised and not is_active else np.nan
    entering = True
    for _ in range(MIN_STEP_LIMIT + STEPS_PER_FEATURE * len(working)):
        if entering and not enter_features(fit, pool, working, entering_sign, ridge, marks):
            return NO_ROOM
        n_steps[0] += 1
        entering = newton_step(pool, threshold)
        if not entering:
            continue
        update_residual(fit, pool)
        if pool.counts.n_active > fit.point.max_active:
            return TOO_MANY_ACTIVE
        largest = fill_violations(fit, pool, working, marks, entering_sign)
        if largest == 0.0:
            return SOLVED if refine_solution(fit, pool, threshold, ridge) else STUCK
        choose_entering(entering_sign, largest, len(fit.residual))
    return STUCK
