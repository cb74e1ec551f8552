"""``landweber-newton``: Newton steps on the fixed point of the damped Landweber map, certified.

All columns go down the path together, so that the gradient of every column over all features is
one matrix product per step. It only screens: the coefficients come from compiled code, one column
at a time, and so does the check of what is near the bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled.column import FEATURE, STATE, Column, Known, Point
from genesig.compiled.dual import solve_duals
from genesig.compiled.working_sets import (
    DONE,
    FIRST,
    SOLVE,
    Progress,
    Sets,
    check_columns,
    solve_columns,
)
from genesig.optim.screening import in_single, scan, screen_of, strong_rule
from genesig.optim.solution import Path
from genesig.optim.training import TrainingSets, part_of

LARGE = 1e-4  # lists are soon longer than the samples with mu above this share of ||Z'Z||/n
STIFF = 2e-5  # up to this share the dual takes many steps more
FLOOR = 1e-13  # rounding of a gradient, as a share of the largest, tau_max times its weight
ROOM = 64  # features a column can know before it asks for more room
KNOWN = 400  # features that a column is taken to know
MEMORY = 40e6  # bytes that the columns of one chunk may take, about
CROWDED = 4 * MEMORY  # bytes with which a chunk that grows is given up, for its columns one by one
FEWEST = 4
MOST = 64  # columns of one chunk


def landweber_newton(
    sets: TrainingSets, tau: Array, mu: Array, tolerance: float, longest: int | None = None
) -> Path:
    """Solve every column exactly.

    A column ends after its first fit of more than `longest` features.
    """
    most = sets.X.shape[1] if longest is None else longest
    size = int(np.clip(MEMORY / _column_bytes(*sets.matrix.F.shape), FEWEST, MOST))
    parts: list[tuple[Array, Array, Array]] = []
    gap = np.empty(tau.shape)
    iterations = np.empty(tau.shape, dtype=np.int64)
    single = in_single(sets)
    along = (tau, mu, gap, iterations)
    for first in range(0, len(tau), size):
        some = range(first, min(first + size, len(tau)))
        together = _solve(sets, single, slice(first, some.stop), along, most)
        alone = (_solve(sets, single, slice(k, k + 1), along, most) for k in some)
        parts += [together] if together else filter(None, alone)
    sizes, indices, values = map(np.concatenate, zip(*parts, strict=True))
    return Path.joined(tau.shape, sizes, indices, values, gap, iterations, tolerance)


def _solve(
    sets: TrainingSets,
    single: tuple[Array, Array],
    part: slice,
    along: tuple[Array, ...],
    most: int,
) -> tuple[Array, Array, Array] | None:
    """Take some columns down the path; None where they would need too much room together."""
    try:
        tau, mu, gap, iterations = (array[part] for array in along)
        return _Chunk(sets, single, part).down(tau, mu, gap, iterations, most)
    except _Crowded:
        return None


def _column_bytes(d: int, width: int) -> int:
    """Return about what a column takes: its features, the room it grows to."""
    room = min(d, KNOWN)
    return 48 * d + 8 * room * (width + 2 * room)


class _Crowded(Exception):
    """One column needs much room, and all would get it."""


class _Way(NamedTuple):
    """M points of the paths of q columns, at the first of which nothing is selected.

    tau, mu, longest as in `Point`, longest negative where the dual is begun with; strong, the
    gradient that a feature must have to be kept for the next point; all (q, M).
    """

    tau: Array
    mu: Array
    longest: Array
    strong: Array


class _Chunk:
    """The columns that go down the path together."""

    def __init__(self, sets: TrainingSets, single: tuple[Array, Array], part: slice) -> None:
        rows = part_of(sets.every, part)
        (q, self.width) = rows.mask.shape
        d = len(sets.weights)
        self.norm = sets.norm[part]
        self.tau_max = sets.tau_max[part]
        self.rows = rows.number[:, 0]
        mean, inverse = map(np.ascontiguousarray, sets.moments_of_copy(part))
        self.screen = screen_of(sets, single, inverse)
        at = Point(
            tau=np.full(q, np.inf),
            mu=np.zeros(q),
            dual=np.zeros(q, dtype=bool),
            longest=np.full(q, np.inf),
            floor=FLOOR * self.tau_max * sets.weights.max(),
        )
        self.many = Column(
            at,
            sets.matrix.F,
            sets.weights,
            rows.mask,
            rows.y,
            r=rows.y.copy(),
            pull=rows.mask * rows.y,
            mean=mean,
            inverse=inverse,
            number=rows.number,
            basis=rows.mask[:, None] * rows.basis,
        )
        self.known = Known(
            slot=np.full((q, d), -1, dtype=np.int32),
            state=np.zeros(q, dtype=STATE),
            **_room(q, min(ROOM, d + 2), self.width),
        )
        self.known.state["ridge"] = -1.0
        self.progress = Progress(np.zeros(q, np.uint8), np.zeros(q), np.zeros((q, 1), int))
        self.sets = Sets(
            working=np.empty((q, d), dtype=np.int32),
            n_working=np.zeros(q, dtype=np.int64),
            support=np.empty((q, d), dtype=np.int32),
            value=np.empty((q, d)),
            n_support=np.zeros(q, dtype=np.int64),
            mark=np.zeros((q, d), dtype=np.uint8),
        )

    def down(
        self, tau: Array, mu: Array, gap: Array, iterations: Array, most: int
    ) -> tuple[Array, Array, Array]:
        """Return (sizes, indices, values) in the order (column, point); fill gap, iterations.

        A column ends after its first fit of more than `most` features.
        """
        way = self._way(tau, mu)
        sizes = np.zeros(tau.shape, dtype=np.int64)
        gap[:] = np.nan
        iterations[:] = -1
        found: list[list[tuple[Array, Array]]] = [[] for _ in tau]
        on = np.ones(len(tau), dtype=bool)
        self._step(way, 0, on)
        for m in range(tau.shape[1]):
            self._step(way, m + 1, on)
            gap[on, m], iterations[on, m] = self.progress.gap[on], self.progress.steps[on, 0]
            sizes[on, m] = self.sets.n_support[on]
            for q in np.flatnonzero(on):
                kept = slice(sizes[q, m])
                found[q].append(
                    (self.sets.support[q, kept].astype(np.int64), self.sets.value[q, kept].copy())
                )
            on &= self.sets.n_support <= most
        fits = [fit for of_column in found for fit in of_column]
        indices, values = map(np.concatenate, zip(*fits, strict=True))
        return sizes.ravel(), indices, values

    def _step(self, way: _Way, m: int, on: Array) -> None:
        """Take the columns that are `on` to a point of their paths.

        Each is solved on its working set; then all features of all columns are checked, and
        violators join, until there are none. The form is the one whose matrix is smaller, of the
        active features or of the samples.
        """
        at = self.many.at
        progress = self.progress
        at.tau[:] = way.tau[:, m]
        at.mu[:] = way.mu[:, m]
        at.longest[:] = way.longest[:, m]
        at.dual[:] = self.sets.n_support > at.longest
        progress.state[:] = np.where(on, FIRST if m == 0 else SOLVE, DONE)
        progress.steps[:] = 0
        while (progress.state != DONE).any():
            while not solve_columns(self.many, self.known, self.sets, progress):
                self._grow()
            if at.dual.any():
                solve_duals(self.many, self.sets, progress, False)
            todo = np.flatnonzero(progress.state != DONE)
            found = scan(self.many, self.screen, todo, way.strong[:, m])
            check_columns(self.many, self.sets, progress, found)
            if at.dual.any():
                solve_duals(self.many, self.sets, progress, True)
                check_columns(self.many, self.sets, progress, found)

    def _way(self, tau: Array, mu: Array) -> _Way:
        """Return the path after a point at which only a first working set is found."""
        first = np.maximum(self.tau_max, tau[:, 0])[:, None]
        leaps = np.zeros(tau.shape, dtype=bool)
        leaps[:, 1:] = mu[:, 1:] != mu[:, :-1]
        strong = strong_rule(np.hstack([first, tau[:, :-1]]), tau, leaps)
        able = (mu > 0) & (self.rows < len(self.many.F))[:, None]
        norm = self.norm[:, None]
        inf = np.full((len(tau), 1), np.inf)
        longest = np.where(able & (mu > STIFF * norm), self.rows[:, None], np.inf)
        longest[able & ((mu > LARGE * norm) | (tau == 0))] = -1
        return _Way(
            tau=np.hstack([inf, tau]),
            mu=np.hstack([0 / inf, mu]),
            longest=np.hstack([inf, longest]),
            strong=np.hstack([strong, inf]),
        )

    def _grow(self) -> None:
        """Double the room for known features; a row is an odd number of cache lines."""
        old = self.known
        q, room = old.features.shape
        room = 2 * room + 8
        if q > 1 and 16 * q * room**2 > CROWDED:
            raise _Crowded
        new = _room(q, room, self.width)
        for name, array in new.items():
            had = getattr(old, name)
            array[tuple(map(slice, had.shape))] = had
        self.known = old._replace(**new)


def _room(q: int, room: int, width: int) -> dict[str, Any]:
    return dict(
        features=np.zeros((q, room), dtype=FEATURE).view(np.recarray),
        Z=np.zeros((q, room, width)),
        gram=np.zeros((q, room, room)),
        active=np.zeros((q, room), dtype=np.int64),
        L=np.zeros((q, room, room)),
        spare=np.zeros((q, room)),
    )
