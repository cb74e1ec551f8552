"""Which supports are put together, and the pieces that their solution is made of."""

from __future__ import annotations

import itertools

import numba
import numpy as np
import pytest

from genesig.compiled.chain import pass_down, pass_up, subtract
from genesig.compiled.dense import tridiagonal
from genesig.compiled.ridge import cost, members, plan
from genesig.compiled.turn import panel_room, turn


@numba.njit
def planned(indptr, places, alone, count):
    return plan(indptr, places, alone, count, 9, 24)


@numba.njit
def listed(indptr, places, count, found):
    return members(indptr, places, count, found)


@numba.njit
def turned(M, m, diagonal, beside, beta, work, X, back):
    tridiagonal(M, m, diagonal, beside, beta, work)
    panel = panel_room(len(M), X.shape[1] + back.shape[1])
    turn(M, m, beta, X, X.shape[1], panel, False)
    turn(M, m, beta, back, back.shape[1], panel, True)


@numba.njit
def chained(ratio, inverse, X, out):
    for j in range(0, X.shape[1], 8):
        pass_down(ratio, len(X), X, j)
        pass_up(inverse, ratio, len(X), X, j)
    subtract(X, 1, ratio, 2, 3, out, 0)


def lists(seed, number):
    rng, size = np.random.default_rng(seed), 0
    for _ in range(number):
        size = min(20, size + int(rng.integers(0, 6)))
        yield np.sort(rng.permutation(size + 3)[:size])


def least(found):
    """Return the least cost of all ways to cut the lists into groups."""
    number, best = len(found), np.inf
    for cuts in range(2 ** (number - 1)):
        ends = [i + 1 for i in range(number - 1) if cuts >> i & 1]
        total = 0.0
        for first, last in itertools.pairwise([0, *ends, number]):
            sets = [set(A.tolist()) for A in found[first:last]]
            core, union = len(set.intersection(*sets)), len(set.union(*sets))
            total += cost.py_func(core, union - core, last - first, 9, 24)
        best = min(best, total)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_no_other_way_to_group_costs_less(seed):
    found = list(lists(seed, 8))
    indptr, places = np.cumsum([0, *map(len, found)]), np.concatenate(found)
    starts = planned(indptr, places, np.zeros(8, dtype=np.int64), np.zeros(23, dtype=np.int64))
    assert (starts[0], starts[-1]) == (0, 8)
    total = 0.0
    for first, last in itertools.pairwise(starts):
        core, extras = listed(
            indptr[first : last + 1], places, np.zeros(23, int), np.zeros(23, int)
        )
        total += cost.py_func(core, extras, last - first, 9, 24)
    assert total == pytest.approx(least(found), rel=1e-12)


def test_supports_that_stand_alone_are_put_with_no_other():
    alone = np.array([0, 0, 1, 0, 1, 1])
    starts = planned(4 * np.arange(7), np.tile(np.arange(4), 6), alone, np.zeros(4, dtype=np.int64))
    assert starts.tolist() == [0, 2, 3, 4, 5, 6]


def test_members_are_those_of_all_then_those_of_some():
    found = np.zeros(9, dtype=np.int64)
    sizes = listed(np.array([2, 5, 7]), np.array([8, 8, 1, 4, 6, 4, 7]), np.zeros(9, int), found)
    assert sizes == (1, 3)
    assert found[:4].tolist() == [4, 1, 6, 7]


@pytest.mark.parametrize("m", [1, 2, 3, 9, 18, 19, 40])
def test_reflections_sixteen_at_a_time_are_the_whole_turn(m):
    width, rng = -(-m // 8) * 8, np.random.default_rng(m)
    Z = rng.normal(size=(m, m + 5))
    M, X = np.zeros((width, width)), np.zeros((width, 16))
    M[:m, :m], X[:m] = Z @ Z.T, rng.normal(size=(m, 16))
    G, inside, back = M[:m, :m].copy(), X.copy(), np.zeros((width, width))
    back[:m, :m] = np.eye(m)
    (diagonal, beside, beta), work = np.zeros((3, width)), np.zeros((5, width))
    turned(M, m, diagonal, beside, beta, work, inside, back)
    Q = back[:m, :m]
    T = np.diag(diagonal[:m]) + np.diag(beside[: m - 1], 1) + np.diag(beside[: m - 1], -1)
    np.testing.assert_allclose(Q @ T @ Q.T, G, atol=1e-11 * np.trace(G))
    np.testing.assert_allclose(inside[:m], Q.T @ X[:m], atol=1e-12)
    np.testing.assert_allclose(Q.T @ Q, np.eye(m), atol=1e-13)
    assert not back[m:].any()
    assert not inside[m:].any()


def test_recurrences_are_those_of_each_column():
    rng = np.random.default_rng(0)
    ratio, inverse, X, out = rng.normal(size=(4, 7, 16))
    expected, other = X.copy(), out.copy()
    for i in range(1, 7):
        expected[i] -= ratio[i - 1] * expected[i - 1]
    expected[6] *= inverse[6]
    for i in range(5, -1, -1):
        expected[i] = inverse[i] * expected[i] - ratio[i] * expected[i + 1]
    chained(ratio, inverse, X, out)
    np.testing.assert_allclose(X, expected, rtol=1e-12)
    other[0] -= (expected[1:4] * ratio[2:5]).sum(axis=0)
    np.testing.assert_allclose(out, other, rtol=1e-11)
