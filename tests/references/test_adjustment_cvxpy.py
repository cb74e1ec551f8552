"""The joint problem of genes and unpenalised covariates, with weights, by a general solver."""

from __future__ import annotations

import numpy as np
import pytest

from genesig.optim.adjustment import adjustment
from genesig.optim.refit import covariate_coef
from genesig.optim.solvers import path
from genesig.optim.training import training_sets


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_adjusted_minimum_equals_cvxpy(share: float) -> None:
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(2)
    n = 25
    d = 12
    C = rng.normal(size=(n, 2))
    v = rng.uniform(0.3, 2, n)
    X = rng.normal(size=(n, d)) + C[:, [0]]
    y = X[:, 0] - 2 * C[:, 0] + rng.normal(size=n)
    rows = np.ones((n, 1), dtype=bool)
    sets = training_sets(
        X,
        y[:, None],
        rows,
        centre=True,
        unit_variance=False,
        adjustment=adjustment(rows, C[None], v[:, None]),
    )
    tau = share * sets.tau_max[0]
    mu = 1e-2 * sets.norm[0]
    fit_path = path(sets, tau, mu, solver="landweber-newton", tolerance=1e-9)
    ours = np.zeros(d)
    ours[fit_path.indices] = fit_path.values
    gamma = covariate_coef(sets, fit_path, fit_path.values)[0, 0]

    b = cvxpy.Variable(d)
    g = cvxpy.Variable(2)
    a = cvxpy.Variable()
    residual = cvxpy.multiply(np.sqrt(v / v.mean()), y - a - X @ b - C @ g)
    objective = cvxpy.sum_squares(residual) / n + mu * cvxpy.sum_squares(b) + tau * cvxpy.norm1(b)
    tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    cvxpy.Problem(cvxpy.Minimize(objective)).solve(solver="CLARABEL", **tight)
    np.testing.assert_allclose(ours, b.value, atol=1e-8)
    np.testing.assert_allclose(gamma, g.value, atol=1e-8)
