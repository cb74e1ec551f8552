"""``landweber-newton``: Newton steps on the fixed point of the damped Landweber map, certified.

All columns go down the path together, so that the gradient of every column over all features is
one matrix product per step. It only screens and checks: the coefficients come from compiled code,
one column at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from genesig.compiled import sweep
from genesig.compiled.column import Column, Point
from genesig.compiled.screen import Sets
from genesig.optim.screening import in_single, screen_of, strong_rule
from genesig.optim.solution import Path
from genesig.optim.training import TrainingSets, part_of

Array = np.ndarray[Any, Any]

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
    """Solve every column exactly; the bytes do not depend on the chunks or on threads.

    A column ends after its first fit of more than `longest` features.
    """
    most = sets.X.shape[1] if longest is None else longest
    size = int(np.clip(MEMORY / _column_bytes(*sets.matrix.F.shape), FEWEST, MOST))
    parts: list[tuple[Array, Array, Array]] = []
    gap, iterations = np.empty(tau.shape), np.empty(tau.shape, dtype=np.int64)
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
    sets: TrainingSets, single: tuple[Array, Array], part: slice, along: tuple[Array, ...],
    most: int,
) -> tuple[Array, Array, Array] | None:  # fmt: skip
    """Take some columns down the path; None where they would need too much room together."""
    chunk = _Chunk(sets, single, part)
    try:
        return _by_column(list(chunk.walk([array[part] for array in along], most)))
    except _Crowded:
        return None


def _column_bytes(d: int, width: int) -> int:
    """Return about what a column takes: its features, the room it grows to."""
    room = min(d, KNOWN)
    return 40 * d + 8 * room * (width + 2 * room)


def _by_column(steps: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    """Put (sizes, indices, values) of all columns, step by step, in the order (column, step)."""
    sizes = np.stack([step[0] for step in steps])
    column = np.repeat(np.broadcast_to(np.arange(sizes.shape[1]), sizes.shape), sizes.ravel())
    order = np.argsort(column, kind="stable")
    indices, values = (np.concatenate([step[i] for step in steps])[order] for i in (1, 2))
    return sizes.T.ravel(), indices, values


class _Crowded(Exception):
    """One column needs much room, and all would get it."""


class _Chunk:
    """The columns that go down the path together."""

    def __init__(self, sets: TrainingSets, single: tuple[Array, Array], part: slice) -> None:
        rows = part_of(sets.padded, part)
        (q, self.width), d = rows.mask.shape, len(sets.weights)
        self.norm, self.tau_max = sets.norm[part], sets.tau_max[part]
        inverse = np.ascontiguousarray(sets.inverse_scales(part))
        self.screen = screen_of(sets, single, inverse)
        at = Point(
            tau=np.full(q, np.inf), mu=np.zeros(q), dual=np.zeros(q, dtype=bool),
            longest=np.full(q, np.inf), strong=np.zeros(q),
            floor=FLOOR * self.tau_max * sets.weights.max(),
        )  # fmt: skip
        self.many = Column(
            at, sets.matrix.F, sets.matrix.shift, sets.weights, **rows._asdict(),
            r=rows.y.copy(), pull=rows.mask * rows.y, inverse=inverse,
            slot=np.full((q, d), -1, dtype=np.int32), ridge=np.full((q, 1), -1.0),
            size=np.zeros((q, 2), dtype=np.int64), **_room(q, min(ROOM, d + 2), self.width),
        )  # fmt: skip
        self.progress = sweep.Progress(np.zeros(q, np.uint8), np.zeros(q), np.zeros((q, 2), int))
        self.sets = Sets(
            working=np.empty((q, d), dtype=np.int32), n_working=np.zeros(q, dtype=np.int64),
            support=np.empty((q, d), dtype=np.int32), value=np.empty((q, d)),
            n_support=np.zeros(q, dtype=np.int64), mark=np.zeros((q, d), dtype=np.uint8),
            found=np.empty((q, d), dtype=np.int32), level=np.empty((q, d), dtype=np.float32),
            n_found=np.zeros(q, dtype=np.int64),
        )  # fmt: skip

    def walk(self, along: list[Array], most: int) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the coefficients of all columns, step by step; fill gap and iterations."""
        tau, mu, gap, iterations = along
        ended = np.zeros(len(tau), dtype=bool)
        at, progress = self.many.at, self.progress
        at.strong[:] = strong_rule(np.maximum(self.tau_max, tau[:, 0]), tau[:, 0], False)
        self._step(sweep.FIRST, ended)
        for m in range(tau.shape[1]):
            at.tau[:], at.mu[:], at.strong[:] = tau[:, m], mu[:, m], np.inf
            self._choose_form()
            if m + 1 < tau.shape[1]:
                at.strong[:] = strong_rule(at.tau, tau[:, m + 1], mu[:, m + 1] != at.mu)
            self._step(sweep.SOLVE, ended)
            gap[:, m] = np.where(ended, np.nan, progress.gap)
            iterations[:, m] = np.where(ended, -1, progress.steps[:, 0])
            yield self._coefficients(~ended)
            ended |= self.sets.n_support > most

    def _choose_form(self) -> None:
        """Choose the form whose matrix is smaller: of the active features, or of the samples.

        How many will be active is known while they enter; the dual is begun with where it is sure.
        """
        at, rows = self.many.at, self.many.number[:, 0]
        able = (at.mu > 0) & (rows < len(self.many.F))
        at.longest[:] = np.where(able & (at.mu > STIFF * self.norm), rows, np.inf)
        large = (at.mu > LARGE * self.norm) | (at.tau == 0)
        at.dual[:] = able & large | (self.sets.n_support > at.longest)

    def _step(self, state: int, ended: Array) -> None:
        """Take all columns that have not ended to the point of their path."""
        self.progress.state[:], self.progress.steps[:] = np.where(ended, sweep.DONE, state), 0
        while not sweep.step(self.many, self.sets, self.screen, self.progress):
            self._grow()

    def _grow(self) -> None:
        """Double the room for known features; a row is an odd number of cache lines."""
        old = self.many
        q, room = old.feature.shape
        room = 2 * room + 8
        if q > 1 and 16 * q * room**2 > CROWDED:
            raise _Crowded
        new = _room(q, room, self.width)
        for name, array in new.items():
            had = getattr(old, name)
            array[tuple(map(slice, had.shape))] = had
        self.many = old._replace(**new)

    def _coefficients(self, kept: Array) -> tuple[Array, Array, Array]:
        s = self.sets
        sizes = np.where(kept, s.n_support, 0)
        inside = np.arange(sizes.max()) < sizes[:, None]
        part = np.s_[:, : inside.shape[1]]
        return sizes, s.support[part][inside].astype(np.int64), s.value[part][inside]


def _room(q: int, room: int, width: int) -> dict[str, Any]:
    return dict(
        feature=np.zeros((q, room), dtype=np.int64), Z=np.zeros((q, room, width)),
        gram=np.zeros((q, room, room)), c=np.zeros((q, room)), b=np.zeros((q, room)),
        sign=np.zeros((q, room)), inside=np.zeros((q, room), dtype=bool),
        active=np.zeros((q, room), dtype=np.int64), L=np.zeros((q, room, room)),
        spare=np.zeros((q, room)), place=np.zeros((q, room), dtype=np.int64),
    )  # fmt: skip
