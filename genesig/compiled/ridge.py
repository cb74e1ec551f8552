"""Ridge on the supports of a training set for many lam, neighbours on a path together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.core import (
    Asked,
    Core,
    Group,
    along,
    choose,
    complement,
    core_room,
    fill,
    solve,
    turn_form,
)
from genesig.compiled.known import Known, learn
from genesig.compiled.lanes import dot, lanes
from genesig.compiled.moments import Matrix, Rows, copy
from genesig.compiled.nested import members, plan
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.samples import fill_samples, weights_of_samples
from genesig.compiled.turn import turn

Array = np.ndarray[Any, Any]
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
