"""A penalised likelihood along a path of (tau, mu), all training sets side by side.

The gap: with a dual point u of the loss every s in [0, 1] gives a dual value,

    D(s) = -h*(s u) - Σ_j max(|s z_j'u| - cut_j, 0)² / (4 mu),

or none at mu = 0 where ``|s z_j'u| > cut_j``; u must be orthogonal to what has no penalty. At the
minimum the derivatives of the loss give its value (Fenchel).

Source: Fenchel 1949; Ndiaye, Fercoq, Gramfort and Salmon 2017 (scaling a dual point).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, part
from genesig.compiled.algebra import dot
from genesig.optim.leaders import leading_rows
from genesig.optim.likelihood.newton import Loss, Problem, dual_points, newton_steps, penalty
from genesig.optim.solution import Path
from genesig.optim.solvers import grid
from genesig.optim.training import TrainingSets


class Ground(NamedTuple):
    """What T training sets are, of N >= n samples.

    F (d, N) holds all features, ``z_tj = inverse_tj (F_j - mean_tj)``, and weights (d,) are those
    of their l1 terms; mean and inverse (T, d). rows (T, N) are the samples, those of the set first,
    size (T,) their number; columns (T, c, N), in that order, stand beside the features, ease (T, c)
    is their ridge, mostly 0; response is what the loss is given of each set.
    """

    F: Array
    mean: Array
    inverse: Array
    weights: Array
    rows: Array
    size: Array
    columns: Array
    ease: Array
    response: Any


class State(NamedTuple):
    """Where T training sets are: coefficients b (T, d), a (T, c) and predictors η (T, N).

    u (T, N) is the dual point there, of all rows of F, g (T, d) its products with the features; z
    (T, N) is that of `newton.dual_points`. z and η are in the order of the ground's rows.
    """

    b: Array
    a: Array
    eta: Array
    z: Array
    u: Array
    g: Array


class Levels(NamedTuple):
    """Where they go: tau, mu; the least g of a working set; the slack of the fit; each (T,)."""

    tau: Array
    mu: Array
    least: Array
    slack: Array


@compiled
def problem_of(ground: Ground, t: int, places: Array, tau: float, mu: float) -> Problem:
    """Return the problem of some features, then the columns, of one training set."""
    n = ground.size[t]
    columns = ground.columns[t]
    m = len(places)
    D = np.empty((m + len(columns), n))
    for p in range(m):
        j = places[p]
        mean = ground.mean[t, j]
        inverse = ground.inverse[t, j]
        row = ground.F[j]
        for i in range(n):
            D[p, i] = inverse * (row[ground.rows[t, i]] - mean)
    cut = np.zeros(len(D))
    ridge = np.empty(len(D))
    for p in range(len(columns)):
        ridge[m + p] = ground.ease[t, p]
        for i in range(n):
            D[m + p, i] = columns[p, i]
    for p in range(m):
        cut[p] = tau * ground.weights[places[p]]
        ridge[p] = 2.0 * mu
    return Problem(D, cut, ridge)


@compiled
def working_set(ground: Ground, state: State, t: int, least: float) -> Array:
    """Return the features that are not 0, have no l1 term, or a product of at least `least`."""
    b = state.b[t]
    g = state.g[t]
    count = 0
    found = np.empty(len(b), np.int64)
    for j in range(len(b)):
        weight = ground.weights[j]
        if weight == 0.0 or abs(g[j]) >= least * weight or b[j] != 0.0:
            found[count] = j
            count += 1
    return found[:count]


@compiled
def steepest(ground: Ground, state: State, t: int, mu: float) -> tuple[float, float]:
    """Return the largest ``|g_j + 2 mu b_j| / w_j``, and that where b_j is 0."""
    top = 0.0
    outside = 0.0
    for j in range(len(state.b[t])):
        if ground.weights[j] > 0.0:
            ratio = abs(state.g[t, j] + 2.0 * mu * state.b[t, j]) / ground.weights[j]
            top = max(top, ratio)
            if state.b[t, j] == 0.0:
                outside = max(outside, ratio)
    return top, outside


@compiled
def penalties(ground: Ground, state: State, t: int, tau: float, mu: float, s: float) -> float:
    """Return the penalty of features and columns, and what s u pays in the dual for passing it."""
    b = state.b[t]
    g = state.g[t]
    a = state.a[t]
    total = 0.0
    for j in range(len(b)):
        cut = tau * ground.weights[j]
        total += cut * abs(b[j]) + mu * b[j] * b[j]
        beyond = s * abs(g[j]) - cut
        if mu > 0.0 and beyond > 0.0:
            total += beyond * beyond / (4.0 * mu)
    for p in range(len(a)):
        ridge = ground.ease[t, p]
        along = 0.0
        if ridge > 0.0:
            for i in range(ground.size[t]):
                along += ground.columns[t, p, i] * state.u[t, ground.rows[t, i]]
            total += 0.5 * ridge * a[p] * a[p] + (s * along) ** 2 / (2.0 * ridge)
    return total


def over_sets(
    loss: Loss, given_of: Callable[[Any, int, int], Any]
) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return the functions that fit training sets, and that judge the fits, each for one caller.

    ``given_of(response, t, n)`` is what the loss is given of training set t, of n samples.
    """
    return _solving(loss, given_of), _judging(loss, given_of)


def _solving(loss: Loss, given_of: Callable[[Any, int, int], Any]) -> Callable[..., None]:
    solve_working_set = newton_steps(loss)
    dual_point = dual_points(loss)

    @part
    def solve_each(
        ground: Ground, state: State, which: Array, levels: Levels, steps: Array
    ) -> None:
        """Fit some sets on their working sets; fill b, a, η, z and u, add the Newton steps."""
        for t in which:
            places = working_set(ground, state, t, levels.least[t])
            n = ground.size[t]
            problem = problem_of(ground, t, places, levels.tau[t], levels.mu[t])
            m = len(places)
            eta = state.eta[t, :n]
            given = given_of(ground.response, t, n)
            x = np.empty(len(problem.D))
            u = np.empty(n)
            for p in range(len(x)):
                x[p] = state.b[t, places[p]] if p < m else state.a[t, p - m]
            steps[t] += solve_working_set(given, problem, x, eta, levels.slack[t])
            for p in range(len(x)):
                if p < m:
                    state.b[t, places[p]] = x[p]
                else:
                    state.a[t, p - m] = x[p]
            dual_point(given, problem, eta, state.z[t, :n], u)
            for i in range(n):
                state.u[t, ground.rows[t, i]] = u[i]

    return solve_each


def _judging(loss: Loss, given_of: Callable[[Any, int, int], Any]) -> Callable[..., None]:
    at = loss.at
    conjugate = loss.conjugate

    @part
    def judge_each(
        ground: Ground, state: State, which: Array, levels: Levels, gap: Array, outside: Array
    ) -> None:
        """Scale the products Fu in g to those with the features.

        Fill the duality gap, not relative, and the largest ``|g_j| / w_j`` where b_j is 0.
        """
        for t in which:
            tau = levels.tau[t]
            mu = levels.mu[t]
            n = ground.size[t]
            for j in range(len(state.g[t])):
                state.g[t, j] *= ground.inverse[t, j]
            top, outside[t] = steepest(ground, state, t, mu)
            s = tau / top if 0.0 < tau < top else 1.0
            u = np.empty(n)
            for i in range(n):
                u[i] = state.u[t, ground.rows[t, i]]
            given = given_of(ground.response, t, n)
            eta = state.eta[t, :n]
            here = at(given, eta)
            found = here.value + conjugate(given, here, eta, state.z[t, :n], u, s)
            gap[t] = max(found + penalties(ground, state, t, tau, mu, s), 0.0)

    return judge_each


def ridge_gaps(loss: Loss) -> Callable[[Any, Problem, Array, Array], float]:
    """Return the function, for one caller, that bounds how far a ridge fit is from the minimum.

    It takes a problem without an l1 term, x (m,) and η (n,) to the duality gap, not relative.
    """
    at = loss.at
    conjugate = loss.conjugate
    dual_point = dual_points(loss)

    @part
    def ridge_gap(given: Any, problem: Problem, x: Array, eta: Array) -> float:
        z = np.empty_like(eta)
        u = np.empty_like(eta)
        dual_point(given, problem, eta, z, u)
        here = at(given, eta)
        gap = here.value + penalty(problem, x) + conjugate(given, here, eta, z, u, 1.0)
        for j in range(len(x)):
            if problem.ridge[j] > 0.0:
                gap += dot(problem.D[j], u) ** 2 / (2.0 * problem.ridge[j])
        return float(max(gap, 0.0))

    return ridge_gap


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
    to; solve and judge are what `over_sets` makes, compiled.
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
    sets: Sets,
    tau: Array | float,
    mu: Array | float,
    *,
    tolerance: float,
    longest: int | None = None,
    groups: Array | None = None,
) -> tuple[Path, Array]:
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
    groups = np.arange(len(tau)) if groups is None else groups
    found = _Found.empty(tau.shape, sets.start.a.shape[1])
    for tile in _tiles(groups, sets.sets.X.shape[1]):
        _Tile.of(sets, tile).down(tau, mu, tolerance, longest, found, groups[tile])
    path = found.path(tolerance).ended(longest)
    return path, np.where(path.iterations[..., None] < 0, np.nan, found.held)


def _tiles(groups: Array, d: int) -> Iterator[slice]:
    """Yield training sets of d features that are solved side by side; groups stay whole."""
    size = int(np.clip(TOGETHER / (8 * d), 1, MOST))
    first = end = 0
    for group_end in [*(np.flatnonzero(np.diff(groups)) + 1).tolist(), len(groups)]:
        if group_end - first > size and end > first:
            yield slice(first, end)
            first = end
        end = group_end
    yield slice(first, end)


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
        order = np.argsort(fit, kind="stable")
        sizes = np.bincount(fit, minlength=self.gap.size)
        return Path.joined(
            self.gap.shape, sizes, indices[order], values[order], self.gap, self.steps, tolerance
        )


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
        self,
        tau: Array,
        mu: Array,
        tolerance: float,
        longest: int | None,
        found: _Found,
        groups: Array,
    ) -> None:
        """Go down the rows of this tile, of some groups (T,), and hand over what is found."""
        going = np.ones(len(self.last), dtype=bool)
        sizes = np.zeros(len(self.last), dtype=np.int64)
        for m in range(tau.shape[1]):
            leading = leading_rows(going, sizes, groups, longest)
            ended = np.zeros(len(going), dtype=bool)
            for solved in (leading, going & ~leading):
                places = np.flatnonzero(solved & ~ended)
                if not len(places):
                    continue
                rows = self.first + places
                level, ridge = np.zeros((2, len(self.last)))
                level[places] = tau[rows, m]
                ridge[places] = mu[rows, m]
                gap, steps = self.solve(places, level, ridge, tolerance)
                found.gap[rows, m] = gap[places]
                found.steps[rows, m] = steps[places]
                found.take(rows, m, self.state, places)
                sizes[places] = np.count_nonzero(self.state.b[places], axis=1)
                if longest is not None:
                    too_long = places[sizes[places] > longest]
                    ended |= np.isin(groups, groups[too_long])
            going &= ~ended
            if not going.any():
                return

    def solve(self, going: Array, tau: Array, mu: Array, tolerance: float) -> tuple[Array, Array]:
        """Take some sets to the next point; return the gaps and the Newton steps, (T,)."""
        gap = np.zeros(len(tau))
        outside = np.zeros(len(tau))
        steps = np.zeros(len(tau), np.int64)
        least = np.maximum(2 * tau - self.last, LEAP * self.last) * (tau > 0)
        slack = max(SLACK, ROUGH * tolerance) * self.scale
        levels = Levels(tau, mu, np.minimum(least, tau), slack)
        state = self.state
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
