"""Ridge refits of Cox's model: Newton's steps, with one Hessian for as long as it serves.

Without bounds a step is one linear system, and what it costs is the Hessian. An older one still
points downhill, and near the minimum nearly as well, all the more when it is corrected by how the
gradient has changed since; a new one is made where that promises too little progress.

Source: Kelley 1995, section 5.4.3 (Newton's method with a kept derivative); Nocedal and Wright
2006, algorithm 7.4 (BFGS by its last steps, begun at the inverse of the kept one).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, jit, plain
from genesig.compiled.cox import STEPS, Features, penalty, search, standardise
from genesig.compiled.cox_model import ACTIVE, KNOWN, Fit, Room, factor, learn, predict
from genesig.compiled.cox_wide import pull
from genesig.compiled.dense import backward, forward
from genesig.compiled.lanes import LANES, add_row, dot
from genesig.compiled.likelihood import Terms, slope, value
from genesig.compiled.operations import zeros

Array = np.ndarray[Any, Any]

AGAIN = 0.3  # of the decrease promised before: where more is left, the Hessian is made anew
STEPS_BACK = 16  # steps that correct a Hessian at most


class Lists(NamedTuple):
    """Supports of one training set: list s is indices[indptr[s]:indptr[s + 1]]; lam (L,)."""

    indptr: Array
    indices: Array
    lam: Array


class Refits(NamedTuple):
    """What refits of S lists for L lam give.

    scores (S, L, N) of all samples, without the covariates; held (S, L, c) the coefficients of the
    columns that span these; x (L, m) all coefficients of the last list.
    """

    scores: Array
    held: Array
    x: Array


class Memory(NamedTuple):
    """Steps taken since the Hessian was made: s and y, what the gradient changed by, (K, m).

    along (K,) = 1 / s'y, share (K,) room; kept (1,) of them, the next one is under way: -x and -g.
    """

    s: Array
    y: Array
    along: Array
    share: Array
    kept: Array


@jit
def refit_lists(
    terms: Terms, fit: Fit, room: Room, all_of: Features, C: Array, lists: Lists, slack: float,
    out: Refits
) -> None:  # fmt: skip
    """Fill the scores by the minimisers for each list and lam, each started at the one before.

    The fit and its room are as large as the longest list and C (c, N), which spans the covariates;
    ridge is that of these, cut is 0: no feature has a bound. x is left as that of the last list.
    """
    ease = fit.ridge[0] if len(fit.ridge) > 0 else 0.0
    memory = remember(len(fit.x))
    for s in range(len(lists.indptr) - 1):
        some = lists.indices[lists.indptr[s] : lists.indptr[s + 1]]
        few, m = len(some), len(some) + len(C)
        own = Fit(fit.D[:m], fit.ridge[:m], fit.cut[:m], fit.x[:m], fit.eta)
        begin(all_of, some, C, own, room)
        for k in range(len(lists.lam)):
            for j in range(m):
                own.ridge[j] = 2.0 * lists.lam[k] if j < few else ease
            smooth(terms, own, room, memory, slack, k == 0)
            for j in range(m):
                out.x[k, j] = own.x[j]
            score(all_of, some, out.x[k], out.scores[s], k)
            for c in range(len(C)):
                out.held[s, k, c] = out.x[k, few + c]


@plain
def begin(all_of: Features, some: Array, C: Array, fit: Fit, room: Room) -> None:
    """Set up the fit of some features and C at 0, all of them known."""
    few = len(some)
    standardise(all_of, some, fit.D)
    for c in range(len(C)):
        for i in range(C.shape[1]):
            fit.D[few + c, i] = C[c, i]
    for j in range(len(fit.x)):
        fit.x[j] = room.sign[j] = 0.0
        room.known[j] = room.slot[j] = j
    for i in range(len(fit.eta)):
        fit.eta[i] = 0.0
    room.size[KNOWN] = len(fit.x)


@plain
def score(all_of: Features, some: Array, b: Array, scores: Array, k: int) -> None:
    """Fill scores[k], (N,), with those of coefficients b of some features."""
    constant = 0.0
    for i in range(scores.shape[1]):
        scores[k, i] = 0.0
    for a in range(len(some)):
        each = all_of.inverse[some[a]] * b[a]
        add_row(each, all_of.F, some[a], scores, k, 0, scores.shape[1])
        constant += each * all_of.mean[some[a]]
    for i in range(scores.shape[1]):
        scores[k, i] -= constant


@inner
def remember(m: int) -> Memory:
    """Return room for steps of m numbers."""
    pairs, shares = (
        zeros((2, STEPS_BACK + 1, m), np.float64),
        zeros((2, STEPS_BACK + 1), np.float64),
    )
    return Memory(pairs[0], pairs[1], shares[0], shares[1], zeros(1, np.int64))


@plain
def smooth(terms: Terms, fit: Fit, room: Room, memory: Memory, slack: float, new: bool) -> None:
    """Step until the decrease that is promised is below `slack`; `new` where none is known."""
    now = value(terms, fit.eta[: len(room.here.e)], room.here) + penalty(fit, fit.x)
    if not new:
        take_factor(fit, room, memory)
    last = np.inf
    for step in range(STEPS):
        slope(terms, room.here)
        gradient(fit, room)
        if step > 0:
            finish(fit, room, memory)
        promised = 0.0 if new else direct(fit, room, memory)
        if new or -promised > AGAIN * last or memory.kept[0] == STEPS_BACK:
            learn(terms, fit, room, 0)
            take_factor(fit, room, memory)
            promised = direct(fit, room, memory)
        new, last = False, -promised
        begin_step(fit, room, memory)
        predict(fit, room)
        now = search(terms, fit, room, promised, now)
        if now == np.inf or last <= slack:
            return


@plain
def take_factor(fit: Fit, room: Room, memory: Memory) -> None:
    """Factor the Hessian that is known, with the ridge as it is; no step has corrected it."""
    room.size[ACTIVE] = memory.kept[0] = 0
    factor(fit, room)


@plain
def gradient(fit: Fit, room: Room) -> None:
    """Fill g, with that of the ridge."""
    for i in range(len(room.here.u)):
        room.line[2, i] = room.here.u[i]
    pull(fit.D, room.line, 2, room.pulled)
    for j in range(len(fit.x)):
        room.g[j] = room.pulled[j // LANES, j % LANES] + fit.ridge[j] * fit.x[j]


@plain
def begin_step(fit: Fit, room: Room, memory: Memory) -> None:
    """Note where a step begins."""
    k = memory.kept[0]
    for j in range(len(fit.x)):
        memory.s[k, j], memory.y[k, j] = -fit.x[j], -room.g[j]


@plain
def finish(fit: Fit, room: Room, memory: Memory) -> None:
    """Note where it has led; not where rounding is all that it has changed."""
    k, along = memory.kept[0], 0.0
    for j in range(len(fit.x)):
        memory.s[k, j] += fit.x[j]
        memory.y[k, j] += room.g[j]
        along += memory.s[k, j] * memory.y[k, j]
    if along > 0.0:
        memory.along[k] = 1.0 / along
        memory.kept[0] = k + 1


@plain
def direct(fit: Fit, room: Room, memory: Memory) -> Any:
    """Fill z with where the step leads, and return the change that it promises."""
    m, slope_there, target = len(fit.x), 0.0, room.target
    for j in range(m):
        target[j] = room.g[j]
    for k in range(memory.kept[0] - 1, -1, -1):
        memory.share[k] = memory.along[k] * dot(memory.s[k, :m], target[:m])
        for j in range(m):
            target[j] -= memory.share[k] * memory.y[k, j]
    forward(room.L, m, target)
    backward(room.L, m, target)
    for k in range(memory.kept[0]):
        back = memory.along[k] * dot(memory.y[k, :m], target[:m])
        for j in range(m):
            target[j] += (memory.share[k] - back) * memory.s[k, j]
    for j in range(m):
        room.z[j] = fit.x[j] - target[j]
        slope_there -= room.g[j] * target[j]
    return slope_there
