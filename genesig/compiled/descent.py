"""One step of a preconditioned, Anderson-accelerated proximal gradient method, in one call.

Points are rows q_a of length n, in a basis of the samples where the metric w (n,) is diagonal:

    T(z) = prox^w_{Ω*}(z + φ(z)/w),   z⁺ = Σ_i c_i T(z_i),
    c = argmin_{Σc = 1} ||Σ_i c_i (T(z_i) - z_i)||_w.

Since φ is affine and Σ c = 1, φ(z⁺) = Σ_i c_i φ(T(z_i)): one gradient a step, and it is taken at
the feasible point, so that the duality gap comes with it.

Source: Walker and Ni (2011); with the guard on the objective, Bertrand and Massias (2021).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, inner
from genesig.compiled.algebra import add, cholesky, dot, solve_lower, solve_upper

WINDOW = 10
"""Steps that are combined."""
AT = 0
COUNT = 1
BEST = 2
"""Places in `Memory.place`: the new point, points to combine, the best point (-1 at first)."""
BLOCK = 1024
"""Numbers at a time, which stay in the cache."""
NOISE = 1e-14
"""Rise of the objective that may be rounding, relative to its terms."""
RIDGE = 1e-10
"""Of the combination, relative to the trace of its Gram matrix."""


class Bounds(NamedTuple):
    """Ω* of the rows: none of the first ``free[0]``, Σ_g (||q_g|| - r_g)_+²/2ε of the others.

    block (k,) of each bounded row; radius (G,); ridge (2,) = ε and the bound of Σ r_g ||φ_g|| over
    ||φ|| for those that the free rows stand for.
    """

    free: Array
    block: Array
    radius: Array
    ridge: Array


class Memory(NamedTuple):
    """The last points (S, m n), S = WINDOW + 1, with φ there and w^½ (T(z) - z).

    gram (S, S) of these moves; ahead, slope (m n,) = z, φ(z); weight (n,) = w; own (n,), what each
    unit of q adds to φ; conjugate (S,) Ω*(q); shift (G,) λ of each block, -1 inside its bound;
    place (3,); scratch (5, ·); squares (G, n).
    """

    points: Array
    slopes: Array
    moves: Array
    gram: Array
    ahead: Array
    slope: Array
    weight: Array
    own: Array
    conjugate: Array
    shift: Array
    place: Array
    scratch: Array
    squares: Array


@inner
def project(bounds: Bounds, memory: Memory, q: Array) -> Any:
    """Overwrite the bounded rows of q (m n,) by their prox; return Ω* there.

    q_i <- v_i w_i/(w_i + λ) with λ ≥ 0 the root of 1/||q_g(λ)|| = (1 - ε λ)/r_g, by Newton's
    method, which meets it from the left because the left side is concave.
    """
    w = memory.weight
    squares = memory.squares
    n = len(w)
    free = bounds.free[0]
    curvature = bounds.ridge[0]
    total = 0.0
    for g in range(len(squares)):
        for i in range(n):
            squares[g, i] = 0.0
    for a in range(len(bounds.block)):
        row = q[(free + a) * n : (free + a + 1) * n]
        into = squares[bounds.block[a]]
        for i in range(n):
            into[i] += row[i] * row[i]
    for g in range(len(squares)):
        radius = bounds.radius[g]
        norm = 0.0
        for i in range(n):
            norm += squares[g, i]
            squares[g, i] *= w[i] * w[i]
        if norm <= radius * radius:
            memory.shift[g] = -1.0
            continue
        found, length = root(squares[g], w, radius, curvature, max(memory.shift[g], 0.0), memory)
        memory.shift[g] = found
        goal = max(radius / (1.0 - curvature * found), radius)
        if curvature > 0.0:
            total += (goal - radius) * (goal - radius) / (2.0 * curvature)
        for i in range(n):
            squares[g, i] = goal / length * (w[i] / (w[i] + found))
    for a in range(len(bounds.block)):
        row = q[(free + a) * n : (free + a + 1) * n]
        factor = squares[bounds.block[a]]
        if memory.shift[bounds.block[a]] >= 0.0:
            for i in range(n):
                row[i] *= factor[i]
    return total


@inner
def root(
    weighted: Array, w: Array, radius: float, curvature: float, start: float, memory: Memory
) -> Any:
    """Return λ and ||q(λ)||."""
    n = len(w)
    shift = start
    norm = radius
    inverse = memory.scratch[0, :n]
    square = memory.scratch[1, :n]
    cube = memory.scratch[2, :n]
    for _ in range(60):
        for i in range(n):
            inverse[i] = 1.0 / (w[i] + shift)
            square[i] = weighted[i] * inverse[i] * inverse[i]
            cube[i] = 1.0
        total = dot(square, cube)
        norm = np.sqrt(total)
        rest = 1.0 / norm - (1.0 - curvature * shift) / radius
        change = -rest / (dot(square, inverse) / (total * norm) + curvature / radius)
        if abs(rest) * radius <= 1e-13 or (shift == 0.0 and change <= 0.0):
            break
        shift = max(shift + change, 0.0)
    return shift, norm


@inner
def gap_bound(bounds: Bounds, memory: Memory, at: int) -> Any:
    """Return Ω(φ) + Ω*(q) - <q, φ>; for the free rows a bound of it (Cauchy-Schwarz)."""
    q = memory.points[at]
    phi = memory.slopes[at]
    norms = memory.scratch[3]
    n = len(memory.weight)
    free = bounds.free[0]
    size = 0.0
    for g in range(len(bounds.radius)):
        norms[g] = 0.0
    size = dot(phi[: free * n], phi[: free * n])
    for a in range(len(bounds.block)):
        row = phi[(free + a) * n : (free + a + 1) * n]
        norms[bounds.block[a]] += dot(row, row)
    total = bounds.ridge[1] * np.sqrt(size) + memory.conjugate[at] - dot(q, phi)
    for g in range(len(bounds.radius)):
        size += norms[g]
        total += bounds.radius[g] * np.sqrt(norms[g])
    return total + 0.5 * bounds.ridge[0] * size


@inner
def rises(memory: Memory, at: int) -> Any:
    """Whether H + Ω* is larger than at the best point; H is quadratic with gradient -φ."""
    best = memory.place[BEST]
    new = memory.points[at]
    phi = memory.slopes[at]
    old = memory.points[best]
    psi = memory.slopes[best]
    both = dot(new, phi)
    cross = dot(new, psi)
    back = dot(old, phi)
    own = dot(old, psi)
    change = -0.5 * (both + cross - back - own) + memory.conjugate[at] - memory.conjugate[best]
    return change > NOISE * (abs(both) + abs(cross) + abs(back) + abs(own))


@inner
def remember(memory: Memory, at: int) -> None:
    """Add the move to the new point to the Gram matrix."""
    n = len(memory.weight)
    move = memory.moves[at]
    root = memory.scratch[4]
    point = memory.points[at]
    for i in range(n):
        root[i] = np.sqrt(memory.weight[i])
    for first in range(0, len(move), n):
        for i in range(n):
            move[first + i] = root[i] * (point[first + i] - memory.ahead[first + i])
    memory.place[COUNT] = min(memory.place[COUNT] + 1, WINDOW)
    for k in range(memory.place[COUNT]):
        other = (at - k) % len(memory.points)
        memory.gram[at, other] = memory.gram[other, at] = dot(move, memory.moves[other])


@inner
def combine(memory: Memory, at: int) -> None:
    """Set z and φ(z)."""
    count = memory.place[COUNT]
    slots = len(memory.points)
    M = np.zeros((count, count))
    c = np.zeros(count)
    trace = 0.0
    total = 0.0
    for k in range(count):
        c[k] = 1.0
        trace += memory.gram[(at - k) % slots, (at - k) % slots]
        for e in range(k + 1):
            M[k, e] = memory.gram[(at - k) % slots, (at - e) % slots]
    for k in range(count):
        M[k, k] += RIDGE * trace
    if trace > 0.0 and cholesky(M, count):
        solve_lower(M, count, c)
        solve_upper(M, count, c)
    else:
        for k in range(1, count):
            c[k] = 0.0
    for k in range(count):
        total += c[k]
    for first in range(0, len(memory.ahead), BLOCK):
        last = min(first + BLOCK, len(memory.ahead))
        z = memory.ahead[first:last]
        phi = memory.slope[first:last]
        for e in range(len(z)):
            z[e] = phi[e] = 0.0
        for k in range(count):
            add(c[k] / total, memory.points[(at - k) % slots, first:last], z)
            add(c[k] / total, memory.slopes[(at - k) % slots, first:last], phi)


@inner
def start_from(memory: Memory, best: int) -> None:
    """Forget all other points."""
    memory.place[COUNT] = 0
    memory.place[BEST] = best
    for e in range(len(memory.ahead)):
        memory.ahead[e], memory.slope[e] = memory.points[best, e], memory.slopes[best, e]


@compiled
def advance(bounds: Bounds, memory: Memory) -> Any:
    """Judge the new point, whose φ was filled in but for `own`, and go on to the next; its gap."""
    at = memory.place[AT]
    n = len(memory.weight)
    slots = len(memory.points)
    point = memory.points[at]
    phi = memory.slopes[at]
    for first in range(0, len(point), n):
        for i in range(n):
            phi[first + i] += memory.own[i] * point[first + i]
    gap = gap_bound(bounds, memory, at)
    if memory.place[BEST] < 0:
        start_from(memory, at)
    elif rises(memory, at):
        if memory.place[COUNT] == 0:  # a plain step led up: it was too long
            for i in range(n):
                memory.weight[i] *= 2.0
        at = memory.place[BEST]
        start_from(memory, at)
    else:
        remember(memory, at)
        memory.place[BEST] = at
        combine(memory, at)
    following = (at + 1) % slots
    memory.place[AT], target = following, memory.points[following]
    for first in range(0, len(point), n):
        for i in range(n):
            target[first + i] = memory.ahead[first + i] + memory.slope[first + i] / memory.weight[i]
    memory.conjugate[following] = project(bounds, memory, target)
    return gap


class Sums(NamedTuple):
    """Tables `first`, `second` (n, n) of the kernel, (K + n ν I)⁻¹ (n, n), y (n,).

    scale (2,) = -1/2ν and whether the kernel is stationary.
    """

    first: Array
    second: Array
    inverse: Array
    y: Array
    scale: Array


@compiled
def pull_in_place(sums: Sums, U: Array, work: Array) -> None:
    """Overwrite U = X q (n, n) by the R of `Expansion`; work (3, n)."""
    n = len(U)
    half = sums.scale[0]
    stationary = sums.scale[1] != 0.0
    anchor = work[0]
    rest = work[1]
    alpha = work[2]
    for i in range(n):
        anchor[i] = U[i, i] if stationary else 0.0
    for i in range(n):
        for j in range(n):
            U[i, j] = half * (U[i, j] - anchor[j])
        rest[i] = sums.y[i] - dot(sums.first[i], U[i])
    for i in range(n):
        alpha[i] = dot(sums.inverse[i], rest)
    for i in range(n):
        for j in range(n):
            U[i, j] = sums.first[i, j] * alpha[j] + sums.second[i, j] * U[i, j]
        if stationary:
            total = 0.0
            for j in range(n):
                total += U[i, j]
            U[i, i] -= total
