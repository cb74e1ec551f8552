"""Training sets with equal rows share one matrix norm."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from genesig.optim.adjustment import adjustment
from genesig.optim.training import training_sets

N_SAMPLES = 30
N_FEATURES = 50


def draw_data(same: int):
    rng = np.random.default_rng(4)
    rows = np.zeros((N_SAMPLES, 2 * same), dtype=bool)
    rows[:20, ::2] = rows[10:, 1::2] = True
    return (
        rng.standard_normal((N_SAMPLES, N_FEATURES)),
        rng.standard_normal((N_SAMPLES, 2 * same)),
        rows,
    )


def test_norm_of_equal_rows_is_computed_once_and_is_exact(monkeypatch):
    X, Y, rows = draw_data(40)
    orders = []
    eigenvectors = scipy.linalg.eigh

    def watched(gram, **options):
        orders.append(len(gram))
        return eigenvectors(gram, **options)

    monkeypatch.setattr(scipy.linalg, "eigh", watched)
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    assert orders == [20, 20]
    monkeypatch.undo()
    for k in (0, 1, 78, 79):
        Z, _ = sets.problem(k)
        np.testing.assert_allclose(sets.norm[k], np.linalg.norm(Z, 2) ** 2 / 20, rtol=1e-11)


@pytest.mark.parametrize("unit_variance", [False, True])
@pytest.mark.parametrize("centre", [False, True])
def test_norm_of_features_of_any_size_is_exact(centre, unit_variance):
    X, Y, rows = draw_data(2)
    size = np.geomspace(1e-3, 1e3, N_FEATURES)
    X = size[::-1] * X + size
    X[:, 0] = 1e25 * X[:, 1]
    sets = training_sets(X, Y, rows, centre=centre, unit_variance=unit_variance)
    for k in range(4):
        Z, _ = sets.problem(k)
        np.testing.assert_allclose(sets.norm[k], np.linalg.norm(Z, 2) ** 2 / 20, rtol=1e-11)


@pytest.mark.parametrize("unit_variance", [False, True])
@pytest.mark.parametrize("n_samples", [2, 13, 32, 33, 40])
def test_norm_of_equidistant_samples_is_exact(n_samples, unit_variance):
    """All their eigenvalues but one are equal, of which LAPACK may return no vector."""
    y = np.arange(n_samples)[:, None] % 2.0
    rows = np.ones((n_samples, 1), dtype=bool)
    sets = training_sets(np.eye(n_samples), y, rows, centre=True, unit_variance=unit_variance)
    Z, _ = sets.problem(0)
    np.testing.assert_allclose(sets.norm[0], np.linalg.norm(Z, 2) ** 2 / n_samples, rtol=1e-11)


def test_norm_with_weights_and_covariates_is_exact():
    X, Y, rows = draw_data(1)
    rng = np.random.default_rng(5)
    fixed = adjustment(
        rows, rng.standard_normal((2, N_SAMPLES, 2)), rng.uniform(0.2, 2, (N_SAMPLES, 2))
    )
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True, adjustment=fixed)
    for k in range(2):
        Z, _ = sets.problem(k)
        np.testing.assert_allclose(sets.norm[k], np.linalg.norm(Z, 2) ** 2 / 20, rtol=1e-11)


def test_other_weights_of_the_same_rows_have_a_norm_of_their_own():
    X, Y, rows = draw_data(1)
    rows[:, 1] = rows[:, 0]
    weights = np.column_stack([np.ones(N_SAMPLES), np.linspace(0.2, 1.8, N_SAMPLES)])
    weighted_adjustment = adjustment(rows, np.zeros((2, N_SAMPLES, 0)), weights)
    sets = training_sets(
        X, Y, rows, centre=True, unit_variance=True, adjustment=weighted_adjustment
    )
    assert abs(sets.norm[0] - sets.norm[1]) > 1e-3
