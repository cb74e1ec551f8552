"""Ridge refits of many training sets: on their supports for many lam, neighbours together.

The tridiagonal form of a group of supports is that of its core, the features of all of them. What a
support has beside it, its extras, is solved by the Schur complement of the core. Of a support with
more features than samples it is ``b = Z (Z'Z + rho I)^-1 y``, n × n: the samples stand where a
group has its core, see `core`, and there are no extras.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, jit, plain
from genesig.compiled.core import (
    Asked,
    Core,
    Group,
    Known,
    along,
    choose,
    complement,
    core_room,
    fill,
    gather,
    learn,
    solve,
    turn_form,
)
from genesig.compiled.lanes import LANES, add_row, dot, lanes
from genesig.compiled.moments import BLOCK, Matrix, Rows, copy
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.turn import add_products, clear, turn

Array = np.ndarray[Any, Any]

TOGETHER = 16  # supports of a group
EXTRAS = 128  # features that not all of them have
SLOW = 2.5  # what a product takes while a matrix is reduced, in products of a whole block


@plain
def cost(core: int, extras: int, number: int, beside: int, lam: int) -> float:
    """Return about how many products a group takes; `beside`: rows and responses."""
    c, x, reduced = float(core), float(extras), 1.4 * float(core) ** 3 * SLOW
    turned = 2.0 * c * c * (x + beside)
    solved = lam * (c * x * (x + 18.0) + x * x * x * number / 9.0)
    return reduced + turned + solved + lam * c * 2.0 * (x + beside + 4.0) * number


@inner
def plan(indptr: Array, places: Array, alone: Array, count: Array, beside: int, lam: int) -> Any:
    """Return where the groups of supports start that cost least, and the number of supports.

    alone (M,) is 0 where a support may be solved with others; count (U,) is room of zeros, and
    left so.
    """
    number = len(indptr) - 1
    best, before = zeros(number + 1, np.float64), zeros(number + 1, np.int64)
    for j in range(1, number + 1):
        best[j] = np.inf
    for i in range(number):
        core, union, j = 0, 0, i
        while j < number and j - i < TOGETHER and (j == i or alone[i] + alone[j] == 0):
            core = 0
            for a in range(indptr[j], indptr[j + 1]):
                p = places[a]
                union += 1 if count[p] == 0 else 0
                core += 1 if count[p] == j - i else 0
                count[p] += 1
            if j > i and union - core > EXTRAS:
                j += 1
                break
            found = best[i] + cost(core, union - core, j - i + 1, beside, lam)
            if found < best[j + 1]:
                best[j + 1], before[j + 1] = found, i
            j += 1
        for a in range(indptr[i], indptr[j]):
            count[places[a]] = 0
    return steps_to(before)


@inner
def steps_to(before: Array) -> Any:
    """Return the way from 0 to the last place, of which each was reached from `before`."""
    number, at = 1, len(before) - 1
    while at > 0:
        number, at = number + 1, before[at]
    way, at = zeros(number, np.int64), len(before) - 1
    for g in range(number - 1, -1, -1):
        way[g], at = at, before[at]
    return way


@plain
def members(indptr: Array, places: Array, count: Array, found: Array) -> tuple[int, int]:
    """Fill `found` with the features of a group of supports, and return how many of two kinds.

    First those of all of them, then those of some; both in their order. count (U,) is room of
    zeros, and left so.
    """
    number, core, extras = len(indptr) - 1, 0, 0
    for a in range(indptr[0], indptr[number]):
        count[places[a]] += 1
    for p in range(len(count)):
        if count[p] == number:
            found[core] = p
            core += 1
    for p in range(len(count)):
        if 0 < count[p] < number:
            found[core + extras] = p
            extras += 1
        count[p] = 0
    return core, extras


@inner
def fill_samples(known: Known, Y: Array, A: Array, asked: Asked, room: Core) -> None:
    """Write Z'Z of a support to M, and to W the responses and the products of rows to score."""
    (T, N), R = Y.shape, lanes(len(asked.rows))
    Z, own = zeros((BLOCK, N), np.float64), zeros((BLOCK, lanes(T) + R), np.float64)
    clear(room.M, 0, N)
    clear(room.W, 0, N)
    for start in range(0, len(A), BLOCK):
        number = smaller(BLOCK, len(A) - start)
        gather(known.masked, A, start, number, Z)
        for a in range(number):
            for k in range(len(asked.rows)):
                own[a, lanes(T) + k] = known.Z[A[start + a], asked.rows[k]]
        for i in range(0, N, LANES):
            add_products(1.0, Z, i, i + LANES, Z, i + LANES, number, room.M)
        add_products(1.0, Z, 0, N, own, lanes(T) + R, number, room.W)
    for i in range(N):
        for k in range(i + 1, N):
            room.M[i, k] = room.M[k, i]
        for t in range(T):
            room.W[i, t] = Y[t, i]


@plain
def weights_of_samples(known: Known, A: Array, room: Core, B: Array) -> None:
    """Fill B (m, L) with Z S."""
    clear(B, 0, len(A))
    for a in range(len(A)):
        for i in range(known.masked.shape[1]):
            add_row(known.masked[A[a], i], room.S, i, B, a, 0, B.shape[1])


FEATURES, SAMPLES, SINGULAR = 0, 1, 2
TINY = 1e-9  # below this share of the trace, a Gram matrix would lose n lam
SHARED = 4  # as many features as this times the samples have one Gram matrix for all supports


class Supports(NamedTuple):
    """The M supports of one training set: f is features[places[indptr[f] : indptr[f + 1]]].

    indptr (M + 1,), features (U,), places (nnz,).
    """

    indptr: Array
    features: Array
    places: Array


class Refits(NamedTuple):
    """The refits of M supports to T responses for L' values of lam; nnz or n may be 0.

    scores (M, L', n, T) of the first n rows, written for those that are asked for; values
    (L', nnz, T) the coefficients per unit of the caller's X, constant (M, L', T) what these leave.
    left (M,) marks supports left to `singular.refit_singular`: some lam is next to nothing.
    """

    scores: Array
    values: Array
    constant: Array
    left: Array


class Task(NamedTuple):
    """What the supports of one training set are solved for; forms (M,): how."""

    known: Known
    Y: Array
    supports: Supports
    forms: Array
    asked: Asked


@inner
def refit(
    matrix: Matrix, rows: Rows, Y: Array, supports: Supports, lam: Array, asked: Asked,
    refits: Refits,
) -> None:  # fmt: skip
    """Refit the supports of one training set to Y (T, N) for lam (L,), in whole lanes.

    The first L' are kept. A support whose values are kept is solved by itself: their bytes depend
    on no other.
    """
    U, ridges, forms = len(supports.features), zeros(len(lam), np.float64), len(supports.indptr) - 1
    known, lowest = known_of(matrix, rows, supports.features), np.inf
    for e in range(len(lam)):
        ridges[e] = rows.number[0] * lam[e]
        lowest = smaller(lowest, ridges[e])
    task = Task(known, Y, supports, zeros(forms, np.int64), asked)
    prepare(task, lowest)
    count = zeros(U, np.int64)
    beside = len(Y) + len(asked.rows)
    alone = zeros(forms, np.int64)
    for f in range(forms):
        alone[f] = 1 if refits.values.shape[1] > 0 or task.forms[f] != FEATURES else 0
    starts = plan(supports.indptr, supports.places, alone, count, beside, len(lam))
    room, B = rooms(task, starts, ridges, count)
    found, where, inside = zeros(U, np.int64), zeros(U, np.int64), zeros(len(room.own), np.int64)
    for g in range(len(starts) - 1):
        first, last = starts[g], starts[g + 1]
        if task.forms[first] == SINGULAR:
            refits.left[first] = 1
            continue
        c, x = known.masked.shape[1], 0
        if task.forms[first] == FEATURES:
            indptr = supports.indptr[first : last + 1]
            c, x = members(indptr, supports.places, count, found)
            for k in range(c + x):
                where[found[k]] = k
        together(task, Group(c, x, found, where, inside), first, last, room, B, refits)


@inner
def known_of(matrix: Matrix, rows: Rows, features: Array) -> Any:
    """Return the features standardised, with their products where supports share them."""
    N, U = matrix.F.shape[1], len(features)
    shared = U if U <= SHARED * N else 0
    known = Known(
        zeros((U, N), np.float64), zeros((U, N), np.float64), zeros((shared, shared), np.float64),
        zeros(U, np.float64), zeros(U, np.float64), zeros(N, np.float64),
    )  # fmt: skip
    learn(matrix, rows, features, known)
    return known


@inner
def prepare(task: Task, lowest: float) -> None:
    """Fill the pulls of the features, and the forms of the supports for the lowest n lam."""
    masked, pulls, indptr = task.known.masked, task.asked.pulls, task.supports.indptr
    squares = zeros(len(masked), np.float64)
    for p in range(len(masked)):
        squares[p] = dot(masked[p], masked[p])
        for t in range(len(task.Y)):
            pulls[p, t] = dot(masked[p], task.Y[t])
    for f in range(len(task.forms)):
        trace, size = 0.0, indptr[f + 1] - indptr[f]
        for a in range(indptr[f], indptr[f + 1]):
            trace += squares[task.supports.places[a]]
        task.forms[f] = SAMPLES if size > masked.shape[1] else FEATURES
        if size > 0 and lowest <= TINY * trace:
            task.forms[f] = SINGULAR


@inner
def rooms(task: Task, starts: Array, ridges: Array, count: Array) -> Any:
    """Return room for the largest group of supports, and for coefficients of the largest one."""
    indptr, places, core, extras, most = task.supports.indptr, task.supports.places, 0, 0, 0
    found, L, N = zeros(len(count), np.int64), len(ridges), task.known.masked.shape[1]
    for g in range(len(starts) - 1):
        first, last = starts[g], starts[g + 1]
        c, x = N if task.forms[first] == SAMPLES else 0, 0
        if task.forms[first] == FEATURES:
            c, x = members(indptr[first : last + 1], places, count, found)
        core, extras = larger(core, c), larger(extras, x)
    for f in range(len(task.forms)):
        most = larger(most, indptr[f + 1] - indptr[f])
    return core_room(ridges, core, extras, task.asked), zeros((most, L), np.float64)


@inner
def together(
    task: Task, group: Group, first: int, last: int, room: Core, B: Array, refits: Refits
) -> None:
    """Refit supports first to last - 1, which share a core; or the one of many features."""
    known, asked, c, many = task.known, task.asked, group.core, task.forms[first] == SAMPLES
    of_rows, indptr, places = lanes(len(task.Y)), task.supports.indptr, task.supports.places
    of_extras = of_rows + lanes(len(asked.rows))
    if many:
        fill_samples(known, task.Y, places[indptr[first] : indptr[last]], asked, room)
    else:
        fill(known, asked, group, room)
    turn_form(room, c, of_extras + lanes(group.extras))
    complement(known, asked, group, room)
    for f in range(first, last):
        A = places[indptr[f] : indptr[f + 1]]
        extras = choose(group, A, room) if group.extras > 0 else 0
        for t in range(len(task.Y)):
            solve(group, extras, t, room)
            along(room, of_rows, of_extras, lanes(c) + group.extras)
            keep_scores(room.out, of_rows, asked, t, refits.scores[f])
            if refits.values.shape[1] == 0:
                continue
            turn(room.M, c, room.work[4], room.S, B.shape[1], room.panel, True)
            if many:
                weights_of_samples(known, A, room, B)
            for a in range(0 if many else len(A)):
                copy(room.S[group.where[A[a]]], B[a])
            keep_values(known, task.supports, f, t, B, refits)


@plain
def keep_scores(out: Array, first: int, asked: Asked, t: int, scores: Array) -> None:
    """Write the products of each row that is asked for to response t of scores (L', n, T)."""
    for e in range(len(scores)):
        for k in range(len(asked.rows)):
            scores[e, asked.rows[k], t] = asked.offset[t] + out[first + k, e]


@plain
def keep_values(
    known: Known, supports: Supports, f: int, t: int, B: Array, refits: Refits
) -> None:  # fmt: skip
    """Write coefficients per unit of the caller's X, and the constant that they leave."""
    first, values = supports.indptr[f], refits.values
    size = supports.indptr[f + 1] - first
    for e in range(len(values)):
        constant = 0.0
        for a in range(size):
            p = supports.places[first + a]
            values[e, first + a, t] = known.inverse[p] * B[a, e]
            constant -= values[e, first + a, t] * known.mean[p]
        refits.constant[f, e, t] = constant


class Lists(NamedTuple):
    """Supports of k training sets, `number` of each: as in `Path`, one after the other."""

    number: int
    indptr: Array
    indices: Array


@jit
def refit_each(
    matrix: Matrix, rows: Rows, Y: Array, lists: Lists, lam: Array, offset: Array, wanted: Array,
    refits: Refits,
) -> None:  # fmt: skip
    """Refit the supports of each of k training sets to its responses Y (k, T, N), see `refit`.

    Scores, of the rows `wanted` (k, n), start from offset (k, T). lam (k, L) and the arrays of
    refits have one axis more than there, but for the values, which are those of all supports.
    """
    slot, m = zeros(len(matrix.F), np.int64), lists.number
    for i in range(len(Y)):
        indptr = lists.indptr[i * m : (i + 1) * m + 1]
        first, last = indptr[0], indptr[m]
        some = supports(indptr, lists.indices[first:last], slot)
        own = Rows(rows.mask[i], rows.y[i], rows.number[i], rows.basis[i])
        values, left = refits.values[:, first:last], refits.left[i]
        out = Refits(refits.scores[i], values, refits.constant[i], left)
        pulls = zeros((len(some.features), Y.shape[1]), np.float64)
        refit(matrix, own, Y[i], some, lam[i], Asked(marked(wanted[i]), pulls, offset[i]), out)


@inner
def marked(mask: Array) -> Any:
    """Return the places where a mask is true."""
    number = 0
    for i in range(len(mask)):
        number += 1 if mask[i] else 0
    places, number = zeros(number, np.int64), 0
    for i in range(len(mask)):
        if mask[i]:
            places[number] = i
            number += 1
    return places


@inner
def supports(indptr: Array, indices: Array, slot: Array) -> Any:
    """Return the supports of one set; slot (d,) is room of zeros, and left so."""
    start, places, u = zeros(len(indptr), np.int64), zeros(len(indices), np.int64), 0
    for j in indices:
        u += 1 - slot[j]
        slot[j] = 1
    features, u = zeros(u, np.int64), 0
    for j in range(len(slot)):
        if slot[j] != 0:
            features[u], slot[j] = j, u
            u += 1
    for f in range(len(indptr)):
        start[f] = indptr[f] - indptr[0]
    for a in range(len(indices)):
        places[a] = slot[indices[a]]
    for j in features:
        slot[j] = 0
    return Supports(start, features, places)
