"""Refits of several lists of a training set equal refits of each list."""

from __future__ import annotations

import numpy as np
import pytest
from reference_formulas import minimum_norm_ridge, supports

from genesig.arrays import row_entries
from genesig.optim.multitask import joint_coef, joint_scores, joint_sets
from genesig.optim.refit import refit_coef, refit_scores
from genesig.optim.training import training_sets

LAM = [1e-5, 1e-2, 1.0]


def study(n, d, k=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) @ rng.normal(size=(6, d)) + rng.normal(size=(n, d)) + 3
    rows = np.arange(n)[:, None] % 4 != np.arange(k)
    return X, rng.normal(size=(n, k)), rows


def nearly_nested(d, sizes, seed=0):
    """Each list is the one before with some features more and some less."""
    rng = np.random.default_rng(seed)
    now = np.array([], dtype=int)
    lists = []
    for size in sizes:
        shared_genes = now[rng.random(len(now)) < 0.95][:size]
        new_genes = rng.permutation(np.setdiff1d(np.arange(d), shared_genes))
        now = np.sort(np.concatenate([shared_genes, new_genes[: size - len(shared_genes)]]))
        lists.append(now)
    return lists


WALKS = {
    "a path": nearly_nested(300, [0, 0, 3, 9, 17, 25, 33, 34, 40, 41, 47, 52]),
    "more than the samples": nearly_nested(300, [50, 58, 61, 90, 95, 52]),
    "one after another": [np.arange(a, a + 7) for a in range(0, 60, 7)],
    "the same again": [np.arange(40)] * 5,
    "none": [np.arange(0)] * 3,
    "many steps": nearly_nested(300, np.arange(12, 56)),
}


def ridge_scores_by_svd(Z, training_rows, y, A, lam):
    b = minimum_norm_ridge(Z[training_rows][:, A], y[training_rows], training_rows.sum() * lam)
    return Z[:, A] @ b


@pytest.mark.slow_cases("many steps")
@pytest.mark.parametrize("walk", WALKS)
def test_each_support_of_a_path_has_the_scores_of_the_svd(walk):
    X, Y, rows = study(80, 300)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    lists = WALKS[walk]
    path = supports(*lists, sets=2)
    scores = refit_scores(sets, path, LAM)
    values, intercept = refit_coef(sets, path, 1e-2)
    for k in range(2):
        Z = sets.standardised(k)
        training_rows = rows[:, k]
        for f, A in enumerate(lists):
            for e, lam in enumerate(LAM):
                want = sets.y_mean[k] + ridge_scores_by_svd(Z, training_rows, sets.Y[:, k], A, lam)
                np.testing.assert_allclose(scores[k, f, e], want, rtol=1e-9, atol=1e-9)
            part = row_entries(path.indptr, k * len(lists) + f)
            by_values = intercept[k, f] + X[:, A] @ values[part]
            np.testing.assert_allclose(by_values, scores[k, f, 1], rtol=1e-9, atol=1e-9)


def test_requested_rows_alone_are_scored_and_equal_the_full_scores():
    X, Y, rows = study(80, 300)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    path = supports(*WALKS["a path"], sets=2)
    requested_rows = ~rows
    requested_rows[:7] = False
    all_scores = refit_scores(sets, path, LAM)
    requested_scores = refit_scores(sets, path, LAM, requested_rows)
    for k in range(2):
        assert np.isnan(requested_scores[k][..., ~requested_rows[:, k]]).all()
        want = all_scores[k][..., requested_rows[:, k]]
        np.testing.assert_allclose(
            requested_scores[k][..., requested_rows[:, k]], want, rtol=1e-11, atol=1e-11
        )


@pytest.mark.parametrize("walk", ["a path", "more than the samples"])
def test_several_responses_have_the_scores_of_each(walk):
    X, _, rows = study(80, 300)
    Y = np.random.default_rng(1).normal(size=(80, 2, 3))
    path = supports(*WALKS[walk], sets=2)
    lam = np.array(LAM)
    joint = joint_sets(X, Y, rows, centre=True, unit_variance=True)
    scores = joint_scores(joint, path, lam)
    (values, intercept) = joint_coef(joint, path, 1e-2)
    for t in range(3):
        response_sets = training_sets(X, Y[..., t], rows, centre=True, unit_variance=True)
        np.testing.assert_allclose(
            scores[..., t], refit_scores(response_sets, path, lam), atol=1e-10
        )
        alone, constant = refit_coef(response_sets, path, 1e-2)
        np.testing.assert_allclose(values[:, t], alone, atol=1e-10)
        np.testing.assert_allclose(intercept[..., t], constant, atol=1e-10)


def test_tiny_penalty_keeps_ten_digits():
    """n lam at 1e-8 of the trace, twins in the list."""
    X, Y, rows = study(80, 60, 1)
    X[:, 30:40] = X[:, :10] + 1e-7 * np.random.default_rng(2).normal(size=(80, 10))
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    lists = [np.arange(m) for m in range(24, 44)]
    scores = refit_scores(sets, supports(*lists), [1e-6])
    for f, A in enumerate(lists):
        want = ridge_scores_by_svd(sets.standardised(0), rows[:, 0], sets.Y[:, 0], A, 1e-6)
        np.testing.assert_allclose(scores[0, f, 0] - sets.y_mean[0], want, rtol=1e-8, atol=1e-8)


@pytest.mark.slow_cases("110")
@pytest.mark.parametrize("n", [110, 320])
def test_lists_of_many_genes_have_the_scores_of_the_svd(n):
    """Of more, as many and fewer genes than training samples, which are 82 or 240."""
    X, Y, rows = study(n, 300, k=1)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    sizes = [1, 2, 81, 82, 83, 150, 200, 240, 241]
    path = supports(*(np.arange(size) for size in sizes))
    scores = refit_scores(sets, path, LAM)
    values, intercept = refit_coef(sets, path, 1e-2)
    for f, size in enumerate(sizes):
        for level, lam in enumerate(LAM):
            want = ridge_scores_by_svd(
                sets.standardised(0), rows[:, 0], sets.Y[:, 0], np.arange(size), lam
            )
            np.testing.assert_allclose(
                scores[0, f, level] - sets.y_mean[0], want, rtol=1e-8, atol=1e-8
            )
        entries = row_entries(path.indptr, f)
        by_coef = intercept[0, f] + X[:, :size] @ values[entries]
        np.testing.assert_allclose(by_coef, scores[0, f, 1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("unit_variance", [False, True])
@pytest.mark.parametrize("centre", [False, True])
def test_constant_gene_has_no_weight_and_no_part_in_the_scores(centre, unit_variance):
    X, Y, rows = study(40, 12, k=1)
    X[:, 3] = 1e6 + 1e-10 * np.arange(40)
    sets = training_sets(X, Y, rows, centre=centre, unit_variance=unit_variance)
    with_constant = np.array([1, 3, 5])
    without = np.array([1, 5])
    scores = refit_scores(sets, supports(with_constant, without), LAM)
    values, _ = refit_coef(sets, supports(with_constant), 1e-2)
    if centre or unit_variance:
        assert values[1] == 0.0
        np.testing.assert_allclose(scores[0, 0], scores[0, 1], rtol=1e-11, atol=1e-11)
