"""Laws of every linear solver and every problem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_formulas import l1l2_objective as objective

from genesig.arrays import row_entries
from genesig.errors import GenesigError
from genesig.optim.refit import refit_coef, refit_scores
from genesig.optim.solution import duality_gap
from genesig.optim.solvers import path
from genesig.optim.training import training_sets


def problem(seed, n=12, d=30, k=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(n, d)) + 5
    Y = np.sign(rng.normal(size=(n, k)))
    Y[:2] = [[1], [-1]]
    rows = rng.random((n, k)) < 0.8
    rows[:2] = True
    return X, Y, rows


def solve(sets, tau, mu, solver="landweber-newton", **kw):
    return path(sets, tau, mu, solver=solver, tolerance=1e-9, **kw)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(3, 15),
    d=st.integers(1, 40),
    mu=st.sampled_from([0.0, 1e-6, 1e-2, 1.0, 100.0]),
)
def test_every_fit_is_certified_and_meets_the_optimality_conditions(seed, n, d, mu):
    X, Y, rows = problem(seed, n, d)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    tau = sets.tau_max[:, None] * np.geomspace(1, 0.02, 8)
    fits = solve(sets, tau, mu * sets.norm[:, None])
    assert fits.converged.all(), fits.message
    for (k, m), t in np.ndenumerate(tau):
        Z = sets.standardised(k)[rows[:, k]]
        y = sets.Y[rows[:, k], k]
        A, values = fits.coef(k, m)
        b = np.zeros(d)
        b[A] = values
        g = 2 / len(y) * Z.T @ (y - Z @ b) - 2 * mu * sets.norm[k] * b
        slack = 1e-7 * sets.tau_max[k] + 1e-12
        assert (np.abs(g) <= t + slack).all()
        assert np.abs(g[A] - t * np.sign(values)).max(initial=0.0) <= slack


@given(seed=st.integers(0, 10_000), mu=st.sampled_from([0.0, 1e-3, 1.0]))
def test_the_gap_bounds_the_distance_to_the_minimum(seed, mu):
    X, Y, rows = problem(seed, k=1)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    Z = sets.standardised(0)[rows[:, 0]]
    y = sets.Y[rows[:, 0], 0]
    tau = 0.3 * float(sets.tau_max[0])
    A, values = solve(sets, tau, mu).coef(0, 0)
    b = np.zeros(X.shape[1])
    b[A] = values
    neighbour = b + np.random.default_rng(seed).normal(size=len(b)) * 0.01
    distance = objective(Z, y, neighbour, tau, mu) - objective(Z, y, b, tau, mu)
    assert distance >= -1e-12
    assert duality_gap(Z, y, neighbour, tau, mu) * (y @ y) / len(y) >= distance - 1e-12


def test_tau_max_selects_nothing_and_just_below_it_one_feature():
    X, Y, rows = problem(1)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    fits = solve(sets, sets.tau_max[:, None] * [2, 1, 0.999], 0.0)
    assert (fits.sizes() == [0, 0, 1]).all()


def test_tau_zero_is_ridge():
    X, Y, rows = problem(2)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    fits = solve(sets, 0.0, 0.5)
    for k in range(3):
        Z = sets.standardised(k)[rows[:, k]]
        y = sets.Y[rows[:, k], k]
        ridge = np.linalg.solve(Z.T @ Z + len(y) * 0.5 * np.eye(Z.shape[1]), Z.T @ y)
        np.testing.assert_allclose(fits.coef(k, 0)[1], ridge, atol=1e-10)


def test_undetermined_problem_is_refused():
    sets = training_sets(*problem(3), centre=True, unit_variance=True)
    with pytest.raises(GenesigError, match="undetermined"):
        solve(sets, 0.0, 0.0)
    with pytest.raises(GenesigError, match="landweber-newton"):
        solve(sets, 0.1, 0.0, solver="landweber-newtn")


def test_columns_do_not_depend_on_each_other():
    X, Y, rows = problem(4)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    tau = sets.tau_max[:, None] * np.geomspace(0.9, 0.02, 9)
    joint_fits = solve(sets, tau, 1e-6)
    for k in range(3):
        alone = training_sets(X, Y[:, [k]], rows[:, [k]], centre=True, unit_variance=True)
        np.testing.assert_allclose(alone.tau_max, sets.tau_max[[k]], rtol=1e-12)
        fits = solve(alone, tau[[k]], 1e-6)
        for m in range(9):
            assert fits.coef(0, m)[0].tolist() == joint_fits.coef(k, m)[0].tolist()
            np.testing.assert_allclose(
                fits.coef(0, m)[1], joint_fits.coef(k, m)[1], rtol=1e-9, atol=1e-12
            )


def test_scores_and_coefficients_of_the_refit_agree():
    X, Y, rows = problem(5)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    fits = solve(sets, sets.tau_max[:, None] * [1, 0.5, 0.1], 1e-3)
    lam = sets.norm[:, None] * [1e-3, 0.1]
    scores = refit_scores(sets, fits, lam)
    assert scores.shape == (3, 3, 2, len(X))
    values, intercept = refit_coef(sets, fits, lam[:, 1])
    for k in range(3):
        np.testing.assert_allclose(scores[k, 0], sets.y_mean[k])
        for m in range(3):
            part = row_entries(fits.indptr, k * 3 + m)
            f = intercept[k, m] + X[:, fits.indices[part]] @ values[part]
            np.testing.assert_allclose(f, scores[k, m, 1], atol=1e-10)


@pytest.mark.parametrize("seed", [124, 170, 684, 911, 1024, 2480, 2881, 0, 1])
def test_from_0_at_any_tau_where_features_depend_on_each_other(seed):
    """Seeds but for the last two: several dependent features were let in together, and threw
    each other out."""
    rng = np.random.default_rng(seed)
    n, d, r = (int(rng.integers(*ends)) for ends in ((5, 10), (10, 100), (3, 5)))
    X = rng.normal(size=(n, r)) @ (rng.normal(size=(r, d)) + 3 * rng.normal(size=(r, 1)))
    y = X @ rng.normal(size=d)
    rows = np.ones((n, 1), bool)
    sets = training_sets(X, y[:, None], rows, centre=False, unit_variance=False)
    for share in (0.3, 0.1, 0.02):
        fit = path(sets, sets.tau_max * share, 0.0, solver="landweber-newton", tolerance=1e-9)
        assert fit.gap.max() <= 1e-12
