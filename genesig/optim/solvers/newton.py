"""``landweber-newton``: Newton steps on the fixed point of the damped Landweber map, certified.

All training sets of a chunk follow the path side by side. So one matrix product per step gives the
gradients of all features in all sets. This product only screens, in single precision.
Compiled code computes the coefficients and checks the features near the bound, one training set at
a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.compiled.column import (
    COUNTS_DTYPE,
    FEATURE_DTYPE,
    NO_FACTOR,
    NOT_IN_POOL,
    FeaturePool,
    LassoFit,
    PathPoint,
)
from genesig.compiled.dual import solve_by_dual
from genesig.compiled.working_sets import (
    FIRST_SCAN,
    SET_DONE,
    SOLVE,
    FeatureSets,
    ScannedFeatures,
    SolverProgress,
    check_all_features,
    fill_scanned_features,
    solve_on_working_sets,
)
from genesig.optim.solution import NOT_COMPUTED, Path
from genesig.optim.training import TrainingSets, rows_of_sets

MAX_SCALE_RATIO = 10  # training scale over that of all rows, above which float32 is inexact
LEAP_SHARE = 0.8
"""Share of tau from which features are kept when tau falls by a large step.

It saves 11 to 47 % of the nested cross-validation of studies with 38 to 168 samples.
"""
LOOSE_SHARE = 0.6  # share of the smaller tau from which features are kept where no rule holds
SINGLE_EPS = float(np.finfo(np.float32).eps)  # rounding of a number in single precision
STIFF_MU_SHARE = 2e-5  # share of ||Z'Z||/n: with a smaller mu, the dual needs many more steps
GRADIENT_ROUNDING_SHARE = 1e-13  # over tau_max times the largest weight
ALWAYS_DUAL = -1  # number of active features of a point that is solved in the dual from the start
START_CAPACITY = 64  # features that a pool holds before it grows
TYPICAL_FEATURES = 400  # features of a pool by which the memory of a chunk is estimated
CHUNK_BYTES = 80e6  # estimated memory of the training sets of a chunk
MAX_GROWN_BYTES = 2 * CHUNK_BYTES
"""Memory of grown pools above which the training sets of a chunk are solved one by one."""
MIN_CHUNK_SETS = 4
MAX_CHUNK_SETS = 64


def landweber_newton(
    sets: TrainingSets, tau: Array, mu: Array, tolerance: float, longest: int | None = None
) -> Path:
    """Return the exact minimisers along the path of each training set.

    The row of a training set, its M fits, ends after the first fit of more than `longest` features,
    which `solvers.path` then leaves out.
    """
    max_features = sets.X.shape[1] if longest is None else longest
    chunk_size = int(
        np.clip(CHUNK_BYTES / _bytes_of_set(*sets.matrix.F.shape), MIN_CHUNK_SETS, MAX_CHUNK_SETS)
    )
    solutions: list[tuple[Array, Array, Array]] = []
    gap = np.empty(tau.shape)
    iterations = np.empty(tau.shape, dtype=np.int64)
    single = single_precision(sets)
    levels_and_results = (tau, mu, gap, iterations)
    for first in range(0, len(tau), chunk_size):
        chunk = range(first, min(first + chunk_size, len(tau)))
        joint = _solve_chunk(
            sets, single, slice(first, chunk.stop), levels_and_results, max_features
        )
        separate = (
            _solve_chunk(sets, single, slice(k, k + 1), levels_and_results, max_features)
            for k in chunk
        )
        solutions += [joint] if joint else filter(None, separate)
    sizes, indices, values = map(np.concatenate, zip(*solutions, strict=True))
    return Path.from_arrays(tau.shape, sizes, indices, values, gap, iterations, tolerance)


def _solve_chunk(
    sets: TrainingSets,
    single: SingleFeatures,
    chunk: slice,
    levels_and_results: tuple[Array, ...],
    max_features: int,
) -> tuple[Array, Array, Array] | None:
    """Return (sizes, indices, values) of a chunk of sets; None if it needs too much memory.

    levels_and_results: tau, mu, gap and iterations of all sets, of which the last two are filled.
    """
    try:
        tau, mu, gap, iterations = (array[chunk] for array in levels_and_results)
        return _Chunk(sets, single, chunk).follow_path(tau, mu, gap, iterations, max_features)
    except _TooMuchMemory:
        return None


def _bytes_of_set(d: int, n: int) -> int:
    """Return the memory of a training set of d features and n samples, with a grown pool."""
    capacity = min(d, TYPICAL_FEATURES)
    return 48 * d + 8 * capacity * (n + 2 * capacity)


class _TooMuchMemory(Exception):
    """The pool of one training set must grow, and the pools of all would grow with it."""


class PathSchedule(NamedTuple):
    """M points of the paths of q training sets, each (q, M); at the first nothing is selected."""

    tau: Array
    mu: Array
    max_active: Array  # number of active features above which the dual is used, or `ALWAYS_DUAL`
    min_gradient: Array  # gradient that a feature needs to stay in the next point's working set


class _Chunk:
    """The training sets that follow the path side by side, with the records of compiled code."""

    def __init__(self, sets: TrainingSets, single: SingleFeatures, chunk: slice) -> None:
        training_rows = rows_of_sets(sets.training_rows, chunk)
        q, self.n = training_rows.root_weights.shape
        d = len(sets.weights)
        self.norm = sets.norm[chunk]
        self.tau_max = sets.tau_max[chunk]
        self.n_rows = training_rows.n_rows
        mean, inverse = map(np.ascontiguousarray, sets.shifted_moments(chunk))
        self.screen = make_screen(sets, single, inverse)
        point = PathPoint(
            tau=np.full(q, np.inf),
            mu=np.zeros(q),
            by_dual=np.zeros(q, dtype=bool),
            max_active=np.full(q, np.inf),
            gradient_rounding=GRADIENT_ROUNDING_SHARE * self.tau_max * sets.weights.max(),
        )
        self.fits = LassoFit(
            point,
            sets.matrix.F,
            sets.weights,
            training_rows.root_weights,
            training_rows.y,
            residual=training_rows.y.copy(),
            weighted_residual=training_rows.root_weights * training_rows.y,
            mean=mean,
            inverse_scale=inverse,
            n_rows=training_rows.n_rows,
            centre=training_rows.centre,
            basis=training_rows.root_weights[:, None] * training_rows.basis,
        )
        self.pools = FeaturePool(
            position=np.full((q, d), NOT_IN_POOL, dtype=np.int32),
            counts=np.zeros(q, dtype=COUNTS_DTYPE),
            # d + 2: all features, and the free row of the factor in which the next one is tried
            **_pool_arrays(q, min(START_CAPACITY, d + 2), self.n),
        )
        self.pools.counts["ridge"] = NO_FACTOR
        self.progress = SolverProgress(np.zeros(q, np.uint8), np.zeros(q), np.zeros((q, 1), int))
        self.feature_sets = FeatureSets(
            working=np.empty((q, d), dtype=np.int32),
            n_working=np.zeros(q, dtype=np.int64),
            support=np.empty((q, d), dtype=np.int32),
            coef=np.empty((q, d)),
            n_support=np.zeros(q, dtype=np.int64),
            marks=np.zeros((q, d), dtype=np.uint8),
        )

    def follow_path(
        self, tau: Array, mu: Array, gap: Array, iterations: Array, max_features: int
    ) -> tuple[Array, Array, Array]:
        """Return (sizes, indices, values) of all fits, in the order (training set, point).

        tau, mu, gap, iterations (q, M); the last two are filled. A row ends after its first fit of
        more than `max_features` features.
        """
        schedule = self._schedule(tau, mu)
        sizes = np.zeros(tau.shape, dtype=np.int64)
        gap[:] = np.nan
        iterations[:] = NOT_COMPUTED
        coefs: list[list[tuple[Array, Array]]] = [[] for _ in tau]
        is_going = np.ones(len(tau), dtype=bool)
        self._solve_point(schedule, 0, is_going)  # only finds the first working set
        for m in range(tau.shape[1]):
            self._solve_point(schedule, m + 1, is_going)
            gap[is_going, m] = self.progress.gap[is_going]
            iterations[is_going, m] = self.progress.steps[is_going, 0]
            sizes[is_going, m] = self.feature_sets.n_support[is_going]
            for q in np.flatnonzero(is_going):
                entries = slice(sizes[q, m])
                coefs[q].append(
                    (
                        self.feature_sets.support[q, entries].astype(np.int64),
                        self.feature_sets.coef[q, entries].copy(),
                    )
                )
            is_going &= self.feature_sets.n_support <= max_features
        fits = [fit for fits_of_set in coefs for fit in fits_of_set]
        indices, values = map(np.concatenate, zip(*fits, strict=True))
        return sizes.ravel(), indices, values

    def _solve_point(self, schedule: PathSchedule, m: int, is_going: Array) -> None:
        """Solve point m of the schedule for the training sets that are still going (q,).

        Each is solved on its working set; then all its features are checked, and violators join,
        until there are none. The primal is used, or the dual if it has the smaller matrix.
        """
        point = self.fits.point
        progress = self.progress
        point.tau[:] = schedule.tau[:, m]
        point.mu[:] = schedule.mu[:, m]
        point.max_active[:] = schedule.max_active[:, m]
        point.by_dual[:] = self.feature_sets.n_support > point.max_active
        progress.stage[:] = np.where(is_going, FIRST_SCAN if m == 0 else SOLVE, SET_DONE)
        progress.steps[:] = 0
        while (progress.stage != SET_DONE).any():
            while not solve_on_working_sets(self.fits, self.pools, self.feature_sets, progress):
                self._grow_pools()
            if point.by_dual.any():
                solve_by_dual(self.fits, self.feature_sets, progress, fixed=False)
            set_numbers = np.flatnonzero(progress.stage != SET_DONE)
            scanned = scan_features(
                self.fits, self.screen, set_numbers, schedule.min_gradient[:, m]
            )
            check_all_features(self.fits, self.feature_sets, progress, scanned)
            if point.by_dual.any():
                solve_by_dual(self.fits, self.feature_sets, progress, fixed=True)
                check_all_features(self.fits, self.feature_sets, progress, scanned)

    def _schedule(self, tau: Array, mu: Array) -> PathSchedule:
        """Return the points of the path, after a first point that only finds a working set."""
        first_tau = np.maximum(self.tau_max, tau[:, 0])[:, None]
        mu_changes = np.zeros(tau.shape, dtype=bool)
        mu_changes[:, 1:] = mu[:, 1:] != mu[:, :-1]
        min_gradient = strong_rule(np.hstack([first_tau, tau[:, :-1]]), tau, mu_changes)
        can_use_dual = (mu > 0) & (self.n_rows < len(self.fits.F))[:, None]
        norm = self.norm[:, None]
        infinity = np.full((len(tau), 1), np.inf)  # of the first point
        max_active = np.where(
            can_use_dual & (mu > STIFF_MU_SHARE * norm), self.n_rows[:, None], np.inf
        )
        max_active[can_use_dual & (tau == 0)] = ALWAYS_DUAL  # all features are selected
        return PathSchedule(
            tau=np.hstack([infinity, tau]),
            mu=np.hstack([np.zeros_like(infinity), mu]),
            max_active=np.hstack([infinity, max_active]),
            min_gradient=np.hstack([min_gradient, infinity]),
        )

    def _grow_pools(self) -> None:
        """Enlarge all pools to twice their capacity.

        With 8 more, a row is an odd number of cache lines, so that the entries of a column do not
        compete for the same lines.
        """
        pool = self.pools
        q, capacity = pool.features.shape
        capacity = 2 * capacity + 8
        if q > 1 and 16 * q * capacity**2 > MAX_GROWN_BYTES:
            raise _TooMuchMemory
        arrays = _pool_arrays(q, capacity, self.n)
        for field, array in arrays.items():
            previous = getattr(pool, field)
            array[tuple(map(slice, previous.shape))] = previous
        self.pools = pool._replace(**arrays)


def _pool_arrays(q: int, capacity: int, n: int) -> dict[str, Any]:
    """Return the arrays of q pools of n samples whose size depends on the capacity."""
    return dict(
        features=np.zeros((q, capacity), dtype=FEATURE_DTYPE).view(np.recarray),
        Z=np.zeros((q, capacity, n)),
        gram=np.zeros((q, capacity, capacity)),
        active=np.zeros((q, capacity), dtype=np.int64),
        factor=np.zeros((q, capacity, capacity)),
        scratch=np.zeros((q, capacity)),
    )


class SingleFeatures(NamedTuple):
    """All features less their shift, in single precision."""

    features: Array  # (n, d) float32, each feature over its size
    size: Array  # (d,) root mean square of each feature


class Screen(NamedTuple):
    """Features in single precision, and their scales in q training sets."""

    features: Array  # (n, d) as in `SingleFeatures`
    # (q, d) size over training scale and l1 weight, as shares of `top`; ∞ if always checked
    scaled: Array
    top: Array  # (q,) largest of these factors


def single_precision(sets: TrainingSets) -> SingleFeatures:
    """Return all features in single precision, scaled so that no digits are lost."""
    F = sets.matrix.F
    n = len(sets.X)
    size = np.sqrt(np.einsum("ij,ij->i", F, F) / n)
    features = np.empty(sets.X.shape, dtype=np.float32)
    inverse = 1 / np.where(size > 0, size, 1)
    for i in range(n):
        features[i] = (sets.X[i] - sets.matrix.shift) * inverse
    return SingleFeatures(features, size)


def make_screen(sets: TrainingSets, single: SingleFeatures, inverse: Array) -> Screen:
    """Return the screen of q training sets, from the inverse scales (q, d) of their features.

    A feature that is dominated by left-out rows would lose its digits. It gets an infinite scale,
    so that it is always checked, and so does a feature without an l1 term.
    """
    scale = inverse * single.size
    weights = sets.weights
    is_fragile = (
        scale > MAX_SCALE_RATIO if sets.unit_variance else np.zeros(scale.shape, dtype=bool)
    )
    if not (weights == 1).all():
        is_fragile |= (weights == 0) & (inverse > 0)
        scale /= np.where(weights > 0, weights, 1)
    scale[is_fragile] = 0
    top = scale.max(axis=1)
    top[top == 0] = 1
    scale /= top[:, None]
    scale[is_fragile] = np.inf
    return Screen(single.features, scale.astype(np.float32), top)


def scan_features(
    fits: LassoFit, screen: Screen, set_numbers: Array, min_gradient: Array
) -> ScannedFeatures:
    """Return the features of some training sets whose gradients may exceed tau or `min_gradient`.

    fits: of q sets. set_numbers (c,): the sets to scan. min_gradient (q,): threshold of the strong
    rule. It is often below tau, so that features join which the next point is likely to need.

    A product with a residual of length 1, times the feature's share of the `top` scale, is the
    gradient over `unit`, up to ``(n + 4) eps ||x_j|| ||r||``: enough to screen. Compiled code
    computes gradients near tau exactly.
    """
    residual = fits.weighted_residual[set_numbers]
    n = fits.weighted_residual.shape[1]
    length = np.maximum(np.sqrt(np.einsum("qi,qi->q", residual, residual)), 1e-200)
    products = (residual / length[:, None]).astype(np.float32) @ screen.features
    unit = 2.0 / fits.n_rows[set_numbers] * length * screen.top[set_numbers]
    near_tau = fits.point.tau[set_numbers] - (n + 4) * SINGLE_EPS * np.sqrt(n) * unit
    threshold = np.minimum(near_tau, min_gradient[set_numbers]) / unit
    scanned = ScannedFeatures(
        set_numbers=set_numbers,
        near_tau=near_tau / unit,
        start=np.empty(len(set_numbers) + 1, dtype=np.int64),
        feature=np.empty(products.size, dtype=np.int32),
        level=np.empty(products.size, dtype=np.float32),
        largest_ratio=np.empty(len(set_numbers)),
        excess_squares=np.empty(len(set_numbers)),
    )
    with np.errstate(invalid="ignore", over="ignore"):  # 0 ∞ warns in uncompiled code
        fill_scanned_features(products, screen.scaled, threshold.astype(np.float32), scanned)
    return scanned


def strong_rule(tau: Array, next_tau: Array, mu_changes: Array | bool) -> Array:
    """Return the gradient, (q, M), that a feature needs at tau to be kept for `next_tau`.

    The sequential strong rule, a guess: the check of all features finds what it misses. If mu
    changes or tau rises the rule does not hold, and more features are kept; at tau 0 all are.

    Source: Tibshirani et al. 2012, J. R. Stat. Soc. B 74:245.
    """
    threshold = np.maximum(2 * next_tau - tau, LEAP_SHARE * tau)
    loose_threshold = LOOSE_SHARE * np.minimum(next_tau, tau)
    threshold = np.where(mu_changes | (next_tau >= tau), loose_threshold, threshold)
    return np.where(next_tau == 0, -1.0, threshold)
