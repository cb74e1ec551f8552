"""Kernels that fit many training sets on their working sets, and check all features.

The problem is that of `column`, with the gradient g of its smooth part at b, tau and the weights w
of the l1 terms. `q` numbers training sets, `j` features; a violator has ``|g_j| > tau w_j``.
"""

from __future__ import annotations

from typing import NamedTuple

from genesig.arrays import Array
from genesig.compiled import compiled, jit_inline, jitable
from genesig.compiled.active_set import (
    ENTRY_SHARE,
    ENTRY_SLACK,
    NO_ROOM,
    SOLVED,
    TOO_MANY_ACTIVE,
    solve_working_set,
    sort_active,
)
from genesig.compiled.algebra import dot
from genesig.compiled.column import (
    FeaturePool,
    LassoFit,
    clear_active,
    feature_gradient,
    fit_of_set,
    pool_of_set,
    update_residual,
)

# Bits of `FeatureSets.marks`, beside `active_set.BLOCKED`.
IN_WORKING_SET = 1
IN_SUPPORT = 2

# Stages of a training set at a point of its path.
SOLVE = 0  # to be minimised on the working set
CHECK = 1  # minimised: all features are to be checked
POLISH = 2  # without violators: the dual fit is to be solved once more, with fixed signs
POLISHED = 3  # the gap is to be computed
SET_DONE = 4
FIRST_SCAN = 5  # only a working set is to be found, for the next point
MAX_LEVEL = 1e38  # excess of an unpenalised feature: larger than others, and finite as float32


class FeatureSets(NamedTuple):
    """Working sets and supports of q training sets."""

    # (q, d) numbers of the features of each working set, the first `n_working` of a row
    working: Array
    n_working: Array  # (q,)
    # (q, d) numbers of the features of each support, ascending, the first `n_support` of a row
    support: Array
    coef: Array  # (q, d) coefficients of the support; only signs until a dual fit is polished
    n_support: Array  # (q,)
    marks: Array  # (q, d) uint8, the bits of each feature


class SolverProgress(NamedTuple):
    """How far q training sets are at a point of their paths."""

    stage: Array  # (q,)
    gap: Array  # (q,) duality gap relative to ||y||²/n
    steps: Array  # (q, 1) number of Newton steps


class ScannedFeatures(NamedTuple):
    """Features of c training sets whose gradients may exceed tau, by single precision.

    Those of the training set ``set_numbers[t]`` are ``feature[start[t] : start[t + 1]]``.
    """

    set_numbers: Array  # (c,)
    near_tau: Array  # (c,) level from which a gradient may exceed tau
    start: Array  # (c + 1,)
    feature: Array  # (c d,) of which the first start[c] are filled, as in `level`
    # (c d,) sizes of gradients; the check overwrites them. These and `near_tau` are in a unit of
    # each training set, see `solvers.newton.scan_features`.
    level: Array
    largest_ratio: Array  # (c,) filled by the check: the largest ``|g| / (tau w)``, or 1
    # (c,) filled by the check: the sum of ``(|g| - tau w)²`` over the features above tau w
    excess_squares: Array


@compiled
def solve_on_working_sets(
    fits: LassoFit, pools: FeaturePool, sets: FeatureSets, progress: SolverProgress
) -> bool:
    """Minimise the training sets of stage `SOLVE`; False if a pool is too small.

    Then the caller enlarges the pools and calls again. Training sets with `by_dual` are left to
    `dual.solve_by_dual`, and so are those that get more active features than `max_active`. A set
    that is `active_set.STUCK` goes on to its check as if it were solved: its gap shows how good
    the fit is.
    """
    for q in range(len(progress.stage)):
        if progress.stage[q] != SOLVE:
            continue
        fit = fit_of_set(fits, q)
        pool = pool_of_set(pools, q)
        working = sets.working[q, : sets.n_working[q]]
        # Either `copy_support` or the dual solver lists and marks the support again.
        unmark_support(sets, q)
        status = TOO_MANY_ACTIVE
        if not fits.point.by_dual[q]:
            status = solve_working_set(fit, pool, working, sets.marks[q], progress.steps[q])
        if status == TOO_MANY_ACTIVE:
            fits.point.by_dual[q] = True
            clear_active(pool)
            continue
        if status != SOLVED:  # a set that is solved has the residual of its coefficients
            update_residual(fit, pool)
        copy_support(pool, sets, q, status)
        if status == NO_ROOM:
            return False
        progress.stage[q] = CHECK
    return True


@compiled
def fill_scanned_features(
    products: Array, scales: Array, thresholds: Array, scanned: ScannedFeatures
) -> None:
    """Fill start, feature and level with the features whose level is not below the threshold.

    A level is ``|product scale|``. A feature that is always checked has the scale ∞; with the
    product 0 its level is NaN, which passes. products (c, d): of features and residuals.
    thresholds (c,). scales (q, d): of all training sets.
    """
    count = 0
    scanned.start[0] = 0
    for row in range(len(products)):
        scale = scales[scanned.set_numbers[row]]
        for j in range(products.shape[1]):
            level = abs(products[row, j] * scale[j])
            if not level < thresholds[row]:
                scanned.feature[count] = j
                scanned.level[count] = level
                count += 1
        scanned.start[row + 1] = count


@compiled
def check_all_features(
    fits: LassoFit, sets: FeatureSets, progress: SolverProgress, scanned: ScannedFeatures
) -> None:
    """Check the scanned features against optimality, and set stage and gap of each training set.

    Violators join the working set. A training set without any is done; a dual fit is first
    polished. The caller then checks it again with the same `scanned`: this call computes only the
    gap, from ``largest_ratio`` and ``excess_squares`` of the first one.
    """
    for row in range(len(scanned.set_numbers)):
        q = scanned.set_numbers[row]
        stage = progress.stage[q]
        fit = fit_of_set(fits, q)
        if stage == CHECK and add_violators(fit, sets, q, scanned, row):
            stage = SOLVE
        elif stage == CHECK:
            stage = POLISH if fits.point.by_dual[q] else POLISHED
        if stage == POLISHED:
            progress.gap[q] = relative_gap(
                fit, sets, q, scanned.largest_ratio[row], scanned.excess_squares[row]
            )
        if stage in (POLISHED, FIRST_SCAN):
            renew_working_set(sets, q, scanned, row)
            stage = SET_DONE
        progress.stage[q] = stage


@jit_inline
def unmark_support(sets: FeatureSets, q: int) -> None:
    """Clear the mark of the features in the support of training set q."""
    for a in range(sets.n_support[q]):
        sets.marks[q, sets.support[q, a]] &= 255 - IN_SUPPORT


@jit_inline
def copy_support(pool: FeaturePool, sets: FeatureSets, q: int, status: int) -> None:
    """Copy the active features into the support of training set q, by ascending number.

    `active_set.refine_solution` has sorted them if the status is `SOLVED`.
    """
    if status != SOLVED:
        sort_active(pool)
    sets.n_support[q] = 0
    for a in range(pool.counts.n_active):
        feature = pool.features[pool.active[a]]
        append_to_support(sets, q, feature.number, feature.coef, feature.sign)


@jitable
def append_to_support(sets: FeatureSets, q: int, j: int, b: float, sign: float) -> None:
    """Append feature j to the support, unless rounding has moved its coefficient across 0."""
    if b != 0.0 and b * sign >= 0.0:
        m = sets.n_support[q]
        sets.support[q, m] = j
        sets.coef[q, m] = b
        sets.n_support[q] = m + 1
        sets.marks[q, j] |= IN_SUPPORT


@jitable
def add_violators(
    fit: LassoFit, sets: FeatureSets, q: int, scanned: ScannedFeatures, row: int
) -> bool:
    """Add the worst violators to the working set of training set q; False if there are none.

    `row` is the position of q in `scanned`, of which largest_ratio and excess_squares are filled.
    Features below `near_tau` cannot violate; those of the support are left to `relative_gap`.
    """
    largest = 0.0
    ratio = 1.0
    excess_squares = 0.0
    excess = scanned.level
    for entry in range(scanned.start[row], scanned.start[row + 1]):
        j = scanned.feature[entry]
        level = excess[entry]
        excess[entry] = 0.0
        if sets.marks[q, j] & IN_SUPPORT or level < scanned.near_tau[row]:
            continue
        g = abs(feature_gradient(fit, j))
        bound = fit.point.tau * fit.weights[j]
        if g <= bound:
            continue
        excess_squares += (g - bound) * (g - bound)
        ratio = max(ratio, g / bound if bound > 0.0 else 1.0)
        if (
            not sets.marks[q, j] & IN_WORKING_SET
            and g > bound * (1.0 + ENTRY_SLACK) + fit.point.gradient_rounding
        ):
            excess[entry] = g / fit.weights[j] if fit.weights[j] > 0.0 else MAX_LEVEL
            largest = max(largest, excess[entry])
    scanned.largest_ratio[row] = ratio
    scanned.excess_squares[row] = excess_squares
    if largest > 0.0:
        # Far from the solution only the largest are worth having: the others may vanish.
        for entry in range(scanned.start[row], scanned.start[row + 1]):
            if excess[entry] >= ENTRY_SHARE * largest:
                sets.working[q, sets.n_working[q]] = scanned.feature[entry]
                sets.n_working[q] += 1
                sets.marks[q, scanned.feature[entry]] |= IN_WORKING_SET
    return largest > 0.0


@jitable
def renew_working_set(sets: FeatureSets, q: int, scanned: ScannedFeatures, row: int) -> None:
    """Set the working set to the support and the scanned features."""
    for w in range(sets.n_working[q]):
        sets.marks[q, sets.working[q, w]] = 0
    n = sets.n_support[q]
    for a in range(n):
        sets.marks[q, sets.support[q, a]] = IN_WORKING_SET | IN_SUPPORT
        sets.working[q, a] = sets.support[q, a]
    for entry in range(scanned.start[row], scanned.start[row + 1]):
        j = scanned.feature[entry]
        if sets.marks[q, j] == 0:
            sets.marks[q, j] = IN_WORKING_SET
            sets.working[q, n] = j
            n += 1
    sets.n_working[q] = n


@jitable
def relative_gap(
    fit: LassoFit, sets: FeatureSets, q: int, ratio: float, excess_squares: float
) -> float:
    """Return the duality gap of training set q relative to ||y||²/n.

    As `optim.solution.duality_gap`, but from the support and two numbers of the other features:
    ``gap = Σ_j (tau w_j |b_j| - b_j g_j) + (1-s)/n (2 y'r - (1+s) (||r||² + n mu ||b||²))``, with
    the residual r, the gradient g of the ridge problem and the scale s = 1 / `ratio` of a feasible
    dual point. At tau = 0 < mu it is ``Σ_j g_j² / (4 mu)``, from the dual of the ridge penalty.

    ratio and excess_squares are those of the features outside the support; the support joins them.
    Features of weight 0 are left out of the ratio, and ``|b_j g_j|`` is added.
    """
    n = fit.n_rows
    mu = fit.point.mu
    gap = 0.0
    coef_squares = 0.0
    for a in range(sets.n_support[q]):
        j = sets.support[q, a]
        b = sets.coef[q, a]
        bound = fit.point.tau * fit.weights[j]
        g = feature_gradient(fit, j) - 2.0 * mu * b
        coef_squares += b * b
        if bound > 0.0:
            gap += bound * abs(b) - b * g
            ratio = max(ratio, abs(g) / bound)
        else:
            gap += abs(b * g)
            excess_squares += g * g
    energy = dot(fit.y, fit.y) / n
    if energy == 0.0:
        energy = 1.0
    if fit.point.tau == 0.0 and mu > 0.0:
        return float(excess_squares / (4.0 * mu) / energy)
    # s scales the residual to a feasible dual point.
    s = 1.0 / ratio
    energy_terms = dot(fit.residual, fit.residual) + n * mu * coef_squares
    gap += (1.0 - s) / n * (2.0 * dot(fit.y, fit.residual) - (1.0 + s) * energy_terms)
    return float(max(gap, 0.0) / energy)
