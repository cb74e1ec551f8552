"""Cox refits of several lists at once equal refits of each list."""

import numpy as np
import pytest
from reference_formulas import tied

from genesig.optim.adjustment import adjustment
from genesig.optim.cox.path import covariate_coef, ridge_coef, ridge_scores
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.optim.solution import Path

N_SAMPLES = 40
N_FEATURES = 90
LAM = np.array([1e-3, 10.0, 0.1])


def problem(seed, covariates=False, ties="efron"):
    X, time, event = tied(seed, N_SAMPLES, N_FEATURES)
    rng = np.random.default_rng(seed)
    rows = rng.random((N_SAMPLES, 2)) < 0.85
    v = rng.uniform(0.5, 2, (N_SAMPLES, 2))
    C = rng.normal(size=(2, N_SAMPLES, 2))
    fixed = None
    if covariates:
        fixed = adjustment(rows, covariates=C, weights=v * rows)
    keys = {"centre": True, "unit_variance": True, "ties": ties}
    return C, cox_sets(X, FollowUp(time, event, v), rows, covariate_adjustment=fixed, **keys)


def path_of_lists(lists):
    """Return a path of these lists, the same ones for two training sets."""
    coefs = [(np.asarray(A, dtype=int), np.ones(len(A))) for _ in range(2) for A in lists]
    shape = (2, len(lists))
    return Path.from_coefs(shape, coefs, np.zeros(shape), np.zeros(shape, int), 1.0)


LISTS = [[3], [], [5, 1, 70], list(range(30)), [7, 3], list(range(20, 75)), list(range(85))]


@pytest.mark.parametrize("covariates", [False, True])
@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("seed", range(3))
def test_ridge_scores_equal_certified_fits_of_a_single_list(seed, ties, covariates):
    """Long ones before short ones, none at all, more genes than samples; lam in any order."""
    C, sets = problem(seed, covariates, ties)
    joint_scores = ridge_scores(sets, path_of_lists(LISTS), LAM)
    for m, A in enumerate(LISTS):
        for place, lam in enumerate(LAM):
            values, intercept, gap = ridge_coef(sets, path_of_lists([A]), lam)
            assert gap.max() <= 1e-12
            gamma = covariate_coef(sets, path_of_lists([A]), lam)
            for k, b in enumerate(np.split(values, 2)):
                expected = intercept[k, 0] + sets.training_sets.X[:, A] @ b
                if covariates:
                    expected += (C[k] - sets.covariate_adjustment.mean[k]) @ gamma[k, 0]
                far = np.sqrt(1e-12) * max(1.0, np.abs(expected).max())  # as a gap leaves it
                np.testing.assert_allclose(joint_scores[k, m, place], expected, rtol=0, atol=far)


def test_scores_of_a_list_ignore_the_other_lists_up_to_rounding():
    """Each fit starts at the list before; Newton's method ends at the same minimum."""
    joint_scores = ridge_scores(problem(4)[1], path_of_lists(LISTS), LAM)
    backwards = ridge_scores(problem(4)[1], path_of_lists(LISTS[::-1]), LAM)[:, ::-1]
    np.testing.assert_allclose(joint_scores, backwards, rtol=0, atol=1e-9)
    for m, A in enumerate(LISTS):
        alone = ridge_scores(problem(4)[1], path_of_lists([A]), LAM)[:, 0]
        np.testing.assert_allclose(alone, joint_scores[:, m], rtol=0, atol=1e-9)


@pytest.mark.parametrize("covariates", [False, True])
def test_scores_of_equal_lists_are_equal(covariates):
    _, sets = problem(5, covariates)
    scores = ridge_scores(sets, path_of_lists([[1, 2], [3], [1, 2], [1, 3], [3]]), LAM)
    np.testing.assert_array_equal(scores[:, 2], scores[:, 0])
    np.testing.assert_array_equal(scores[:, 4], scores[:, 1])
    assert (scores[:, 3] != scores[:, 0]).any()
