"""Laws of the partial likelihood, its certificate and its fits on random data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_formulas import cox_objective as objective
from reference_formulas import dense, log_likelihood, one_set, tied
from scipy.special import rel_entr

from genesig.errors import GenesigError
from genesig.optim.cox.likelihood import (
    COX,
    certify_sets,
    conjugate,
    evaluate,
    fill_hessian_products,
    fill_hessian_root,
)
from genesig.optim.cox.path import cox_path, ridge, ridge_coef, ridge_scores, tau_max
from genesig.optim.cox.risk_sets import TIES, RiskSets, baseline_hazard
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.optim.likelihood_newton import PenalisedProblem, dual_point_function
from genesig.optim.likelihood_path import PathLevels, PathState

seeds = st.integers(0, 10_000)
samples = st.integers(3, 30)


def certificate_gap(sets, b, tau, mu):
    """Return the gap of coefficients b on the first training set."""
    risk = sets.risk[0]
    Z = sets.columns(0, np.arange(len(b)))
    n = len(risk.died)
    eta = Z @ b
    ground = sets.loss_data(slice(1))
    state = sets.start
    start = PathState(b[None].copy(), *(array.copy() for array in state[1:5]), b[None] * 0)
    C = np.ascontiguousarray(ground.columns[0, :, :n])
    none = np.zeros(0)
    start.eta[0, :n], scores_buffer = eta, np.empty(n)
    dual_point(risk.terms, PenalisedProblem(C, none, none), eta, start.z[0, :n], scores_buffer)
    start.u[0, ground.rows[0, :n]] = scores_buffer
    np.matmul(start.u, ground.F.T, out=start.g)
    gap, outside_gap, none = np.zeros((3, 1))
    levels = PathLevels(np.array([tau]), np.array([mu]), none, none)
    certify_sets(ground, start, np.arange(1), levels, gap, outside_gap)
    return gap[0]


each_tie_method = pytest.mark.parametrize("ties", TIES)
# As part of a fit it is compiled; alone it would be compiled once more.
dual_point = getattr(dual_point_function(COX), "py_func", dual_point_function(COX))


@each_tie_method
@given(seed=seeds, n=samples)
def test_the_likelihood_is_its_definition(ties, seed, n):
    _, time, event = tied(seed, n, 1)
    rng = np.random.default_rng(seed)
    eta = rng.normal(size=n)
    v = rng.uniform(0.2, 3, n)
    risk = RiskSets.from_times(time, event, ties, v)
    by_hand = log_likelihood(time, event, eta, ties, v / v.mean())
    assert risk.value(eta[risk.order]) == pytest.approx(-2 / n * by_hand, rel=1e-12, abs=1e-12)
    assert risk.value(eta[risk.order] + 7) == pytest.approx(risk.value(eta[risk.order]))


@each_tie_method
def test_derivatives_are_finite_differences(ties):
    _, time, event = tied(1, 15, 1)
    rng = np.random.default_rng(1)
    risk = RiskSets.from_times(time, event, ties, rng.uniform(0.5, 2, 15))
    eta = rng.normal(size=15)
    steps = 1e-5 * np.eye(15)
    p = risk.shares(eta)
    slope = [(risk.value(eta + s) - risk.value(eta - s)) / 2e-5 for s in steps]
    np.testing.assert_allclose(risk.gradient(p), slope, atol=1e-9)
    change = [
        risk.gradient(risk.shares(eta + s)) - risk.gradient(risk.shares(eta - s)) for s in steps
    ]
    H = risk.hessian(p, np.eye(15))
    np.testing.assert_allclose(H, np.array(change) / 2e-5, atol=1e-9)
    Z = rng.normal(size=(15, 4))
    np.testing.assert_allclose(risk.hessian(p, Z), Z.T @ H @ Z, atol=1e-14)


def test_whole_weights_are_repeated_samples():
    _, time, event = tied(3, 12, 1)
    times = np.arange(12) % 3 + 1
    eta = np.random.default_rng(3).normal(size=12)
    weighed = RiskSets.from_times(time, event, "breslow", times)
    repeated = RiskSets.from_times(*(np.repeat(x, times) for x in (time, event)), "breslow")
    expected = repeated.value(np.repeat(eta, times)[repeated.order]) - repeated.value(np.zeros(24))
    gain = weighed.value(eta[weighed.order]) - weighed.value(np.zeros(12))
    assert gain == pytest.approx(expected, rel=1e-13)
    assert weighed.null_deviance == pytest.approx(repeated.null_deviance, rel=1e-13)


@each_tie_method
@given(seed=seeds, n=samples, share=st.floats(0, 1), mu=st.floats(0, 1))
def test_gap_bounds_the_gain_of_any_other_point(ties, seed, n, share, mu):
    """Weak duality, at points that are far from the solution, too."""
    rng = np.random.default_rng(seed)
    sets = one_set(seed, n, 4, ties, weights=rng.uniform(0.5, 2, 4))
    tau = share * float(sets.training_sets.tau_max[0]) + 1e-3
    b = 0.3 * rng.normal(size=4)
    directions = rng.normal(size=(20, 4)) * rng.uniform(0, 1, (20, 1))
    gap = certificate_gap(sets, b, tau, mu)
    objective_value = objective(sets, b, tau, mu)
    best = min(objective(sets, candidate, tau, mu) for candidate in [*directions, 0 * b])
    assert gap >= objective_value - best - 1e-12


def test_the_dual_of_the_likelihood_is_exact():
    risk = one_set(5, 20, 2).risk[0]
    eta = np.random.default_rng(5).normal(size=20)
    likelihood = evaluate(risk.terms, eta)
    none = np.zeros(20)
    duality_gap = likelihood.value + conjugate(risk.terms, likelihood, eta, none, likelihood.u, 1.0)
    assert duality_gap == pytest.approx(likelihood.u @ eta, abs=1e-13)


@each_tie_method
@given(seed=seeds, n=samples, d=st.integers(1, 60), mu=st.sampled_from([0, 1e-6, 0.1]))
def test_every_fit_is_certified_and_none_is_better(ties, seed, n, d, mu):
    """With copies of features, more features than samples, and many equal times."""
    sets = one_set(seed, n, d, ties, copies=True)
    tau = float(sets.training_sets.tau_max[0]) * np.array([1.0, 0.6, 0.3, 0.1]) + 1e-9
    rng = np.random.default_rng(seed)
    B = dense(sets, tau, mu)
    assert not B[0].any()
    for level, b in zip(tau, B, strict=True):
        objective_value = objective(sets, b, level, mu)
        for scale in (1e-1, 1e-3):
            neighbour = b + scale * rng.normal(size=d) * (rng.random(d) < 0.5)
            assert objective(sets, neighbour, level, mu) >= objective_value - 1e-9 * (
                1 + objective_value
            )


@pytest.mark.parametrize(("seed", "n", "d"), [(48, 6, 60), (66, 8, 200), (91, 6, 60)])
def test_quadratic_models_of_few_samples_are_solved_from_0(seed, n, d):
    sets = one_set(seed, n, d)
    levels = float(sets.training_sets.tau_max[0]) * np.geomspace(1, 1e-3, 12)
    assert cox_path(sets, levels, 0.0, tolerance=1e-7).gap.max() <= 1e-7


def test_below_the_largest_tau_the_first_feature_enters():
    sets = one_set(2, 40, 30)
    (top,) = tau_max(sets)
    assert top == pytest.approx(sets.training_sets.tau_max[0], rel=1e-12)
    assert cox_path(sets, [top * 1.0001, top * 0.999], 0.0, tolerance=1e-9).sizes().tolist() == [
        [0, 1]
    ]


def test_a_row_ends_after_its_first_long_list():
    sets = one_set(2, 40, 30)
    fits = cox_path(sets, tau_max(sets) * np.geomspace(1, 0.05, 8), 0.0, tolerance=1e-7, longest=5)
    sizes = fits.sizes()[0]
    ended = fits.iterations[0] < 0
    assert ended.any()
    assert not ended.all()
    assert (sizes <= 5).all()
    assert not sizes[ended].any()
    assert np.isnan(fits.gap[0, ended]).all()


@each_tie_method
@given(seed=seeds, n=samples, s=st.floats(0, 1), scores_shifted=st.sampled_from([0.0, 0.01, 1.0]))
def test_risk_set_sums_equal_sums_over_all_terms(ties, seed, n, s, scores_shifted):
    """The value, its derivatives, and the conjugate at q that may be no probabilities."""
    rng = np.random.default_rng(seed)
    _, time, event = tied(seed, n, 1)
    risk = RiskSets.from_times(time, event, ties, rng.uniform(0.2, 3, n))
    eta = 3 * rng.normal(size=n)
    p = risk.shares(eta)
    z = scores_shifted * rng.normal(size=n)
    D = rng.normal(size=(3, n))
    likelihood = evaluate(risk.terms, eta)
    assert likelihood.value == pytest.approx(risk.value(eta), rel=1e-12, abs=1e-13)
    np.testing.assert_allclose(likelihood.u, risk.gradient(p), atol=1e-13)
    HD, E = np.zeros((2, *D.shape))
    fill_hessian_products(risk.terms, likelihood, D, np.array([0, 2]), HD)
    np.testing.assert_allclose(HD[[0, 2]], D[[0, 2]] @ risk.hessian(p, np.eye(n)), atol=1e-12)
    fill_hessian_root(risk.terms, likelihood, D, np.arange(3), E)
    np.testing.assert_allclose(E @ E.T, D @ risk.hessian(p, np.eye(n)) @ D.T, atol=1e-9)
    q = s * p * (1 - z + (p @ z)[:, None]) + (1 - s) * risk.base
    dense = 2 / n * (risk.omega @ rel_entr(q, risk.c).sum(axis=1))
    u = risk.gradient(p) - risk.hessian(p, np.eye(n)) @ z
    conjugate_value = conjugate(risk.terms, likelihood, eta, z, u, s)
    assert conjugate_value == pytest.approx(dense, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("mu", [1e-6, 1e-2, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_path_ended_on_a_rough_solution_ends_where_the_exact_path_does(seed, mu):
    """Many correlated features: a list that is certainly too long is not solved to its end."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 600)) + rng.normal(size=(40, 600))
    time = rng.exponential(size=40) * np.exp(-X[:, 0])
    event = rng.random(40) < 0.7
    sets = cox_sets(
        X, FollowUp(time, event), rng.random((40, 2)) < 0.9, centre=True, unit_variance=True
    )
    tau = tau_max(sets)[:, None] * np.geomspace(0.9, 0.05, 6)
    mus = mu * sets.training_sets.norm[:, None]
    full_path = cox_path(sets, tau, mus, tolerance=1e-7)
    for longest in (8, 30, 90):
        cut = cox_path(sets, tau, mus, tolerance=1e-7, longest=longest)
        expected = full_path.end_rows(longest)
        np.testing.assert_array_equal(cut.indptr, expected.indptr)
        np.testing.assert_array_equal(cut.indices, expected.indices)
        np.testing.assert_allclose(cut.values, expected.values, atol=1e-9)
        np.testing.assert_array_equal(cut.iterations < 0, expected.iterations < 0)


def test_training_sets_do_not_know_each_other():
    X, time, event = tied(4, 40, 50)
    rows = np.random.default_rng(0).random((40, 3)) < 0.8
    keys = {"centre": True, "unit_variance": True}
    all_sets = cox_sets(X, FollowUp(time, event), rows, **keys)
    fits = cox_path(all_sets, tau_max(all_sets)[:, None] * [0.5, 0.2], 1e-3, tolerance=1e-7)
    scores = ridge_scores(all_sets, fits, [0.1, 1.0])
    for k in range(3):
        alone = cox_sets(X, FollowUp(time, event), rows[:, [k]], **keys)
        fit = cox_path(alone, tau_max(alone)[:, None] * [0.5, 0.2], 1e-3, tolerance=1e-7)
        for m in range(2):
            (genes, values) = fit.coef(0, m)
            (alone_coef, expected) = fits.coef(k, m)
            np.testing.assert_array_equal(genes, alone_coef)
            np.testing.assert_allclose(values, expected, 1e-9)
        np.testing.assert_allclose(ridge_scores(alone, fit, [0.1, 1.0])[0], scores[k], 0, 1e-9)


def test_path_ignores_sample_order_and_held_out_rows():
    X, time, event = tied(6, 30, 10)
    rows = np.arange(30)[:, None] < 25
    order = np.random.default_rng(0).permutation(30)
    keys = {"centre": True, "unit_variance": True}
    sets_in_order = cox_sets(X, FollowUp(time, event), rows, **keys)
    X[25:] = 1e3
    time[25:] = 1e3
    sets_reordered = cox_sets(X[order], FollowUp(time[order], event[order]), rows[order], **keys)
    tau = 0.2 * sets_in_order.training_sets.tau_max[0]
    np.testing.assert_allclose(
        dense(sets_reordered, tau, 0.1), dense(sets_in_order, tau, 0.1), atol=1e-9
    )


@each_tie_method
@given(seed=seeds, n=samples, d=st.integers(1, 60), free=st.integers(0, 1))
def test_ridge_is_stationary_and_equals_the_ridge_of_the_path(ties, seed, n, d, free):
    sets = one_set(seed, n, d + free, ties)
    risk = sets.risk[0]
    Z = sets.columns(0, np.arange(d + free))
    lam = np.array([1e-3, 10.0, 0.1])
    fit = ridge(risk, Z[:, free:], Z[:, :free] * 0.1, lam)
    assert (fit.gap[1:] <= 1e-9).all() or free
    for place in np.flatnonzero(fit.gap < 1e-9):
        b = fit.b[:d, place]
        a = fit.b[d:, place]
        u = risk.gradient(risk.shares(Z[:, free:] @ b + 0.1 * Z[:, :free] @ a))
        np.testing.assert_allclose(Z[:, free:].T @ u, -2 * lam[place] * b, atol=1e-6)
        np.testing.assert_allclose(Z[:, :free].T @ u, 0, atol=1e-5)
    if not free:
        B = dense(sets, 0.0, lam[1])
        np.testing.assert_allclose(fit.b[:, 1], B[0], atol=1e-7)


def test_refit_in_the_units_of_the_matrix_and_its_empty_list():
    X, time, event = tied(7, 40, 20)
    X = 3 * X + 11
    sets = cox_sets(
        X, FollowUp(time, event), np.ones((40, 1), bool), centre=True, unit_variance=True
    )
    fits = cox_path(sets, tau_max(sets) * [1.1, 0.3], 1e-6, tolerance=1e-7)
    scores = ridge_scores(sets, fits, [0.5])
    values, intercept, gap = ridge_coef(sets, fits, 0.5)
    A, _ = fits.coef(0, 1)
    np.testing.assert_allclose(intercept[0, 1] + X[:, A] @ values, scores[0, 1, 0], atol=1e-12)
    assert not scores[0, 0].any()
    assert gap.max() <= 1e-12


def test_hazard_at_zero_risk_equals_nelson_aalen():
    _, time, event = tied(8, 30, 1)
    risk = RiskSets.from_times(time, event, "breslow")
    hazard = baseline_hazard(risk, np.zeros(30))
    expected = [
        sum(
            np.sum(event & (time == s)) / np.sum(time >= s)
            for s in np.unique(time[event])
            if s <= t
        )
        for t in hazard.times
    ]
    np.testing.assert_allclose(hazard.cumulative, expected, rtol=1e-13)
    survival = hazard.survival(np.array([0.0, 1.0, 800.0]), [0, hazard.times[0], 1e9])
    np.testing.assert_array_equal(survival[:, 0], 1)
    np.testing.assert_allclose(survival[1], survival[0] ** np.e)
    assert survival[2, 1] == 0


def test_martingale_residuals_sum_to_nothing_with_the_fitted_hazard():
    sets = one_set(10, 50, 3, "breslow")
    risk = sets.risk[0]
    Z = sets.columns(0, np.arange(3))
    eta = Z @ ridge(risk, Z, Z[:, :0], np.array([0.1])).b[:, 0]
    hazard = baseline_hazard(risk, eta)
    _, time, event = tied(10, 50, 3)
    expected = -np.log(np.diag(hazard.survival(eta, time[risk.order])))
    np.testing.assert_allclose(
        event[risk.order] - expected, -25 * risk.gradient(risk.shares(eta)), atol=1e-12
    )


@pytest.mark.parametrize(
    ("time", "event", "message"),
    [
        ([1, -2], [1, 0], "sample 1 .* has time -2"),
        ([np.nan, 2], [1, 0], "has time nan"),
        ([1, 2], [0, 0], "no event"),
        ([1, 2], [1, 2], "must be 1"),
        ([1, 2], [1, np.nan], "must be 1"),
        ([1, 2], [1], "one time and one event"),
    ],
)
def test_invalid_survival_times_are_refused(time, event, message):
    with pytest.raises(GenesigError, match=message):
        RiskSets.from_times(np.array(time, float), np.array(event))


def test_feature_without_an_l1_term_is_refused():
    with pytest.raises(GenesigError, match="weights above 0"):
        one_set(0, 8, 9, weights=np.where(np.arange(9) < 1, 0.0, 1.0))


def test_where_all_die_at_once_there_is_nothing_to_learn():
    risk = RiskSets.from_times(np.ones(5), np.ones(5), "breslow")
    assert risk.null_deviance > 0
    alone = RiskSets.from_times(np.array([1.0, 2, 3]), np.array([0, 0, 1]))
    assert alone.null_deviance == 1
    assert risk.gradient(risk.shares(np.zeros(5))) == pytest.approx(0)
