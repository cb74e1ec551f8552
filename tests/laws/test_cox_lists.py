"""Lists that are refitted together: each as it would be alone, whatever its length."""

import numpy as np
import pytest
from reference_formulas import tied

from genesig.optim.adjustment import adjustment
from genesig.optim.cox import path as module
from genesig.optim.cox.path import covariate_coef, ridge_coef, ridge_scores
from genesig.optim.cox.training import cox_sets
from genesig.optim.solution import Path

N, D = 40, 90
LAM = np.array([1e-3, 10.0, 0.1])


def problem(seed, covariates=False, ties="efron"):
    X, time, event = tied(seed, N, D)
    rng = np.random.default_rng(seed)
    rows = rng.random((N, 2)) < 0.85
    v = rng.uniform(0.5, 2, (N, 2))
    C, fixed = rng.normal(size=(2, N, 2)), None
    if covariates:
        fixed = adjustment(rows, covariates=C, weights=v * rows)
    keys = {"centre": True, "unit_variance": True, "ties": ties}
    return C, cox_sets(X, time, event, rows, sample_weights=v, fixed=fixed, **keys)


def of(lists):
    """Return a path of these lists, the same ones for two training sets."""
    coefs = [(np.asarray(A, dtype=int), np.ones(len(A))) for _ in range(2) for A in lists]
    shape = (2, len(lists))
    return Path.of(shape, coefs, np.zeros(shape), np.zeros(shape, int), 1.0)


LISTS = [[3], [], [5, 1, 70], list(range(30)), [7, 3], list(range(20, 75)), list(range(85))]


@pytest.mark.parametrize("covariates", [False, True])
@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_certified_fits_of_one_list(seed, ties, covariates):
    """Long ones before short ones, none at all, more genes than samples; lam in any order."""
    C, sets = problem(seed, covariates, ties)
    together = ridge_scores(sets, of(LISTS), LAM)
    for m, A in enumerate(LISTS):
        for place, lam in enumerate(LAM):
            values, intercept, gap = ridge_coef(sets, of([A]), lam)
            assert gap.max() <= 1e-12
            gamma = covariate_coef(sets, of([A]), lam)
            for k, b in enumerate(np.split(values, 2)):
                expected = intercept[k, 0] + sets.sets.X[:, A] @ b
                if covariates:
                    expected += (C[k] - sets.fixed.mean[k]) @ gamma[k, 0]
                far = np.sqrt(1e-12) * max(1.0, np.abs(expected).max())  # as a gap leaves it
                np.testing.assert_allclose(together[k, m, place], expected, rtol=0, atol=far)


def test_no_list_knows_those_beside_it():
    """Their room holds what the ones before have left there."""
    together = ridge_scores(problem(4)[1], of(LISTS), LAM)
    backwards = ridge_scores(problem(4)[1], of(LISTS[::-1]), LAM)[:, ::-1]
    np.testing.assert_array_equal(together, backwards)
    for m, A in enumerate(LISTS):
        np.testing.assert_array_equal(
            ridge_scores(problem(4)[1], of([A]), LAM)[:, 0], together[:, m]
        )


def test_a_list_is_fitted_once(monkeypatch):
    (_, sets), calls, old = problem(5), [], module.refitted
    monkeypatch.setattr(
        module, "refitted", lambda *of, **keys: calls.append(len(of[2])) or old(*of, **keys)
    )
    first = ridge_scores(sets, of([[1, 2], [3], [1, 2]]), LAM)
    second = ridge_scores(sets, of([[3], [1, 2], [4]]), LAM)
    np.testing.assert_array_equal(first[:, :2], second[:, 1::-1])
    assert calls == [2, 1, 2, 1, 1, 1]
