"""The ridge refit equals NumPy's singular value decomposition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_formulas import minimum_norm_ridge, supports

from genesig.optim.refit import refit_coef, refit_scores
from genesig.optim.training import training_sets


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(3, 12),
    m=st.integers(1, 25),
    centre=st.booleans(),
    unit_variance=st.booleans(),
    duplicate=st.booleans(),
)
@pytest.mark.parametrize("lam", [0.0, 1e-14, 1e-6, 0.1, 1e6])
def test_scores_equal_svd(lam, seed, n, m, centre, unit_variance, duplicate):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 25)) + 3
    if duplicate:
        X[:, 1] = X[:, 0]
    y = rng.normal(size=(n, 1))
    rows = np.ones((n, 1), dtype=bool)
    rows[-1] = False
    sets = training_sets(X, y, rows, centre=centre, unit_variance=unit_variance)
    A = np.sort(rng.permutation(25)[:m])
    scores = refit_scores(sets, supports(A), [lam])[0, 0, 0]
    Z = sets.standardised(0)[:, A]
    b = minimum_norm_ridge(Z[:-1], sets.Y[:-1, 0], (n - 1) * lam)
    np.testing.assert_allclose(scores, sets.y_mean[0] + Z @ b, rtol=1e-6, atol=1e-6)
    values, intercept = refit_coef(sets, supports(A), lam)
    np.testing.assert_allclose(intercept[0, 0] + X[:, A] @ values, scores, rtol=1e-6, atol=1e-6)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(8))
def test_low_rank_features_have_the_scores_of_the_svd(seed):
    """Rests of a matrix of low rank shrink from reflection to reflection, below all numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)).round(1)[:, np.sort(rng.integers(0, 4, 60))]
    sets = training_sets(
        X,
        np.sign(rng.normal(size=(60, 1))),
        np.ones((60, 1), bool),
        centre=True,
        unit_variance=True,
    )
    for m in (60, 35):
        scores = refit_scores(sets, supports(range(m)), [1e-6, 0.1])[0, 0]
        for set_scores, lam in zip(scores, [1e-6, 0.1], strict=True):
            Z = sets.standardised(0)[:, :m]
            b = minimum_norm_ridge(Z, sets.Y[:, 0], 60 * lam)
            np.testing.assert_allclose(set_scores, sets.y_mean[0] + Z @ b, rtol=1e-6, atol=1e-6)


def test_scores_of_all_lambda_equal_scores_of_single_lambda():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 25))
    y = rng.normal(size=(10, 1))
    sets = training_sets(X, y, np.ones((10, 1), bool), centre=True, unit_variance=True)
    path = supports(range(5), range(25), [])
    lam = np.array([0.0, 1e-3, 1.0])
    scores = refit_scores(sets, path, lam)
    for e in range(3):
        alone = refit_scores(sets, path, lam[e : e + 1])
        np.testing.assert_allclose(scores[:, :, e], alone[:, :, 0], atol=1e-9)
    np.testing.assert_allclose(scores[0, 2], sets.y_mean[0])
