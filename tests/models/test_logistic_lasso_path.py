"""Logistic lasso and elastic net fulfil the optimality conditions and equal other solvers."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from genesig.models.lasso import TAU_FRACTIONS, logistic_lasso_path
from genesig.optim.logistic import logistic_path, logistic_sets

SHARES = np.geomspace(1, 0.02, 15)
L1_SHARES = [1.0, 0.5, 0.1]


def correlated_study(n, d, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(n, d)) + 5
    y = np.where(X[:, 0] + rng.normal(size=n) > np.quantile(X[:, 0], 1 - share), 1.0, -1.0)
    return X, y


def assert_optimal(X, y, path, l1_share=1.0, tau_shares=SHARES):
    Z = X - X.mean(axis=0)
    positive = (y > 0).astype(float)
    tau_max = np.abs(Z.T @ (positive - positive.mean())).max() / len(y)
    for fit, tau in zip(path, tau_max * tau_shares, strict=True):
        residual = positive - expit(fit.intercept + Z[:, fit.genes] @ fit.values)
        gradient = Z.T @ residual / len(y)
        gradient[fit.genes] -= tau * (1 / l1_share - 1) * fit.values
        assert abs(residual.mean()) < 1e-10
        assert np.abs(gradient).max() <= tau * (1 + 1e-9) + 1e-11 * tau_max
        np.testing.assert_allclose(
            gradient[fit.genes], tau * np.sign(fit.values), rtol=0, atol=1e-10 * tau_max
        )
        assert (np.diff(fit.genes) > 0).all()


@pytest.mark.parametrize(("n", "d"), [(30, 200), (60, 20), (12, 500)])
@pytest.mark.parametrize("l1_share", L1_SHARES)
@pytest.mark.parametrize("seed", range(3))
def test_path_fulfils_the_optimality_conditions(n, d, l1_share, seed):
    X, y = correlated_study(n, d, seed)
    assert_optimal(X, y, logistic_lasso_path(X, y, SHARES, l1_share), l1_share)


@pytest.mark.parametrize("l1_share", L1_SHARES)
def test_twins_and_constant_features_leave_the_optimum(l1_share):
    X, y = correlated_study(30, 50)
    X[:, 10:20] = X[:, :10]
    X[:, 30] = 7.0
    assert_optimal(X, y, logistic_lasso_path(X, y, SHARES, l1_share), l1_share)


@pytest.mark.parametrize(
    ("n", "d", "seed"),
    [(15, 60, 1970), (20, 80, 182), (30, 100, 1534), (40, 300, 736), (60, 20, 244)],
)
def test_lasso_ends_where_features_join_and_leave_together(n, d, seed):
    X, y = correlated_study(n, d, seed)
    path = logistic_lasso_path(X, y, TAU_FRACTIONS)
    assert_optimal(X, y, path, tau_shares=TAU_FRACTIONS)


@pytest.mark.parametrize("l1_share", [0.9, 0.5])
def test_elastic_net_ends_where_an_error_probability_is_tiny(l1_share):
    X, y = correlated_study(20, 80, 550)
    path = logistic_lasso_path(X, y, TAU_FRACTIONS, l1_share)
    assert_optimal(X, y, path, l1_share, TAU_FRACTIONS)


@pytest.mark.parametrize("scale", [1e-3, 1e2, 1e4, 1e7])
@pytest.mark.parametrize("l1_share", L1_SHARES)
def test_path_of_unscaled_intensities_is_optimal(l1_share, scale):
    X, y = correlated_study(12, 60, seed=3)
    assert_optimal(X * scale, y, logistic_lasso_path(X * scale, y, SHARES, l1_share), l1_share)


@pytest.mark.parametrize("l1_share", L1_SHARES)
def test_one_sample_of_a_class_is_enough(l1_share):
    X, y = correlated_study(15, 40)
    y[:] = -1.0
    y[3] = 1.0
    assert_optimal(X, y, logistic_lasso_path(X, y, SHARES, l1_share), l1_share)


@pytest.mark.parametrize("l1_share", [0.5, 0.1])
def test_elastic_net_equals_scikit_learn(l1_share):
    X, y = correlated_study(30, 60)
    Z = X - X.mean(axis=0)
    tau = 0.1 * np.abs(Z.T @ ((y > 0) - (y > 0).mean())).max() / len(y)
    (fit,) = logistic_lasso_path(X, y, np.array([0.1]), l1_share)
    expected = LogisticRegression(
        l1_ratio=l1_share, solver="saga", C=l1_share / (len(y) * tau), tol=1e-9, max_iter=10**5
    ).fit(Z, y)
    np.testing.assert_allclose(expected.coef_[0, fit.genes], fit.values, rtol=0, atol=1e-5)
    assert np.flatnonzero(expected.coef_).tolist() == fit.genes.tolist()
    assert fit.intercept == pytest.approx(expected.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("l1_share", L1_SHARES)
def test_features_without_variance_give_the_share_of_the_classes(l1_share):
    y = np.array([1.0, 1.0, 1.0, -1.0])
    path = logistic_lasso_path(np.ones((4, 3)), y, SHARES, l1_share)
    assert all(len(fit.genes) == 0 for fit in path)
    np.testing.assert_allclose([fit.intercept for fit in path], np.log(3))


@pytest.mark.slow
def test_path_is_that_of_the_certified_solver():
    X, y = correlated_study(40, 300, share=0.3)
    sets = logistic_sets(X, y[:, None], np.ones((40, 1), dtype=bool), unit_variance=False)
    tau = sets.tau_max[:, None] * SHARES
    certified, start = logistic_path(sets, tau, 0.0, tolerance=1e-12)
    for number, fit in enumerate(logistic_lasso_path(X, y, SHARES)):
        genes, values = certified.coef(0, number)
        np.testing.assert_array_equal(fit.genes, genes)
        np.testing.assert_allclose(fit.values, values, rtol=1e-7, atol=1e-9)
        assert fit.intercept == pytest.approx(start[0, number], abs=1e-8)


@pytest.mark.parametrize("l1_share", L1_SHARES)
@pytest.mark.parametrize(("n", "d"), [(30, 200), (60, 5)])
def test_no_feature_stays_when_tau_rises_again(n, d, l1_share):
    X, y = correlated_study(n, d)
    *_, fit = logistic_lasso_path(X, y, np.array([1.0, 0.3, 0.1, 1.1]), l1_share)
    assert len(fit.genes) == 0
    assert fit.intercept == pytest.approx(np.log((y > 0).sum() / (y < 0).sum()), abs=1e-9)
