r"""One number a block: the block problem without its coefficients, by projected Newton steps.

``||v|| = min_rho (||v||²/rho + rho)/2`` takes the coefficients out of the problem and leaves::

    P(rho) = tr Y'M^-1 Y + (tau/2) sum w_k rho_k,   M = n I + sum_k e_k G_k,  rho >= 0
    e_k = 2 rho_k / (2 mu rho_k + tau w_k),   G_k = A_k A_k'

which is convex and smooth. With alpha = M^-1 Y and q_k = ||A_k'alpha|| the coefficients are
v_k = e_k A_k'alpha, and rho_k = ||v_k|| at the minimum. All is plain numba.

Source: Bertsekas 1982, Projected Newton methods for optimization problems with simple constraints.
The damping is Levenberg's: without it the steps fail where the Hessian is singular.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, part
from genesig.compiled.algebra import (
    dot,
    factor,
    forward,
    places_of,
    products,
    row_dot,
    solve_by_samples,
    substitute,
)

ZERO = 1e-6  # of the largest rho; what is nearer to 0 and pushed there is put there
# damping, as a share of the Hessian's diagonal
LEAST = 1e-12
MOST = 1e8
FIRST = 1e-3  # damping, after a step without that was none
ROUNDING = 1e-13
STEPS = 300


class Problem(NamedTuple):
    """W blocks and T responses: each block a column of n samples, or a Gram matrix.

    Y (T, n), grams (W, n (n + 1) / 2) by the rows of their lower triangles, rows (W, n) and across
    (n, W), its transpose, or no grams or rows; weights (W,), tau and mu absolute. samples is their
    number, and rest what ||Y||² has beside, where Y and rows stand in a space of less dimensions
    that the blocks span.
    """

    Y: Array
    grams: Array
    rows: Array
    across: Array
    weights: Array
    tau: float
    mu: float
    samples: float
    rest: float


class Point(NamedTuple):
    """What follows from rho (W,): e and q (W,), the factor of M (n, n), alpha (T, n).

    reached (W, T, n) is ``G_k alpha``, of columns (W, T, 1) ``z_k'alpha``; value is P, and gap that
    among the W blocks, relative to ``||Y||²/n``.
    """

    rho: Array
    e: Array
    q: Array
    factor: Array
    alpha: Array
    reached: Array
    value: float
    gap: float


@part
def add_grams(grams: Array, e: Array, M: Array) -> None:
    """Add ``sum_k e_k G_k`` to the lower triangle of M; two at a time, of those that are not 0."""
    chosen = places_of(e, True)
    for c in range(0, len(chosen), 2):
        one = grams[chosen[c]]
        two = grams[chosen[min(c + 1, len(chosen) - 1)]]
        by_one = e[chosen[c]]
        by_two = e[chosen[c + 1]] if c + 1 < len(chosen) else 0.0
        at = 0
        for i in range(len(M)):
            for j in range(i + 1):
                M[i, j] += by_one * one[at + j] + by_two * two[at + j]
            at += i + 1


@compiled
def times_gram(gram: Array, x: Array, out: Array) -> float:
    """Fill out with Gx and return x'Gx, G by the rows of its lower triangle."""
    at = 0
    square = 0.0
    for i in range(len(x)):
        total = 0.0
        own = x[i]
        for j in range(i):
            total += gram[at + j] * x[j]
            out[j] += gram[at + j] * own
        out[i] = total + gram[at + i] * own
        square += own * (total + out[i])
        at += i + 1
    return square


@part
def fill_matrix(p: Problem, e: Array, M: Array) -> None:
    """Fill the lower triangle of M."""
    if len(p.grams) > 0:
        M[:] = 0.0
        add_grams(p.grams, e, M)
    else:
        scaled = np.empty(len(e))
        for i in range(len(M)):
            for k in range(len(e)):
                scaled[k] = e[k] * p.across[i, k]
            products(p.across, scaled, i + 1, M[i])
    for i in range(len(M)):
        M[i, i] += p.samples


@compiled
def evaluate(p: Problem, rho: Array) -> Point:
    """Return P(rho), the factor of M, alpha, and what the blocks have of it."""
    (T, n) = p.Y.shape
    W = len(rho)
    M = np.empty((n, n))
    alpha = p.Y.copy()
    along = p.rest / p.samples
    e = np.empty(W)
    q = np.zeros(W)
    value = 0.0
    for k in range(W):
        e[k] = 2.0 * rho[k] / (2.0 * p.mu * rho[k] + p.tau * p.weights[k])
        value += 0.5 * p.tau * p.weights[k] * rho[k]
    fill_matrix(p, e, M)
    factor(M)
    reached = np.empty((W, T, n if len(p.grams) > 0 else 1))
    line = np.empty(W)
    for t in range(T):
        substitute(M, alpha[t])
        along += dot(p.Y[t], alpha[t])
        if len(p.grams) > 0:
            for k in range(W):
                q[k] += times_gram(p.grams[k], alpha[t], reached[k, t])
        else:
            products(p.rows, alpha[t], W, line)
            for k in range(W):
                reached[k, t, 0] = line[k]
                q[k] += line[k] * line[k]
    for k in range(W):
        q[k] = np.sqrt(max(q[k], 0.0))
    return Point(rho, e, q, M, alpha, reached, along + value, gap_among(p, e, q, alpha, along))


@part
def gap_among(p: Problem, e: Array, q: Array, alpha: Array, along: float) -> float:
    """Return the gap of `solution.block_gap`; along is ``<Y, alpha>``."""
    total = 0.0
    largest = p.tau
    ridge = 0.0
    square = p.rest
    response = p.rest
    for k in range(len(e)):
        v = e[k] * q[k]
        g = 2.0 * q[k] * (1.0 - p.mu * e[k])
        total += (p.tau * p.weights[k] - g) * v
        largest = max(largest, g / p.weights[k])
        ridge += p.samples * p.mu * v * v
    for t in range(len(alpha)):
        square += p.samples**2 * dot(alpha[t], alpha[t])
        response += dot(p.Y[t], p.Y[t])
    s = p.tau / largest
    total += (1.0 - s) * (2.0 * along - (1.0 + s) * (square + ridge) / p.samples)
    return max(total, 0.0) / (response / p.samples if response > 0.0 else 1.0)


@compiled
def solved(p: Problem, here: Point, free: Array, t: int) -> Array:
    """Return, with the factor L of M, ``L^-1 G_k alpha_t`` of some blocks, or ``L^-1 z_k``."""
    half = np.empty((len(free), p.Y.shape[1]))
    for a in range(len(free)):
        for i in range(half.shape[1]):
            k = free[a]
            half[a, i] = here.reached[k, t, i] if len(p.grams) > 0 else p.rows[k, i]
    forward(here.factor, half)
    return half


@compiled
def fill_half(p: Problem, here: Point, free: Array, slope: Array, U: Array) -> None:
    """Fill U (W', T n), of which `fill_hessian` has the products."""
    half = solved(p, here, free, 0)
    n = p.Y.shape[1]
    for t in range(len(p.Y)):
        if t > 0 and len(p.grams) > 0:
            half = solved(p, here, free, t)
        for a in range(len(free)):
            own = np.sqrt(2.0) * slope[free[a]]
            own *= 1.0 if len(p.grams) > 0 else here.reached[free[a], t, 0]
            for i in range(n):
                U[a, t * n + i] = own * half[a, i]


@part
def fill_hessian(p: Problem, here: Point, free: Array, slope: Array, H: Array) -> None:
    """Fill the lower triangle of ``2 e'_k e'_l tr(alpha'G_k M^-1 G_l alpha)``, slope being e'."""
    if len(p.grams) > 0:
        U = np.empty((len(free), p.Y.size))
        fill_half(p, here, free, slope, U)
        for a in range(len(free)):
            products(U, U[a], a + 1, H[a])
        return
    half = solved(p, here, free, 0)
    R = np.empty((len(free), len(p.Y)))
    for a in range(len(free)):
        products(half, half[a], a + 1, H[a])
        for t in range(len(p.Y)):
            R[a, t] = np.sqrt(2.0) * slope[free[a]] * here.reached[free[a], t, 0]
        for b in range(a + 1):
            H[a, b] *= row_dot(R, a, R, b, len(p.Y))


@part
def damped_step(U: Array, H: Array, D: Array, damping: float, h: Array) -> None:
    """Overwrite h (W',) by ``(H + D + damping diag(H + D))^-1 h``; H is UU' where it is empty."""
    ridge = np.empty(len(D))
    A = H.copy()
    for a in range(len(D)):
        own = H[a, a] if len(H) > 0 else row_dot(U, a, U, a, U.shape[1])
        ridge[a] = D[a] + damping * (D[a] + own)
    if len(H) == 0:
        solve_by_samples(U, ridge, h)
        return
    for a in range(len(D)):
        A[a, a] += ridge[a]
    factor(A)
    substitute(A, h)


@part
def free_blocks(p: Problem, here: Point, gradient: Array, slope: Array) -> Array:
    """Fill the gradient and e' (W,); return the blocks that are not held at 0, or put there."""
    free = np.empty(len(slope), np.int64)
    count = 0
    top = 0.0
    for k in range(len(slope)):
        top = max(top, here.rho[k])
    for k in range(len(slope)):
        below = 2.0 * p.mu * here.rho[k] + p.tau * p.weights[k]
        slope[k] = 2.0 * p.tau * p.weights[k] / (below * below)
        gradient[k] = 0.5 * p.tau * p.weights[k] - slope[k] * here.q[k] * here.q[k]
        if here.rho[k] > ZERO * top or not gradient[k] > 0.0:
            free[count] = k
            count += 1
    return free[:count]


@part
def moved(here: Point, free: Array, h: Array, share: float) -> Array:
    """Return rho a share of the step from where it is, held at 0; what is not free is 0."""
    rho = np.zeros(len(here.rho))
    for a in range(len(free)):
        rho[free[a]] = max(here.rho[free[a]] - share * h[a], 0.0)
    return rho


@part
def first_to_end(here: Point, free: Array, h: Array) -> float:
    """Return the share of the step at which the first block gets to 0, or more than 1."""
    share = 2.0
    for a in range(len(free)):
        if h[a] > here.rho[free[a]] > 0.0:
            share = min(share, here.rho[free[a]] / h[a])
    return share


@part
def newton_step(p: Problem, here: Point, damping: float) -> tuple[Point, float]:
    """Return the point after a step and the next damping, above MOST where none goes down.

    The step is held at rho >= 0, or else goes as far as to the first that gets to 0: where columns
    are nearly collinear one takes what another loses; the first way cuts the loss off and keeps the
    gain, and goes uphill. Values are compared; within their rounding, the gaps, which feel the
    square root of a change.
    """
    gradient = np.empty(len(here.rho))
    slope = np.empty(len(here.rho))
    free = free_blocks(p, here, gradient, slope)
    D = np.empty(len(free))
    h = np.empty(len(free))
    wide = len(free) > p.Y.size
    U = np.empty((len(free) * wide, p.Y.size))
    H = np.empty((len(free) * (1 - wide), len(free)))
    if wide:
        fill_half(p, here, free, slope, U)
    else:
        fill_hessian(p, here, free, slope, H)
    for a in range(len(free)):
        k = free[a]
        e1 = slope[free[a]]
        # e'' q², of which mu is a factor.
        D[a] = 4.0 * p.mu * e1 * np.sqrt(e1 / (2.0 * p.tau * p.weights[k])) * here.q[k] * here.q[k]
    level = here.value + ROUNDING * abs(here.value)
    share = 1.0
    while damping <= MOST:
        for a in range(len(free)):
            h[a] = gradient[free[a]]
        damped_step(U, H, D, damping, h)
        for way in range(2):
            share = first_to_end(here, free, h) if way > 0 else 1.0
            if share <= 1.0:
                there = evaluate(p, moved(here, free, h, share))
                if there.value <= here.value or (there.value <= level and there.gap < here.gap):
                    return there, max(damping / 30.0, LEAST)
        damping = max(100.0 * damping, FIRST)
    return here, damping


@compiled
def minimise(p: Problem, rho: Array, goal: float) -> tuple[Point, int]:
    """Go down from rho until the gap is at most `goal`, or no further; count the steps."""
    here = evaluate(p, rho)
    damping = LEAST
    steps = 0
    while here.gap > goal and steps < STEPS and damping <= MOST:
        here, damping = newton_step(p, here, damping)
        steps += 1
    return here, steps
