"""Compiled factors and solutions of small linear systems equal NumPy."""

import numpy as np
import pytest

from genesig.compiled.algebra import (
    add_scaled_rows,
    cholesky,
    drop_row,
    multiply_rows,
    solve_lower,
    solve_upper,
)
from genesig.compiled.dual import add_outer_products


def definite(m, room):
    Z = np.random.default_rng(m).normal(size=(m, m + 5))
    M = np.zeros((room, room))
    M[:m, :m] = Z @ Z.T
    return M


@pytest.mark.parametrize(("m", "room"), [(1, 1), (7, 9), (8, 8), (9, 12), (40, 40)])
def test_factor_and_its_solutions_equal_numpy(m, room):
    M = definite(m, room)
    x = np.random.default_rng(0).normal(size=room)
    L = M.copy()
    solved = x.copy()
    assert cholesky(L, m)
    np.testing.assert_allclose(np.tril(L[:m, :m]), np.linalg.cholesky(M[:m, :m]), rtol=1e-10)
    solve_lower(L, m, solved)
    solve_upper(L, m, solved)
    np.testing.assert_allclose(M[:m, :m] @ solved[:m], x[:m], rtol=1e-8)
    assert np.array_equal(solved[m:], x[m:])


@pytest.mark.parametrize("at", [0, 5, 8, 17])
def test_cholesky_of_indefinite_matrix_returns_false(at):
    M = definite(18, 18)
    M[at, at] = -1.0
    assert not cholesky(M, 18)


@pytest.mark.parametrize("p", [0, 3, 8])
def test_factor_without_a_row_equals_factor_of_the_smaller_matrix(p):
    M = definite(9, 9)
    other_rows = np.delete(np.arange(9), p)
    L = np.linalg.cholesky(M)
    drop_row(L, 9, p)
    expected = np.linalg.cholesky(M[np.ix_(other_rows, other_rows)])
    np.testing.assert_allclose(np.tril(L[:8, :8]), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("last_row", [0, 1, 5, 8, 11])
def test_product_of_first_rows_equals_numpy(last_row):
    A = np.random.default_rng(0).normal(size=(11, 7))
    b = np.arange(7.0)
    out = np.full(11, np.nan)
    multiply_rows(A, b, last_row, out)
    np.testing.assert_allclose(out[:last_row], A[:last_row] @ b, rtol=1e-12)
    assert np.isnan(out[last_row:]).all()


@pytest.mark.parametrize("n", [1, 4, 5])
@pytest.mark.parametrize("count", [0, 1, 4, 6])
def test_outer_products_come_and_go_by_their_signs(count, n):
    rng = np.random.default_rng(count)
    Z = rng.normal(size=(9, n))
    start = rng.normal(size=(n, n))
    sign = rng.normal(size=count)
    row_indices = rng.permutation(9)[:count]
    gram = start.copy()
    add_outer_products(Z, row_indices, sign, gram)
    expected = start + (Z[row_indices].T * sign) @ Z[row_indices]
    np.testing.assert_allclose(np.tril(gram), np.tril(expected), rtol=1e-12)


@pytest.mark.parametrize("count", [0, 1, 4, 6])
def test_scaled_rows_are_added(count):
    rng = np.random.default_rng(count)
    Z = rng.normal(size=(9, 5))
    scale = rng.normal(size=9)
    row_indices = rng.permutation(9)[:count]
    out = np.ones(5)
    add_scaled_rows(Z, row_indices, scale, out)
    np.testing.assert_allclose(out, 1 + scale[row_indices] @ Z[row_indices], rtol=1e-12)
