"""Ridge of a group of supports: those of their features that all have are reduced once.

With the core C of a group, G_CC = Q T Q', and the extras A of a support, for each rho = n lam,

    (G_AA + rho I - F'(T + rho I)^-1 F) b_A = Z_A'y - F'(T + rho I)^-1 Q'Z_C'y,   F = Q'G_CA,
    b_C = Q (T + rho I)^-1 (Q'Z_C'y - F b_A),

and scores are z_C'b_C = (Q'z_C)'(T + rho I)^-1 (...): nothing is turned back for them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.chain import pass_down, pass_up, set_row, subtract, times_row
from genesig.compiled.dense import tridiagonal
from genesig.compiled.lanes import LANES, add_row, dot, lanes
from genesig.compiled.moments import Matrix, Rows, moment
from genesig.compiled.operations import larger, zeros
from genesig.compiled.products import products
from genesig.compiled.turn import Panel, add_products, clear, panel_room, turn

Array = np.ndarray[Any, Any]


class Known(NamedTuple):
    """Features of all supports of one training set, standardised.

    Z (U, N) on all rows, masked (U, N) on its training rows, times √v, both less what the
    covariates say of them there; gram (U, U) of the latter or (0, 0)
    where the supports are so large that each has its own; mean in the units of the caller's X,
    inverse (U,); y (N,) the response.
    """

    Z: Array
    masked: Array
    gram: Array
    mean: Array
    inverse: Array
    y: Array


@plain
def learn(matrix: Matrix, rows: Rows, features: Array, known: Known) -> None:
    """Fill the known features."""
    F, shift, mask = matrix.F, matrix.shift, rows.mask
    for p in range(len(features)):
        j, z = features[p], known.masked[p]
        mean, inverse = moment(F[j], shift[j], mask, rows.number, known.Z[p])
        known.mean[p], known.inverse[p] = mean + shift[j], inverse
        for i in range(len(mask)):
            known.Z[p, i] = inverse * (F[j, i] - mean)
            z[i] = mask[i] * known.Z[p, i]
        explained(rows, known.Z[p], z)
    if len(known.gram) > 0:
        products(known.masked, 0, len(features), known.gram)


@plain
def explained(rows: Rows, Z: Array, z: Array) -> None:
    """Take from Z, on all rows, what the covariates say of it by the training rows; z = √v Z."""
    basis, mask = rows.basis, rows.mask
    for k in range(len(basis)):
        total = 0.0
        for i in range(len(z)):
            total += mask[i] * basis[k, i] * z[i]
        for i in range(len(z)):
            Z[i] -= total * basis[k, i]
            z[i] = mask[i] * Z[i]


@plain
def gather(rows: Array, A: Array, start: int, count: int, Z: Array) -> None:
    """Copy rows A[start : start + count] to the first rows of Z, which may be wider."""
    for a in range(count):
        for i in range(rows.shape[1]):
            Z[a, i] = rows[A[start + a], i]


class Core(NamedTuple):
    """Room for groups of supports with up to c core features and x extras, L values of lam.

    c, x and L in whole lanes.

    ridges (L,); M (c, c), work (5, c): the tridiagonal form; inverse, ratio (c, L) its factor.
    W (c + x, w): columns of the T responses, of the rows to score, of the extras, each kind in
    whole lanes: Q'Z_C'y, Q'z_C (z_A in the rows of the extras) and F. across (x, c) is F'. S
    (c + x, L) a solution, b_A in the rows of the extras. K (x x, L) the complement, entry (i, k) in
    row k x + i for k <= i, and factor (x x, L) that of a support, in row i x + k. right (T x, L)
    the right-hand sides of the extras, own (x, L) those of a support; out (w, L) products.
    """

    ridges: Array
    M: Array
    work: Array
    inverse: Array
    ratio: Array
    W: Array
    across: Array
    S: Array
    K: Array
    factor: Array
    right: Array
    own: Array
    out: Array
    panel: Panel


class Asked(NamedTuple):
    """Rows (R,) to score; pulls (U, T) = Z'Y, offset (T,) of the scores of T responses."""

    rows: Array
    pulls: Array
    offset: Array


class Group(NamedTuple):
    """Features of a group: found (U,), first `core` of them, then `extras`.

    where (U,) is the place of each there; inside (x,) tells which extras a support has.
    """

    core: int
    extras: int
    found: Array
    where: Array
    inside: Array


@inner
def core_room(ridges: Array, c: int, x: int, asked: Asked) -> Any:
    """Return room for groups of up to c core features and x extras."""
    T, L, c, x = asked.pulls.shape[1], len(ridges), lanes(c), lanes(x)
    w = lanes(T) + lanes(len(asked.rows)) + x
    return Core(
        ridges, zeros((c, c), np.float64), zeros((5, c), np.float64), zeros((c, L), np.float64),
        zeros((c, L), np.float64), zeros((c + x, w), np.float64), zeros((x, c), np.float64),
        zeros((c + x, L), np.float64), zeros((x * x, L), np.float64), zeros((x * x, L), np.float64),
        zeros((T * x, L), np.float64), zeros((x, L), np.float64), zeros((w, L), np.float64),
        panel_room(c, larger(w, L)),
    )  # fmt: skip


@plain
def entry(known: Known, p: int, q: int) -> float:
    """Return z_p'z_q."""
    if len(known.gram) > 0:
        return float(known.gram[p, q])
    return float(dot(known.masked[p], known.masked[q]))


@plain
def fill(known: Known, asked: Asked, group: Group, room: Core) -> None:
    """Write the Gram matrix of the core to M, and what is to be turned to W."""
    M, W, found, c, x = room.M, room.W, group.found, group.core, group.extras
    R, T = len(asked.rows), asked.pulls.shape[1]
    first = lanes(T) + lanes(R)
    clear(W, 0, lanes(c) + x)
    for a in range(c):
        p = found[a]
        for b in range(a + 1):
            M[a, b] = M[b, a] = entry(known, p, found[b])
        for b in range(c, lanes(c)):
            M[a, b] = 0.0
        for t in range(T):
            W[a, t] = asked.pulls[p, t]
        for k in range(x):
            W[a, first + k] = entry(known, p, found[c + k])
    for a in range(c + x):
        row = a if a < c else lanes(c) - c + a
        for k in range(R):
            W[row, lanes(T) + k] = known.Z[found[a], asked.rows[k]]


@plain
def turn_form(room: Core, c: int, width: int) -> None:
    """Bring M[:c, :c] to tridiagonal form, factor that for each rho, and turn W[:c, :width]."""
    work = room.work
    if c == 0:
        return
    tridiagonal(room.M, c, work[2], work[3], work[4], work)
    turn(room.M, c, work[4], room.W, width, room.panel, False)
    for i in range(c):
        for e in range(len(room.ridges)):
            pivot = work[2, i] + room.ridges[e]
            if i > 0:
                pivot -= work[3, i - 1] * room.ratio[i - 1, e]
            room.inverse[i, e] = 1.0 / pivot
            room.ratio[i, e] = work[3, i] / pivot if i < c - 1 else 0.0


@plain
def solve_core(room: Core, c: int, column: int) -> None:
    """Fill S with the solutions of ``(T + rho I) S = W[:, column]``."""
    spread(room, c, column)
    sweep(room, c)


@plain
def spread(room: Core, c: int, column: int) -> None:
    """Write a column of W to all columns of S."""
    for a in range(lanes(c)):
        set_row(room.W[a, column], room.S, a)


@plain
def sweep(room: Core, c: int) -> None:
    """Solve ``(T + rho I) S = S`` in place."""
    if c > 0:
        for e in range(0, room.S.shape[1], LANES):
            pass_down(room.ratio, c, room.S, e)
            pass_up(room.inverse, room.ratio, c, room.S, e)


@plain
def along(room: Core, first: int, last: int, rows: int) -> None:
    """Set out[first:last], in whole lanes, to columns of W times S, over some rows."""
    clear(room.out, first, lanes(last))
    add_products(1.0, room.W, first, last, room.S, room.S.shape[1], rows, room.out)


@plain
def complement(known: Known, asked: Asked, group: Group, room: Core) -> None:
    """Fill the Schur complement of the core, and the right-hand sides of the extras."""
    c, x = group.core, group.extras
    T, stride, width = asked.pulls.shape[1], len(room.across), len(room.ridges)
    first = lanes(T) + lanes(len(asked.rows))
    for k in range(x):
        p = group.found[c + k]
        for a in range(lanes(c)):
            room.across[k, a] = room.W[a, first + k]
        solve_core(room, c, first + k)
        along(room, first + k - k % LANES, first + x, lanes(c))
        for i in range(k, x):
            at = k * stride + i
            set_row(entry(known, p, group.found[c + i]), room.K, at)
            add_row(-1.0, room.out, first + i, room.K, at, 0, width)
        for e in range(width):
            room.K[k * stride + k, e] += room.ridges[e]
    for t in range(T if x > 0 else 0):
        solve_core(room, c, t)
        along(room, first, first + x, lanes(c))
        for k in range(x):
            set_row(asked.pulls[group.found[c + k], t], room.right, t * stride + k)
            add_row(-1.0, room.out, first + k, room.right, t * stride + k, 0, width)


@plain
def choose(group: Group, A: Array, room: Core) -> int:
    """List the extras of a support, factor their complement, and return how many there are."""
    c, x, stride, F, a = group.core, group.extras, len(room.across), room.factor, 0
    for k in range(x):
        group.inside[k] = 0
    for p in range(len(A)):
        at = group.where[A[p]]
        if at >= c:
            group.inside[at - c] = 1
    for k in range(x):
        if group.inside[k] > 0:
            group.inside[a] = k
            a += 1
    for i in range(a):
        for k in range(i + 1):
            at = i * stride + k
            set_row(0.0, F, at)
            of = group.inside[k] * stride + group.inside[i]
            add_row(1.0, room.K, of, F, at, 0, F.shape[1])
            subtract(F, i * stride, F, k * stride, k, F, at)
            if k < i:
                times_row(F, k * stride + k, F, at)
        for e in range(F.shape[1]):
            F[i * stride + i, e] = 1.0 / np.sqrt(F[i * stride + i, e])
    return a


@plain
def solve(group: Group, a: int, t: int, room: Core) -> None:
    """Fill S for response t of the support whose a extras are chosen."""
    c, x, F, own, S = group.core, group.extras, room.factor, room.own, room.S
    stride, first, width = len(room.across), lanes(c), S.shape[1]
    clear(own, 0, a)
    clear(S, first, first + x)
    for i in range(a):
        add_row(1.0, room.right, t * stride + group.inside[i], own, i, 0, width)
        subtract(F, i * stride, own, 0, i, own, i)
        times_row(F, i * stride + i, own, i)
    for i in range(a - 1, -1, -1):
        times_row(F, i * stride + i, own, i)
        add_row(1.0, own, i, S, first + group.inside[i], 0, width)
        for k in range(i):
            subtract(F, i * stride + k, own, i, 1, own, k)
    spread(room, c, t)
    if a > 0:
        add_products(-1.0, room.across, 0, c, S[first:], width, x, S)
    sweep(room, c)
