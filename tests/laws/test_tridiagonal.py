"""A symmetric matrix, its tridiagonal form and the solutions for several ridges agree."""

from __future__ import annotations

import numpy as np
import pytest

from genesig.compiled.algebra import reflect_rows, solve_tridiagonal, tridiagonalise


@pytest.mark.one_in(3)
@pytest.mark.parametrize("unit", [1.0, 1e140, 1e-140])
@pytest.mark.parametrize("rank", [0, 1, 9])
@pytest.mark.parametrize("order", [1, 2, 3, 9])
def test_tridiagonal_solutions_of_a_ridge_equal_those_of_the_matrix(order, rank, unit):
    rng = np.random.default_rng(order)
    factor = rng.normal(size=(order, rank))
    A = unit * factor @ factor.T
    b = rng.normal(size=(1, order))
    diagonal = np.empty(order)
    off_diagonal = np.empty(order)
    beta = np.empty(order)
    reflectors = np.tril(A)
    tridiagonalise(reflectors, diagonal, off_diagonal, beta)
    np.testing.assert_allclose(diagonal.sum(), np.trace(A), rtol=1e-13, atol=0)
    rotated = b.copy()
    reflect_rows(rotated, reflectors, beta, True)
    for ridge in (1e-6 * unit, unit):
        x = np.empty((1, order))
        solve_tridiagonal(diagonal, off_diagonal, ridge, rotated[0], x[0])
        reflect_rows(x, reflectors, beta, False)
        expected = np.linalg.solve(A + ridge * np.eye(order), b[0])
        np.testing.assert_allclose(x[0], expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
