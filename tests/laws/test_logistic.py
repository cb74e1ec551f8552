"""Laws of the logistic loss, its certificate and its fits on random data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_formulas import (
    STUDY_VARIANTS,
    classes,
    fits,
    logistic_scores,
    parts,
    problem,
    random_weights,
)
from reference_formulas import logistic_objective as objective

from genesig.arrays import row_entries
from genesig.compiled.algebra import solve_by_features, solve_by_samples
from genesig.errors import GenesigError
from genesig.optim.likelihood_newton import (
    PenalisedProblem,
    QuadraticModel,
    dual_point_function,
    fixed_sign_step,
)
from genesig.optim.likelihood_path import PathLevels, PathState, problem_of_set
from genesig.optim.logistic import (
    LOGISTIC,
    certify_sets,
    classes_of,
    logistic_coef,
    logistic_path,
    logistic_sets,
)

dual_point = dual_point_function(LOGISTIC)
TAU_SHARES = np.array([0.8, 0.4, 0.1, 0.02])
seeds = st.integers(0, 10_000)
kinds = pytest.mark.parametrize("kind", STUDY_VARIANTS)


def stationary(sets, k, b, a, tau, mu):
    """Return the largest breach of the optimality conditions, as a share of tau's scale."""
    Z, y, v = parts(sets, k)
    u = -y * v / (1 + np.exp(y * (a + Z @ b)))
    g = Z.T @ u + 2 * mu * b
    off = np.where(b != 0, np.abs(g + tau * np.sign(b)), np.maximum(np.abs(g) - tau, 0))
    return max(off.max(), abs(u.sum())) / float(sets.tau_max[k])


@kinds
@given(
    seed=seeds,
    n=st.integers(8, 40),
    d=st.integers(1, 80),
    mu=st.sampled_from([0, 1e-6, 1e-2, 1.0]),
    balanced=st.booleans(),
)
def test_every_fit_is_stationary_and_certified(kind, seed, n, d, mu, balanced):
    sets = problem(seed, n, d, kind, balanced=balanced)
    tau = sets.tau_max[:, None] * TAU_SHARES
    mus = mu * sets.norm[:, None]
    path, B, A = fits(sets, tau, mus)
    assert path.converged.all(), path.message
    for k in range(2):
        for m in range(len(TAU_SHARES)):
            breach = stationary(sets, k, B[k, m], A[k, m], tau[k, m], mus[k, 0])
            assert breach < 1e-8


@kinds
@given(
    seed=seeds,
    d=st.integers(2, 40),
    mu=st.sampled_from([0, 1e-3, 0.3]),
    spread=st.sampled_from([1e-4, 1e-2, 0.1, 1.0]),
)
def test_gap_bounds_the_gain_of_any_other_point(kind, seed, d, mu, spread):
    """Weak duality, near the solution and far from it: where the fit was moved away."""
    sets = problem(seed, 20, d, kind)
    rng = np.random.default_rng(seed)
    tau = 0.3 * sets.tau_max
    mus = mu * sets.norm
    _, B, A = fits(sets, tau[:, None], mus[:, None])
    ground = sets.loss_data(slice(0, 2))
    none = np.zeros(2)
    eta, z, u = (np.zeros_like(buffer) for buffer in sets.start[2:5])
    b = B[:, 0] * rng.uniform(1 - spread, 1 + spread, d)
    a = A[:, :1].copy()
    state = PathState(b, a, eta, z, u, np.zeros_like(b))
    b[:, 0] += spread * rng.normal(size=2) * 0.1
    for k in range(2):
        places = np.flatnonzero(b[k])
        n = ground.n_samples[k]
        set_problem = problem_of_set(ground, k, places, tau[k], mus[k])
        scores_buffer = np.zeros(n)
        eta[k, :n] = np.append(b[k, places], a[k, 0]) @ set_problem.D
        dual_point(
            classes_of(ground.response, k, n), set_problem, eta[k, :n], z[k, :n], scores_buffer
        )
        u[k, ground.rows[k, :n]] = scores_buffer
    np.matmul(u, ground.F.T, out=state.g)
    gap = np.zeros(2)
    outside_gap = np.zeros(2)
    certify_sets(ground, state, np.arange(2), PathLevels(tau, mus, none, none), gap, outside_gap)
    for k in range(2):
        objective_value = objective(sets, k, b[k], a[k, 0], tau[k], mus[k])
        assert (
            gap[k] >= objective_value - objective(sets, k, B[k, 0], A[k, 0], tau[k], mus[k]) - 1e-12
        )


@kinds
@given(seed=seeds)
def test_loosely_solved_fit_omits_no_feature_beyond_tau(kind, seed):
    sets = problem(seed, 25, 60, kind)
    tau = sets.tau_max[:, None] * [0.9, 0.1]
    mu = 1e-3 * sets.norm[:, None]
    _, B, A = fits(sets, tau, mu, tolerance=0.5)
    for k in range(2):
        Z, y, v = parts(sets, k)
        for m in range(2):
            u = -y * v / (1 + np.exp(y * (A[k, m] + Z @ B[k, m])))
            beyond = np.abs(Z.T @ u)[B[k, m] == 0]
            assert beyond.max() <= tau[k, m] * (1 + 1e-6)


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@given(seed=seeds)
def test_a_step_at_given_signs_ends_where_the_model_is_flat(ridge, seed):
    """With fewer coordinates than samples, and with more where they have a ridge."""
    rng = np.random.default_rng(seed)
    n = 12
    m = 30 if ridge else 8
    D = rng.normal(size=(m, n))
    w = rng.uniform(0.1, 1, n)
    r = rng.normal(size=n)
    cut = rng.uniform(0.1, 1, m)
    x = rng.normal(size=m)
    penalised_problem = PenalisedProblem(D, cut, np.full(m, ridge))
    model = QuadraticModel(r, w * D, np.sqrt(w) * D)
    active = np.arange(0, m, 2) if m < n else np.arange(m)
    step = fixed_sign_step(penalised_problem, active, model, x, r)
    slope = D[active] @ (r + w * (step @ D[active])) + ridge * (x[active] + step)
    np.testing.assert_allclose(slope, -cut[active] * np.sign(x[active]), atol=1e-8)


@kinds
def test_largest_tau_selects_nothing_and_the_next_one_feature(kind):
    sets = problem(1, 30, 50, kind)
    path, _, intercept = fits(
        sets, sets.tau_max[:, None] * [1.0001, 0.9999], 1e-6 * sets.norm[:, None]
    )
    np.testing.assert_array_equal(path.sizes(), [[0, 1]] * 2)
    scores = logistic_scores(sets, path, intercept)
    v = sets.v[:, :30]
    y = sets.y[:, :30]
    np.testing.assert_allclose(
        np.sum(v * np.logaddexp(0, -y * scores[:, 0]), axis=1), sets.deviance, rtol=1e-12
    )


def test_whole_weights_are_repeated_samples():
    X, Y, rows = classes(2, 24, 30)
    often = 1 + np.arange(24) % 3
    tau = [0.05, 0.02]
    mu = 1e-3
    weighted = logistic_sets(
        X, Y, rows, sample_weights=np.stack([often] * 2, 1), unit_variance=True
    )
    repeated_arrays = [np.repeat(array, often, axis=0) for array in (X, Y, rows)]
    repeated = logistic_sets(*repeated_arrays, unit_variance=True)
    np.testing.assert_allclose(weighted.tau_max, repeated.tau_max, rtol=1e-12)
    np.testing.assert_allclose(weighted.norm, repeated.norm, rtol=1e-9)
    for weighted_fit, repeated_fit in zip(
        fits(weighted, tau, mu)[1:], fits(repeated, tau, mu)[1:], strict=True
    ):
        np.testing.assert_allclose(weighted_fit, repeated_fit, atol=1e-11)


def test_a_weight_of_0_is_a_sample_left_out():
    X, Y, rows = classes(5, 24, 30)
    out = np.arange(24) == 7
    v = np.where(out, 0.0, 1.0)[:, None] * rows
    weighted = logistic_sets(X, Y, rows, sample_weights=v, unit_variance=True)
    without = logistic_sets(X, Y, rows & ~out[:, None], unit_variance=True)
    tau = 0.2 * without.tau_max[:, None]
    for weighted_fit, shortened_fit in zip(
        fits(weighted, tau, 1e-3)[1:], fits(without, tau, 1e-3)[1:], strict=True
    ):
        np.testing.assert_allclose(weighted_fit, shortened_fit, atol=1e-11)


def test_balanced_classes_weigh_alike():
    sets = problem(4, 30, 10, "weights", balanced=True)
    for sign in (-1, 1):
        np.testing.assert_allclose(np.where(sets.y == sign, sets.v, 0).sum(axis=1), 0.5)
    np.testing.assert_allclose(sets.start.a, 0, atol=1e-12)
    np.testing.assert_allclose(sets.deviance, np.log(2))


@kinds
def test_training_sets_do_not_know_each_other(kind):
    X, Y, rows = classes(6, 30, 200, 70)
    weights = random_weights(6, rows) if kind == "weights" else np.ones(rows.shape)
    sets = logistic_sets(X, Y, rows, sample_weights=weights, unit_variance=True)
    tau = sets.tau_max[:, None] * TAU_SHARES
    path, B, A = fits(sets, tau, 1e-6)
    for k in (0, 1, 69):
        alone = logistic_sets(
            X, Y[:, [k]], rows[:, [k]], sample_weights=weights[:, [k]], unit_variance=True
        )
        path_alone, b, a = fits(alone, tau[[k]], 1e-6)
        np.testing.assert_array_equal(path_alone.sizes()[0], path.sizes()[k])
        np.testing.assert_allclose(b[0], B[k], atol=1e-12)
        np.testing.assert_allclose(a[0], A[k], atol=1e-12)


def test_other_names_of_the_classes_mirror_the_fit():
    X, Y, rows = classes(7, 30, 60)
    sets_plus, sets_minus = (logistic_sets(X, S * Y, rows, unit_variance=True) for S in (1, -1))
    tau = sets_plus.tau_max[:, None] * TAU_SHARES
    for a, b in zip(fits(sets_plus, tau, 1e-6)[1:], fits(sets_minus, tau, 1e-6)[1:], strict=True):
        np.testing.assert_allclose(a, -b, atol=1e-12)


def test_fits_ignore_held_out_rows():
    X, Y, rows = classes(8, 30, 40)
    rows[:, 1] = rows[:, 0]
    spoiled = np.where(rows[:, :1], X, 1e6)
    sets_plain, sets_spoiled = (
        logistic_sets(matrix, Y, rows, unit_variance=True) for matrix in (X, spoiled)
    )
    tau = sets_plain.tau_max[:, None] * TAU_SHARES
    for a, b in zip(
        fits(sets_plain, tau, 1e-6)[1:], fits(sets_spoiled, tau, 1e-6)[1:], strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-9)


@pytest.mark.parametrize("unit_variance", [True, False])
def test_coefficients_in_the_units_of_the_matrix_give_the_scores(unit_variance):
    sets = problem(9, 30, 40, "weights", unit_variance=unit_variance)
    path, intercept = logistic_path(sets, sets.tau_max[:, None] * TAU_SHARES, 1e-3, tolerance=1e-9)
    scores = logistic_scores(sets, path, intercept)
    values, constant = logistic_coef(sets, path, intercept)
    for k in range(2):
        Z = sets.training_sets.standardised(k)
        for m in range(len(TAU_SHARES)):
            part = row_entries(path.indptr, 4 * k + m)
            A = path.indices[part]
            by_hand = intercept[k, m] + Z[:, A] @ path.values[part]
            np.testing.assert_allclose(scores[k, m], by_hand, atol=1e-10)
            by_units = constant[k, m] + sets.training_sets.X[:, A] @ values[part]
            np.testing.assert_allclose(scores[k, m], by_units, atol=1e-10)


def test_constant_genes_are_never_selected():
    X, Y, rows = classes(10, 20, 12)
    X[:, 3] = 7.0
    X[:, 5] = 0.0
    sets = logistic_sets(X, Y, rows, unit_variance=True)
    for tau, mu in ((0.0, 0.1), (1e-3, 0.0)):
        path, B, _ = fits(sets, tau, mu)
        assert path.converged.all()
        assert not B[..., [3, 5]].any()


@pytest.mark.parametrize("d", [3, 300])
def test_separated_classes_are_certified_without_a_ridge(d):
    X, Y, rows = classes(11, 25, d)
    X[:, 0] = Y[:, 0] * np.linspace(1, 2, 25)
    sets = logistic_sets(X, Y[:, :1], rows[:, :1], unit_variance=True)
    path, *_ = fits(sets, sets.tau_max[:, None] * np.geomspace(1, 1e-6, 20), 0.0)
    assert path.converged.all(), path.message


@pytest.mark.parametrize(("m", "free"), [(12, 2), (40, 0), (40, 3)])
def test_primal_and_dual_systems_have_the_same_solution(m, free):
    rng = np.random.default_rng(m + free)
    E = rng.normal(size=(m, 10))
    ridge = rng.uniform(0.1, 1, m)
    h = rng.normal(size=m)
    ridge[rng.permutation(m)[:free]] = 0.0
    expected = np.linalg.solve(E @ E.T + np.diag(ridge), h)
    for solve, rows in ((solve_by_features, (E, E)), (solve_by_samples, (E,))):
        solution = h.copy()
        solve(*rows, ridge, solution)
        np.testing.assert_allclose(solution, expected, rtol=1e-8)


def test_dependent_column_gets_no_step():
    E = np.ones((3, 4))
    h = np.array([4.0, 4.0, 4.0])
    solve_by_features(E, E, np.zeros(3), h)
    np.testing.assert_allclose(h, [1, 0, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda Y, rows: (np.where(rows, 1.0, Y), rows),
            "training set 0 has no sample of class -1",
        ),
        (lambda Y, rows: (0 * Y, rows), "classes -1 and 1"),
        (lambda Y, rows: (Y[:, :1], rows), "alike"),
    ],
)
def test_invalid_pair_of_classes_is_refused(change, message):
    X, Y, rows = classes(0, 12, 4)
    with pytest.raises(GenesigError, match=message):
        logistic_sets(X, *change(Y, rows), unit_variance=True)


def test_without_any_penalty_nothing_is_determined():
    with pytest.raises(GenesigError, match="undetermined"):
        logistic_path(problem(0, 12, 4), 0.0, 0.0, tolerance=1e-9)
