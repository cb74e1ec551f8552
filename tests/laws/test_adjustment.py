"""Unpenalised covariates and sample weights: the path solves the joint problem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genesig.arrays import row_entries
from genesig.errors import GenesigError
from genesig.optim.adjustment import adjustment
from genesig.optim.refit import covariate_coef, refit_coef, refit_scores
from genesig.optim.solvers import SOLVERS, path
from genesig.optim.training import training_sets

EXACT_SOLVER = {"solver": "landweber-newton", "tolerance": 1e-9}
TAU_SHARES = np.array([0.6, 0.3, 0.1, 0.03])
ADJUSTMENTS = ["covariates", "weights", "both"]


class Problem:
    """30 samples, 40 features, two training sets; some features follow the covariates."""

    def __init__(self, seed, kind="both", n=30, d=40, unit_variance=True, centre=True):
        rng = np.random.default_rng(seed)
        self.C = np.column_stack([rng.normal(60, 10, n), rng.integers(0, 2, n)])
        self.X = rng.normal(size=(n, d)) * rng.uniform(0.2, 3, d)
        self.X[:, : d // 4] += self.C[:, [0]] / 10
        y = self.X[:, -1] + self.C[:, 0] / 10 + rng.normal(size=n)
        self.Y = np.column_stack([y, -y])
        self.rows = rng.random((n, 2)) < 0.85
        self.v = rng.uniform(0.2, 3, (n, 2)) if kind != "covariates" else np.ones((n, 2))
        covariates = np.stack([self.C] * 2) if kind != "weights" else None
        self.q = 2 if kind != "weights" else 0
        self.fixed = adjustment(self.rows, covariates, None if kind == "covariates" else self.v)
        self.sets = training_sets(
            self.X,
            self.Y,
            self.rows,
            centre=centre,
            unit_variance=unit_variance,
            adjustment=self.fixed,
        )

    def standardised(self, k):
        """Return v, features and covariates of a training set, by its own weighted moments."""
        training_rows = self.rows[:, k]
        v = self.v[training_rows, k] / self.v[training_rows, k].mean()
        X = self.X[training_rows]
        C = self.C[training_rows][:, : self.q]
        mean = v @ X / v.sum()
        Z = (X - mean) / np.sqrt(v @ np.square(X - mean) / v.sum())
        return v, Z, C - v @ C / v.sum(), mean


def gradient_fault(problem, k, b, tau, mu):
    """Return how far b is from the optimality of the joint problem, its covariates solved for."""
    v, Z, C, _ = problem.standardised(k)
    y = problem.Y[problem.rows[:, k], k]
    residual = y - v @ y / v.sum() - Z @ b
    root = np.sqrt(v)[:, None]
    gamma = np.linalg.lstsq(root * C, root[:, 0] * residual, rcond=None)[0]
    g = 2 / len(y) * Z.T @ (v * (residual - C @ gamma)) - 2 * mu * b
    return np.where(b != 0, np.abs(g - tau * np.sign(b)), np.maximum(np.abs(g) - tau, 0)).max()


@pytest.mark.parametrize("kind", ADJUSTMENTS)
@pytest.mark.parametrize("solver", ["landweber-newton", "coordinate-descent"])
@given(seed=st.integers(0, 10_000))
def test_the_joint_problem_is_solved(solver, kind, seed):
    problem = Problem(seed, kind)
    sets = problem.sets
    tau = TAU_SHARES * sets.tau_max[:, None]
    mu = np.array([1e-4, 1e-4, 1e-2, 0.3]) * sets.norm[:, None]
    fits = path(sets, tau, mu, solver=solver, tolerance=1e-9)
    assert fits.converged.all()
    for k in range(2):
        for m in range(4):
            b = np.zeros(problem.X.shape[1])
            part = row_entries(fits.indptr, 4 * k + m)
            b[fits.indices[part]] = fits.values[part]
            fault = gradient_fault(problem, k, b, tau[k, m], mu[k, m])
            assert fault <= (1e-8 if solver == "landweber-newton" else 1e-3) * sets.tau_max[k]


@pytest.mark.parametrize("kind", ADJUSTMENTS)
def test_tau_max_and_norm_equal_joint_problem(kind):
    problem = Problem(3, kind)
    for k in range(2):
        v, Z, C, _ = problem.standardised(k)
        y = problem.Y[problem.rows[:, k], k]
        root = np.sqrt(v)
        Q = np.linalg.qr(root[:, None] * np.column_stack([np.ones(len(v)), C]))[0]
        Z = root[:, None] * Z
        Z = Z - Q @ (Q.T @ Z)
        y = root * y - Q @ (Q.T @ (root * y))
        assert problem.sets.tau_max[k] == pytest.approx(2 / len(y) * np.abs(Z.T @ y).max(), 1e-10)
        norm = np.linalg.norm(Z, 2) ** 2 / len(y)
        assert problem.sets.norm[k] == pytest.approx(norm, 1e-10)


def test_adjusted_path_equals_lasso_path_with_unpenalised_covariates():
    """With mu = 0 on 30 samples and 6 features, where the joint problem has no other penalty."""
    problem = Problem(5, "covariates", d=6)
    joint = training_sets(
        np.column_stack([problem.X, problem.C]),
        problem.Y,
        problem.rows,
        centre=True,
        unit_variance=True,
        weights=np.r_[np.ones(6), 0, 0],
    )
    tau = TAU_SHARES * problem.sets.tau_max[:, None]
    adjusted_path = path(problem.sets, tau, 0.0, **EXACT_SOLVER)
    weightless_path = path(joint, tau, 0.0, **EXACT_SOLVER)
    assert adjusted_path.converged.all()
    assert weightless_path.converged.all()
    for at in range(8):
        b = np.zeros(8)
        c = np.zeros(8)
        for fits, into in ((adjusted_path, b), (weightless_path, c)):
            part = row_entries(fits.indptr, at)
            into[fits.indices[part]] = fits.values[part]
        np.testing.assert_allclose(b[:6], c[:6], atol=1e-8)


@pytest.mark.parametrize("kind", ADJUSTMENTS)
@pytest.mark.parametrize("lam", [1e-12, 1e-3, 0.5])
@pytest.mark.parametrize("centre", [True, False])
def test_the_refit_leaves_covariates_without_a_penalty(kind, lam, centre):
    problem = Problem(7, kind, unit_variance=False, centre=centre)
    sets = problem.sets
    fits = path(sets, TAU_SHARES * sets.tau_max[:, None], 1e-3, **EXACT_SOLVER)
    values, intercept = refit_coef(sets, fits, lam)
    gamma = covariate_coef(sets, fits, values)
    scores = refit_scores(sets, fits, np.array([[lam]]))[:, :, 0]
    for k in range(2):
        training_rows = problem.rows[:, k]
        y = problem.Y[training_rows, k]
        v = problem.v[training_rows, k] / problem.v[training_rows, k].mean()
        for m in range(4):
            part = row_entries(fits.indptr, 4 * k + m)
            A = fits.indices[part]
            b = values[part]
            c = problem.C[:, : problem.q] - sets.adjustment.mean[k]
            f = intercept[k, m] + problem.X[:, A] @ b + c @ gamma[k, m]
            np.testing.assert_allclose(scores[k, m], f, atol=1e-8 * np.abs(y).max())
            X = problem.X[training_rows][:, A] - (
                v @ problem.X[training_rows][:, A] / v.sum() if centre else 0
            )
            joint = np.column_stack([X, c[training_rows]])
            root = np.sqrt(v)[:, None]
            H = joint.T @ (v[:, None] * joint) + len(y) * lam * np.diag(
                np.r_[np.ones(len(A)), np.zeros(problem.q)]
            )
            want = np.linalg.solve(H, joint.T @ (v * (y - v @ y / v.sum())))
            np.testing.assert_allclose(np.r_[b, gamma[k, m]], want, rtol=1e-6, atol=1e-8)
            assert root.min() > 0


@given(seed=st.integers(0, 10_000))
def test_whole_weights_are_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    n = 12
    d = 20
    X = rng.normal(size=(n, d)) + 3
    y = rng.normal(size=n)
    C = rng.normal(size=(n, 1))
    times = rng.integers(0, 4, n)
    times[:5] = 1
    repeated_rows = np.repeat(np.arange(n), times)
    weighted_and_repeated = []
    for rows, v in ((np.arange(n), times.astype(float)), (repeated_rows, None)):
        all_rows = np.ones((len(rows), 1), dtype=bool)
        fixed = adjustment(all_rows, C[rows][None], None if v is None else v[:, None])
        sets = training_sets(
            X[rows], y[rows][:, None], all_rows, centre=True, unit_variance=True, adjustment=fixed
        )
        fits = path(
            sets, TAU_SHARES * sets.tau_max[:, None], 1e-3 * sets.norm[:, None], **EXACT_SOLVER
        )
        values, intercept = refit_coef(sets, fits, 0.1)
        gamma = covariate_coef(sets, fits, values)
        weighted_and_repeated.append(
            (sets.tau_max, sets.norm, fits.indices, fits.values, values, intercept, gamma)
        )
    for weighted_fit, repeated_fit in zip(*weighted_and_repeated, strict=True):
        np.testing.assert_allclose(weighted_fit, repeated_fit, rtol=1e-10, atol=1e-10)


def test_nothing_fixed_changes_nothing():
    problem = Problem(9)
    plain = training_sets(problem.X, problem.Y, problem.rows, centre=True, unit_variance=True)
    none = adjustment(problem.rows)
    same = training_sets(
        problem.X, problem.Y, problem.rows, centre=True, unit_variance=True, adjustment=none
    )
    np.testing.assert_allclose(plain.tau_max, same.tau_max, rtol=1e-12)
    np.testing.assert_allclose(plain.norm, same.norm, rtol=1e-12)
    tau = TAU_SHARES * plain.tau_max[:, None]
    plain_path = path(plain, tau, 1e-3, **EXACT_SOLVER)
    adjusted_path = path(same, tau, 1e-3, **EXACT_SOLVER)
    assert plain_path.converged.all()
    assert adjusted_path.converged.all()
    np.testing.assert_array_equal(plain_path.indptr, adjusted_path.indptr)
    np.testing.assert_array_equal(plain_path.indices, adjusted_path.indices)
    # BLAS adds products up in an order that the place of an array in memory may decide.
    np.testing.assert_allclose(plain_path.values, adjusted_path.values, rtol=0, atol=1e-9)


def test_adjustment_ignores_held_out_samples():
    problem = Problem(11)
    out = ~problem.rows
    C = np.stack([problem.C] * 2)
    C[0, out[:, 0]] *= 100
    changed_adjustment = adjustment(problem.rows, C, np.where(out, 50.0, problem.v))
    np.testing.assert_array_equal(changed_adjustment.to_basis, problem.fixed.to_basis)
    np.testing.assert_array_equal(changed_adjustment.root_weights, problem.fixed.root_weights)


def test_a_level_unseen_in_training_and_a_copy_say_nothing():
    rng = np.random.default_rng(0)
    rows = np.ones((12, 1), dtype=bool)
    rows[-2:] = False
    level = np.zeros(12)
    level[-1] = 1
    age = rng.normal(50, 10, 12)
    fixed = adjustment(rows, np.column_stack([age, level, 3 * age + 1])[None])
    Q = fixed.columns(0)
    np.testing.assert_allclose(Q.T @ Q, np.diag(np.diag(Q.T @ Q)), atol=1e-12)
    assert (np.diag(Q.T @ Q) > 0.5).sum() == 1
    assert fixed.to_basis[0][1].tolist() == [0, 0, 0]


def test_missing_covariate_is_the_mean_of_the_training_rows():
    rows = np.ones((6, 1), dtype=bool)
    C = np.array([[1.0], [2], [3], [np.nan], [4], [100]])
    rows[-1] = False
    filled = np.where(np.isnan(C), 2.5, C)
    np.testing.assert_allclose(
        adjustment(rows, C[None]).basis, adjustment(rows, filled[None]).basis, atol=1e-12
    )


@pytest.mark.parametrize("weights", [[-1.0, 1, 1, 1], [np.nan, 1, 1, 1], [0.0, 0, 0, 0]])
def test_odd_weights_are_refused(weights):
    with pytest.raises(GenesigError, match="weights must be finite numbers >= 0"):
        adjustment(np.ones((4, 1), dtype=bool), None, np.array(weights)[:, None])


def test_as_many_covariates_as_samples_are_refused():
    with pytest.raises(GenesigError, match="leave nothing to tell"):
        adjustment(np.ones((5, 1), dtype=bool), np.eye(5)[None])


def test_adjusted_path_is_the_same_with_every_solver():
    problem = Problem(13, d=8)
    tau = TAU_SHARES[:2] * problem.sets.tau_max[:, None]
    mu = 0.1 * problem.sets.norm[:, None]
    paths = {name: path(problem.sets, tau, mu, solver=name, tolerance=1e-6) for name in SOLVERS}
    for fits in paths.values():
        np.testing.assert_array_equal(fits.indices, paths["landweber-newton"].indices)
