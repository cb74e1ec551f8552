"""A penalised likelihood along a path of (tau, mu), all training sets side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from genesig.optim.likelihood.side_by_side import Ground, Levels, State
from genesig.optim.solution import Path
from genesig.optim.solvers import grid
from genesig.optim.training import TrainingSets

Array = np.ndarray[Any, Any]

TOGETHER = 4e6
"""Bytes that the products of a tile of training sets may take: they are read again and again."""
MOST = 64
"""Training sets of a tile."""
LEAP = 0.85
"""Share of the largest product from which features enter together, where tau leaps."""
NEAR = 0.9
"""Share of tau from which they join where some were missed."""
SLACK = 1e-13
"""Decrease, relative to the null deviance, at which a fit of few features ends: rounding."""
ROUGH = 1e-2
"""Share of the tolerance at which it ends at first: a Newton step more leaves its square."""
EXACT = 1e-9
"""Share of tau beyond it at which a feature that is 0 was missed."""
ROUNDS = 30
"""Most checks of all features in a fit."""


class Sets(Protocol):
    """k training sets with a loss.

    start are the fits without features, b and g of none; deviance (k,) is what gaps are relative
    to; solve and judge are what `side_by_side.over_sets` makes, compiled.
    """

    @property
    def sets(self) -> TrainingSets:
        """The features."""

    @property
    def start(self) -> State:
        """The fits without features, (k, ·)."""

    @property
    def deviance(self) -> Array:
        """What gaps are relative to, (k,)."""

    @property
    def solve(self) -> Callable[..., None]:
        """Fit some training sets."""

    @property
    def judge(self) -> Callable[..., None]:
        """Judge the fits."""

    def ground(self, part: slice) -> Ground:
        """Return some training sets for compiled code."""


def likelihood_path(
    sets: Sets, tau: Array | float, mu: Array | float, *, tolerance: float,
    longest: int | None = None, groups: Array | None = None,
) -> tuple[Path, Array]:  # fmt: skip
    """Minimise ``h(η) + mu ||b||² + tau Σ_j w_j |b_j|``, η of features and columns, for every set.

    Parameters
    ----------
    sets : Sets
    tau, mu : floats or arrays that broadcast to (k, m)
        Absolute. Each fit starts at the solution of the one before it in its row.
    tolerance : float
        Largest duality gap, relative to the sets' deviance, at which a fit counts as converged.
    longest : int, optional
        A row ends before its first fit of more features than this.
    groups : (k,) int, optional
        Rows of one group stand together: when one ends, the others go no further than there.

    Returns
    -------
    path : Path
        Coefficients on the standardised scale.
    held : (k, m, c) array
        Coefficients of the columns; NaN where the row had ended.

    Raises
    ------
    GenesigError
        For tau or mu that are negative, or tau = mu = 0.

    Source: Friedman, Hastie and Tibshirani 2010; the strong rule: Tibshirani et al. 2012.
    """
    tau, mu = grid(sets.sets, tau, mu)
    found = _Found.empty(tau.shape, sets.start.a.shape[1])
    for part in _tiles(len(tau), sets.sets.X.shape[1], groups):
        _Tile.of(sets, part).down(tau, mu, tolerance, longest, found, groups is not None)
    path = found.path(tolerance).ended(longest)
    return path, np.where(path.iterations[..., None] < 0, np.nan, found.held)


def _tiles(k: int, d: int, groups: Array | None) -> Iterator[slice]:
    """Yield the training sets that go together."""
    size = int(np.clip(TOGETHER / (8 * d), 1, MOST))
    changes = range(0, k, size) if groups is None else [0, *np.flatnonzero(np.diff(groups)) + 1]
    for first, end in zip(changes, [*changes[1:], k], strict=True):
        yield slice(int(first), int(end))


def largest_ratio(state: State, weights: Array) -> Array:
    """Return ``max_j |g_j| / w_j`` over the features that have an l1 term, (T,)."""
    share = np.divide(1.0, weights, out=np.zeros(len(weights)), where=weights > 0)
    return np.asarray(np.max(np.abs(state.g) * share, axis=1))


def without_features(sets: Sets, part: slice) -> tuple[Ground, State]:
    """Return some training sets, and where they start, with the products of all features there."""
    ground = sets.ground(part)
    start = State(*(array[part].copy() for array in sets.start))
    state = start._replace(b=np.zeros_like(ground.inverse), g=np.empty_like(ground.inverse))
    np.matmul(state.u, ground.F.T, out=state.g)
    state.g[:] *= ground.inverse
    return ground, state


@dataclass(frozen=True)
class _Found:
    """The fits of (k, m) points, as they come: coefficients of the columns (k, m, c), and lists."""

    gap: Array
    steps: Array
    held: Array
    lists: list[tuple[Array, Array, Array]] = field(default_factory=list)

    @classmethod
    def empty(cls, shape: tuple[int, ...], c: int) -> _Found:
        return cls(np.full(shape, np.nan), np.full(shape, -1), np.full((*shape, c), np.nan))

    def take(self, rows: Array, m: int, state: State, places: Array) -> None:
        """Keep the coefficients of the sets `places` of a tile, which are `rows` of all."""
        own, indices = np.nonzero(state.b[places])
        values = state.b[places[own], indices]
        self.held[rows, m] = state.a[places]
        self.lists.append((rows[own] * self.gap.shape[1] + m, indices, values))

    def path(self, tolerance: float) -> Path:
        """Return all in the order (k, m)."""
        fit, indices, values = map(np.concatenate, zip(*self.lists, strict=True))
        order, sizes = np.argsort(fit, kind="stable"), np.bincount(fit, minlength=self.gap.size)
        return Path.joined(self.gap.shape, sizes, indices[order], values[order], self.gap,
                           self.steps, tolerance)  # fmt: skip


@dataclass(frozen=True)
class _Tile:
    """Some training sets on their way; last (T,) is the tau of where they are."""

    sets: Sets
    ground: Ground
    state: State
    last: Array
    scale: Array
    first: int

    @classmethod
    def of(cls, sets: Sets, part: slice) -> _Tile:
        """Start without features."""
        ground, state = without_features(sets, part)
        last = largest_ratio(state, ground.weights)
        return cls(sets, ground, state, last, sets.deviance[part], part.start)

    def down(
        self, tau: Array, mu: Array, tolerance: float, longest: int | None, found: _Found,
        together: bool,
    ) -> None:  # fmt: skip
        """Go down the rows of this tile and hand over what is found."""
        going = np.arange(len(self.last))
        for m in range(tau.shape[1]):
            rows = self.first + going
            level, ridge = np.zeros((2, len(self.last)))
            level[going], ridge[going] = tau[rows, m], mu[rows, m]
            gap, steps = self.solve(going, level, ridge, tolerance)
            found.gap[rows, m], found.steps[rows, m] = gap[going], steps[going]
            found.take(rows, m, self.state, going)
            if longest is not None:
                short = np.count_nonzero(self.state.b[going], axis=1) <= longest
                going = going[short & (short.all() | ~np.array(together))]
            if not len(going):
                return

    def solve(
        self, going: Array, tau: Array, mu: Array, tolerance: float
    ) -> tuple[Array, Array]:  # fmt: skip
        """Take some sets to the next point; return the gaps and the Newton steps, (T,)."""
        gap, outside, steps = np.zeros(len(tau)), np.zeros(len(tau)), np.zeros(len(tau), np.int64)
        least = np.maximum(2 * tau - self.last, LEAP * self.last) * (tau > 0)
        slack = max(SLACK, ROUGH * tolerance) * self.scale
        levels, state = Levels(tau, mu, np.minimum(least, tau), slack), self.state
        left = going
        for _ in range(ROUNDS):
            self.sets.solve(self.ground, state, left, levels, steps)
            if len(left) == len(state.g):
                np.matmul(state.u, self.ground.F.T, out=state.g)
            else:
                state.g[left] = state.u[left] @ self.ground.F.T
            self.sets.judge(self.ground, state, left, levels, gap, outside)
            levels.least[left], levels.slack[left] = NEAR * tau[left], SLACK * self.scale[left]
            missed = outside > tau * (1 + EXACT)
            left = left[((gap > tolerance * self.scale) | missed)[left]]
            if not len(left):
                break
        self.last[going] = tau[going]
        return gap / self.scale, steps
