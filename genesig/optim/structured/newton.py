"""Kernels for one number a block: the block problem without its coefficients, by Newton steps.

``||v|| = min_rho (||v||²/rho + rho)/2`` removes the coefficients from the problem and leaves

    P(rho) = tr Y'M^-1 Y + (tau/2) sum w_k rho_k,   M = n I + sum_k e_k G_k,  rho >= 0
    e_k = 2 rho_k / (2 mu rho_k + tau w_k),   G_k = A_k A_k'

which is convex and smooth. With alpha = M^-1 Y and q_k = ||A_k'alpha|| the coefficients are v_k =
e_k A_k'alpha, and rho_k = ||v_k|| at the minimum.

Source: Bertsekas 1982, Projected Newton methods for optimization problems with simple constraints.
The damping is Levenberg's: without it the steps fail where the Hessian is singular.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, jit_inline
from genesig.compiled.algebra import (
    dot,
    dot_rows,
    factor_semidefinite,
    indices_by_sign,
    multiply_rows,
    solve_by_samples,
    solve_factored,
    solve_lower_rows,
)

ZERO_SHARE = 1e-6  # share of the largest rho: a smaller one that is pushed to 0 is set to 0
MIN_DAMPING = 1e-12  # smallest damping, as a share of the Hessian's diagonal
MAX_DAMPING = 1e8  # damping above which the steps end
START_DAMPING = 1e-3  # damping after a step that failed with almost none
VALUE_ROUNDING = 1e-13  # relative rounding error of the objective
MAX_BLOCK_STEPS = 300  # largest number of Newton steps


class BlockProblem(NamedTuple):
    """W blocks and T responses: each block a column of n samples, or a Gram matrix.

    Either `grams`, or `rows` and `across` have W blocks; the others have none.
    """

    Y: Array  # (T, n)
    grams: Array  # (W, n (n + 1) / 2) Gram matrices, as by `columns.lower_triangle`
    rows: Array  # (W, n) blocks of one column
    across: Array  # (n, W) transpose of `rows`
    weights: Array  # (W,)
    tau: float  # absolute
    mu: float  # absolute
    # number of samples; n is smaller if the responses are in coordinates of the blocks' span
    samples: float
    y_outside: float  # squared length of the responses outside that space


class BlockPoint(NamedTuple):
    """A point rho, and what follows from it."""

    rho: Array  # (W,)
    e: Array  # (W,) as in the module's docstring, like q
    q: Array  # (W,)
    factor: Array  # (n, n) Cholesky factor of M
    alpha: Array  # (T, n)
    products: Array  # (W, T, n) ``G_k alpha``, or (W, T, 1) ``z_k'alpha`` of columns
    value: float  # P(rho)
    gap: float  # duality gap among the W blocks, relative to ``||Y||² / samples``


@jit_inline
def add_grams(grams: Array, e: Array, M: Array) -> None:
    """Add ``sum_k e_k G_k`` to the lower triangle of M (n, n); two at a time, skipping e_k = 0."""
    nonzero = indices_by_sign(e, positive=True)
    for c in range(0, len(nonzero), 2):
        gram_a = grams[nonzero[c]]
        gram_b = grams[nonzero[min(c + 1, len(nonzero) - 1)]]
        scale_a = e[nonzero[c]]
        scale_b = e[nonzero[c + 1]] if c + 1 < len(nonzero) else 0.0
        offset = 0
        for i in range(len(M)):
            for j in range(i + 1):
                M[i, j] += scale_a * gram_a[offset + j] + scale_b * gram_b[offset + j]
            offset += i + 1


@compiled
def multiply_gram(gram: Array, x: Array, out: Array) -> float:
    """Fill out (n,) with G x and return x'G x, for G as by `columns.lower_triangle`."""
    offset = 0
    square = 0.0
    for i in range(len(x)):
        total = 0.0
        x_i = x[i]
        for j in range(i):
            total += gram[offset + j] * x[j]
            out[j] += gram[offset + j] * x_i
        out[i] = total + gram[offset + i] * x_i
        square += x_i * (total + out[i])
        offset += i + 1
    return square


@jit_inline
def fill_system(problem: BlockProblem, e: Array, M: Array) -> None:
    """Fill the lower triangle of ``M = samples I + sum_k e_k G_k`` (n, n)."""
    if len(problem.grams) > 0:
        M[:] = 0.0
        add_grams(problem.grams, e, M)
    else:
        scaled = np.empty(len(e))
        for i in range(len(M)):
            for k in range(len(e)):
                scaled[k] = e[k] * problem.across[i, k]
            multiply_rows(problem.across, scaled, i + 1, M[i])
    for i in range(len(M)):
        M[i, i] += problem.samples


@compiled
def evaluate(problem: BlockProblem, rho: Array) -> BlockPoint:
    """Return the point at rho (W,)."""
    (T, n) = problem.Y.shape
    n_blocks = len(rho)
    M = np.empty((n, n))
    alpha = problem.Y.copy()
    y_alpha = problem.y_outside / problem.samples
    e = np.empty(n_blocks)
    q = np.zeros(n_blocks)
    value = 0.0
    for k in range(n_blocks):
        e[k] = 2.0 * rho[k] / (2.0 * problem.mu * rho[k] + problem.tau * problem.weights[k])
        value += 0.5 * problem.tau * problem.weights[k] * rho[k]
    fill_system(problem, e, M)
    factor_semidefinite(M)
    products = np.empty((n_blocks, T, n if len(problem.grams) > 0 else 1))
    products_of_response = np.empty(n_blocks)
    for t in range(T):
        solve_factored(M, alpha[t])
        y_alpha += dot(problem.Y[t], alpha[t])
        if len(problem.grams) > 0:
            for k in range(n_blocks):
                q[k] += multiply_gram(problem.grams[k], alpha[t], products[k, t])
        else:
            multiply_rows(problem.rows, alpha[t], n_blocks, products_of_response)
            for k in range(n_blocks):
                products[k, t, 0] = products_of_response[k]
                q[k] += products_of_response[k] * products_of_response[k]
    for k in range(n_blocks):
        q[k] = np.sqrt(max(q[k], 0.0))
    return BlockPoint(
        rho,
        e,
        q,
        M,
        alpha,
        products,
        y_alpha + value,
        working_set_gap(problem, e, q, alpha, y_alpha),
    )


@jit_inline
def working_set_gap(
    problem: BlockProblem, e: Array, q: Array, alpha: Array, y_alpha: float
) -> float:
    """Return the duality gap among the W blocks, relative to ``||Y||² / samples``.

    The dual point is s r, the residual r = samples alpha scaled by s <= 1 until no gradient g_k is
    longer than tau w_k. With y_alpha = <Y, alpha> the gap is, as in `solution.block_gap`, ``Σ_k
    (tau w_k - ||g_k||) ||v_k|| + (1 - s) (2 y_alpha - (1 + s) (||r||² / samples + mu ||v||²))``.
    """
    gap = 0.0
    max_dual_norm = problem.tau
    ridge = 0.0
    residual_square = problem.y_outside
    response_square = problem.y_outside
    for k in range(len(e)):
        coef_norm = e[k] * q[k]
        gradient_norm = 2.0 * q[k] * (1.0 - problem.mu * e[k])
        gap += (problem.tau * problem.weights[k] - gradient_norm) * coef_norm
        max_dual_norm = max(max_dual_norm, gradient_norm / problem.weights[k])
        ridge += problem.samples * problem.mu * coef_norm * coef_norm
    for t in range(len(alpha)):
        residual_square += problem.samples**2 * dot(alpha[t], alpha[t])
        response_square += dot(problem.Y[t], problem.Y[t])
    dual_scale = problem.tau / max_dual_norm
    squares = residual_square + ridge
    gap += (1.0 - dual_scale) * (2.0 * y_alpha - (1.0 + dual_scale) * squares / problem.samples)
    return max(gap, 0.0) / (response_square / problem.samples if response_square > 0.0 else 1.0)


@compiled
def solve_blocks(problem: BlockProblem, point: BlockPoint, free: Array, t: Any) -> Array:
    """Return ``L^-1 G_k alpha_t`` (free, n) of the free blocks, L the factor of M.

    Of blocks of one column ``L^-1 z_k``, which is the same for each response t.
    """
    solved_rows = np.empty((len(free), problem.Y.shape[1]))
    for a in range(len(free)):
        for i in range(solved_rows.shape[1]):
            k = free[a]
            solved_rows[a, i] = (
                point.products[k, t, i] if len(problem.grams) > 0 else problem.rows[k, i]
            )
    solve_lower_rows(point.factor, solved_rows)
    return solved_rows


@compiled
def fill_hessian_factor(
    problem: BlockProblem, point: BlockPoint, free: Array, slope: Array, U: Array
) -> None:
    """Fill U (free, T n) with a factor of the Hessian UU', see `fill_hessian`."""
    # int64, because numba would compile another version for a literal.
    solved_rows = solve_blocks(problem, point, free, np.int64(0))
    n = problem.Y.shape[1]
    for t in range(len(problem.Y)):
        if t > 0 and len(problem.grams) > 0:
            solved_rows = solve_blocks(problem, point, free, t)
        for a in range(len(free)):
            scale = np.sqrt(2.0) * slope[free[a]]
            scale *= 1.0 if len(problem.grams) > 0 else point.products[free[a], t, 0]
            for i in range(n):
                U[a, t * n + i] = scale * solved_rows[a, i]


@jit_inline
def fill_hessian(
    problem: BlockProblem, point: BlockPoint, free: Array, slope: Array, H: Array
) -> None:
    """Fill the lower triangle of H_kl = ``2 e'_k e'_l tr(alpha'G_k M^-1 G_l alpha)`` (free, free).

    slope (W,) is e', the derivative of e_k in rho_k.
    """
    if len(problem.grams) > 0:
        U = np.empty((len(free), problem.Y.size))
        fill_hessian_factor(problem, point, free, slope, U)
        for a in range(len(free)):
            multiply_rows(U, U[a], a + 1, H[a])
        return
    # Of columns the trace is (z_k'M^-1 z_l) Σ_t (z_k'alpha_t)(z_l'alpha_t).
    # int64, because numba would compile another version for a literal.
    solved_rows = solve_blocks(problem, point, free, np.int64(0))
    R = np.empty((len(free), len(problem.Y)))
    for a in range(len(free)):
        multiply_rows(solved_rows, solved_rows[a], a + 1, H[a])
        for t in range(len(problem.Y)):
            R[a, t] = np.sqrt(2.0) * slope[free[a]] * point.products[free[a], t, 0]
        for b in range(a + 1):
            H[a, b] *= dot_rows(R, a, R, b, len(problem.Y))


@jit_inline
def damped_step(U: Array, H: Array, D: Array, damping: float, h: Array) -> None:
    """Overwrite h (m,) by ``(H + D + damping diag(H + D))^-1 h`` with the diagonal D (m,).

    H is UU' if it is empty, and U is then (m, T n).
    """
    ridge = np.empty(len(D))
    A = H.copy()
    for a in range(len(D)):
        diagonal = H[a, a] if len(H) > 0 else dot_rows(U, a, U, a, U.shape[1])
        ridge[a] = D[a] + damping * (D[a] + diagonal)
    if len(H) == 0:
        solve_by_samples(U, ridge, h)
        return
    for a in range(len(D)):
        A[a, a] += ridge[a]
    factor_semidefinite(A)
    solve_factored(A, h)


@jit_inline
def free_blocks(problem: BlockProblem, point: BlockPoint, gradient: Array, slope: Array) -> Array:
    """Fill the gradient of P and the slope e' (W,); return the numbers of the free blocks.

    The others have a rho of about 0, and the gradient pushes them there.
    """
    free = np.empty(len(slope), np.int64)
    count = 0
    largest = 0.0
    for k in range(len(slope)):
        largest = max(largest, point.rho[k])
    for k in range(len(slope)):
        denominator = 2.0 * problem.mu * point.rho[k] + problem.tau * problem.weights[k]
        slope[k] = 2.0 * problem.tau * problem.weights[k] / (denominator * denominator)
        gradient[k] = 0.5 * problem.tau * problem.weights[k] - slope[k] * point.q[k] * point.q[k]
        if point.rho[k] > ZERO_SHARE * largest or not gradient[k] > 0.0:
            free[count] = k
            count += 1
    return free[:count]


@jit_inline
def step_to(point: BlockPoint, free: Array, h: Array, share: float) -> Array:
    """Return rho (W,) after a share of the step, held at >= 0; blocks that are not free are 0.

    h: step of the free blocks, to be subtracted.
    """
    rho = np.zeros(len(point.rho))
    for a in range(len(free)):
        rho[free[a]] = max(point.rho[free[a]] - share * h[a], 0.0)
    return rho


@jit_inline
def first_zero_share(point: BlockPoint, free: Array, h: Array) -> float:
    """Return the share of the step at which the first block gets to 0; more than 1 if none does."""
    share = 2.0
    for a in range(len(free)):
        if h[a] > point.rho[free[a]] > 0.0:
            share = min(share, point.rho[free[a]] / h[a])
    return share


@jit_inline
def newton_step(
    problem: BlockProblem, point: BlockPoint, damping: float
) -> tuple[BlockPoint, float]:
    """Return the point after a step, and the next damping.

    The damping is above `MAX_DAMPING` if no step decreases P. Each step is tried in two ways: each
    rho is cut off at 0, or the whole step ends where the first block gets to 0. The second way is
    for nearly collinear columns, of which one gains what another loses: cut off, only the loss
    would be smaller, and P would rise. Values of P are compared. Within their rounding gaps are
    compared, which depend on the square root of a change.
    """
    gradient = np.empty(len(point.rho))
    slope = np.empty(len(point.rho))
    free = free_blocks(problem, point, gradient, slope)
    D = np.empty(len(free))
    h = np.empty(len(free))
    by_samples = len(free) > problem.Y.size  # then U, with H = UU', is smaller; H has no rows
    U = np.empty((len(free) * by_samples, problem.Y.size))
    H = np.empty((len(free) * (1 - by_samples), len(free)))
    if by_samples:
        fill_hessian_factor(problem, point, free, slope, U)
    else:
        fill_hessian(problem, point, free, slope, H)
    for a in range(len(free)):
        k = free[a]
        slope_k = slope[free[a]]
        # -e'' q², the rest of P's second derivative; mu is a factor of e''.
        D[a] = (
            4.0
            * problem.mu
            * slope_k
            * np.sqrt(slope_k / (2.0 * problem.tau * problem.weights[k]))
            * point.q[k]
            * point.q[k]
        )
    rounded_value = point.value + VALUE_ROUNDING * abs(point.value)
    share = 1.0
    while damping <= MAX_DAMPING:
        for a in range(len(free)):
            h[a] = gradient[free[a]]
        damped_step(U, H, D, damping, h)
        for attempt in range(2):
            share = first_zero_share(point, free, h) if attempt > 0 else 1.0
            if share <= 1.0:
                new_point = evaluate(problem, step_to(point, free, h, share))
                if new_point.value <= point.value or (
                    new_point.value <= rounded_value and new_point.gap < point.gap
                ):
                    return new_point, max(damping / 30.0, MIN_DAMPING)
        damping = max(100.0 * damping, START_DAMPING)
    return point, damping


@compiled
def minimise_blocks(problem: BlockProblem, rho: Array, target_gap: float) -> tuple[BlockPoint, int]:
    """Return the point at which the gap is at most `target_gap`, or cannot fall, and the steps."""
    point = evaluate(problem, rho)
    damping = MIN_DAMPING
    steps = 0
    while point.gap > target_gap and steps < MAX_BLOCK_STEPS and damping <= MAX_DAMPING:
        point, damping = newton_step(problem, point, damping)
        steps += 1
    return point, steps
