"""Kernels: derivatives against finite differences, matrix-free products against dense blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genesig.optim.kernels import (
    KERNELS,
    Gaussian,
    Polynomial,
    dense_blocks,
    evaluate,
    median_distance,
    tables,
)

MEMBERS = [
    Polynomial(1, 0.0),
    Polynomial(2, 1.0),
    Polynomial(3, 0.5),
    Polynomial(2, 0.0),
    Gaussian(1.7),
]


def function(kernel, seed, n=7, d=3):
    rng = np.random.default_rng(seed)
    return kernel, rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=(d, n))


def value_at(kernel, x, X, alpha, B):
    return evaluate(kernel, x[None], X, alpha, B)[0][0]


def plain_kernel(kernel, x, z):
    if isinstance(kernel, Gaussian):
        return np.exp(-((x - z) @ (x - z)) / (2 * kernel.width**2))
    return (x @ z + kernel.offset) ** kernel.degree


def test_registry_makes_every_kernel():
    kernels = [make_kernel(width=2.0, degree=3, offset=1.0) for make_kernel in KERNELS.values()]
    assert kernels == [Gaussian(2.0), Polynomial(3, 1.0), Polynomial(1, 0.0)]


@pytest.mark.parametrize("kernel", MEMBERS, ids=str)
def test_value_table_is_the_kernel(kernel):
    _, X, _, _ = function(kernel, 1)
    expected = [[plain_kernel(kernel, x, z) for z in X] for x in X]
    np.testing.assert_allclose(tables(kernel, X, X).value, expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", MEMBERS, ids=str)
def test_blocks_are_the_derivatives_of_the_kernel(kernel):
    _, X, _, _ = function(kernel, 2, n=4)
    D, L = dense_blocks(tables(kernel, X, X), X)
    h = 1e-4
    axes = np.eye(X.shape[1])
    for i, j in np.ndindex(4, 4):
        for a in range(3):
            up, down = (plain_kernel(kernel, X[i] + s * h * axes[a], X[j]) for s in (1, -1))
            assert D[a, i, j] == pytest.approx((up - down) / (2 * h), abs=1e-6)
            for b in range(3):
                corner = [
                    s * t * plain_kernel(kernel, X[i] + s * h * axes[a], X[j] + t * h * axes[b])
                    for s in (1, -1)
                    for t in (1, -1)
                ]
                # Rounding of the four values, 4e-16 of each, is divided by 4 h².
                expected = sum(corner) / (4 * h * h)
                assert L[a, b, i, j] == pytest.approx(expected, rel=1e-7, abs=1e-5)


@pytest.mark.parametrize("kernel", MEMBERS, ids=str)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 9), d=st.integers(1, 5))
def test_products_equal_the_dense_blocks(kernel, seed, n, d):
    _, X, alpha, B = function(kernel, seed, n, d)
    D, L = dense_blocks(tables(kernel, X, X), X)
    f, gradient = evaluate(kernel, X, X, alpha, B)
    expected_f = tables(kernel, X, X).value @ alpha + np.einsum("aji,aj->i", D, B)
    expected = np.einsum("aij,j->ai", D, alpha) + np.einsum("abij,bj->ai", L, B)
    np.testing.assert_allclose(f, expected_f, rtol=0, atol=1e-12 * (1 + abs(expected_f).max()))
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-12 * (1 + abs(expected).max()))


@pytest.mark.parametrize("kernel", MEMBERS, ids=str)
def test_gradient_at_new_points_equals_finite_differences(kernel):
    _, X, alpha, B = function(kernel, 3)
    points = np.random.default_rng(4).normal(size=(5, 3))
    h = 1e-5
    gradient = evaluate(kernel, points, X, alpha, B)[1]
    for i, x in enumerate(points):
        for a, axis in enumerate(np.eye(3)):
            up = value_at(kernel, x + h * axis, X, alpha, B)
            down = value_at(kernel, x - h * axis, X, alpha, B)
            assert gradient[a, i] == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("kernel", MEMBERS, ids=str)
def test_values_and_derivatives_together_are_positive_semidefinite(kernel):
    _, X, _, _ = function(kernel, 5)
    D, L = dense_blocks(tables(kernel, X, X), X)
    flat = D.reshape(-1, len(X))
    second = L.transpose(0, 2, 1, 3).reshape(len(flat), len(flat))
    G = np.block([[tables(kernel, X, X).value, flat.T], [flat, second]])
    np.testing.assert_allclose(G, G.T, atol=1e-12 * abs(G).max())
    assert np.linalg.eigvalsh(G)[0] > -1e-10 * np.linalg.eigvalsh(G)[-1]


def test_median_distance_is_over_different_pairs():
    X = np.array([[0.0], [1.0], [3.0]])
    assert median_distance(X @ X.T) == 2.0
