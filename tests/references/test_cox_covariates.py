"""Covariates of a Cox model: the same as columns without a penalty."""

from __future__ import annotations

import numpy as np
import pytest

from genesig.optim.adjustment import adjustment
from genesig.optim.cox.path import (
    covariate_coef,
    cox_path,
    ridge,
    ridge_coef,
    ridge_scores,
    tau_max,
)
from genesig.optim.cox.training import FollowUp, cox_sets

SCALING = {"centre": True, "unit_variance": True}


def problem(seed: int):
    rng = np.random.default_rng(seed)
    n = 50
    d = 20
    C = np.column_stack([rng.normal(60, 9, n), rng.integers(0, 2, n)])
    X = rng.normal(size=(n, d)) + (C[:, [0]] - 60) / 9
    risk = X[:, -1] + (C[:, 0] - 60) / 9
    time = rng.exponential(np.exp(-risk))
    event = rng.random(n) < 0.7
    time = np.ceil(8 * time)  # ties
    rows = rng.random((n, 2)) < 0.8
    return X, C, time, event, rows


@pytest.mark.parametrize("seed", range(3))
def test_adjusted_refit_equals_a_ridge_with_free_columns(seed: int) -> None:
    X, C, time, event, rows = problem(seed)
    fixed = adjustment(rows, np.stack([C, C]))
    adjusted_sets = cox_sets(X, FollowUp(time, event), rows, **SCALING, covariate_adjustment=fixed)
    tau = np.array([0.5, 0.2, 0.08]) * tau_max(adjusted_sets)[:, None]
    adjusted_path = cox_path(adjusted_sets, tau, 1e-2, tolerance=1e-9)
    assert adjusted_path.converged.all()
    lam = np.array([0.01, 0.05])
    values, intercept, _ = ridge_coef(adjusted_sets, adjusted_path, lam)
    gamma = covariate_coef(adjusted_sets, adjusted_path, lam)
    scores = ridge_scores(adjusted_sets, adjusted_path, lam[:, None])[:, :, 0]
    for k, m in np.ndindex(2, 3):
        A = adjusted_path.coef(k, m)[0]
        part = slice(*adjusted_path.indptr[3 * k + m :][:2])
        training_rows = rows[:, k]
        whole = cox_sets(
            np.column_stack([X, C])[training_rows],
            FollowUp(time[training_rows], event[training_rows]),
            np.ones((training_rows.sum(), 1), bool),
            **SCALING,
        )
        columns = np.r_[A, 20, 21]
        Z = whole.columns(0, columns)
        fit = ridge(whole.risk[0], Z[:, : len(A)], Z[:, len(A) :], lam[[k]])
        scale = np.column_stack([X, C])[training_rows][:, columns].std(axis=0)
        adjusted_coef = np.r_[values[part], gamma[k, m]]
        np.testing.assert_allclose(adjusted_coef, fit.b[:, 0] / scale, rtol=1e-5, atol=1e-7)
        eta = (
            intercept[k, m]
            + X[:, A] @ values[part]
            + (C - adjusted_sets.covariate_adjustment.mean[k]) @ gamma[k, m]
        )
        np.testing.assert_allclose(scores[k, m], eta, atol=1e-9)


def test_an_empty_list_is_the_cox_model_of_the_covariates() -> None:
    X, C, time, event, rows = problem(5)
    adjusted_sets = cox_sets(
        X,
        FollowUp(time, event),
        rows,
        **SCALING,
        covariate_adjustment=adjustment(rows, np.stack([C, C])),
    )
    none = cox_path(adjusted_sets, 1.01 * tau_max(adjusted_sets)[:, None], 1e-2, tolerance=1e-9)
    assert (none.sizes() == 0).all()
    gamma = covariate_coef(adjusted_sets, none, 0.1)
    for k in range(2):
        training_rows = rows[:, k]
        alone = cox_sets(
            C[training_rows],
            FollowUp(time[training_rows], event[training_rows]),
            np.ones((training_rows.sum(), 1), bool),
            **SCALING,
        )
        Z = alone.columns(0, np.arange(2))
        fit = ridge(alone.risk[0], Z[:, :0], Z, np.array([1.0]))
        np.testing.assert_allclose(
            gamma[k, 0], fit.b[:, 0] / C[training_rows].std(axis=0), rtol=1e-5
        )
