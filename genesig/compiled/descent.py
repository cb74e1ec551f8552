"""Kernels of a preconditioned, Anderson-accelerated proximal gradient method, a step a call.

It minimises ``H(q) + Ω*(q)``: H is quadratic with the gradient -φ(q), Ω* is that of `DualBounds`,
and w (n,) is a metric with ``H(q) <= H(z) - <φ(z), q - z> + ||q - z||²_w/2``. A point q is m rows
q_a of length n, in a basis of the samples in which w is diagonal:

    T(z) = prox^w_{Ω*}(z + φ(z)/w),   z⁺ = Σ_i c_i T(z_i),
    c = argmin_{Σc = 1} ||Σ_i c_i (T(z_i) - z_i)||_w.

Since φ is affine and Σ c = 1, φ(z⁺) = Σ_i c_i φ(T(z_i)). So a step needs one gradient, and it is
taken at the feasible point, where it gives the duality gap, too.

Source: Walker and Ni (2011); with the guard on the objective, Bertrand and Massias (2021).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, jitable
from genesig.compiled.algebra import add_scaled, cholesky, dot, solve_lower, solve_upper

ANDERSON_WINDOW = 10  # number of points that are combined at most
NUMBERS_PER_BLOCK = 1024  # numbers that are combined at once, so that they stay in the cache
OBJECTIVE_ROUNDING = 1e-14  # rise of the objective that may be rounding, relative to its terms
COMBINATION_RIDGE = 1e-10  # ridge of the combination, relative to the trace of its Gram matrix
MAX_MULTIPLIER_STEPS = 60  # largest number of Newton steps for the multiplier of a bound
MULTIPLIER_TOLERANCE = 1e-13  # relative error of the norm at which these steps end

# Positions in `IterationMemory.counters`.
NEW_POINT = 0  # the slot of the point that is judged next
N_COMBINED = 1  # number of points to combine
BEST_POINT = 2  # the slot of the best point, or `NO_POINT`

NO_POINT = -1  # the best point before the first step
INSIDE_BOUND = -1.0  # the multiplier of a block of rows that is inside its bound


class DualBounds(NamedTuple):
    """Ω* of the rows: 0 for the free ones, Σ_g (||q_g|| - r_g)_+²/2ε for the k bounded ones."""

    n_free: int  # the first rows, which have no bound
    block: Array  # (k,) block of each bounded row
    radius: Array  # (G,) r_g of each block
    curvature: float  # ε
    # bound of Σ r_g ||φ_g|| over ||φ|| for the features that the free rows represent
    free_bound: float


class IterationMemory(NamedTuple):
    """The last points of the iteration in S = ANDERSON_WINDOW + 1 slots, (m, n) each as (m n,).

    Slots are filled in turn, the first again after the last; `index` is the number of a slot.
    """

    points: Array  # (S, m n)
    slopes: Array  # (S, m n) φ at the points
    moves: Array  # (S, m n) w^½ (T(z) - z)
    gram: Array  # (S, S) inner products of the moves
    ahead: Array  # (m n,) z, the combined point
    slope: Array  # (m n,) φ(z)
    weight: Array  # (n,) w, the metric
    first_term: Array  # (n,) what each unit of q adds to φ, beyond the caller's part
    conjugate: Array  # (S,) Ω*(q)
    multiplier: Array  # (G,) λ of each block's bound, or `INSIDE_BOUND`
    counters: Array  # (3,) int, see the positions above
    scratch: Array  # (5, max(n, G))
    squares: Array  # (G, n)


@jitable
def project_on_bounds(bounds: DualBounds, memory: IterationMemory, q: Array) -> Any:
    """Overwrite the bounded rows of q (m n,) by their prox in the metric w; return Ω* there.

    q_i <- v_i w_i/(w_i + λ) with λ ≥ 0 the root of 1/||q_g(λ)|| = (1 - ε λ)/r_g.
    """
    w = memory.weight
    squares = memory.squares
    n = len(w)
    n_free = bounds.n_free
    curvature = bounds.curvature
    total = 0.0
    for g in range(len(squares)):
        for i in range(n):
            squares[g, i] = 0.0
    for a in range(len(bounds.block)):
        row = q[(n_free + a) * n : (n_free + a + 1) * n]
        squares_of_block = squares[bounds.block[a]]
        for i in range(n):
            squares_of_block[i] += row[i] * row[i]
    for g in range(len(squares)):
        radius = bounds.radius[g]
        norm = 0.0
        for i in range(n):
            norm += squares[g, i]
            squares[g, i] *= w[i] * w[i]
        if norm <= radius * radius:
            memory.multiplier[g] = INSIDE_BOUND
            continue
        multiplier, length_before = bound_multiplier(
            squares[g], w, radius, curvature, max(memory.multiplier[g], 0.0), memory
        )
        memory.multiplier[g] = multiplier
        length_after = max(radius / (1.0 - curvature * multiplier), radius)
        if curvature > 0.0:
            total += (length_after - radius) * (length_after - radius) / (2.0 * curvature)
        for i in range(n):
            squares[g, i] = length_after / length_before * (w[i] / (w[i] + multiplier))
    for a in range(len(bounds.block)):
        row = q[(n_free + a) * n : (n_free + a + 1) * n]
        factor = squares[bounds.block[a]]
        if memory.multiplier[bounds.block[a]] >= 0.0:
            for i in range(n):
                row[i] *= factor[i]
    return total


@jitable
def bound_multiplier(
    weighted_squares: Array,
    w: Array,
    radius: float,
    curvature: float,
    start: float,
    memory: IterationMemory,
) -> Any:
    """Return λ and ||q(λ)|| of a block outside its bound, from weighted squares (n,) w² ||v_i||².

    Newton's method, which meets the root from the left because the left side is concave.
    """
    n = len(w)
    multiplier = start
    length = radius
    inverse = memory.scratch[0, :n]
    square = memory.scratch[1, :n]
    cube = memory.scratch[2, :n]
    for _ in range(MAX_MULTIPLIER_STEPS):
        for i in range(n):
            inverse[i] = 1.0 / (w[i] + multiplier)
            square[i] = weighted_squares[i] * inverse[i] * inverse[i]
            cube[i] = 1.0
        total = dot(square, cube)
        length = np.sqrt(total)
        difference = 1.0 / length - (1.0 - curvature * multiplier) / radius
        change = -difference / (dot(square, inverse) / (total * length) + curvature / radius)
        if abs(difference) * radius <= MULTIPLIER_TOLERANCE or (
            multiplier == 0.0 and change <= 0.0
        ):
            break
        multiplier = max(multiplier + change, 0.0)
    return multiplier, length


@jitable
def gap_bound(bounds: DualBounds, memory: IterationMemory, index: int) -> Any:
    """Return Ω(φ) + Ω*(q) - <q, φ> at a slot: the duality gap, not relative.

    Free rows stand for many features. For these Ω is bounded by `free_bound` times the length of φ
    (Cauchy and Schwarz).
    """
    q = memory.points[index]
    phi = memory.slopes[index]
    norms = memory.scratch[3]
    n = len(memory.weight)
    n_free = bounds.n_free
    for g in range(len(bounds.radius)):
        norms[g] = 0.0
    squared_length = dot(phi[: n_free * n], phi[: n_free * n])
    for a in range(len(bounds.block)):
        row = phi[(n_free + a) * n : (n_free + a + 1) * n]
        norms[bounds.block[a]] += dot(row, row)
    total = bounds.free_bound * np.sqrt(squared_length) + memory.conjugate[index] - dot(q, phi)
    for g in range(len(bounds.radius)):
        squared_length += norms[g]
        total += bounds.radius[g] * np.sqrt(norms[g])
    return total + 0.5 * bounds.curvature * squared_length


@jitable
def objective_rises(memory: IterationMemory, index: int) -> Any:
    """Return whether H + Ω* is larger at a slot than at the best point.

    H is quadratic with gradient -φ, so that differences follow from φ at both points.
    """
    best = memory.counters[BEST_POINT]
    new = memory.points[index]
    phi = memory.slopes[index]
    old = memory.points[best]
    psi = memory.slopes[best]
    new_new = dot(new, phi)
    new_best = dot(new, psi)
    best_new = dot(old, phi)
    best_best = dot(old, psi)
    change = (
        -0.5 * (new_new + new_best - best_new - best_best)
        + memory.conjugate[index]
        - memory.conjugate[best]
    )
    return change > OBJECTIVE_ROUNDING * (
        abs(new_new) + abs(new_best) + abs(best_new) + abs(best_best)
    )


@jitable
def store_move(memory: IterationMemory, index: int) -> None:
    """Store the move w^½ (T(z) - z) to the point of a slot, with its inner products."""
    n = len(memory.weight)
    move = memory.moves[index]
    root_weight = memory.scratch[4]
    point = memory.points[index]
    for i in range(n):
        root_weight[i] = np.sqrt(memory.weight[i])
    for row_start in range(0, len(move), n):
        for i in range(n):
            move[row_start + i] = root_weight[i] * (
                point[row_start + i] - memory.ahead[row_start + i]
            )
    memory.counters[N_COMBINED] = min(memory.counters[N_COMBINED] + 1, ANDERSON_WINDOW)
    for k in range(memory.counters[N_COMBINED]):
        other_slot = (index - k) % len(memory.points)
        memory.gram[index, other_slot] = memory.gram[other_slot, index] = dot(
            move, memory.moves[other_slot]
        )


@jitable
def combine_points(memory: IterationMemory, index: int) -> None:
    """Set z and φ(z) to the combination of the last points whose move is shortest."""
    n_points = memory.counters[N_COMBINED]
    capacity = len(memory.points)
    gram = np.zeros((n_points, n_points))
    coefs = np.zeros(n_points)
    trace = 0.0
    total = 0.0
    for k in range(n_points):
        coefs[k] = 1.0
        trace += memory.gram[(index - k) % capacity, (index - k) % capacity]
        for e in range(k + 1):
            gram[k, e] = memory.gram[(index - k) % capacity, (index - e) % capacity]
    for k in range(n_points):
        gram[k, k] += COMBINATION_RIDGE * trace
    if trace > 0.0 and cholesky(gram, n_points):
        solve_lower(gram, n_points, coefs)
        solve_upper(gram, n_points, coefs)
    else:
        for k in range(1, n_points):
            coefs[k] = 0.0
    for k in range(n_points):
        total += coefs[k]
    for block_start in range(0, len(memory.ahead), NUMBERS_PER_BLOCK):
        block_end = min(block_start + NUMBERS_PER_BLOCK, len(memory.ahead))
        z = memory.ahead[block_start:block_end]
        phi = memory.slope[block_start:block_end]
        for e in range(len(z)):
            z[e] = phi[e] = 0.0
        for k in range(n_points):
            add_scaled(
                coefs[k] / total, memory.points[(index - k) % capacity, block_start:block_end], z
            )
            add_scaled(
                coefs[k] / total, memory.slopes[(index - k) % capacity, block_start:block_end], phi
            )


@jitable
def restart_from(memory: IterationMemory, index: int) -> None:
    """Set z and φ(z) to the point of a slot, and forget all other points."""
    memory.counters[N_COMBINED] = 0
    memory.counters[BEST_POINT] = index
    for e in range(len(memory.ahead)):
        memory.ahead[e] = memory.points[index, e]
        memory.slope[e] = memory.slopes[index, e]


@compiled
def advance_iteration(bounds: DualBounds, memory: IterationMemory) -> Any:
    """Judge the new point, fill the next one, and return the duality gap of the new one.

    The caller has filled φ at the new point except for `first_term`.
    """
    index = memory.counters[NEW_POINT]
    n = len(memory.weight)
    capacity = len(memory.points)
    point = memory.points[index]
    phi = memory.slopes[index]
    for row_start in range(0, len(point), n):
        for i in range(n):
            phi[row_start + i] += memory.first_term[i] * point[row_start + i]
    gap = gap_bound(bounds, memory, index)
    if memory.counters[BEST_POINT] == NO_POINT:
        restart_from(memory, index)
    elif objective_rises(memory, index):
        if memory.counters[N_COMBINED] == 0:  # a plain step led up: it was too long
            for i in range(n):
                memory.weight[i] *= 2.0
        index = memory.counters[BEST_POINT]
        restart_from(memory, index)
    else:
        store_move(memory, index)
        memory.counters[BEST_POINT] = index
        combine_points(memory, index)
    following = (index + 1) % capacity
    memory.counters[NEW_POINT] = following
    next_point = memory.points[following]
    for row_start in range(0, len(point), n):
        for i in range(n):
            next_point[row_start + i] = (
                memory.ahead[row_start + i] + memory.slope[row_start + i] / memory.weight[i]
            )
    memory.conjugate[following] = project_on_bounds(bounds, memory, next_point)
    return gap


class KernelSums(NamedTuple):
    """The kernel matrix K of n training points with the ridge weight ν, and their responses."""

    first: Array  # (n, n) table of the kernel's first derivatives, see `optim.kernels.KernelTables`
    second: Array  # (n, n) table of its second derivatives
    inverse: Array  # (n, n) ``(K + n ν I)⁻¹``
    y: Array  # (n,)
    inner_scale: float  # ``-1/2ν``
    stationary: bool  # whether the kernel depends on differences of points


@compiled
def fill_pull(sums: KernelSums, U: Array, scratch: Array) -> None:
    """Overwrite U = X q (n, n) by R with ``φ = X'R'``, but for φ's first term; scratch (3, n).

    q are multipliers and φ the partial derivatives of their function at the training points:
    ``R = first_ij α_j + second_ij S_ij``, S and α as in `optim.nonlinear.problem.Problem.expand`,
    which has the same formulas.
    """
    n = len(U)
    stationary = sums.stationary
    anchor = scratch[0]
    residual = scratch[1]
    alpha = scratch[2]
    for i in range(n):
        anchor[i] = U[i, i] if stationary else 0.0
    for i in range(n):
        for j in range(n):
            U[i, j] = sums.inner_scale * (U[i, j] - anchor[j])
        residual[i] = sums.y[i] - dot(sums.first[i], U[i])
    for i in range(n):
        # alpha = (K + n ν I)⁻¹ (y - diag(first U'))
        alpha[i] = dot(sums.inverse[i], residual)
    for i in range(n):
        for j in range(n):
            U[i, j] = sums.first[i, j] * alpha[j] + sums.second[i, j] * U[i, j]
        if stationary:
            total = 0.0
            for j in range(n):
                total += U[i, j]
            U[i, i] -= total
