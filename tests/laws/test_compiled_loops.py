"""Compiled loops equal slow versions written by their definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from genesig.compiled.active_set import choose_entering, factor_active, first_sign_change
from genesig.compiled.algebra import (
    dot_rows,
    factor_semidefinite,
    indices_by_sign,
    solve_factored,
    solve_lower_rows,
)
from genesig.compiled.column import (
    COUNTS_DTYPE,
    FEATURE_DTYPE,
    NO_FACTOR,
    FeaturePool,
    descend_quadratic,
    sweep_lasso,
)
from genesig.compiled.dual import factor_by_samples, soft_threshold
from genesig.compiled.steps import denoise, fuse, largest_stretch_ratio, merge_segments

SEEDS = range(6)
STARTS = np.array([0, 7, 12])


def lines(d):
    return pairwise([*STARTS, d])


def test_a_dependent_column_is_left_out_of_a_solution():
    Z = np.random.default_rng(0).normal(size=(5, 9))
    Z[3] = Z[0] - 2 * Z[1]
    H = Z @ Z.T
    independent_columns = [0, 1, 2, 4]
    L = H.copy()
    b = np.arange(1.0, 6)
    factor_semidefinite(L)
    assert np.isinf(L[3, 3])
    solve_factored(L, b)
    assert b[3] == 0
    expected = np.linalg.solve(
        H[np.ix_(independent_columns, independent_columns)], np.array([1.0, 2, 3, 5])
    )
    np.testing.assert_allclose(b[independent_columns], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("correlation", "expected_ridge"), [(0.5, 0.25), (2.0, NO_FACTOR)], ids=["definite", "not"]
)
def test_ridge_of_a_factor_is_stored_only_if_the_matrix_is_definite(correlation, expected_ridge):
    gram = np.array([[1.0, correlation], [correlation, 1.0]])
    features = np.zeros(2, FEATURE_DTYPE)
    features["number"] = [4, 3]
    counts = np.zeros(1, COUNTS_DTYPE)
    counts["n_active"] = counts["n_features"] = 2
    pool = FeaturePool(
        features=features,
        Z=np.zeros((2, 3)),
        gram=gram,
        position=np.array([-1, -1, -1, 1, 0]),
        active=np.array([0, 1]),
        factor=np.zeros((2, 2)),
        scratch=np.zeros(2),
        counts=counts[0],
    )
    is_definite = factor_active(pool, 0.25)
    assert is_definite == (expected_ridge == 0.25)
    assert pool.active.tolist() == [1, 0]
    assert counts["ridge"][0] == expected_ridge


def test_rows_are_solved_and_multiplied_as_numpy_does():
    rng = np.random.default_rng(1)
    L = np.tril(rng.normal(size=(6, 6))) + 4 * np.eye(6)
    X = rng.normal(size=(3, 6))
    value = 0.0
    solution = X.copy()
    solve_lower_rows(L, solution)
    np.testing.assert_allclose(solution @ L.T, X, rtol=1e-12)
    value = dot_rows(X, 1, L, 4, 5)
    np.testing.assert_allclose(value, X[1, :5] @ L[4, :5], rtol=1e-12)
    signs = np.array([1.0, 0.0, -2.0, 3.0])
    assert (indices_by_sign(signs, True).tolist(), indices_by_sign(signs, False).tolist()) == (
        [0, 3],
        [1, 2],
    )


def test_factor_by_samples_equals_factor_of_damped_gram_matrix():
    Z = np.random.default_rng(2).normal(size=(4, 6))
    K = np.zeros((6, 6))
    factor_by_samples(Z.T @ Z, 0.7, K)
    expected = np.linalg.cholesky(np.eye(6) + Z.T @ Z / 0.7)
    np.testing.assert_allclose(np.tril(K), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_first_sign_change_is_at_the_smallest_share(seed):
    rng = np.random.default_rng(seed)
    b = rng.normal(size=9)
    target = rng.normal(size=5)
    active = rng.permutation(9)[:5]
    sign = np.sign(b) * (rng.random(9) < 0.8)
    share, out = first_sign_change(active, 5, b, sign, target)
    turns = {a: b[p] / (b[p] - target[a]) for a, p in enumerate(active) if sign[p] * target[a] < 0}
    assert (share, out) == (min((v, a) for a, v in turns.items()) if turns else (1.0, -1))


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_the_largest_violations_enter_and_no_more_than_there_is_room_for(limit):
    excess = np.random.default_rng(0).normal(size=40)
    excess[5] = 0.0
    remaining_excess = excess.copy()
    choose_entering(remaining_excess, np.abs(excess).max(), limit)
    chosen = ~np.isnan(remaining_excess)
    assert 1 <= chosen.sum() <= limit
    assert np.argmax(np.abs(excess)) in np.flatnonzero(chosen)
    assert np.array_equal(remaining_excess[chosen], np.sign(excess[chosen]))
    if limit == 50:
        assert np.array_equal(chosen, np.abs(excess) >= 0.6 * np.abs(excess).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_sweeps_end_where_every_subgradient_holds_zero(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(12, 8))
    y = rng.normal(size=8)
    cut = np.full(12, 1.5)
    ridge = 0.4
    Z[4] = 0.0
    r = y.copy()
    b = np.zeros(12)
    sweep_lasso(Z, cut, ridge, r, b, 4000)
    np.testing.assert_allclose(r, y - Z.T @ b, atol=1e-10)
    slope = Z @ r - ridge * b
    assert b[4] == 0.0
    np.testing.assert_allclose(slope[b != 0], cut[b != 0] * np.sign(b[b != 0]), atol=1e-8)
    assert (np.abs(slope[b == 0]) <= cut[b == 0] + 1e-8).all()


@pytest.mark.parametrize("nonnegative", [False, True])
def test_descent_on_a_kernel_ends_at_its_optimum(nonnegative):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(5, 9))
    K = A @ A.T
    k_y = rng.normal(size=5) * 3
    b = np.zeros(5)
    half = 0.8
    descend_quadratic(K, k_y, np.diag(K).copy(), b, half, nonnegative, 1e-13)
    slope = k_y - K @ b
    is_active = b != 0
    assert is_active.any()
    np.testing.assert_allclose(slope[is_active], half * np.sign(b[is_active]), atol=1e-9)
    inactive_slope = slope[~is_active] if nonnegative else np.abs(slope[~is_active])
    assert (inactive_slope <= half + 1e-9).all()
    assert not nonnegative or (b >= 0).all()


@pytest.mark.parametrize("tau", [0.0, 0.3, 2.0, 50.0])
def test_denoised_line_has_a_dual_certificate(tau):
    """The sums z of f - y stay within ±tau, end at 0, and are ±tau where f jumps."""
    y = np.random.default_rng(4).normal(size=30).cumsum()
    f = np.empty(30)
    denoise(y, tau, f)
    z = np.cumsum(f - y)
    jump = np.diff(f)
    assert np.abs(z).max() <= tau + 1e-9
    assert abs(z[-1]) < 1e-9
    np.testing.assert_allclose((z[:-1] * np.sign(jump))[jump != 0], tau, atol=1e-9)


def fused_cost(y, f, level, jump):
    bare = sum(np.abs(np.diff(np.r_[0, f[a:b], 0])).sum() for a, b in lines(len(y)))
    return 0.5 * np.sum((f - y) ** 2) + level * (np.abs(f).sum() + jump * bare)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_change_of_a_fused_line_costs_less(seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=20).cumsum()
    f = np.empty(20)
    fuse(y, STARTS, 0.4, 1.3, f)
    least = fused_cost(y, f, 0.4, 1.3)
    for _ in range(300):
        start, end = np.sort(rng.choice(21, 2, replace=False))
        changed_line = f.copy()
        changed_line[start:end] += rng.normal() * 10.0 ** rng.uniform(-6, 0)
        assert fused_cost(y, changed_line, 0.4, 1.3) >= least - 1e-10


@pytest.mark.parametrize("seed", SEEDS)
def test_the_steepest_stretch_is_the_best_of_all(seed):
    g = np.random.default_rng(seed).normal(size=20)
    best = max(
        abs(g[i:k].sum()) / (k - i + 2 * 0.7)
        for a, b in lines(20)
        for i in range(a, b)
        for k in range(i + 1, b + 1)
    )
    assert largest_stretch_ratio(g, STARTS, 0.7) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_merges_have_the_least_increase_at_each_step(seed):
    rng = np.random.default_rng(seed)
    values = [np.array([v]) for v in rng.normal(size=9)]
    opens = np.zeros(9, bool)
    opens[[0, 4]] = True
    merged = np.zeros(9, np.int64)
    increase = np.zeros(9)
    count = merge_segments(np.concatenate(values), np.ones(9), opens.copy(), merged, increase)
    assert count == 7  # two lines are left

    def apart(neighbours):
        return np.sum((neighbours - neighbours.mean()) ** 2)

    at = dict(enumerate(values))
    for k in range(count):
        pairs = [
            (apart(np.r_[at[i], at[j]]) - apart(at[i]) - apart(at[j]), i, j)
            for i, j in pairwise(at)
            if not opens[j]
        ]
        least, i, j = min(pairs)
        assert merged[k] == j
        assert increase[k] == pytest.approx(least, rel=1e-9, abs=1e-12)
        at[i] = np.r_[at[i], at.pop(j)]


def test_a_shrunken_value_keeps_its_sign_or_is_zero():
    assert [soft_threshold(v, 1.0) for v in (-3.0, -0.5, 0.0, 1.0, 1.5)] == [
        -2.0,
        0.0,
        0.0,
        0.0,
        0.5,
    ]
