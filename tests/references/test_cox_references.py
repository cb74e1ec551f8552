"""The Cox fits against glmnet's stored coefficients, CVXPY and scikit-survival."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from places import SHARED
from reference_formulas import dense, one_set, tied

from genesig.optim.cox.path import ridge, tau_max
from genesig.optim.cox.training import FollowUp, cox_sets

FOLDER = SHARED / "survival"
FILES = {"l1ratio0.5": 0.5, "l1ratio0.9": 0.9}
needs_glmnet = pytest.mark.skipif(not FOLDER.exists(), reason="no reference data")


def example():
    table = pd.read_csv(FOLDER / "cox_example.csv.gz")
    return table.iloc[:, :30].to_numpy(), table["time"].to_numpy(), table["status"].to_numpy() == 1


def stored(file):
    """Return λ (m,), glmnet's coefficients (m, 30), penalty factors, and its (tau, mu)."""
    table = pd.read_csv(FOLDER / f"cox_example_glmnet_{file}.tsv", sep="\t", index_col=0)
    lam = table.columns.astype(float).to_numpy()
    ratio = FILES[file]
    return table.to_numpy().T, np.ones(30), 2 * ratio * lam, (1 - ratio) * lam


def slope(X, time, event, b):
    """Return -(2/n) dl/db by the definition; the example has no ties."""
    order = np.argsort(-time)
    X = X[order]
    event = event[order]
    w = np.exp(X @ b)
    mean = np.cumsum(w[:, None] * X, axis=0) / np.cumsum(w)[:, None]
    return -2 / len(X) * (X - mean)[event].sum(axis=0)


def breach(g, b, tau, mu, weights):
    """Return the largest breach of the optimality conditions, as a share of tau."""
    g = g + 2 * mu * b * (weights > 0)
    off = np.where(b != 0, np.abs(g + tau * weights * np.sign(b)), np.abs(g) - tau * weights)
    return off.max() / tau


def objective(X, time, event, b, tau, mu, weights):
    order = np.argsort(-time)
    eta = (X @ b)[order]
    total = np.log(np.cumsum(np.exp(eta)))[event[order]].sum() - eta[event[order]].sum()
    return 2 / len(X) * total + tau * weights @ np.abs(b) + mu * (weights > 0) @ b**2


@needs_glmnet
@pytest.mark.parametrize(
    ("file", "all_lambdas"),
    [
        *((name, 10) for name in FILES),
        *(pytest.param(name, 1, marks=pytest.mark.slow) for name in FILES),
    ],
)
def test_glmnet_at_all_its_stored_lambdas(file, all_lambdas):
    """Never worse than glmnet, whose thresholded descent stops up to 6e-3 away from the minimum.

    That it is glmnet that stops early is told by the optimality conditions, from the definition.
    """
    X, time, event = example()
    B, weights, tau, mu = (x[::all_lambdas] if x.shape != (30,) else x for x in stored(file))
    sets = cox_sets(
        X,
        FollowUp(time, event),
        np.ones((1000, 1), bool),
        centre=True,
        unit_variance=False,
        weights=weights,
    )
    assert tau_max(sets)[0] == pytest.approx(tau[0], rel=1e-4)
    ours = dense(sets, tau, mu)
    for b, theirs, level, ridge_ in zip(ours, B, tau, mu, strict=True):
        data = (X, time, event)
        at = (level, ridge_, weights)
        assert breach(slope(*data, b), b, *at) < 1e-5
        if np.abs(theirs[weights > 0]).max() > 0:
            assert breach(slope(*data, theirs), theirs, *at) > 1e-4
        assert objective(*data, b, *at) <= objective(*data, theirs, *at) + 1e-14
        assert np.abs(b - theirs).max() <= 6e-3 * np.abs(theirs).max()


def minimum_by_cvxpy(sets, ties, tau, mu, weights):
    """Write every term out as a log-sum-exp; return the coefficients."""
    cvxpy = pytest.importorskip("cvxpy")
    _, time, event = tied(*sets.made)
    Z = (sets.X - sets.X.mean(axis=0)) / sets.X.std(axis=0)
    b = cvxpy.Variable(Z.shape[1])
    total = 0
    for t in np.unique(time[event]):
        dead = np.flatnonzero(event & (time == t))
        later = np.flatnonzero(time > t)
        waiting = np.flatnonzero(~event & (time == t))
        for k in range(len(dead)):
            remaining_weight = 1 - k / len(dead) if ties == "efron" else 1.0
            risk_set = [*later, *waiting, *dead]
            offset = np.log(np.where(np.isin(risk_set, dead), remaining_weight, 1.0))
            total += cvxpy.log_sum_exp(Z[risk_set] @ b + offset) - Z[dead[k]] @ b
    penalty = mu * cvxpy.sum_squares(b[weights > 0]) + tau * weights @ cvxpy.abs(b)
    problem = cvxpy.Problem(cvxpy.Minimize(2 / len(Z) * total + penalty))
    keys = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
    problem.solve(solver=cvxpy.CLARABEL, **dict.fromkeys(keys, 1e-11))
    return b.value


class Made:
    """A training set, and what it was made of."""

    def __init__(self, seed, n, d, ties, weights):
        self.made = (seed, n, d)
        self.X = tied(seed, n, d)[0]
        self.sets = one_set(seed, n, d, ties, weights=weights)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("seed", [0, 1])
def test_cvxpy_on_small_problems_with_ties(ties, seed):
    weights = 1.0 + np.arange(6) / 5
    problem = Made(seed, 15, 6, ties, weights)
    # no last digits for the peer
    tau = round(0.3 * float(tau_max(problem.sets)[0]), 3)
    mu = 0.02
    expected = minimum_by_cvxpy(problem, ties, tau, mu, weights)
    (b,) = dense(problem.sets, tau, mu)
    np.testing.assert_allclose(b, expected, atol=1e-6 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_cvxpy_on_the_refit(ties):
    weights = np.array([0.0, 1, 1, 1])
    problem = Made(3, 15, 4, ties, np.ones(4))
    expected = minimum_by_cvxpy(problem, ties, 0.0, 0.05, weights)
    Z = problem.sets.columns(0, np.arange(4))
    fit = ridge(problem.sets.risk[0], Z[:, 1:], Z[:, :1], np.array([0.05]))
    np.testing.assert_allclose(np.roll(fit.b[:, 0], 1), expected, atol=1e-6)
    assert fit.gap[0] <= 1e-10


@pytest.mark.parametrize("seed", range(5))
def test_coxnet_of_scikit_survival(seed):
    linear = pytest.importorskip("sksurv.linear_model")
    X, time, event = tied(seed, 60, 30)
    sets = cox_sets(
        X,
        FollowUp(time, event),
        np.ones((60, 1), bool),
        centre=True,
        unit_variance=False,
        ties="breslow",
    )
    tau = tau_max(sets)[0] * np.array([0.7, 0.4, 0.2])
    y = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])
    model = linear.CoxnetSurvivalAnalysis(
        alphas=tau / 2 / 0.9, l1_ratio=0.9, tol=1e-14, max_iter=1_000_000
    ).fit(X, y)
    B = dense(sets, tau, tau / 2 / 0.9 * 0.1)
    np.testing.assert_allclose(model.coef_.T, B, atol=1e-6 * np.abs(B).max())
