"""Products and factors in blocks: the bytes of one sum of products after the other."""

import numba
import numpy as np
import pytest

from genesig.compiled.dense import cholesky, tridiagonal
from genesig.compiled.lanes import LANES, dot
from genesig.compiled.products import products


@numba.njit
def one_by_one(M, m):
    for i in range(m):
        for j in range(i):
            M[i, j] = (M[i, j] - dot(M[i, :j], M[j, :j])) / M[j, j]
        M[i, i] = np.sqrt(M[i, i] - dot(M[i, :i], M[i, :i]))


@numba.njit
def in_blocks(M, m):
    return cholesky(M, m)


@numba.njit
def inner_products(Z, start, stop, gram):
    products(Z, start, stop, gram)


@numba.njit
def each_inner_product(Z, p, q):
    return dot(Z[p], Z[q])


@numba.njit
def three_diagonals(M, m, diagonal, beside, beta, work):
    tridiagonal(M, m, diagonal, beside, beta, work)


def definite(m, room):
    Z = np.random.default_rng(m).normal(size=(m, m + 5))
    M = np.zeros((room, room))
    M[:m, :m] = Z @ Z.T
    return M


@pytest.mark.parametrize(("m", "room"), [(1, 1), (7, 9), (8, 8), (9, 12), (40, 40), (61, 64)])
def test_the_factor_has_the_bytes_of_its_definition(m, room):
    expected, found = definite(m, room), definite(m, room)
    one_by_one(expected, m)
    assert in_blocks(found, m)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("at", [0, 5, 8, 17])
def test_what_is_not_definite_has_no_factor(at):
    M = definite(18, 18)
    M[at, at] = -1.0
    assert not in_blocks(M, 18)


@pytest.mark.parametrize(("start", "stop"), [(0, 21), (0, 1), (5, 6), (13, 21), (3, 3)])
def test_inner_products_have_the_bytes_of_each(start, stop):
    Z = np.random.default_rng(0).normal(size=(21, 3 * LANES))
    gram = np.full((21, 21), np.nan)
    inner_products(Z, start, stop, gram)
    for p in range(21):
        for q in range(p + 1):
            expected = each_inner_product(Z, p, q) if start <= p < stop else np.nan
            assert np.array_equal(gram[[p, q], [q, p]], [expected] * 2, equal_nan=True)


@pytest.mark.parametrize("m", [1, 2, 3, 9, 30])
def test_three_diagonals_keep_the_eigenvalues(m):
    width = -(-m // LANES) * LANES
    M, (diagonal, beside, beta), work = (
        definite(m, width),
        np.zeros((3, width)),
        np.zeros((5, width)),
    )
    expected = np.linalg.eigvalsh(M[:m, :m])
    three_diagonals(M, m, diagonal, beside, beta, work)
    T = np.diag(diagonal[:m]) + np.diag(beside[: m - 1], 1) + np.diag(beside[: m - 1], -1)
    assert np.linalg.eigvalsh(T) == pytest.approx(expected, rel=1e-10, abs=1e-12 * expected[-1])
