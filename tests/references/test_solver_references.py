"""The minimiser against scikit-learn and CVXPY, which know nothing of genesig."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_formulas import l1l2_objective as objective
from sklearn.linear_model import ElasticNet, Ridge

from genesig.optim.refit import refit_scores
from genesig.optim.solvers import path
from genesig.optim.training import training_sets


def study(seed=0, n=30, d=80, k=4, weights=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) @ rng.normal(size=(6, d)) + rng.normal(size=(n, d)) + 7
    Y = np.sign(X[:, :1] - 7 + rng.normal(size=(n, k)))
    rows = rng.random((n, k)) < 0.8
    return training_sets(X, Y, rows, centre=True, unit_variance=True, weights=weights)


def dense(fits, k, m, d):
    b = np.zeros(d)
    A, values = fits.coef(k, m)
    b[A] = values
    return b


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(5, 30),
    d=st.integers(1, 60),
    share=st.floats(0.05, 1.2),
)
@pytest.mark.parametrize("mu", [1e-6, 1e-2, 1.0])
def test_elastic_net_of_scikit_learn(mu, seed, n, d, share):
    """As good as scikit-learn's, and as near as its own duality gap allows."""
    sets = study(seed, n, d, k=1)
    rows = sets.rows[:, 0]
    Z = sets.standardised(0)[rows]
    y = sets.Y[rows, 0]
    tau = share * float(sets.tau_max[0]) + 1e-6
    ridge = mu * float(sets.norm[0])
    fits = path(sets, tau, ridge, solver="landweber-newton", tolerance=1e-9)
    alpha = ridge + tau / 2
    model = ElasticNet(
        alpha=alpha, l1_ratio=tau / 2 / alpha, fit_intercept=False, tol=1e-12, max_iter=20_000
    ).fit(Z, y)
    b = dense(fits, 0, 0, d)
    worse = objective(Z, y, model.coef_, tau, ridge) - objective(Z, y, b, tau, ridge)
    assert -1e-12 <= worse <= 2 * model.dual_gap_ + 1e-12
    assert np.mean((Z @ (model.coef_ - b)) ** 2) <= worse + 1e-12
    assert fits.converged.all()


def test_unpenalised_features_against_cvxpy():
    cvxpy = pytest.importorskip("cvxpy")
    weights = np.ones(15)
    weights[[2, 7]] = 0
    weights[4] = 3
    sets = study(1, n=20, d=15, k=1, weights=weights)
    rows = sets.rows[:, 0]
    Z = sets.standardised(0)[rows]
    y = sets.Y[rows, 0]
    tau = 0.4 * sets.tau_max[0]
    for mu in (0.0, 0.3):
        fits = path(sets, tau, mu, solver="landweber-newton", tolerance=1e-9)
        b = cvxpy.Variable(15)
        loss = cvxpy.sum_squares(y - Z @ b) / len(y) + mu * cvxpy.sum_squares(b)
        cvxpy.Problem(cvxpy.Minimize(loss + tau * weights @ cvxpy.abs(b))).solve(
            solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
        )
        np.testing.assert_allclose(dense(fits, 0, 0, 15), b.value, atol=1e-6)
        assert fits.converged.all()
        assert fits.coef(0, 0)[1][np.isin(fits.coef(0, 0)[0], [2, 7])].all()


def test_the_refit_is_ridge_of_scikit_learn():
    sets = study(2)
    fits = path(sets, 0.3 * sets.tau_max[:, None], 0.01, solver="landweber-newton", tolerance=1e-9)
    lam = np.array([1e-4, 1e-2, 1.0])
    scores = refit_scores(sets, fits, lam)
    for k in range(4):
        rows = sets.rows[:, k]
        A = fits.coef(k, 0)[0]
        Z = sets.standardised(k)[:, A]
        for e, weight in enumerate(lam):
            model = Ridge(alpha=rows.sum() * weight).fit(Z[rows], sets.Y[rows, k])
            f = sets.y_mean[k] + model.predict(Z)
            np.testing.assert_allclose(scores[k, 0, e], f, atol=1e-9)


def test_norm_and_tau_max_by_their_definitions():
    sets = study(3)
    for k in range(4):
        Z = sets.standardised(k)[sets.rows[:, k]]
        y = sets.Y[sets.rows[:, k], k]
        assert sets.norm[k] == pytest.approx(np.linalg.norm(Z, 2) ** 2 / len(y), rel=1e-12)
        assert sets.tau_max[k] == pytest.approx(2 / len(y) * np.abs(Z.T @ y).max(), rel=1e-12)
        np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-12)
