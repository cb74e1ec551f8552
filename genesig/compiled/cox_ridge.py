"""Ridge refits of Cox's model: Newton's steps, with one Hessian for as long as it serves.

Without bounds a step is one linear system, and what it costs is the Hessian. An older one still
points downhill, and near the minimum nearly as well; a step is tried with it first, and a new one
is made where that promises too little progress.

Source: Shamanskii 1967; Kelley 1995, section 5.4.3 (Newton's method with a kept derivative).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import jit, plain
from genesig.compiled.cox import STEPS, Features, penalty, search, standardise
from genesig.compiled.cox_model import ACTIVE, KNOWN, Fit, Room, factor, learn, predict
from genesig.compiled.cox_wide import pull
from genesig.compiled.dense import backward, forward
from genesig.compiled.lanes import LANES, add_row
from genesig.compiled.likelihood import Terms, slope, value

Array = np.ndarray[Any, Any]

AGAIN = 0.1  # of the decrease promised before: where more is left, the Hessian is made anew


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


@jit
def refit_lists(
    terms: Terms, fit: Fit, room: Room, all_of: Features, C: Array, lists: Lists, slack: float,
    out: Refits,
) -> None:  # fmt: skip
    """Fill the scores by the minimisers for each list and lam, each started at the one before.

    The fit and its room are as large as the longest list and C (c, N), which spans the covariates;
    ridge is that of these, cut is 0: no feature has a bound. x is left as that of the last list.
    """
    ease = fit.ridge[0] if len(fit.ridge) > 0 else 0.0
    for s in range(len(lists.indptr) - 1):
        some = lists.indices[lists.indptr[s] : lists.indptr[s + 1]]
        few, m = len(some), len(some) + len(C)
        own = Fit(fit.D[:m], fit.ridge[:m], fit.cut[:m], fit.x[:m], fit.eta)
        begin(all_of, some, C, own, room)
        for k in range(len(lists.lam)):
            for j in range(m):
                own.ridge[j] = 2.0 * lists.lam[k] if j < few else ease
            smooth(terms, own, room, slack, k == 0)
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


@plain
def smooth(terms: Terms, fit: Fit, room: Room, slack: float, new: bool) -> None:
    """Step until the decrease that is promised is below `slack`; `new` where none is known."""
    now = value(terms, fit.eta[: len(room.here.e)], room.here) + penalty(fit, fit.x)
    if not new:
        take_factor(fit, room)
    last = np.inf
    for _ in range(STEPS):
        slope(terms, room.here)
        promised = 0.0 if new else direct(fit, room)
        if new or -promised > AGAIN * last:
            learn(terms, fit, room, 0)
            take_factor(fit, room)
            promised = direct(fit, room)
        new, last = False, -promised
        now = search(terms, fit, room, promised, now)
        if now == np.inf or last <= slack:
            return


@plain
def take_factor(fit: Fit, room: Room) -> None:
    """Factor the Hessian that is known, with the ridge as it is."""
    room.size[ACTIVE] = 0
    factor(fit, room)


@plain
def direct(fit: Fit, room: Room) -> Any:
    """Fill z and D'z with where the step leads, and return the change that it promises."""
    n, m, slope_there = len(room.here.e), len(fit.x), 0.0
    for i in range(n):
        room.line[2, i] = room.here.u[i]
    pull(fit.D, room.line, 2, room.pulled)
    for j in range(m):
        room.g[j] = room.pulled[j // LANES, j % LANES] + fit.ridge[j] * fit.x[j]
        room.target[j] = room.g[j]
    forward(room.L, m, room.target)
    backward(room.L, m, room.target)
    for j in range(m):
        room.z[j] = fit.x[j] - room.target[j]
        slope_there -= room.g[j] * room.target[j]
    predict(fit, room)
    return slope_there
