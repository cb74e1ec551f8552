"""The fused lasso: a lasso of steps; Clarabel is its referee."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from genesig.genome import Genome
from genesig.models.l1l2 import L1L2Regressor
from genesig.models.structured import FusedLassoClassifier, FusedLassoRegressor
from genesig.optim.nonlinear.problem import InvalidProblem
from genesig.optim.structured.fused import coefs_from_steps, fused_path, step_design


@pytest.mark.one_in(4)
@parametrize_with_checks([FusedLassoRegressor(first=1.0), FusedLassoClassifier()])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def problem(seed, n=30, d=60):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    y = 2 * Z[:, 20:30].mean(axis=1) + rng.normal(size=n)
    return (
        Z - Z.mean(axis=0),
        y - y.mean(),
        Genome.from_columns(d, np.repeat(["2", "X", "1"], d // 3), None),
    )


def test_steps_and_levels_are_the_same_linear_map():
    Z, _, genome = problem(0)
    t = np.random.default_rng(1).normal(size=60)
    np.testing.assert_allclose(
        step_design(Z, genome) @ t, Z @ coefs_from_steps(t, genome), atol=1e-12
    )
    assert coefs_from_steps(np.eye(60)[25], genome).tolist() == [0.0] * 25 + [1.0] * 15 + [0.0] * 20


@pytest.mark.parametrize("penalise_start", [0.0, 1.0])
@pytest.mark.parametrize("mu", [0.0, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_fused_lasso_minimum_equals_clarabel(seed, mu, penalise_start):
    cvxpy = pytest.importorskip("cvxpy")
    Z, y, genome = problem(seed)
    share = np.random.default_rng(seed).uniform(0.05, 0.8)
    fits = fused_path(
        Z, y, genome, np.array([share]), mu=mu, first_weight=penalise_start, tolerance=1e-9
    )
    norm = np.linalg.norm(step_design(Z, genome), 2) ** 2 / 30
    b = cvxpy.Variable(60)
    jumps = cvxpy.hstack(
        [cvxpy.diff(b[part]) for part in (slice(20), slice(20, 40), slice(40, 60))]
    )
    starts = b[[0, 20, 40]]
    smooth = cvxpy.sum_squares(jumps) + cvxpy.sum_squares(starts)
    rough = cvxpy.norm1(jumps) + penalise_start * cvxpy.norm1(starts)
    loss = cvxpy.sum_squares(y - Z @ b) / 30 + mu * norm * smooth + share * fits.tau_max * rough
    best = cvxpy.Problem(cvxpy.Minimize(loss)).solve(
        solver="CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13
    )
    b.value = fits.coef[0]
    assert loss.value == pytest.approx(best, rel=1e-10)
    assert fits.gap.max() <= 1e-9


@pytest.mark.parametrize("penalise_start", [0.0, 1.0])
def test_tau_max_is_sharp(penalise_start):
    Z, y, genome = problem(4)
    shares = np.array([1 + 1e-6, 1 - 1e-3])
    fits = fused_path(Z, y, genome, shares, mu=1e-6, first_weight=penalise_start, tolerance=1e-9)
    penalised = np.ones(60, dtype=bool)
    penalised[genome.starts] = penalise_start > 0
    assert not fits.steps[0, penalised].any()
    assert fits.steps[1, penalised].any()


def test_a_stretch_with_a_signal_is_found_where_single_features_say_little():
    """Forty of 400 features, each with a correlation of about .15: new samples, five draws."""
    fused = []
    single = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(60, 400))
        new = rng.normal(size=(500, 400))
        y = Z[:, 120:160].sum(axis=1) / 6 + rng.normal(size=60)
        truth = new[:, 120:160].sum(axis=1)
        model = FusedLassoRegressor(np.repeat(np.arange(4), 100), tau=0.2, first=1.0).fit(Z, y)
        fused.append(np.corrcoef(model.predict(new), truth)[0, 1])
        lists = (L1L2Regressor(tau=tau).fit(Z, y).predict(new) for tau in (0.5, 0.3, 0.1))
        single.append(max(np.corrcoef(f, truth)[0, 1] for f in lists))
    assert np.mean(fused) > 0.8 > 0.3 > np.mean(single)


def test_a_chromosome_without_signal_may_stay_out():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 90))
    model = FusedLassoRegressor(np.repeat(np.arange(3), 30), tau=0.5, first=1.0)
    model.fit(Z, Z[:, 30:60].sum(axis=1))
    assert not model.coef_[:30].any()
    assert not model.coef_[60:].any()


def test_classifier_distinguishes_named_classes():
    rng = np.random.default_rng(1)
    y = np.repeat(["healthy", "ill"], 20)
    X = rng.normal(size=(40, 50)) + 8
    X[20:, 10:20] += 1
    model = FusedLassoClassifier(tau=0.2).fit(X, y)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("settings", [{"tau": 0.0}, {"mu": -1.0}, {"first": -1.0}])
def test_bad_settings_are_refused(settings):
    Z, y, _ = problem(0)
    with pytest.raises(InvalidProblem, match="tau must be above 0"):
        FusedLassoRegressor(**settings).fit(Z, y)
