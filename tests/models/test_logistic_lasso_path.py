"""The l1 logistic path fulfils its optimality conditions and equals the certified solver."""

import numpy as np
import pytest
from scipy.special import expit

from genesig.models.logistic_lasso_path import logistic_lasso_path
from genesig.optim.logistic import logistic_path, logistic_sets

SHARES = np.geomspace(1, 0.02, 15)


def correlated_study(n, d, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(n, d)) + 5
    y = np.where(X[:, 0] + rng.normal(size=n) > np.quantile(X[:, 0], 1 - share), 1.0, -1.0)
    return X, y


def assert_optimal(X, y, path, shares=SHARES):
    Z = X - X.mean(axis=0)
    positive = (y > 0).astype(float)
    tau_max = np.abs(Z.T @ (positive - positive.mean())).max() / len(y)
    for fit, tau in zip(path, tau_max * shares, strict=True):
        residual = positive - expit(fit.intercept + Z[:, fit.genes] @ fit.values)
        gradient = Z.T @ residual / len(y)
        assert abs(residual.mean()) < 1e-10 * tau_max
        assert np.abs(gradient).max() <= tau * (1 + 1e-9) + 1e-11 * tau_max
        np.testing.assert_allclose(
            gradient[fit.genes], tau * np.sign(fit.values), rtol=0, atol=1e-10 * tau_max
        )
        assert (np.diff(fit.genes) > 0).all()


@pytest.mark.parametrize(("n", "d"), [(30, 200), (60, 20), (12, 500)])
@pytest.mark.parametrize("seed", range(3))
def test_path_fulfils_the_optimality_conditions(n, d, seed):
    X, y = correlated_study(n, d, seed)
    assert_optimal(X, y, logistic_lasso_path(X, y, SHARES))


def test_twins_and_constant_features_leave_the_optimum():
    X, y = correlated_study(30, 50)
    X[:, 10:20] = X[:, :10]
    X[:, 30] = 7.0
    assert_optimal(X, y, logistic_lasso_path(X, y, SHARES))


def test_one_sample_of_a_class_is_enough():
    X, y = correlated_study(15, 40)
    y[:] = -1.0
    y[3] = 1.0
    assert_optimal(X, y, logistic_lasso_path(X, y, SHARES))


def test_features_without_variance_give_the_share_of_the_classes():
    y = np.array([1.0, 1.0, 1.0, -1.0])
    path = logistic_lasso_path(np.ones((4, 3)), y, SHARES)
    assert all(len(fit.genes) == 0 for fit in path)
    np.testing.assert_allclose([fit.intercept for fit in path], np.log(3))


@pytest.mark.slow
def test_path_is_that_of_the_certified_solver():
    X, y = correlated_study(40, 300, share=0.3)
    sets = logistic_sets(
        X, y[:, None], np.ones((40, 1), dtype=bool), centre=True, unit_variance=False
    )
    tau = sets.tau_max[:, None] * SHARES
    certified, start, _ = logistic_path(sets, tau, 0.0, tolerance=1e-12)
    for number, fit in enumerate(logistic_lasso_path(X, y, SHARES)):
        genes, values = certified.coef(0, number)
        np.testing.assert_array_equal(fit.genes, genes)
        np.testing.assert_allclose(fit.values, values, rtol=1e-7, atol=1e-9)
        assert fit.intercept == pytest.approx(start[0, number], abs=1e-8)
