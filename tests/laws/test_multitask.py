"""Joint lists for several responses: certificates, limits and equality with other solvers."""

from __future__ import annotations

import numpy as np
import pytest
from structured_problems import single_columns

from genesig.errors import GenesigError
from genesig.optim.multitask import joint_coef, joint_path, joint_scores, joint_sets
from genesig.optim.refit import refit_coef, refit_scores
from genesig.optim.solvers import path
from genesig.optim.structured.path import block_path
from genesig.optim.structured.solution import PenaltyCertificate, ResidualSums, duality_gap
from genesig.optim.training import training_sets


def problem(seed, n=40, d=150, T=3, sets=2, correlated=True, weights=False):
    """Return joint sets of correlated features, two of them equal and one constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, d)) + rng.normal(size=(n, d))
    if not correlated:
        X = rng.normal(size=(n, d))
    X[:, 1] = X[:, 0]
    X[:, 2] = 7.0
    rows = rng.random((n, sets)) < 0.8
    Y = rng.normal(size=(n, sets, T)) + X[:, 3:4, None] + X[:, 4:5, None] * np.arange(T)
    w = rng.uniform(0.5, 2, d) if weights else None
    return joint_sets(X, Y, rows, centre=True, unit_variance=True, weights=w)


def dense(joint, fits, k, m):
    B = np.zeros((joint.training_sets.X.shape[1], joint.Y.shape[1]))
    indices, values = fits.coef(k, m)
    B[indices] = values
    return B


def training(joint, k):
    """Return standardised training rows Z and their responses Y."""
    rows = joint.training_sets.rows[:, k]
    return joint.training_sets.standardised(k)[rows], joint.Y[k][:, : len(rows)].T[rows]


def gap_of(joint, fits, k, m, tau, mu):
    """Return the duality gap by its formula, from all features."""
    (Z, Y) = training(joint, k)
    B = dense(joint, fits, k, m)
    w = joint.training_sets.weights
    r = Y - Z @ B
    n = len(Y)
    g = 2 / n * Z.T @ r - 2 * mu * B
    certificate = PenaltyCertificate(
        value=tau * float(w @ np.linalg.norm(B, axis=1)),
        b_g=float((B * g).sum()),
        dual=float((np.linalg.norm(g, axis=1) / w).max()),
        square=float((B**2).sum()),
    )
    square = float((r**2).sum())
    return duality_gap(
        certificate, tau, mu, ResidualSums(n, float((Y * r).sum()), square, (Y**2).sum())
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mu", [0.0, 1e-6, 1e-3, 0.1, 10.0])
@pytest.mark.parametrize("weights", [False, True])
def test_every_fit_is_certified_by_all_features(mu, weights):
    for seed in range(4):
        joint = problem(seed, correlated=seed % 2 == 0, weights=weights)
        tau = joint.tau_max[:, None] * np.geomspace(0.95, 0.01, 12)
        fits = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-9)
        assert fits.converged.all(), fits.message
        assert fits.gap.max() <= 1e-11
        for k in range(2):
            for m in range(12):
                gap = gap_of(joint, fits, k, m, tau[k, m], mu * joint.norm[k])
                assert gap <= 1e-10


@pytest.mark.parametrize("mu", [0.0, 1e-3, 0.3])
def test_joint_path_equals_block_path_with_rows_as_blocks(mu):
    joint = problem(5, weights=True)
    Z, Y = training(joint, 1)
    tau = joint.tau_max[1] * np.geomspace(0.9, 0.05, 8)
    fits = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-10)
    blocks = single_columns(Z.shape[1], joint.training_sets.weights)
    slow = block_path(Z, Y, blocks, tau, mu * joint.norm[1], tolerance=1e-12)
    for m in range(8):
        fitted = Z @ dense(joint, fits, 1, m)
        np.testing.assert_allclose(fitted, Z @ slow.coef(m), atol=1e-4)


def test_strength_of_a_feature_is_the_norm_of_its_products_with_all_responses():
    joint = problem(5)
    strength = joint.training_sets.strength(slice(None), joint.Y)
    for k in range(2):
        (Z, Y) = training(joint, k)
        np.testing.assert_allclose(strength[k], np.linalg.norm(Z.T @ Y, axis=1), atol=1e-10)


def test_tau_max_is_sharp():
    joint = problem(2, weights=True)
    tau = joint.tau_max[:, None] * np.array([1 + 1e-9, 1 - 1e-3])
    sizes = joint_path(joint, tau, 0.0, tolerance=1e-9).sizes()
    assert (sizes[:, 0] == 0).all()
    assert (sizes[:, 1] > 0).all()


def test_joint_path_of_one_response_equals_the_single_path():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 150))
    y = rng.normal(size=(40, 2))
    rows = rng.random((40, 2)) < 0.8
    X[:, :2] += y
    sets = training_sets(X, y, rows, centre=True, unit_variance=True)
    joint = joint_sets(X, y[:, :, None], rows, centre=True, unit_variance=True)
    np.testing.assert_allclose(joint.tau_max, sets.tau_max, rtol=1e-12)
    tau = sets.tau_max[:, None] * np.geomspace(0.9, 0.02, 9)
    alone = path(sets, tau, 1e-3, solver="landweber-newton", tolerance=1e-9, longest=30)
    joined = joint_path(joint, tau, 1e-3, tolerance=1e-9, longest=30)
    np.testing.assert_array_equal(joined.indices, alone.indices)
    np.testing.assert_array_equal(joined.values[:, 0], alone.values)
    lam = np.array([1e-4, 1e-2])
    scores = joint_scores(joint, joined, lam)[..., 0]
    np.testing.assert_array_equal(scores, refit_scores(sets, alone, lam))


def test_duplicated_response_selects_what_the_single_response_selects():
    """||(b, b)|| = sqrt(2) |b|: the problem of one response at tau / sqrt(2)."""
    single_response = problem(4, T=1)
    X = single_response.training_sets.X
    rows = single_response.training_sets.rows
    Y = np.repeat(single_response.training_sets.Y[:, :, None], 2, axis=2)
    two = joint_sets(X, Y, rows, centre=True, unit_variance=True)
    np.testing.assert_allclose(two.tau_max, np.sqrt(2) * single_response.tau_max, rtol=1e-12)
    share = np.geomspace(0.9, 0.05, 9)
    alone = joint_path(
        single_response, single_response.tau_max[:, None] * share, 1e-3, tolerance=1e-9
    )
    fits = joint_path(two, two.tau_max[:, None] * share, 1e-3, tolerance=1e-9)
    np.testing.assert_array_equal(fits.indices, alone.indices)
    np.testing.assert_allclose(fits.values, np.repeat(alone.values, 2, axis=1), atol=1e-5)


def test_sets_whose_responses_differ_in_rank_are_solved_together_as_each_alone():
    """A half may lack what tells two columns apart, as where covariates take it away."""
    problem_rank = problem(5)
    X = problem_rank.training_sets.X
    rows = problem_rank.training_sets.rows
    width = problem_rank.training_sets.rows.shape[1]
    Y = np.random.default_rng(5).normal(size=(len(X), width, 3)) + X[:, 3:4, None]
    Y[:, 1] = Y[:, 1, :1] * [1.0, -2.0, 0.5]  # rank 1 in the second set
    scales = {"centre": True, "unit_variance": True}
    all_sets = joint_sets(X, Y, rows, **scales)
    tau = all_sets.tau_max[:, None] * np.geomspace(0.9, 0.1, 6)
    joint_fits = joint_path(all_sets, tau, 1e-3, tolerance=1e-9)
    for k in range(width):
        alone = joint_sets(X, Y[:, [k]], rows[:, [k]], **scales, norm=all_sets.norm[[k]])
        separate_fits = joint_path(alone, tau[[k]], 1e-3, tolerance=1e-9)
        for m in range(tau.shape[1]):
            np.testing.assert_allclose(
                dense(all_sets, joint_fits, k, m), dense(alone, separate_fits, 0, m), atol=1e-6
            )


@pytest.mark.parametrize("mu", [1e-6, 1e-2])
def test_dependent_responses_have_dependent_coefficients(mu):
    """As the columns of T classes do, whose sum, weighed by the shares, is the same everywhere."""
    base_problem = problem(11)
    turn = np.array([[1.0, 0, 2, -1], [0, 1, 1, 0.5], [0, 0, 0, 3]])
    n = len(base_problem.training_sets.X)
    Y = np.einsum("kti,ts->iks", base_problem.Y[:, :, :n], turn)
    joint = joint_sets(
        base_problem.training_sets.X,
        Y,
        base_problem.training_sets.rows,
        centre=True,
        unit_variance=True,
    )
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.02, 8)
    fits = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-9)
    assert fits.converged.all()
    np.testing.assert_allclose(fits.values[:, 2], fits.values[:, :2] @ [2, 1], atol=1e-12)
    for k in range(2):
        for m in range(8):
            assert gap_of(joint, fits, k, m, tau[k, m], mu * joint.norm[k]) <= 1e-10


def test_the_order_of_the_responses_changes_no_list():
    joint = problem(6, T=4)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.02, 12)
    order = [2, 0, 3, 1]
    reordered = joint_sets(
        joint.training_sets.X,
        joint.Y[:, order, : len(joint.training_sets.X)].transpose(2, 0, 1),
        joint.training_sets.rows,
        centre=True,
        unit_variance=True,
    )
    fits_in_order, fits_reordered = (
        joint_path(sets, tau, 1e-3, tolerance=1e-9) for sets in (joint, reordered)
    )
    np.testing.assert_array_equal(fits_in_order.indices, fits_reordered.indices)
    np.testing.assert_allclose(fits_in_order.values[:, order], fits_reordered.values, atol=1e-6)


def test_fits_ignore_the_other_training_sets():
    joint = problem(7, sets=6)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.02, 6)
    all_fits = joint_path(joint, tau, 1e-3, tolerance=1e-9)
    n = len(joint.training_sets.X)
    for k in (0, 5):
        alone = joint_sets(
            joint.training_sets.X,
            joint.Y[k : k + 1, :, :n].transpose(2, 0, 1),
            joint.training_sets.rows[:, k : k + 1],
            centre=True,
            unit_variance=True,
        )
        separate_fits = joint_path(alone, tau[k : k + 1], 1e-3, tolerance=1e-9)
        for m in range(6):
            np.testing.assert_array_equal(separate_fits.coef(0, m)[0], all_fits.coef(k, m)[0])
            np.testing.assert_allclose(
                separate_fits.coef(0, m)[1], all_fits.coef(k, m)[1], atol=1e-12
            )


@pytest.mark.parametrize("T", [1, 3])
def test_refit_equals_a_refit_of_each_response_on_the_common_support(T):
    joint = problem(8, T=T, d=90)
    X = joint.training_sets.X
    rows = joint.training_sets.rows
    n = len(joint.training_sets.X)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.005, 6)
    fits = joint_path(joint, tau, 0.1 * joint.norm[:, None], tolerance=1e-9)
    assert fits.sizes().max() > n  # both forms of the ridge
    lam = np.array([0.0, 1e-4, 1e-1])
    scores = joint_scores(joint, fits, lam)
    values, intercept = joint_coef(joint, fits, 1e-4)
    for t in range(T):
        sets = training_sets(X, joint.Y[:, t, :n].T, rows, centre=True, unit_variance=True)
        mean = joint.y_mean[:, t]
        alone = refit_scores(sets, fits, lam) + mean[:, None, None, None]
        np.testing.assert_allclose(scores[..., t], alone, rtol=1e-9, atol=1e-9)
        coef, constant = refit_coef(sets, fits, 1e-4)
        np.testing.assert_allclose(values[:, t], coef, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(intercept[:, :, t], constant + mean[:, None], atol=1e-12)


def test_a_row_ends_before_its_first_long_list():
    joint = problem(9)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.01, 12)
    full_path = joint_path(joint, tau, 1e-3, tolerance=1e-9)
    cut = joint_path(joint, tau, 1e-3, tolerance=1e-9, longest=10)
    long = np.logical_or.accumulate(full_path.sizes() > 10, axis=1)
    assert long.any()
    np.testing.assert_array_equal(cut.sizes(), np.where(long, 0, full_path.sizes()))
    assert np.isnan(cut.gap[long]).all()


@pytest.mark.parametrize("mu", [1e-6, 1e-2, 0.3])
def test_path_ended_on_a_rough_solution_ends_where_the_exact_path_does(mu):
    for seed in range(3):
        joint = problem(seed, d=400)
        tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.01, 8)
        full_path = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-9)
        for longest in (5, 20, 100):
            cut = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-9, longest=longest)
            expected = full_path.end_rows(longest)
            np.testing.assert_array_equal(cut.indptr, expected.indptr)
            np.testing.assert_array_equal(cut.indices, expected.indices)
            np.testing.assert_allclose(cut.values, expected.values, atol=1e-8)
            np.testing.assert_array_equal(cut.iterations < 0, expected.iterations < 0)


@pytest.mark.parametrize("mu", [1e-6, 1e-2])
def test_rows_of_a_group_end_together_and_agree_until_then(mu):
    joint = problem(7, d=400, sets=6)
    groups = np.array([0, 0, 0, 1, 1, 2])
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.02, 30)
    mu = mu * joint.norm[:, None]
    separate_path = joint_path(joint, tau, mu, tolerance=1e-9, longest=30)
    group_path = joint_path(joint, tau, mu, tolerance=1e-9, longest=30, groups=groups)
    assert len(np.unique((separate_path.iterations < 0).sum(axis=1))) > 1
    for group in range(3):
        members = groups == group
        useful = (separate_path.iterations[members] >= 0).all(axis=0)
        np.testing.assert_array_equal((group_path.iterations[members] >= 0).all(axis=0), useful)
        for k in np.flatnonzero(members):
            for m in np.flatnonzero(useful):
                for group_coef, separate_coef in zip(
                    group_path.coef(k, m), separate_path.coef(k, m), strict=True
                ):
                    np.testing.assert_array_equal(group_coef, separate_coef)


@pytest.mark.parametrize("mu", [0.0, 1e-4, 1e-2, 1.0])
def test_lists_of_more_genes_than_responses_times_samples_are_certified(mu):
    """Where the Hessian is of lower rank than it has rows."""
    joint = problem(3, n=12, d=600, T=2)
    tau = joint.tau_max[:, None] * np.geomspace(0.5, 0.01, 6)
    fits = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-9)
    assert fits.gap.max() <= 1e-11
    assert mu == 0 or fits.sizes().max() > 2 * 16
    for k in range(2):
        for m in range(6):
            assert gap_of(joint, fits, k, m, tau[k, m], mu * joint.norm[k]) <= 1e-10


def test_settings_without_a_problem_are_refused():
    joint = problem(1)
    with pytest.raises(GenesigError, match="tau must be positive"):
        joint_path(joint, 0.0, 1.0, tolerance=1e-9)
    X = np.eye(4)
    Y = np.ones((4, 1, 2))
    rows = np.ones((4, 1), bool)
    with pytest.raises(GenesigError, match="weight must be positive"):
        joint_sets(X, Y, rows, centre=True, unit_variance=True, weights=[0, 1, 1, 1])
    Y[0, 0, 1] = np.nan
    with pytest.raises(GenesigError, match="finite"):
        joint_sets(X, Y, rows, centre=True, unit_variance=True)
