"""Quadratic models of Cox's partial likelihood with an l1 norm, solved by their signs.

``½ x'Qx - g'x + Σ_j cut_j |x_j|``, Q = D H D' + diag(ridge), is solved for the signs of x as they
are, back to where the first of them turns, which leaves; when all agree, those that miss their
bounds most enter. Near the solution one linear system is all.

Source: Lee, Battle, Raina and Ng 2007 (feature-sign search).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import plain
from genesig.compiled.cholesky import cholesky
from genesig.compiled.cox_wide import Wide, pull, solve_wide, wide_for
from genesig.compiled.dense import backward, drop_row, first_turn, forward
from genesig.compiled.lanes import LANES, add_row, dot
from genesig.compiled.likelihood import Here, Rough, Terms, curved, halves, here_for
from genesig.compiled.operations import larger
from genesig.compiled.products import products

Array = np.ndarray[Any, Any]

EASE = 1e-10  # share of its bound, or of the largest gradient, by which a gradient may miss
SHARE = 0.6  # of the largest miss: those that miss their bounds by as much enter together
DEPENDENT = 1e-12  # least share that a feature is taken to keep outside the span of the others
MANY = 2  # active features for each sample, from which on models are solved for the samples
FEW = 1000  # most features of a fit whose products are kept; models of more are those of samples
KNOWN, ACTIVE = 0, 1  # places in `size`


class Fit(NamedTuple):
    """A problem, and where its fit is: D (m, N) with a feature in each row, 0 beyond the samples.

    ridge, cut, x (m,), eta (N,) = D'x; N whole lanes.
    """

    D: Array
    ridge: Array
    cut: Array
    x: Array
    eta: Array


class Room(NamedTuple):
    """Room for the models of a fit.

    here (see `Here`), rough a point on the way; z, g, sign, target, miss (m,), slot, known, active
    (m,) int, size (2,); line (4, N) for Hη - u, D'z, what H D'z leaves of the former, and a trial;
    pulled (m/8, 8) products of features with one of these; rows (m, N), sums (m, T'), gram, less
    (m, m) of the known features (see `halves`), L (m, m) the factor of the active ones; wide for
    models of more active features than samples.
    """

    here: Here
    rough: Rough
    z: Array
    g: Array
    sign: Array
    target: Array
    miss: Array
    slot: Array
    known: Array
    active: Array
    size: Array
    line: Array
    pulled: Array
    rows: Array
    sums: Array
    gram: Array
    less: Array
    L: Array
    wide: Wide


@plain
def learn(terms: Terms, fit: Fit, room: Room, start: int) -> None:
    """Fill the products of the features that are known from place `start` on."""
    for p in range(start, room.size[KNOWN]):
        halves(terms, room.here, fit.D[room.known[p]], room.rows[p], room.sums[p])
    products(room.rows, start, room.size[KNOWN], room.gram)
    products(room.sums, start, room.size[KNOWN], room.less)


@plain
def know(room: Room, j: int) -> None:
    """Give feature j a place among the known, unless it has one."""
    if room.slot[j] < 0:
        room.slot[j] = room.size[KNOWN]
        room.known[room.size[KNOWN]] = j
        room.size[KNOWN] += 1


@plain
def entry(fit: Fit, room: Room, j: int, k: int) -> Any:
    """Return Q_jk of two known features."""
    p, q = room.slot[j], room.slot[k]
    found = room.gram[p, q] - room.less[p, q]
    return found + fit.ridge[j] if j == k else found


@plain
def least(room: Room, j: int) -> Any:
    """Return what a known feature is taken to have of its own beside the others."""
    return larger(DEPENDENT * room.gram[room.slot[j], room.slot[j]], 1e-300)


@plain
def append(fit: Fit, room: Room, j: int) -> None:
    """Let a known feature be active; one that depends on the others will go far, until one is 0."""
    m = room.size[ACTIVE]
    row = room.L[m]
    for a in range(m):
        row[a] = entry(fit, room, j, room.active[a])
    forward(room.L, m, row)
    row[m] = np.sqrt(larger(entry(fit, room, j, j) - dot(row[:m], row[:m]), least(room, j)))
    room.active[m] = j
    room.size[ACTIVE] = m + 1


@plain
def leave(room: Room, a: int) -> None:
    """Take the a-th active feature out."""
    m, j = room.size[ACTIVE], room.active[a]
    room.z[j] = room.sign[j] = 0.0
    drop_row(room.L, m, a)
    for i in range(a, m - 1):
        room.active[i] = room.active[i + 1]
    room.size[ACTIVE] = m - 1


@plain
def begin(terms: Terms, fit: Fit, room: Room) -> None:
    """Set up the model at the point: g, and the features that are not 0, or free, as known."""
    n, back = len(room.here.e), room.line[0]
    curved(terms, room.here, fit.eta[:n], back[:n])
    for j in range(n):
        back[j] -= room.here.u[j]
    room.size[KNOWN] = room.size[ACTIVE] = 0
    pull(fit.D, room.line, 0, room.pulled)
    for j in range(len(fit.x)):
        room.g[j], room.z[j], room.slot[j] = room.pulled[j // LANES, j % LANES], fit.x[j], -1
        room.sign[j] = np.sign(fit.x[j]) if fit.cut[j] > 0.0 else 0.0
        if fit.x[j] != 0.0 or fit.cut[j] == 0.0:
            know(room, j)


@plain
def by_samples(terms: Terms, fit: Fit, room: Room) -> bool:
    """Solve the model for the samples, where all features have a penalty; False where it fails."""
    for j in range(len(fit.x)):
        if fit.cut[j] == 0.0 or fit.ridge[j] == 0.0:
            return False
        room.target[j] = room.z[j]
    if solve_wide(terms, fit, room):
        return True
    for j in range(len(fit.x)):
        room.z[j] = room.target[j]
    return False


@plain
def factor(fit: Fit, room: Room) -> None:
    """Make all known features active."""
    m = room.size[KNOWN]
    for a in range(m):
        room.active[a] = room.known[a]
        for c in range(a + 1):
            room.L[a, c] = room.gram[a, c] - room.less[a, c]
        room.L[a, a] += fit.ridge[room.known[a]]
    good = cholesky(room.L, m)
    for a in range(m):
        good = good and room.L[a, a] * room.L[a, a] >= least(room, room.known[a])
    if good:
        room.size[ACTIVE] = m
        return
    for a in range(m):
        append(fit, room, room.known[a])


@plain
def go(fit: Fit, room: Room) -> bool:
    """Go to where the signs lead (True), or to the first that turns, which leaves (False)."""
    m, target = room.size[ACTIVE], room.target
    for a in range(m):
        j = room.active[a]
        target[a] = room.g[j] - fit.cut[j] * room.sign[j]
    forward(room.L, m, target)
    backward(room.L, m, target)
    share, out = first_turn(room.active, m, room.z, room.sign, target)
    if out >= 0 and share == 0.0:
        for a in range(m - 1, -1, -1):
            j = room.active[a]
            if room.sign[j] != 0.0 and room.z[j] == 0.0 and target[a] * room.sign[j] <= 0.0:
                leave(room, a)
        return False
    for a in range(m):
        j = room.active[a]
        room.z[j] = target[a] if out < 0 else room.z[j] + share * (target[a] - room.z[j])
    if out >= 0:
        leave(room, out)
    return out < 0


@plain
def predict(fit: Fit, room: Room) -> None:
    """Fill ``D'z``."""
    N = fit.D.shape[1]
    for i in range(N):
        room.line[1, i] = 0.0
    for a in range(room.size[ACTIVE]):
        j = room.active[a]
        add_row(room.z[j], fit.D, j, room.line, 1, 0, N)


@plain
def misses(terms: Terms, fit: Fit, room: Room) -> float:
    """Fill miss with how far each feature at 0 is beyond its bound, signed; return the most."""
    n, rest, most, ease = len(room.here.e), room.line[2], 0.0, 0.0
    curved(terms, room.here, room.line[1, :n], rest[:n])
    for i in range(n):
        rest[i] = room.line[0, i] - rest[i]
    for j in range(len(fit.x)):
        ease = larger(ease, abs(room.g[j]))
    pull(fit.D, room.line, 2, room.pulled)
    for j in range(len(fit.x)):
        room.miss[j] = 0.0
        if fit.cut[j] == 0.0 or room.sign[j] != 0.0:
            continue
        g = room.pulled[j // LANES, j % LANES]
        beyond = abs(g) - fit.cut[j] * (1.0 + EASE) - EASE * ease
        if beyond > 0.0:
            room.miss[j] = beyond * np.sign(g)
            most = larger(most, beyond)
    return most


@plain
def enter(terms: Terms, fit: Fit, room: Room, bound: float) -> None:
    """Let in the features that miss their bounds by as much as `bound`."""
    start = room.size[KNOWN]
    for j in range(len(fit.x)):
        if abs(room.miss[j]) >= bound:
            know(room, j)
    learn(terms, fit, room, start)
    for j in range(len(fit.x)):
        if abs(room.miss[j]) >= bound:
            room.sign[j] = np.sign(room.miss[j])
            append(fit, room, j)


@plain
def model(terms: Terms, fit: Fit, room: Room) -> bool:
    """Minimise the quadratic model at the point, into z and D'z; False where it takes too long."""
    begin(terms, fit, room)
    many = MANY * len(room.here.e)
    kept = len(room.gram) >= len(fit.x)
    few = kept and room.size[KNOWN] <= many
    if not few and by_samples(terms, fit, room):
        return True
    if not kept:
        return False
    learn(terms, fit, room, 0)
    factor(fit, room)
    for _ in range(20 * len(fit.x) + 20):
        if not go(fit, room):
            continue
        if few and room.size[ACTIVE] > many:
            few = False
            if by_samples(terms, fit, room):
                return True
        predict(fit, room)
        most = misses(terms, fit, room) if room.size[ACTIVE] < len(fit.x) else 0.0
        if most == 0.0:
            return True
        enter(terms, fit, room, SHARE * most)
    return False


def room_for(n: int, T: int, m: int, most: int = FEW) -> Room:
    """Return room for the models of m features; for products only where these are not too many."""
    wide, (slot, known, active) = -(-n // LANES) * LANES, np.empty((3, m), dtype=np.int64)
    z, g, sign, target, miss = np.empty((5, m))
    few = m if m <= most else 0
    gram, less, L = np.empty((3, few, few))
    pulled, sums = np.zeros((-(-m // LANES), LANES)), np.zeros((few, -(-T // LANES) * LANES))
    return Room(
        here_for(n, T), Rough(np.empty(m), np.empty(wide), np.empty(n)), z, g, sign, target, miss,
        slot, known, active, np.zeros(2, np.int64), np.zeros((4, wide)), pulled,
        np.zeros((few, wide)), sums, gram, less, L,
        wide_for(n if m > min(MANY * n, most) else 0, wide, m),
    )  # fmt: skip
