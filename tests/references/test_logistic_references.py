"""The logistic elastic net against CVXPY (Clarabel) and scikit-learn."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from reference_formulas import STUDY_VARIANTS, classes, fits, parts, problem
from reference_formulas import logistic_objective as objective
from sklearn.linear_model import LogisticRegression

from genesig.optim.logistic import logistic_sets


def by_cvxpy(sets, k, tau, mu):
    """Return the coefficients and the intercept."""
    Z, y, v = parts(sets, k)
    b = cp.Variable(Z.shape[1])
    a = cp.Variable()
    loss = v @ cp.logistic(cp.multiply(-y, Z @ b + a))
    penalty = tau * cp.norm1(b) + mu * cp.sum_squares(b)
    exact = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    cp.Problem(cp.Minimize(loss + penalty)).solve(solver=cp.CLARABEL, **exact)
    return b.value, a.value


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # what it found is compared
@pytest.mark.parametrize("kind", STUDY_VARIANTS)
@pytest.mark.parametrize(("n", "d", "mu"), [(25, 12, 0.0), (18, 40, 0.02), (40, 6, 1e-3)])
def test_cvxpy_finds_the_same_minimum(kind, n, d, mu):
    """Weights of samples, balanced classes and the free intercept."""
    sets = problem(n, n, d, kind, balanced=kind == "weights")
    tau = sets.tau_max * 0.3
    _, B, A = fits(sets, tau[:, None], mu)
    for k in range(2):
        b, a = by_cvxpy(sets, k, tau[k], mu)
        np.testing.assert_allclose(B[k, 0], b, atol=2e-5)
        np.testing.assert_allclose(A[k, 0], a, atol=2e-5)
        ours = objective(sets, k, B[k, 0], A[k, 0], tau[k], mu)
        assert ours <= objective(sets, k, b, a, tau[k], mu) + 1e-11


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("mu", [0.0, 0.01])
def test_scikit_learn_finds_the_same_coefficients(balanced, mu):
    """C = 1/(n (tau + 2 mu)), l1_ratio = tau/(tau + 2 mu), saga; balanced as it does."""
    X, Y, _ = classes(3, 40, 15)
    rows = np.ones((40, 1), dtype=bool)
    sets = logistic_sets(X, Y[:, :1], rows, balanced=balanced, unit_variance=True)
    tau = float(0.2 * sets.tau_max[0])
    _, B, A = fits(sets, tau, mu)
    total = tau + 2 * mu
    peer = LogisticRegression(
        C=1 / (40 * total),
        l1_ratio=tau / total,
        solver="saga",
        tol=1e-12,
        max_iter=100_000,
        class_weight="balanced" if balanced else None,
        random_state=0,
    ).fit(sets.training_sets.standardised(0), Y[:, 0])
    np.testing.assert_allclose(B[0, 0], peer.coef_[0], atol=1e-6)
    np.testing.assert_allclose(A[0, 0], peer.intercept_[0], atol=1e-6)
