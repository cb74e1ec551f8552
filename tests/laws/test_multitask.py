"""One list for several responses: certified, and that of the block solver or of one response."""

from __future__ import annotations

import numpy as np
import pytest

from genesig.errors import GenesigError
from genesig.optim.multitask import joint_coef, joint_path, joint_scores, joint_sets
from genesig.optim.refit import refit_coef, refit_scores
from genesig.optim.solvers import path
from genesig.optim.structured.blocks import Blocks
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


def dense(joint, found, k, m):
    B = np.zeros((joint.sets.X.shape[1], joint.Y.shape[1]))
    indices, values = found.coef(k, m)
    B[indices] = values
    return B


def training(joint, k):
    """Return standardised training rows Z and their responses Y."""
    rows = joint.sets.rows[:, k]
    return joint.sets.standardised(k)[rows], joint.Y[k][:, : len(rows)].T[rows]


def gap_of(joint, found, k, m, tau, mu):
    """Return the duality gap by its formula, from all features."""
    (Z, Y) = training(joint, k)
    B = dense(joint, found, k, m)
    w = joint.sets.weights
    r = Y - Z @ B
    n = len(Y)
    g = 2 / n * Z.T @ r - 2 * mu * B
    here = PenaltyCertificate(
        value=tau * float(w @ np.linalg.norm(B, axis=1)),
        b_g=float((B * g).sum()),
        dual=float((np.linalg.norm(g, axis=1) / w).max()),
        square=float((B**2).sum()),
    )
    square = float((r**2).sum())
    return duality_gap(here, tau, mu, ResidualSums(n, float((Y * r).sum()), square, (Y**2).sum()))


@pytest.mark.parametrize("mu", [0.0, 1e-6, 1e-3, 0.1, 10.0])
@pytest.mark.parametrize("weights", [False, True])
def test_every_fit_is_certified_by_all_features(mu, weights):
    for seed in range(4):
        joint = problem(seed, correlated=seed % 2 == 0, weights=weights)
        tau = joint.tau_max[:, None] * np.geomspace(0.95, 0.01, 12)
        found = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-9)
        assert found.converged.all(), found.message
        assert found.gap.max() <= 1e-11
        for k in range(2):
            for m in range(12):
                gap = gap_of(joint, found, k, m, tau[k, m], mu * joint.norm[k])
                assert gap <= 1e-10


@pytest.mark.parametrize("mu", [0.0, 1e-3, 0.3])
def test_it_is_the_block_solver_with_a_row_a_block(mu):
    joint = problem(5, weights=True)
    Z, Y = training(joint, 1)
    tau = joint.tau_max[1] * np.geomspace(0.9, 0.05, 8)
    found = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-10)
    blocks = Blocks.singletons(Z.shape[1], joint.sets.weights)
    slow = block_path(Z, Y, blocks, tau, mu * joint.norm[1], tolerance=1e-12)
    for m in range(8):
        fitted = Z @ dense(joint, found, 1, m)
        np.testing.assert_allclose(fitted, Z @ slow.coef(m), atol=1e-4)


def test_tau_max_is_sharp():
    joint = problem(2, weights=True)
    tau = joint.tau_max[:, None] * np.array([1 + 1e-9, 1 - 1e-3])
    sizes = joint_path(joint, tau, 0.0, tolerance=1e-9).sizes()
    assert (sizes[:, 0] == 0).all()
    assert (sizes[:, 1] > 0).all()


def test_one_response_is_the_problem_of_one_response():
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


def test_the_same_response_twice_selects_what_it_selects_alone():
    """||(b, b)|| = sqrt(2) |b|: the problem of one response at tau / sqrt(2)."""
    one = problem(4, T=1)
    X = one.sets.X
    rows = one.sets.rows
    Y = np.repeat(one.sets.Y[:, :, None], 2, axis=2)
    two = joint_sets(X, Y, rows, centre=True, unit_variance=True)
    np.testing.assert_allclose(two.tau_max, np.sqrt(2) * one.tau_max, rtol=1e-12)
    share = np.geomspace(0.9, 0.05, 9)
    alone = joint_path(one, one.tau_max[:, None] * share, 1e-3, tolerance=1e-9)
    both = joint_path(two, two.tau_max[:, None] * share, 1e-3, tolerance=1e-9)
    np.testing.assert_array_equal(both.indices, alone.indices)
    np.testing.assert_allclose(both.values, np.repeat(alone.values, 2, axis=1), atol=1e-5)


def test_sets_whose_responses_differ_in_rank_are_solved_together_as_each_alone():
    """A half may lack what tells two columns apart, as where covariates take it away."""
    made = problem(5)
    X = made.sets.X
    rows = made.sets.rows
    width = made.sets.rows.shape[1]
    Y = np.random.default_rng(5).normal(size=(len(X), width, 3)) + X[:, 3:4, None]
    Y[:, 1] = Y[:, 1, :1] * [1.0, -2.0, 0.5]  # rank 1 in the second set
    scales = {"centre": True, "unit_variance": True}
    both = joint_sets(X, Y, rows, **scales)
    tau = both.tau_max[:, None] * np.geomspace(0.9, 0.1, 6)
    found = joint_path(both, tau, 1e-3, tolerance=1e-9)
    for k in range(width):
        alone = joint_sets(X, Y[:, [k]], rows[:, [k]], **scales, norm=both.norm[[k]])
        own = joint_path(alone, tau[[k]], 1e-3, tolerance=1e-9)
        for m in range(tau.shape[1]):
            np.testing.assert_allclose(dense(both, found, k, m), dense(alone, own, 0, m), atol=1e-6)


@pytest.mark.parametrize("mu", [1e-6, 1e-2])
def test_responses_that_follow_from_others_have_the_coefficients_that_follow(mu):
    """As the columns of T classes do, whose sum, weighed by the shares, is the same everywhere."""
    one = problem(11)
    turn = np.array([[1.0, 0, 2, -1], [0, 1, 1, 0.5], [0, 0, 0, 3]])
    n = len(one.sets.X)
    Y = np.einsum("kti,ts->iks", one.Y[:, :, :n], turn)
    joint = joint_sets(one.sets.X, Y, one.sets.rows, centre=True, unit_variance=True)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.02, 8)
    found = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-9)
    assert found.converged.all()
    np.testing.assert_allclose(found.values[:, 2], found.values[:, :2] @ [2, 1], atol=1e-12)
    for k in range(2):
        for m in range(8):
            assert gap_of(joint, found, k, m, tau[k, m], mu * joint.norm[k]) <= 1e-10


def test_the_order_of_the_responses_changes_no_list():
    joint = problem(6, T=4)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.02, 12)
    order = [2, 0, 3, 1]
    turned = joint_sets(
        joint.sets.X,
        joint.Y[:, order, : len(joint.sets.X)].transpose(2, 0, 1),
        joint.sets.rows,
        centre=True,
        unit_variance=True,
    )
    here, there = (joint_path(each, tau, 1e-3, tolerance=1e-9) for each in (joint, turned))
    np.testing.assert_array_equal(here.indices, there.indices)
    np.testing.assert_allclose(here.values[:, order], there.values, atol=1e-6)


def test_fits_do_not_depend_on_what_is_solved_beside():
    joint = problem(7, sets=6)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.02, 6)
    whole = joint_path(joint, tau, 1e-3, tolerance=1e-9)
    n = len(joint.sets.X)
    for k in (0, 5):
        alone = joint_sets(
            joint.sets.X,
            joint.Y[k : k + 1, :, :n].transpose(2, 0, 1),
            joint.sets.rows[:, k : k + 1],
            centre=True,
            unit_variance=True,
        )
        found = joint_path(alone, tau[k : k + 1], 1e-3, tolerance=1e-9)
        for m in range(6):
            np.testing.assert_array_equal(found.coef(0, m)[0], whole.coef(k, m)[0])
            np.testing.assert_allclose(found.coef(0, m)[1], whole.coef(k, m)[1], atol=1e-12)


@pytest.mark.parametrize("T", [1, 3])
def test_the_refit_is_that_of_each_response_on_the_one_support(T):
    joint = problem(8, T=T, d=90)
    X = joint.sets.X
    rows = joint.sets.rows
    n = len(joint.sets.X)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.005, 6)
    found = joint_path(joint, tau, 0.1 * joint.norm[:, None], tolerance=1e-9)
    assert found.sizes().max() > n  # both forms of the ridge
    lam = np.array([0.0, 1e-4, 1e-1])
    scores = joint_scores(joint, found, lam)
    values, intercept = joint_coef(joint, found, 1e-4)
    for t in range(T):
        sets = training_sets(X, joint.Y[:, t, :n].T, rows, centre=True, unit_variance=True)
        mean = joint.y_mean[:, t]
        alone = refit_scores(sets, found, lam) + mean[:, None, None, None]
        np.testing.assert_allclose(scores[..., t], alone, rtol=1e-9, atol=1e-9)
        one, constant = refit_coef(sets, found, 1e-4)
        np.testing.assert_allclose(values[:, t], one, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(intercept[:, :, t], constant + mean[:, None], atol=1e-12)


def test_a_row_ends_before_its_first_long_list():
    joint = problem(9)
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.01, 12)
    whole = joint_path(joint, tau, 1e-3, tolerance=1e-9)
    cut = joint_path(joint, tau, 1e-3, tolerance=1e-9, longest=10)
    long = np.logical_or.accumulate(whole.sizes() > 10, axis=1)
    assert long.any()
    np.testing.assert_array_equal(cut.sizes(), np.where(long, 0, whole.sizes()))
    assert np.isnan(cut.gap[long]).all()


@pytest.mark.parametrize("mu", [1e-6, 1e-2, 0.3])
def test_a_row_that_ends_on_a_rough_solution_ends_where_the_exact_one_does(mu):
    for seed in range(3):
        joint = problem(seed, d=400)
        tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.01, 8)
        whole = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-9)
        for longest in (5, 20, 100):
            cut = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-9, longest=longest)
            expected = whole.end_rows(longest)
            np.testing.assert_array_equal(cut.indptr, expected.indptr)
            np.testing.assert_array_equal(cut.indices, expected.indices)
            np.testing.assert_allclose(cut.values, expected.values, atol=1e-8)
            np.testing.assert_array_equal(cut.iterations < 0, expected.iterations < 0)


@pytest.mark.parametrize("mu", [1e-6, 1e-2])
def test_rows_of_a_group_end_with_the_first_of_them_and_agree_until_then(mu):
    joint = problem(7, d=400, sets=6)
    groups = np.array([0, 0, 0, 1, 1, 2])
    tau = joint.tau_max[:, None] * np.geomspace(0.9, 0.02, 30)
    mu = mu * joint.norm[:, None]
    apart = joint_path(joint, tau, mu, tolerance=1e-9, longest=30)
    found = joint_path(joint, tau, mu, tolerance=1e-9, longest=30, groups=groups)
    assert len(np.unique((apart.iterations < 0).sum(axis=1))) > 1
    for group in range(3):
        own = groups == group
        useful = (apart.iterations[own] >= 0).all(axis=0)
        np.testing.assert_array_equal((found.iterations[own] >= 0).all(axis=0), useful)
        for k in np.flatnonzero(own):
            for m in np.flatnonzero(useful):
                for here, there in zip(found.coef(k, m), apart.coef(k, m), strict=True):
                    np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize("mu", [0.0, 1e-4, 1e-2, 1.0])
def test_lists_of_more_genes_than_responses_times_samples_are_certified(mu):
    """Where the Hessian is of lower rank than it has rows."""
    joint = problem(3, n=12, d=600, T=2)
    tau = joint.tau_max[:, None] * np.geomspace(0.5, 0.01, 6)
    found = joint_path(joint, tau, mu * joint.norm[:, None], tolerance=1e-9)
    assert found.gap.max() <= 1e-11
    assert mu == 0 or found.sizes().max() > 2 * 16
    for k in range(2):
        for m in range(6):
            assert gap_of(joint, found, k, m, tau[k, m], mu * joint.norm[k]) <= 1e-10


def test_what_leaves_no_problem_is_refused():
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
