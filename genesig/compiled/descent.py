"""Kernels of a preconditioned, Anderson-accelerated proximal gradient method.

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
from genesig.compiled import compiled, jit_inline
from genesig.compiled.algebra import cholesky, dot, solve_lower, solve_upper

ANDERSON_WINDOW = 10  # number of points that are combined at most
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


class DualGradient(NamedTuple):
    """Arrays of φ(q) for m features at n training points, with their arrays of scratch.

    q and φ (m, n) are in a basis of the samples.
    """

    features: Array  # (n, m)
    transposed_features: Array  # (m, n)
    basis: Array  # (n, n) orthogonal
    inverse_basis: Array  # (n, n) its transpose
    first_term: Array  # (n,) φ that one unit of q adds by itself, without X'R'
    first: Array  # (n, n) table of the kernel's first derivatives, see `optim.kernels.KernelTables`
    second: Array  # (n, n) table of its second derivatives
    inverse: Array  # (n, n) ``(K + n ν I)⁻¹``
    y: Array  # (n,) responses
    inner_scale: float  # ``-1/2ν``
    stationary: bool  # whether the kernel depends on differences of points
    products: Array  # (2, n, n) scratch
    sums: Array  # (3, n) scratch


class DualBounds(NamedTuple):
    """Ω* of the rows: 0 for the unbounded ones, Σ_g (||q_g|| - r_g)_+²/2ε for the k others."""

    n_unbounded: int  # number of the first rows, which have no bound
    block: Array  # (k,) block of each bounded row
    radius: Array  # (G,) r_g of each block
    curvature: float  # ε
    # √(Σ r_g²) of the features that the unbounded rows represent: Σ r_g ||φ_g|| <= that times ||φ||
    unbounded_radius: float


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
    conjugate: Array  # (S,) Ω*(q)
    multiplier: Array  # (G,) λ of each block's bound, or `INSIDE_BOUND`
    counters: Array  # (3,) int, see the positions above
    norms: Array  # (G,) scratch
    squares: Array  # (G, n) scratch


@jit_inline
def project_on_bounds(bounds: DualBounds, memory: IterationMemory, q: Array) -> Any:
    """Overwrite the bounded rows of q (m n,) by their prox in the metric w; return Ω* there.

    q_i <- v_i w_i/(w_i + λ) of v, the rows before, with λ ≥ 0 the root of 1/||q_g(λ)|| = (1 - ε
    λ)/r_g for each block g outside its bound r_g.
    """
    w = memory.weight
    squares = memory.squares
    n = len(w)
    n_unbounded = bounds.n_unbounded
    curvature = bounds.curvature
    total = 0.0
    squares[:] = 0.0
    for a in range(len(bounds.block)):
        row = q[(n_unbounded + a) * n : (n_unbounded + a + 1) * n]
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
            squares[g], w, radius, curvature, max(memory.multiplier[g], 0.0)
        )
        memory.multiplier[g] = multiplier
        length_after = max(radius / (1.0 - curvature * multiplier), radius)
        if curvature > 0.0:
            total += (length_after - radius) * (length_after - radius) / (2.0 * curvature)
        for i in range(n):
            squares[g, i] = length_after / length_before * (w[i] / (w[i] + multiplier))
    for a in range(len(bounds.block)):
        row = q[(n_unbounded + a) * n : (n_unbounded + a + 1) * n]
        factor = squares[bounds.block[a]]
        if memory.multiplier[bounds.block[a]] >= 0.0:
            for i in range(n):
                row[i] *= factor[i]
    return total


@jit_inline
def bound_multiplier(
    weighted_squares: Array, w: Array, radius: float, curvature: float, start: float
) -> Any:
    """Return λ and ||q(λ)|| of a block outside its bound, from weighted squares (n,) w² ||v_i||².

    Newton's method, which meets the root from the left because the left side is concave.
    """
    multiplier = start
    length = radius
    for _ in range(MAX_MULTIPLIER_STEPS):
        squared_length = 0.0
        slope = 0.0
        for i in range(len(w)):
            inverse = 1.0 / (w[i] + multiplier)
            square = weighted_squares[i] * inverse * inverse
            squared_length += square
            slope += square * inverse
        length = np.sqrt(squared_length)
        difference = 1.0 / length - (1.0 - curvature * multiplier) / radius
        change = -difference / (slope / (squared_length * length) + curvature / radius)
        if abs(difference) * radius <= MULTIPLIER_TOLERANCE or (
            multiplier == 0.0 and change <= 0.0
        ):
            break
        multiplier = max(multiplier + change, 0.0)
    return multiplier, length


@jit_inline
def gap_bound(bounds: DualBounds, memory: IterationMemory, index: int) -> Any:
    """Return Ω(φ) + Ω*(q) - <q, φ> at a slot: the duality gap, not relative.

    Unbounded rows represent many features. For these Ω is at most `unbounded_radius` times the
    length of φ (Cauchy and Schwarz).
    """
    q = memory.points[index]
    phi = memory.slopes[index]
    norms = memory.norms
    n = len(memory.weight)
    total = memory.conjugate[index] - dot(q, phi)
    squared_length = 0.0
    norms[:] = 0.0
    for a in range(len(phi) // n):
        row = phi[a * n : (a + 1) * n]
        square = dot(row, row)
        squared_length += square
        if a >= bounds.n_unbounded:
            norms[bounds.block[a - bounds.n_unbounded]] += square
        elif a == bounds.n_unbounded - 1:
            total += bounds.unbounded_radius * np.sqrt(squared_length)
    for g in range(len(norms)):
        total += bounds.radius[g] * np.sqrt(norms[g])
    return total + 0.5 * bounds.curvature * squared_length


@jit_inline
def objective_rises(memory: IterationMemory, index: int) -> Any:
    """Return whether H + Ω* is larger at a slot than at the best point.

    H is quadratic with gradient -φ, so that differences follow from φ at both points.
    """
    best = memory.counters[BEST_POINT]
    new = memory.points[index]
    phi = memory.slopes[index]
    old = memory.points[best]
    psi = memory.slopes[best]
    new_new = new_best = best_new = best_best = 0.0
    for e in range(len(new)):
        new_new += new[e] * phi[e]
        new_best += new[e] * psi[e]
        best_new += old[e] * phi[e]
        best_best += old[e] * psi[e]
    change = (
        -0.5 * (new_new + new_best - best_new - best_best)
        + memory.conjugate[index]
        - memory.conjugate[best]
    )
    return change > OBJECTIVE_ROUNDING * (
        abs(new_new) + abs(new_best) + abs(best_new) + abs(best_best)
    )


@jit_inline
def store_move(memory: IterationMemory, index: int) -> None:
    """Store the move w^½ (T(z) - z) to the point of a slot, with its inner products."""
    n = len(memory.weight)
    move = memory.moves[index]
    point = memory.points[index]
    for row_start in range(0, len(move), n):
        for i in range(n):
            change = point[row_start + i] - memory.ahead[row_start + i]
            move[row_start + i] = np.sqrt(memory.weight[i]) * change
    np.dot(memory.moves, move, memory.gram[index])
    for slot in range(len(memory.gram)):
        memory.gram[slot, index] = memory.gram[index, slot]
    memory.counters[N_COMBINED] = min(memory.counters[N_COMBINED] + 1, ANDERSON_WINDOW)


@jit_inline
def combine_points(memory: IterationMemory, index: int) -> None:
    """Set z and φ(z) to the combination of the last points whose move is shortest."""
    n_points = memory.counters[N_COMBINED]
    capacity = len(memory.points)
    gram = np.zeros((n_points, n_points))
    coefs = np.ones(n_points)
    trace = 0.0
    for k in range(n_points):
        slot = (index - k) % capacity
        trace += memory.gram[slot, slot]
        for e in range(k + 1):
            gram[k, e] = memory.gram[slot, (index - e) % capacity]
    for k in range(n_points):
        gram[k, k] += COMBINATION_RIDGE * trace
    if trace > 0.0 and cholesky(gram, n_points):
        solve_lower(gram, n_points, coefs)
        solve_upper(gram, n_points, coefs)
    else:
        coefs[1:] = 0.0  # the latest point alone
    total = coefs.sum()
    shares = np.zeros(capacity)
    for k in range(n_points):
        shares[(index - k) % capacity] = coefs[k] / total
    np.dot(shares, memory.points, memory.ahead)
    np.dot(shares, memory.slopes, memory.slope)


@compiled
def fill_gradient(gradient: DualGradient, q: Array, phi: Array) -> None:
    """Fill phi (m, n) with φ(q), the partial derivatives of the function of q (m, n).

    φ is X'R' + first_term q, with the features X and R of `fill_spread`. 4 n² (n + m) flops.
    """
    product = gradient.products[0]
    U = gradient.products[1]
    np.dot(gradient.features, q, product)
    np.dot(product, gradient.inverse_basis, U)
    fill_spread(gradient, U, product)
    np.dot(product, gradient.basis, U)
    np.dot(gradient.transposed_features, U, phi)
    for a in range(len(q)):
        for i in range(len(gradient.y)):
            phi[a, i] += gradient.first_term[i] * q[a, i]


@jit_inline
def fill_spread(gradient: DualGradient, U: Array, transposed_spread: Array) -> None:
    """Fill R' (n, n), with φ = X'R' but for φ's first term; U = X q (n, n) is overwritten by S.

    ``R_ij = first_ij α_j + second_ij S_ij`` with ``S_ij = -(U_ij - U_jj)/2ν``. Without `stationary`
    U_jj is left out, and with it each row of R sums to 0. `optim.nonlinear.problem.Problem.expand`
    has the same formulas.
    """
    n = len(U)
    stationary = gradient.stationary
    anchor = gradient.sums[0]
    residual = gradient.sums[1]
    alpha = gradient.sums[2]
    for i in range(n):
        anchor[i] = U[i, i] if stationary else 0.0
    for i in range(n):
        for j in range(n):
            U[i, j] = gradient.inner_scale * (U[i, j] - anchor[j])
        residual[i] = gradient.y[i] - dot(gradient.first[i], U[i])
    for i in range(n):
        # alpha = (K + n ν I)⁻¹ (y - diag(first U'))
        alpha[i] = dot(gradient.inverse[i], residual)
    for i in range(n):
        total = 0.0
        for j in range(n):
            value = gradient.first[i, j] * alpha[j] + gradient.second[i, j] * U[i, j]
            transposed_spread[j, i] = value
            total += value
        if stationary:
            transposed_spread[i, i] -= total


@compiled
def minimise_dual(
    gradient: DualGradient,
    bounds: DualBounds,
    memory: IterationMemory,
    max_gap: float,
    max_steps: int,
) -> int:
    """Take steps until the duality gap is at most `max_gap`; return their number, >= 1.

    The last point is that of the slot `NEW_POINT`.
    """
    n = len(memory.weight)
    m = len(memory.ahead) // n
    steps = 0
    while True:
        index = memory.counters[NEW_POINT]
        fill_gradient(
            gradient, memory.points[index].reshape(m, n), memory.slopes[index].reshape(m, n)
        )
        steps += 1
        if gap_bound(bounds, memory, index) <= max_gap or steps >= max_steps:
            return steps
        judge_point(memory, index)
        fill_next_point(bounds, memory)


@jit_inline
def judge_point(memory: IterationMemory, index: int) -> None:
    """Combine the point of a slot with the last ones; if it is worse, restart at the best point."""
    best = memory.counters[BEST_POINT]
    if best != NO_POINT and not objective_rises(memory, index):
        store_move(memory, index)
        memory.counters[BEST_POINT] = index
        combine_points(memory, index)
        return
    if best == NO_POINT:
        best = index
    elif memory.counters[N_COMBINED] == 0:  # a plain step led up: it was too long
        for i in range(len(memory.weight)):
            memory.weight[i] *= 2.0
    memory.counters[N_COMBINED] = 0
    memory.counters[BEST_POINT] = best
    for e in range(len(memory.ahead)):
        memory.ahead[e] = memory.points[best, e]
        memory.slope[e] = memory.slopes[best, e]


@jit_inline
def fill_next_point(bounds: DualBounds, memory: IterationMemory) -> None:
    """Fill the slot after the best point with T(z), and make it the new point."""
    n = len(memory.weight)
    following = (memory.counters[BEST_POINT] + 1) % len(memory.points)
    memory.counters[NEW_POINT] = following
    point = memory.points[following]
    for row_start in range(0, len(point), n):
        for i in range(n):
            point[row_start + i] = (
                memory.ahead[row_start + i] + memory.slope[row_start + i] / memory.weight[i]
            )
    memory.conjugate[following] = project_on_bounds(bounds, memory, point)
