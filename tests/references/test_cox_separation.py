"""Covariates that have no finite fit in Cox's model are held by a ridge, and only these."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from genesig.optim.adjustment import adjustment
from genesig.optim.cox.path import covariate_coef, cox_path, ridge_coef, ridge_scores, tau_max
from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.cox.training import FollowUp, cox_sets, separation_ridge

N_SAMPLES = 60
N_FEATURES = 12


def columns(kind: str, time: np.ndarray, event: np.ndarray) -> np.ndarray:
    """Return covariates: an age, and a column that has a finite fit or none."""
    age = np.random.default_rng(2).normal(60, 9, N_SAMPLES)
    spared = np.isin(np.arange(N_SAMPLES), np.flatnonzero(~event)[:2]).astype(float)
    noise_columns = {
        "no event": spared,
        "first of all": np.isin(np.arange(N_SAMPLES), np.argsort(time)[:3]) & event,
        "the order": -time,
        "one event": np.isin(
            np.arange(N_SAMPLES),
            np.r_[np.argmin(np.where(event, time, 9)), np.flatnonzero(~event)[:3]],
        ),
        "as it comes": np.random.default_rng(3).integers(0, 2, N_SAMPLES),
    }[kind]
    return np.column_stack([age, noise_columns.astype(float)])


def problem(kind: str):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES))
    time = rng.exponential(np.exp(-X[:, 0]))
    event = rng.random(N_SAMPLES) < 0.6
    C = columns(kind, time, event)
    rows = np.ones((N_SAMPLES, 1), dtype=bool)
    sets = cox_sets(
        X,
        FollowUp(time, event),
        rows,
        centre=True,
        unit_variance=True,
        covariate_adjustment=adjustment(rows, C[None]),
    )
    return X, time, event, C, sets


def minimise_by_definition(
    X: np.ndarray, time: np.ndarray, event: np.ndarray, C: np.ndarray, lam: float
):
    """Minimise what the docs say, by a general method; coefficients of genes and covariates."""
    risk = RiskSets.from_times(time, event)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    B = C - C.mean(axis=0)
    S = np.linalg.cholesky(B.T @ B / N_SAMPLES).T  # ||a||² on columns of mean square 1 is ||S g||²
    ordered_columns = np.column_stack([Z, B])[risk.order]

    def value(x):
        b = x[: Z.shape[1]]
        g = x[Z.shape[1] :]
        grad = ordered_columns.T @ risk.gradient(risk.shares(ordered_columns @ x))
        grad += 2 * np.r_[lam * b, S.T @ (S @ g) / N_SAMPLES]
        return risk.value(ordered_columns @ x) + lam * b @ b + np.sum(
            (S @ g) ** 2
        ) / N_SAMPLES, grad

    scale = np.r_[np.ones(Z.shape[1]), B.std(axis=0)]
    optimum = minimize(
        lambda x: (value(x / scale)[0], value(x / scale)[1] / scale),
        np.zeros(len(scale)),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-11, "maxiter": 2000},
    )
    return optimum.x[: Z.shape[1]] / X.std(axis=0), optimum.x[Z.shape[1] :] / scale[Z.shape[1] :]


@pytest.mark.parametrize("kind", ["one event", "as it comes"])
def test_covariates_with_a_finite_fit_have_no_penalty(kind: str) -> None:
    *_, sets = problem(kind)
    assert sets.separation_ridge(0) == 0


@pytest.mark.parametrize("kind", ["no event", "first of all", "the order"])
def test_separated_covariates_are_bounded_and_certified(kind: str) -> None:
    X, time, event, C, sets = problem(kind)
    assert sets.separation_ridge(0) == 1 / N_SAMPLES
    tau = tau_max(sets)[:, None] * [1.0, 0.6, 0.3]
    fits = cox_path(sets, tau, 1e-2, tolerance=1e-8)
    assert fits.converged.all()
    lam = np.array([0.05, 0.4])
    scores = ridge_scores(sets, fits, lam)
    for place, level in enumerate(lam):
        values, intercept, gap = ridge_coef(sets, fits, level)
        gamma = covariate_coef(sets, fits, level)
        assert gap.max() <= 1e-10
        for m in range(3):
            A = fits.coef(0, m)[0]
            part = slice(*fits.indptr[m : m + 2])
            b, g = minimise_by_definition(X[:, A], time, event, C, level)
            np.testing.assert_allclose(values[part], b, atol=1e-5)
            np.testing.assert_allclose(gamma[0, m] * C.std(axis=0), g * C.std(axis=0), atol=1e-5)
            eta = X[:, A] @ values[part] + (C - sets.covariate_adjustment.mean[0]) @ gamma[0, m]
            np.testing.assert_allclose(scores[0, m, place], intercept[0, m] + eta, atol=1e-4)


def test_the_first_gene_enters_at_tau_max() -> None:
    *_, sets = problem("no event")
    largest_tau = tau_max(sets)[:, None]
    sizes = cox_path(sets, largest_tau * [1.001, 0.999], 1e-2, tolerance=1e-10).sizes()
    np.testing.assert_array_equal(sizes, [[0, 1]])


def test_uninformative_covariates_keep_zero_coefficients() -> None:
    """Two samples that are gone before the first event tell nothing, and neither do copies."""
    rng = np.random.default_rng(4)
    time = np.r_[0.001, 0.002, rng.exponential(size=28) + 1]
    event = np.ones(30, bool)
    event[:2] = False
    early = (np.arange(30) < 2).astype(float)[:, None]
    risk = RiskSets.from_times(time, event)
    age = rng.normal(size=(30, 1))
    assert separation_ridge(risk, early[risk.order]) == 1 / 30
    assert separation_ridge(risk, np.hstack([age, age])) == 0
    assert separation_ridge(risk, age[:, :0]) == 0
