"""The factor U'U in blocks and what is solved by it: that of LAPACK, each number by itself."""

import numba
import numpy as np
import pytest

from genesig.compiled.lanes import LANES
from genesig.compiled.upper import (
    factor,
    invert_left,
    outer,
    solve_both,
    solve_left,
    solve_right,
    spread,
)


@numba.njit
def factored(M, m):
    return factor(M, m)


@numba.njit
def solved_left(U, m, B, last):
    solve_left(U, m, B, last)


@numba.njit
def solved_right(U, m, B, last):
    solve_right(U, m, B, last)


@numba.njit
def solved_both(U, m, x):
    solve_both(U, m, x)


@numba.njit
def inverted(U, m, B):
    invert_left(U, m, B)


@numba.njit
def block(A, i, B, j, first, last, C):
    outer(A, i, B, j, first, last, C)


@numba.njit
def room_for(n):
    return spread(n)


def definite(m):
    """Return a matrix in a room of its own, of whose lower triangle nothing is to be read."""
    Z = np.random.default_rng(m).normal(size=(m, m + 5))
    M = np.full((m, room_for(m)), np.nan)
    M[:, :m] = np.triu(Z @ Z.T)
    return M, Z @ Z.T


def upper(M, m):
    """Return U, whose diagonal is kept as inverses."""
    U = np.triu(M[:, :m])
    U[np.diag_indices(m)] = 1 / np.diag(U)
    return U


@pytest.mark.parametrize("m", [8, 16, 40, 64])
def test_the_factor_is_that_of_its_upper_triangle(m):
    M, whole = definite(m)
    assert factored(M, m)
    np.testing.assert_allclose(upper(M, m), np.linalg.cholesky(whole).T, rtol=1e-9, atol=1e-12)
    assert np.isnan(M[:, m:]).all()


@pytest.mark.parametrize("at", [0, 5, 8, 15])
def test_what_is_not_definite_has_no_factor(at):
    M, _ = definite(16)
    M[at, at] = -1.0
    assert not factored(M, 16)


@pytest.mark.parametrize("m", [8, 24, 40])
def test_systems_are_solved_by_the_factor(m):
    M, whole = definite(m)
    factored(M, m)
    U, rng = upper(M, m), np.random.default_rng(0)
    B = rng.normal(size=(m, 3 * LANES))
    left, right, x, inverse = B.copy(), B.copy(), B[:, 0].copy(), np.full((m, m), np.nan)
    solved_left(M, m, left, 2 * LANES)
    solved_right(M, m, right, 2 * LANES)
    solved_both(M, m, x)
    inverted(M, m, inverse)
    some = B[:, : 2 * LANES]
    np.testing.assert_allclose(U.T @ left[:, : 2 * LANES], some, atol=1e-10)
    np.testing.assert_allclose(U @ right[:, : 2 * LANES], some, atol=1e-10)
    for found in (left, right):
        np.testing.assert_array_equal(found[:, 2 * LANES :], B[:, 2 * LANES :])
    np.testing.assert_allclose(whole @ x, B[:, 0], atol=1e-8)
    np.testing.assert_allclose(np.tril(inverse), np.linalg.inv(U.T), atol=1e-10)


def test_columns_are_solved_to_the_same_bytes_beside_others_and_alone():
    M, _ = definite(24)
    factored(M, 24)
    B = np.random.default_rng(1).normal(size=(24, 5 * LANES))
    alone = np.ascontiguousarray(B[:, 2 * LANES : 3 * LANES])
    solved_left(M, 24, B, 5 * LANES)
    solved_left(M, 24, alone, LANES)
    np.testing.assert_array_equal(B[:, 2 * LANES : 3 * LANES], alone)


@pytest.mark.parametrize(("first", "last"), [(0, 9), (3, 4), (5, 5)])
def test_a_block_of_products_is_its_sum_over_the_rows(first, last):
    rng = np.random.default_rng(2)
    A, B, C = rng.normal(size=(9, 16)), rng.normal(size=(9, 24)), np.full((16, 24), np.nan)
    block(A, 8, B, 16, first, last, C)
    expected = A[first:last, 8:].T @ B[first:last, 16:]
    np.testing.assert_allclose(C[8:, 16:], expected, atol=1e-14)
    assert np.isnan(C[:8]).all()
    assert np.isnan(C[:, :16]).all()


@pytest.mark.parametrize("n", [1, 8, 9, 16, 64, 100])
def test_room_is_an_odd_number_of_whole_lanes(n):
    assert room_for(n) >= n
    assert room_for(n) % (2 * LANES) == LANES
