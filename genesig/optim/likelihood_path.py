"""A penalised likelihood along a path of (tau, mu), all training sets side by side.

With a dual point u of the loss every s in [0, 1] gives a dual value,

    D(s) = -h*(s u) - Σ_j max(|s z_j'u| - threshold_j, 0)² / (4 mu),

or none at mu = 0 if ``|s z_j'u| > threshold_j``; u must be orthogonal to what has no penalty. The
gap is the difference from the objective; at the minimum the derivatives of the loss give its value
(Fenchel). s = tau over the largest |z_j'u + 2 mu b_j| / w_j, at most 1: this is 1 at the minimum,
and at mu = 0 puts all |s z_j'u| within their thresholds. `broadcast_levels` refuses tau = mu = 0,
where it could not, unless all z_j'u of the null model are 0.

Source: Fenchel 1949; Ndiaye, Fercoq, Gramfort and Salmon 2017 (scaling a dual point).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, jit_inline
from genesig.compiled.algebra import dot
from genesig.optim.likelihood_newton import (
    Loss,
    PenalisedProblem,
    dual_point_function,
    newton_solver,
    penalty_value,
)
from genesig.optim.solution import NOT_COMPUTED, Path
from genesig.optim.solvers import broadcast_levels
from genesig.optim.training import TrainingSets


class LossData(NamedTuple):
    """T training sets for compiled code, of N >= n samples and d features."""

    F: Array  # (d, N) all features; ``z_tj = inverse_tj (F_j - mean_tj)``
    mean: Array  # (T, d)
    inverse: Array  # (T, d) inverse scale
    weights: Array  # (d,) of the l1 terms, above 0
    rows: Array  # (T, N) the samples, those of the training set first
    n_samples: Array  # (T,) number n of the training samples
    columns: Array  # (T, c, N) columns beside the features, in the order of `rows`
    column_ridge: Array  # (T, c) ridge of these columns, mostly 0, in ``½ ridge a²``
    response: Any  # what the loss needs of all training sets; `args_of_set` selects one


class PathState(NamedTuple):
    """Coefficients, predictors and dual points of T training sets at a point of their paths."""

    b: Array  # (T, d) coefficients of the features
    a: Array  # (T, c) coefficients of the columns
    eta: Array  # (T, N) predictors, in the order of `LossData.rows`
    z: Array  # (T, N) as in `dual_point_function`, in this order
    # (T, N) dual point, in the order of the samples; 0 outside the training set, and of sum 0, so
    # that its products with features need no mean
    u: Array
    g: Array  # (T, d) products of u with the standardised features


class PathLevels(NamedTuple):
    """The next point of T training sets, and the settings of its fits, each (T,)."""

    tau: Array
    mu: Array
    min_gradient: Array  # smallest |g| over its weight of a feature in the working set
    slack: Array  # promised decrease at which a fit ends


@compiled
def problem_of_set(
    data: LossData, t: int, features: Array, tau: float, mu: float
) -> PenalisedProblem:
    """Return the problem of some features, then the columns, of training set t."""
    n = data.n_samples[t]
    columns = data.columns[t]
    m = len(features)
    D = np.empty((m + len(columns), n))
    for p in range(m):
        j = features[p]
        mean = data.mean[t, j]
        inverse = data.inverse[t, j]
        values = data.F[j]
        for i in range(n):
            D[p, i] = inverse * (values[data.rows[t, i]] - mean)
    thresholds = np.zeros(len(D))
    ridge = np.empty(len(D))
    for p in range(len(columns)):
        ridge[m + p] = data.column_ridge[t, p]
        for i in range(n):
            D[m + p, i] = columns[p, i]
    for p in range(m):
        thresholds[p] = tau * data.weights[features[p]]
        ridge[p] = 2.0 * mu
    return PenalisedProblem(D, thresholds, ridge)


@compiled
def working_features(data: LossData, state: PathState, t: int, min_gradient: float) -> Array:
    """Return the features that are not 0, or whose |g_j| >= min_gradient w_j."""
    b = state.b[t]
    g = state.g[t]
    count = 0
    features = np.empty(len(b), np.int64)
    for j in range(len(b)):
        if abs(g[j]) >= min_gradient * data.weights[j] or b[j] != 0.0:
            features[count] = j
            count += 1
    return features[:count]


@compiled
def largest_gradients(data: LossData, state: PathState, t: int, mu: float) -> tuple[float, float]:
    """Return the largest ``|g_j + 2 mu b_j| / w_j``, and the largest of those with b_j = 0."""
    largest = 0.0
    largest_gradient_outside = 0.0
    for j in range(len(state.b[t])):
        ratio = abs(state.g[t, j] + 2.0 * mu * state.b[t, j]) / data.weights[j]
        largest = max(largest, ratio)
        if state.b[t, j] == 0.0:
            largest_gradient_outside = max(largest_gradient_outside, ratio)
    return largest, largest_gradient_outside


@compiled
def penalty_terms(
    data: LossData, state: PathState, t: int, tau: float, mu: float, s: float
) -> float:
    """Return the penalty of features and columns, plus the dual penalty of s u."""
    b = state.b[t]
    g = state.g[t]
    a = state.a[t]
    total = 0.0
    for j in range(len(b)):
        threshold = tau * data.weights[j]
        total += threshold * abs(b[j]) + mu * b[j] * b[j]
        excess = s * abs(g[j]) - threshold
        if mu > 0.0 and excess > 0.0:
            total += excess * excess / (4.0 * mu)
    for p in range(len(a)):
        ridge = data.column_ridge[t, p]
        product = 0.0
        if ridge > 0.0:
            for i in range(data.n_samples[t]):
                product += data.columns[t, p, i] * state.u[t, data.rows[t, i]]
            total += 0.5 * ridge * a[p] * a[p] + (s * product) ** 2 / (2.0 * ridge)
    return total


def set_kernels(
    loss: Loss, args_of_set: Callable[[Any, int, int], Any]
) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return functions that fit training sets and compute their gaps; inlined, one caller each.

    ``args_of_set(response, t, n)`` returns the `loss_args` of training set t with n samples.
    """
    return _make_solver(loss, args_of_set), _make_certifier(loss, args_of_set)


def _make_solver(loss: Loss, args_of_set: Callable[[Any, int, int], Any]) -> Callable[..., None]:
    """Return the compiled function that fits training sets on their working sets."""
    solve_working_set = newton_solver(loss)
    dual_point = dual_point_function(loss)

    @jit_inline
    def solve_all(
        data: LossData, state: PathState, set_numbers: Array, levels: PathLevels, steps: Array
    ) -> None:
        """Fit some sets on their working sets; fill b, a, η, z and u, and add the Newton steps."""
        for t in set_numbers:
            features = working_features(data, state, t, levels.min_gradient[t])
            n = data.n_samples[t]
            problem = problem_of_set(data, t, features, levels.tau[t], levels.mu[t])
            m = len(features)
            eta = state.eta[t, :n]
            loss_args = args_of_set(data.response, t, n)
            x = np.empty(len(problem.D))
            u = np.empty(n)
            for p in range(len(x)):
                x[p] = state.b[t, features[p]] if p < m else state.a[t, p - m]
            steps[t] += solve_working_set(loss_args, problem, x, eta, levels.slack[t])
            for p in range(len(x)):
                if p < m:
                    state.b[t, features[p]] = x[p]
                else:
                    state.a[t, p - m] = x[p]
            dual_point(loss_args, problem, eta, state.z[t, :n], u)
            for i in range(n):
                state.u[t, data.rows[t, i]] = u[i]

    return solve_all


def _make_certifier(loss: Loss, args_of_set: Callable[[Any, int, int], Any]) -> Callable[..., None]:
    """Return the compiled function that computes the gaps of training sets."""
    evaluate = loss.evaluate
    conjugate = loss.conjugate

    @jit_inline
    def certify_all(
        data: LossData,
        state: PathState,
        set_numbers: Array,
        levels: PathLevels,
        gap: Array,
        largest_gradient_outside: Array,
    ) -> None:
        """Scale the products F u in g to products with features; fill the gap, not relative.

        largest_gradient_outside: the second result of `largest_gradients` of each set.
        """
        for t in set_numbers:
            tau = levels.tau[t]
            mu = levels.mu[t]
            n = data.n_samples[t]
            for j in range(len(state.g[t])):
                state.g[t, j] *= data.inverse[t, j]
            largest, largest_gradient_outside[t] = largest_gradients(data, state, t, mu)
            s = tau / largest if 0.0 < tau < largest else 1.0
            u = np.empty(n)
            for i in range(n):
                u[i] = state.u[t, data.rows[t, i]]
            loss_args = args_of_set(data.response, t, n)
            eta = state.eta[t, :n]
            current = evaluate(loss_args, eta)
            loss_and_conjugate = current.value + conjugate(
                loss_args, current, eta, state.z[t, :n], u, s
            )
            gap[t] = max(loss_and_conjugate + penalty_terms(data, state, t, tau, mu, s), 0.0)

    return certify_all


def ridge_gap_function(loss: Loss) -> Callable[[Any, PenalisedProblem, Array, Array], float]:
    """Return the function that computes the duality gap of a ridge fit, not relative.

    It is copied into its compiled caller, so each of these makes its own. Its arguments are those
    of the loss, a problem without an l1 term, x (m,) and η (n,). The dual point ``u = ∇h - H z``
    is that of `dual_point_function`, and `conjugate` returns the h* of it.
    """
    evaluate = loss.evaluate
    conjugate = loss.conjugate
    dual_point = dual_point_function(loss)

    @jit_inline
    def ridge_gap(loss_args: Any, problem: PenalisedProblem, x: Array, eta: Array) -> float:
        z = np.empty_like(eta)
        u = np.empty_like(eta)
        dual_point(loss_args, problem, eta, z, u)
        current = evaluate(loss_args, eta)
        gap = (
            current.value
            + penalty_value(problem, x)
            + conjugate(loss_args, current, eta, z, u, s=1.0)
        )
        for j in range(len(x)):
            if problem.ridge[j] > 0.0:
                gap += dot(problem.D[j], u) ** 2 / (2.0 * problem.ridge[j])
        return float(max(gap, 0.0))

    return ridge_gap


TILE_BYTES = 4e6  # memory of the products of a tile of training sets, so that they stay in cache
MAX_TILE_SETS = 64  # largest number of training sets of a tile
TAU_LEAP_SHARE = 0.85  # share of the largest product above which features enter if tau falls far
NEAR_TAU_SHARE = 0.9  # share of tau from which features join the working set once some were missed
FIT_SLACK = 1e-13  # decrease, relative to the null deviance, at which a fit ends: rounding
FIRST_SLACK_SHARE = 1e-2
"""Share of the tolerance at which a fit ends at first: one more Newton step squares the error."""
MISSED_SLACK = 1e-9  # share of tau by which a feature at 0 must exceed it to count as missed
MAX_CHECK_ROUNDS = 30  # largest number of checks of all features in a fit


class LossTrainingSets(Protocol):
    """k training sets with a loss, along whose path `likelihood_path` goes."""

    @property
    def training_sets(self) -> TrainingSets:
        """Return the features, scales and rows of the same k training sets."""

    @property
    def start(self) -> PathState:
        """Return the fits without features, (k, ·); b and g have no columns."""

    @property
    def deviance(self) -> Array:
        """Return what gaps are relative to, (k,)."""

    @property
    def solve(self) -> Callable[..., None]:
        """Return the compiled function that fits training sets, see `set_kernels`."""

    @property
    def certify(self) -> Callable[..., None]:
        """Return the compiled function that computes their gaps."""

    def loss_data(self, chunk: slice) -> LossData:
        """Return some training sets for compiled code."""


def likelihood_path(
    sets: LossTrainingSets,
    tau: Array | float,
    mu: Array | float,
    *,
    tolerance: float,
    longest: int | None = None,
    groups: Array | None = None,
) -> tuple[Path, Array]:
    """Minimise ``h(η) + mu ||b||² + tau Σ_j w_j |b_j|``, η of features and columns, for every set.

    tau, mu (broadcast to (k, m)): absolute. Each fit starts at the solution of the one before it in
        its row.
    tolerance: largest duality gap, relative to the sets' deviance, at which a fit counts as
        converged.
    longest, optional: a row ends before its first fit of more features than this.
    groups (k,) int, optional: equal numbers must stand together. When a row of a group ends, the
        others go no further than there.

    Returns path: coefficients on the standardised scale; column_coefs (k, m, c): coefficients of
    the columns; NaN where the row had ended.

    Raises GenesigError: for tau or mu that are negative, or tau = mu = 0.

    Source: Friedman, Hastie and Tibshirani 2010; the strong rule: Tibshirani et al. 2012.
    """
    tau, mu = broadcast_levels(sets.training_sets, tau, mu)
    groups = np.arange(len(tau)) if groups is None else groups
    results = _PathResults.empty(tau.shape, sets.start.a.shape[1])
    for tile in _tiles(groups, sets.training_sets.X.shape[1]):
        _Tile.from_sets(sets, tile).follow_path(tau, mu, tolerance, longest, results, groups[tile])
    path = results.to_path(tolerance).end_rows(longest)
    return path, np.where(path.has_ended()[..., None], np.nan, results.column_coefs)


def _tiles(groups: Array, d: int) -> Iterator[slice]:
    """Yield training sets that are solved side by side; groups stay whole."""
    size = int(np.clip(TILE_BYTES / (8 * d), 1, MAX_TILE_SETS))
    start = end = 0
    for group_end in [*(np.flatnonzero(np.diff(groups)) + 1).tolist(), len(groups)]:
        if group_end - start > size and end > start:
            yield slice(start, end)
            start = end
        end = group_end
    yield slice(start, end)


def smallest_empty_tau(state: PathState, weights: Array) -> Array:
    """Return ``max_j |g_j| / w_j`` over all features, (T,)."""
    return np.asarray(np.max(np.abs(state.g) * (1 / weights), axis=1))


def without_features(sets: LossTrainingSets, chunk: slice) -> tuple[LossData, PathState]:
    """Return some training sets, and their start with the products of all features."""
    data = sets.loss_data(chunk)
    start = PathState(*(array[chunk].copy() for array in sets.start))
    state = start._replace(b=np.zeros_like(data.inverse), g=np.empty_like(data.inverse))
    np.matmul(state.u, data.F.T, out=state.g)
    state.g[:] *= data.inverse
    return data, state


@dataclass(frozen=True)
class _PathResults:
    """Fits of (k, m) points, filled as they are computed."""

    gap: Array  # (k, m)
    steps: Array  # (k, m)
    column_coefs: Array  # (k, m, c)
    # fit numbers, features and coefficients
    lists: list[tuple[Array, Array, Array]] = field(default_factory=list)

    @classmethod
    def empty(cls, shape: tuple[int, ...], c: int) -> _PathResults:
        """Return results with c columns: NaN and `NOT_COMPUTED`, as for points not reached."""
        return cls(
            np.full(shape, np.nan), np.full(shape, NOT_COMPUTED), np.full((*shape, c), np.nan)
        )

    def append(self, set_numbers: Array, m: int, state: PathState, positions: Array) -> None:
        """Store the coefficients of the sets at `positions` of a tile at point m.

        set_numbers: the numbers of these sets among all k.
        """
        set_of_value, indices = np.nonzero(state.b[positions])
        values = state.b[positions[set_of_value], indices]
        self.column_coefs[set_numbers, m] = state.a[positions]
        self.lists.append((set_numbers[set_of_value] * self.gap.shape[1] + m, indices, values))

    def to_path(self, tolerance: float) -> Path:
        """Return the path with all fits in the order (k, m)."""
        fit_number, indices, values = map(np.concatenate, zip(*self.lists, strict=True))
        order = np.argsort(fit_number, kind="stable")
        sizes = np.bincount(fit_number, minlength=self.gap.size)
        return Path.from_arrays(
            self.gap.shape, sizes, indices[order], values[order], self.gap, self.steps, tolerance
        )


@dataclass(frozen=True)
class _Tile:
    """Some training sets on their paths."""

    sets: LossTrainingSets
    data: LossData
    state: PathState
    last_tau: Array  # (T,) tau of the current point
    scale: Array  # (T,) deviance, which gaps are relative to
    first_set: int  # number of the first training set of the tile

    @classmethod
    def from_sets(cls, sets: LossTrainingSets, chunk: slice) -> _Tile:
        """Return the tile of some training sets at their start, without features."""
        data, state = without_features(sets, chunk)
        last_tau = smallest_empty_tau(state, data.weights)
        return cls(sets, data, state, last_tau, sets.deviance[chunk], chunk.start)

    def follow_path(
        self,
        tau: Array,
        mu: Array,
        tolerance: float,
        longest: int | None,
        results: _PathResults,
        groups: Array,
    ) -> None:
        """Fit the points of these training sets, and store them in `results`.

        tau, mu (k, m): of all training sets; groups (T,): of those of the tile alone. A group ends
        after the first point at which one of its lists is longer than `longest`.
        """
        positions = np.arange(len(self.last_tau))
        for m in range(tau.shape[1]):
            set_numbers = self.first_set + positions
            level, ridge = np.zeros((2, len(self.last_tau)))
            level[positions] = tau[set_numbers, m]
            ridge[positions] = mu[set_numbers, m]
            gap, steps = self.solve(positions, level, ridge, tolerance)
            results.gap[set_numbers, m] = gap[positions]
            results.steps[set_numbers, m] = steps[positions]
            results.append(set_numbers, m, self.state, positions)
            if longest is not None:
                is_long = np.count_nonzero(self.state.b[positions], axis=1) > longest
                ended_groups = groups[positions[is_long]]
                positions = positions[~np.isin(groups[positions], ended_groups)]
            if not len(positions):
                return

    def solve(
        self, positions: Array, tau: Array, mu: Array, tolerance: float
    ) -> tuple[Array, Array]:
        """Fit the training sets at `positions` at the next point; return gaps and steps, (T,).

        tau, mu (T,). Each round fits the sets on their working sets, then checks all features: a
        set is fitted again if its gap is too large or a feature outside its working set was missed.
        """
        gap = np.zeros(len(tau))
        largest_gradient_outside = np.zeros(len(tau))
        steps = np.zeros(len(tau), np.int64)
        min_gradient = np.maximum(2 * tau - self.last_tau, TAU_LEAP_SHARE * self.last_tau) * (
            tau > 0
        )
        slack = max(FIT_SLACK, FIRST_SLACK_SHARE * tolerance) * self.scale
        levels = PathLevels(tau, mu, np.minimum(min_gradient, tau), slack)
        state = self.state
        unsolved = positions
        for _ in range(MAX_CHECK_ROUNDS):
            self.sets.solve(self.data, state, unsolved, levels, steps)
            if len(unsolved) == len(state.g):  # without a copy of all products, a fifth of the time
                np.matmul(state.u, self.data.F.T, out=state.g)
            else:
                state.g[unsolved] = state.u[unsolved] @ self.data.F.T
            self.sets.certify(self.data, state, unsolved, levels, gap, largest_gradient_outside)
            levels.min_gradient[unsolved] = NEAR_TAU_SHARE * tau[unsolved]
            levels.slack[unsolved] = FIT_SLACK * self.scale[unsolved]
            is_missed = largest_gradient_outside > tau * (1 + MISSED_SLACK)
            unsolved = unsolved[((gap > tolerance * self.scale) | is_missed)[unsolved]]
            if not len(unsolved):
                break
        self.last_tau[positions] = tau[positions]
        return gap / self.scale, steps
