"""One step of the path of many training sets: solve for all responses, then check all features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import inner, jit, plain
from genesig.compiled.active_set import SLACK
from genesig.compiled.lanes import dot
from genesig.compiled.multitask import gap_of, length, minimise, problem, surely
from genesig.compiled.multitask_groups import DONE, end, waits
from genesig.compiled.operations import larger, smaller, zeros
from genesig.compiled.screen import LINE, SINGLE, keep
from genesig.compiled.tiles import COLUMNS, SINGLES, add_products, any_above

Array = np.ndarray[Any, Any]

ROUGH, NEAR, EXACT = 0, 1, 2  # then DONE; of a set: its working set is found, then it is solved
ENOUGH, CLOSE = 1e-3, 1e-6  # gaps: where missing features show; where most lists are known as long


class Many(NamedTuple):
    """q training sets at a point of their paths.

    F (d, N), shift (d,), weights (d,) shared; tau, mu, strong, floor (q,), strong the length of a
    gradient that is worth keeping for the next point; mask (q, N), number (q, 3), inverse (q, d) as
    in `column.Column`; rows (q, N) the training rows, then -1; Y, R (q, T, N); working (q, d) with
    n_working (q,), mark (q, d) of it; value (q, d, T) the coefficients; known (q, 6) as in `Joint`;
    group (q,) as in `multitask_groups`.
    """

    F: Array
    shift: Array
    weights: Array
    tau: Array
    mu: Array
    strong: Array
    floor: Array
    mask: Array
    number: Array
    inverse: Array
    rows: Array
    Y: Array
    R: Array
    working: Array
    n_working: Array
    mark: Array
    value: Array
    known: Array
    group: Array


class Found(NamedTuple):
    """What the last look at all features has found, and how far each set is.

    tiles, square, top: the features as in `screen.Screen`, with the squares of their scales;
    feature and the square of its level (q, d) with number (q,); state, gap (q,), steps (q, 2);
    joined (q, 2) how often features joined a working set, at this point and the one before;
    doubt (q,) of its length.
    """

    tiles: Array
    square: Array
    top: Array
    feature: Array
    level: Array
    number: Array
    state: Array
    gap: Array
    steps: Array
    joined: Array
    doubt: Array


@jit
def step(many: Many, found: Found, goal: float, longest: float) -> None:
    """Minimise every set at its point: on the working set, then all features are looked at.

    Those that violate optimality join, until there are none. A set whose list is certainly longer
    than `longest` is left where that shows, and so are those of its group: their gap is NaN.
    """
    q, T, rest = many.Y.shape[0], many.Y.shape[1], found.tiles.shape[1]
    todo, near, low = zeros(q, np.int64), zeros(q, np.float32), zeros(q, np.float32)
    R, tile = zeros((rest, q * T + COLUMNS), np.float32), zeros((COLUMNS, SINGLES), np.float32)
    sums = zeros((q, SINGLES), np.float32)
    while True:
        count = 0
        for s in range(q):
            if found.state[s] == DONE or waits(many.group, found.doubt, s):
                continue
            solve(many, found, s, goal, longest)
            enlist(many, found, s, R, count, near, low)
            todo[count] = s
            count += 1
        if count == 0:
            return
        look(found, R, todo[:count], T, low, tile, sums)
        for s in todo[:count]:
            found.steps[s, 1] += 1
            if found.state[s] != DONE and not check(many, found, s, near[s], longest):
                found.state[s] += 1


@jit
def pulls(F: Array, inverse: Array, number: Array, Y: Array, out: Array) -> None:
    """Fill out (k, d) with ``(2/n) ||z_j'Y||`` for responses Y (k, T, N)."""
    row = zeros(Y.shape[1], np.float64)
    for s in range(len(Y)):
        for j in range(len(F)):
            for t in range(len(row)):
                row[t] = 2.0 / number[s, 0] * inverse[s, j] * dot(F[j], Y[s, t])
            out[s, j] = length(row)


@inner
def solve(many: Many, found: Found, s: int, goal: float, longest: float) -> None:
    """Minimise over the working set, in the order of the features.

    Where the working set lacked no feature at the point before, it is solved to the end at once.
    """
    W, state = many.working[s, : many.n_working[s]], found.state[s]
    sort(W)
    at = problem(many, s, W)
    aim = ENOUGH if state == ROUGH else CLOSE if state == NEAR else goal
    most = longest if found.joined[s, 1] == 0 else -1.0
    if minimise(at, aim, goal, most, found.steps[s]):
        found.state[s] = EXACT
    for t in range(len(at.R)):
        for i in range(at.R.shape[1]):
            if many.rows[s, i] >= 0:
                many.R[s, t, many.rows[s, i]] = at.R[t, i]
    for k in range(len(W)):
        for t in range(at.B.shape[1]):
            many.value[s, W[k], t] = at.B[k, t]


@plain
def sort(W: Array) -> None:
    """Put a list that is nearly in order in ascending order."""
    for a in range(1, len(W)):
        j, e = W[a], a
        while e > 0 and W[e - 1] > j:
            W[e] = W[e - 1]
            e -= 1
        W[e] = j


@plain
def enlist(
    many: Many, found: Found, s: int, R: Array, c: int, near: Array, low: Array
) -> None:  # fmt: skip
    """Make set s the c-th that is looked at: its residuals, and the squared levels to look from.

    The error of each product is that of `screen.enlist`, and so is that of their length.
    """
    T, size = many.Y.shape[1], 0.0
    for t in range(T):
        size += dot(many.R[s, t], many.R[s, t])
    size, n = larger(np.sqrt(size), 1e-200), R.shape[0]
    for t in range(T):
        for i in range(n):
            R[i, c * T + t] = many.R[s, t, i] / size
    most = 2.0 / many.number[s, 0] * size * found.top[s]
    level = larger(many.tau[s] - (n + 8) * SINGLE * np.sqrt(n) * most, 0.0)
    near[s] = (level / most) ** 2
    low[s] = smaller(near[s], (many.strong[s] / most) ** 2)


@plain
def look(found: Found, R: Array, todo: Array, T: int, low: Array, tile: Array, sums: Array) -> None:
    """Find the features whose gradients in the sets `todo` are as long as `low`."""
    tiles, count = found.tiles, len(todo)
    for s in todo:
        found.number[s] = 0
    for i in range(len(tiles)):
        for c in range(count):
            for w in range(SINGLES):
                sums[c, w] = np.float32(0.0)
        for first in range(0, count * T, COLUMNS):
            for c in range(COLUMNS):
                for w in range(SINGLES):
                    tile[c, w] = np.float32(0.0)
            add_products(R, first, tiles[i], 0, tiles.shape[1], tile)
            for c in range(smaller(COLUMNS, count * T - first)):
                to = (first + c) // T
                for w in range(SINGLES):
                    sums[to, w] += tile[c, w] * tile[c, w]
        for c in range(count):
            s = todo[c]
            for w in range(0, SINGLES, LINE):
                if any_above(sums, c, w, found.square, s, i * SINGLES + w, low[s]):
                    line, at = sums[c, w : w + LINE], i * SINGLES + w
                    keep(found.feature[s], found.level[s], found.number, s, at, line, low[s])


@inner
def check(many: Many, found: Found, s: int, near: float, longest: float) -> bool:
    """Let violators join the working set; without any the set gets its gap and its next list."""
    T, top, ratio = many.Y.shape[1], 0.0, 1.0
    row = zeros(T, np.float64)
    features, level = found.feature[s, : found.number[s]], found.level[s]
    for f in range(len(features)):
        j, here = features[f], level[f]
        level[f] = 0.0
        if many.mark[s, j] or here < near:
            continue
        for t in range(T):
            row[t] = 2.0 / many.number[s, 0] * many.inverse[s, j] * dot(many.F[j], many.R[s, t])
        g, limit = length(row), many.tau[s] * many.weights[j]
        ratio = larger(ratio, g / limit)
        if g > limit * (1.0 + SLACK) + many.floor[s]:
            level[f] = g / many.weights[j]
            top = larger(top, g / many.weights[j])
    exact, long = found.state[s] == EXACT, selected(many, s) > longest
    if long and (top == 0.0 if exact else certainly(many, s, ratio) > longest):
        end(many.group, found, s)
        return True
    found.doubt[s] = long
    if found.state[s] == ROUGH and top == 0.0 and not long:
        found.state[s] = NEAR
    if top > 0.0:
        join(many, s, features, level, 0.6 * top)
        found.joined[s, 0] += 1
        return True
    if exact:
        finish(many, found, s, ratio)
    return False


@inner
def certainly(many: Many, s: int, ratio: float) -> int:
    """Return how many features are selected in the exact fit, at the least."""
    sizes, n, mu = zeros(many.n_working[s], np.float64), many.number[s, 0], many.mu[s]
    for k in range(len(sizes)):
        sizes[k] = length(many.value[s, many.working[s, k]])
    room = gap_of(many.known[s], n, ratio) * many.known[s, 4] / n / mu if mu > 0.0 else np.inf
    return surely(sizes, room)


@plain
def selected(many: Many, s: int) -> int:
    """Return how many rows of set s are not 0."""
    count = 0
    for k in range(many.n_working[s]):
        count += length(many.value[s, many.working[s, k]]) > 0.0
    return count


@plain
def join(many: Many, s: int, features: Array, level: Array, least: float) -> None:
    """Add features to the working set: far from the solution only the largest are worth having."""
    for f in range(len(features)):
        if level[f] > 0.0 and level[f] >= np.float32(least):
            many.working[s, many.n_working[s]] = features[f]
            many.n_working[s] += 1
            many.mark[s, features[f]] = 1


@plain
def finish(many: Many, found: Found, s: int, ratio: float) -> None:
    """Write the gap over all features; keep those selected, and those found, for the next point."""
    W, n = many.working[s, : many.n_working[s]], 0
    found.gap[s] = gap_of(many.known[s], many.number[s, 0], ratio)
    for k in range(len(W)):
        j = W[k]
        kept = length(many.value[s, j]) > 0.0
        many.mark[s, j] = kept
        if kept:
            W[n] = j
            n += 1
    many.n_working[s] = n
    features = found.feature[s, : found.number[s]]
    for f in range(len(features)):
        if many.mark[s, features[f]] == 0:
            many.mark[s, features[f]] = 1
            many.working[s, many.n_working[s]] = features[f]
            many.n_working[s] += 1
