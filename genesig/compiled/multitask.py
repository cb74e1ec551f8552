"""One training set with several responses: descent by rows of coefficients, and their gap.

    min_B (1/n)||Y - ZB||² + mu ||B||² + tau sum_j w_j ||B_j||

over the features of a working set; a row B_j holds one coefficient for each response.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.lanes import LANES, add_row, dot, lanes
from genesig.compiled.moments import standardise
from genesig.compiled.multitask_newton import newton
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.products import FEW, dots, dots_of_four, dots_of_one

Array = np.ndarray[Any, Any]

SWEEPS = 8  # over the rows that are not 0, or do not stay there, between looks at all
USUAL = 0.1  # share of its gap that a round leaves, before it is known
NEWTONS = 2.5  # steps that are taken to be needed
ROUNDS = 500
HALVINGS = 50


class Joint(NamedTuple):
    """The problem on m working features.

    tau, mu absolute, n samples; Y, R (T, N) responses and residuals; Z (m, N) standardised, 0
    outside the training rows; square (m,) ||z_j||², weight (m,), B (m, T); known (6,) what the gap
    is made of; pulls (2, 8) room.
    """

    tau: float
    mu: float
    n: float
    Y: Array
    R: Array
    Z: Array
    square: Array
    weight: Array
    B: Array
    known: Array
    pulls: Array


@plain
def take(line: Array, rows: Array, out: Array) -> None:
    """Copy some places of a line to the front of another."""
    for i in range(len(rows)):
        out[i] = line[rows[i]]


@inner
def problem(many: Any, s: int, W: Array) -> Any:
    """Return the problem of set s on its working set and training rows, with copies of all."""
    m, T, n = len(W), many.Y.shape[1], 0
    for i in many.rows[s]:
        n += i >= 0
    Z, inside = zeros((m, lanes(n)), np.float64), zeros(lanes(n), np.float64)
    places, centre = many.rows[s, :n], many.number[s, 1] != 0.0
    for i in range(n):
        inside[i] = 1.0
    B, numbers = zeros((m, T), np.float64), zeros((2, m), np.float64)
    pair = zeros((2, T, lanes(n)), np.float64)
    at = Joint(
        many.tau[s], many.mu[s], many.number[s, 0], pair[0], pair[1], Z, numbers[0], numbers[1], B,
        many.known[s], zeros((2, LANES), np.float64),
    )  # fmt: skip
    for t in range(T):
        take(many.Y[s, t], places, at.Y[t])
        take(many.R[s, t], places, at.R[t])
    for k in range(m):
        j = W[k]
        take(many.F[j], places, Z[k])
        mean = dot(inside, Z[k]) / n if centre else 0.0
        standardise(Z[k], mean, many.inverse[s, j], inside, Z[k])
        at.square[k], at.weight[k] = dot(Z[k], Z[k]), many.weights[j]
        for t in range(T):
            B[k, t] = many.value[s, j, t]
    return at


@plain
def length(x: Array) -> float:
    """Return ||x|| of a short vector."""
    total = 0.0
    for t in range(len(x)):
        total += x[t] * x[t]
    return float(np.sqrt(total))


@plain
def pull(at: Joint, k: int, row: Array) -> None:
    """Fill row (T,) with z_k'R, eight responses at a time, or as few as there are."""
    T, N = at.R.shape
    if T <= FEW:
        dots_of_four(at.R, 0, at.Z, k, N, at.pulls, 0)
        for t in range(T):
            row[t] = at.pulls[0, t]
        return
    for first in range(0, T, LANES):
        dots_of_one(at.R, first, at.Z, k, N, at.pulls, 0)
        for t in range(first, smaller(first + LANES, T)):
            row[t] = at.pulls[0, t - first]


@plain
def sweep(at: Joint, rows: Array, row: Array) -> None:
    """Minimise over one of the rows after the other; row (T,) is scratch."""
    T, N = at.R.shape
    for k in rows:
        b = at.B[k]
        pull(at, k, row)
        for t in range(T):
            row[t] += at.square[k] * b[t]
        size, cut = length(row), 0.5 * at.n * at.tau * at.weight[k]
        share = (size - cut) / (size * (at.square[k] + at.n * at.mu)) if size > cut else 0.0
        for t in range(T):
            new = share * row[t]
            if new != b[t]:
                add_row(b[t] - new, at.Z, k, at.R, t, 0, N)
                b[t] = new


@plain
def residual(at: Joint) -> None:
    """Set ``R = Y - ZB`` in the order of the features."""
    (m, T), N = at.B.shape, at.R.shape[1]
    for t in range(T):
        for i in range(N):
            at.R[t, i] = at.Y[t, i]
        for k in range(m):
            if at.B[k, t] != 0.0:
                add_row(-at.B[k, t], at.Z, k, at.R, t, 0, N)


@plain
def look(at: Joint, room: Array, some: Array) -> tuple[float, int]:
    """Fill `known`; return the duality gap over the working set, and how many rows are in `some`.

    These are not 0 or will not stay there. room is (2, T).
    """
    (m, T), N, count = at.B.shape, at.R.shape[1], 0
    total, square, ratio = 0.0, 0.0, 1.0
    for first in range(0, m, 2):
        for s in range(0, T, LANES):
            dots(at.R, s, at.Z, first, N, at.pulls, 0)
            for t in range(s, smaller(s + LANES, T)):
                room[0, t], room[1, t] = at.pulls[0, t - s], at.pulls[1, t - s]
        for k in range(first, smaller(first + 2, m)):
            b, row, limit = at.B[k], room[k - first], at.tau * at.weight[k]
            along, own, size = 0.0, 0.0, 0.0
            for t in range(T):
                g = 2.0 / at.n * row[t] - 2.0 * at.mu * b[t]
                along, own, size = along + b[t] * g, own + b[t] * b[t], size + g * g
            if own > 0.0 or size > limit * limit:
                some[count] = k
                count += 1
            if size > (ratio * limit) ** 2:
                ratio = np.sqrt(size) / limit
            total += limit * np.sqrt(own) - along
            square += own
    left, along, energy = 0.0, 0.0, 0.0
    for t in range(T):
        left += dot(at.R[t], at.R[t])
        along += dot(at.Y[t], at.R[t])
        energy += dot(at.Y[t], at.Y[t])
    known = at.known
    known[0], known[1], known[2], known[3], known[4] = total, ratio, along, left, energy
    known[5] = at.n * at.mu * square
    return gap_of(known, at.n, 1.0), count


@plain
def gap_of(known: Array, n: float, ratio: float) -> float:
    """Return the duality gap relative to ||Y||²/n; ratio is the largest ||g||/(tau w) elsewhere.

    See `structured.certificate.duality_gap`.
    """
    total, along, left, energy, ridge = known[0], known[2], known[3], known[4], known[5]
    s = 1.0 / larger(ratio, known[1])
    total += (1.0 - s) / n * (2.0 * along - (1.0 + s) * (left + ridge))
    return float(larger(total, 0.0) / (energy / n if energy > 0.0 else 1.0))


@inner
def minimise(at: Joint, rough: float, goal: float, most: float, steps: Array) -> bool:
    """Go down until the gap over the working set is at most `rough`, or no further.

    With no more than `most` rows that are not 0, go on until it is at most `goal`; False if not so.
    Sweeps find these rows, Newton steps their lengths; steps[0] counts the latter.
    """
    T = at.B.shape[1]
    room, some = zeros((2, T), np.float64), zeros(len(at.B), np.int64)
    before, best, waiting = np.inf, np.inf, 0
    now, count = look(at, room, some)
    for _ in range(ROUNDS):
        if now <= rough and rough > goal and count_rows(at.B) <= most:
            rough = goal
        if now <= rough:
            return rough == goal
        for _ in range(SWEEPS):
            sweep(at, some[:count], room[0])
            count = unlike_zero(at, some[:count])
        now, count = look(at, room, some)
        step = now > rough and not quicker(at, count, now / before, now / rough)
        if step:
            newton(at, rough, steps)
        if step or now <= rough:
            residual(at)
            now, count = look(at, room, some)
        waiting = 0 if now < 0.5 * best else waiting + 1
        if waiting > 20:
            break
        before, best = now, smaller(now, best)
    residual(at)
    look(at, room, some)
    return rough == goal


@plain
def unlike_zero(at: Joint, some: Array) -> int:
    """Bring those of some rows that are not 0 to the front; returns how many."""
    count = 0
    for k in some:
        if length(at.B[k]) > 0.0:
            some[count] = k
            count += 1
    return count


@plain
def count_rows(B: Array) -> int:
    """Return how many rows are not 0."""
    count = 0
    for k in range(len(B)):
        count += length(B[k]) > 0.0
    return count


@plain
def quicker(at: Joint, count: int, rate: float, far: float) -> bool:
    """Tell whether sweeps that lower the gap by `rate` a round get there before Newton steps do."""
    if rate >= 1.0:
        return False
    T, N = at.R.shape
    rounds = np.log(far) / -np.log(larger(rate, 1e-3) if rate > 0.0 else USUAL)
    step = 0.5 * (count * count / 6.0 + 0.5 * count * N + N * N)
    return bool(rounds * SWEEPS * (300.0 + N * T) < NEWTONS * step)


@plain
def surely(sizes: Array, room: float) -> int:
    """Return how many of the features with rows of these lengths the exact fit selects, at least.

    The objective grows by mu ||B' - B||² from its minimum B', so that B' lies within √(gap / mu),
    room its square: only rows whose squares add up to less may all be 0 there. The bound of them is
    found by halving.
    """
    count, least, low, high = 0, 0, 0.0, 0.0
    for size in sizes:
        high, count = larger(high, size * size), count + (size > 0.0)
    for again in range(HALVINGS + 1):
        bound = 0.5 * (low + high) if again > 0 else high
        total, gone = 0.0, 0
        for size in sizes:
            if size > 0.0 and size * size <= bound:
                total, gone = total + size * size, gone + 1
        if total > room:
            high, least = bound, count - gone
        elif again == 0:
            return 0
        else:
            low = bound
    return least
