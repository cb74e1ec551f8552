"""Coordinate descent as in the lecture: the exact solver's lists, and a stop by the gap."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_formulas import l1l2_objective as objective

from genesig.optim.solution import duality_gap
from genesig.optim.solvers import path
from genesig.optim.solvers.reference import coordinate_descent
from genesig.optim.training import training_sets


def sets_of(seed, n=20, d=40, weights=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(n, d))
    X[:, 3] = 2.0
    rows = rng.random((n, 2)) < 0.9
    return training_sets(
        X, rng.normal(size=(n, 2)), rows, centre=True, unit_variance=True, weights=weights
    )


@given(seed=st.integers(0, 1000), mu=st.sampled_from([0.0, 1e-3, 0.3]))
def test_coordinate_descent_equals_the_exact_solver(seed, mu):
    sets = sets_of(seed, weights=np.random.default_rng(seed).uniform(0.5, 2, 40))
    tau = sets.tau_max[:, None] * np.array([0.95, 0.5, 0.1])
    ridge = mu * sets.norm[:, None]
    descent_fits, exact = (
        path(sets, tau, ridge, solver=s, tolerance=1e-13)
        for s in ("coordinate-descent", "landweber-newton")
    )
    assert descent_fits.converged.all(), descent_fits.message
    np.testing.assert_array_equal(descent_fits.indices, exact.indices)
    np.testing.assert_allclose(descent_fits.values, exact.values, atol=1e-5)
    for k, m in np.ndindex(tau.shape):
        rows = sets.rows[:, k]
        Z = sets.standardised(k)[rows]
        y = sets.Y[rows, k]
        b = np.zeros((2, 40))
        for coef, fits in zip(b, (descent_fits, exact), strict=True):
            coef[fits.coef(k, m)[0]] = fits.coef(k, m)[1]
        gap = duality_gap(Z, y, b[0], tau[k, m], ridge[k, 0], sets.weights)
        assert gap == pytest.approx(descent_fits.gap[k, m], abs=1e-13)
        descent_path, exact_path = (
            objective(np.divide(Z, sets.weights), y, coef * sets.weights, tau[k, m], 0.0)
            for coef in b
        )
        assert (
            descent_path + ridge[k, 0] * b[0] @ b[0]
            <= exact_path + ridge[k, 0] * b[1] @ b[1] + 1e-12
        )


def test_coordinate_descent_without_ridge_equals_the_lecture_pseudo_code():
    """J = ||y - Xt||² + delta² ||t||_1, from the ridge solution; a feature of zeros is skipped."""
    sets = sets_of(0, n=15, d=10)
    rows = sets.rows[:, 0]
    X = sets.standardised(0)[rows]
    y = sets.Y[rows, 0]
    delta = 3.0
    t = np.linalg.solve(X.T @ X + delta * np.eye(10), X.T @ y)
    for _ in range(3000):
        for j in np.flatnonzero(X.any(axis=0)):
            a = 2 * X[:, j] @ X[:, j]
            c = 2 * X[:, j] @ (y - X @ t + X[:, j] * t[j])
            t[j] = (c + delta) / a if c < -delta else (c - delta) / a if c > delta else 0.0
    t[~X.any(axis=0)] = 0
    fits = path(sets, delta / len(y), 0.0, solver="coordinate-descent", tolerance=1e-14)
    b = np.zeros(10)
    b[fits.coef(0, 0)[0]] = fits.coef(0, 0)[1]
    np.testing.assert_allclose(b, t, atol=1e-7)


def test_insufficient_sweeps_are_reported(monkeypatch):
    monkeypatch.setattr(importlib.import_module(coordinate_descent.__module__), "MAX_SWEEPS", 20)
    sets = sets_of(1)
    fits = path(
        sets, 0.01 * sets.tau_max[:, None], 0.0, solver="coordinate-descent", tolerance=1e-9
    )
    assert fits.message.startswith("coordinate descent was stopped after 20 sweeps in 2 fits")
    assert "did not reach the relative duality gap" in fits.message
