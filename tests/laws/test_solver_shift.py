"""Values of held-out samples change no fit beyond rounding."""

import numpy as np
import pytest

from genesig.optim.refit import refit_coef
from genesig.optim.solvers import path
from genesig.optim.training import training_sets

N_SAMPLES = 40
N_FEATURES = 60


def five_folds():
    return np.array([np.arange(N_SAMPLES) % 5 != fold for fold in range(5)]).T


def halves():
    is_first_half = np.arange(N_SAMPLES) % 8 < 4
    return np.array([is_first_half, ~is_first_half, is_first_half]).T


def odd_halves():
    is_even_half = np.arange(N_SAMPLES) % 2 == 0
    is_even_half[0] = False
    return np.array([is_even_half, ~is_even_half]).T


def small_part():
    return np.array([np.arange(N_SAMPLES) < 14]).T


DESIGNS = {f.__name__: f() for f in (five_folds, halves, odd_halves, small_part)}
OTHERWISE = {
    "1e15": lambda rng, X: np.full(X.shape, 1e15),
    "-1e15": lambda rng, X: np.full(X.shape, -1e15),
    "both signs": lambda rng, X: np.where(rng.random(X.shape) < 0.5, 1e15, -1e15),
    "0": lambda rng, X: np.zeros(X.shape),
    "other patients": lambda rng, X: X + rng.standard_normal(X.shape),
}


def study(mean=8.0):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(N_SAMPLES) // 2 % 2, 1.0, -1.0)
    X = mean + rng.standard_normal((N_SAMPLES, N_FEATURES))
    X[:, :5] += y[:, None]
    return X, y


def trained(X, y, rows):
    """Return supports and weights of the first training set, fitted beside the others."""
    Y = np.tile(y[:, None], rows.shape[1])
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    fits = path(
        sets,
        np.array([0.5, 0.2]) * sets.tau_max[:, None],
        1e-3 * sets.norm[:, None],
        solver="landweber-newton",
        tolerance=1e-9,
    )
    values, intercept = refit_coef(sets, fits, 0.01 * sets.norm)
    dense = np.zeros((2, N_FEATURES))
    for at in range(2):
        part = slice(fits.indptr[at], fits.indptr[at + 1])
        dense[at, fits.indices[part]] = values[part]
    return dense, intercept[0], sets.moments(slice(0, 1))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mean", [8.0, 0.0, -300.0])
@pytest.mark.parametrize("otherwise", OTHERWISE)
@pytest.mark.parametrize("design", DESIGNS)
def test_weights_ignore_held_out_rows(design, otherwise, mean):
    rows = DESIGNS[design]
    (X, y) = study(mean)
    weights, intercept, moments = trained(X, y, rows)
    assert (np.count_nonzero(weights, axis=1) > 2).all()
    out = ~rows[:, 0]
    X[out] = OTHERWISE[otherwise](np.random.default_rng(1), X[out])
    sets_again, altered_sets, altered_moments = trained(X, y, rows)
    np.testing.assert_array_equal(sets_again != 0, weights != 0)
    np.testing.assert_allclose(sets_again, weights, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(altered_sets, intercept, rtol=1e-9, atol=1e-11)
    for moment, two in zip(moments, altered_moments, strict=True):
        np.testing.assert_allclose(moment, two, rtol=1e-11)


@pytest.mark.parametrize("values", [np.arange(-9.0, 9.0), np.full(18, 7.5), np.arange(18.0) ** 4])
def test_shift_lies_within_its_tightest_bounds(values):
    rows = np.ones((18, 1), dtype=bool)
    sets = training_sets(values[:, None], values[:, None], rows, centre=True, unit_variance=False)
    low, high = np.quantile(values, [0.25, 0.75], method="lower")
    assert min(0, low) <= sets.matrix.shift[0] <= max(0, high)
    assert abs(values.mean() - sets.matrix.shift[0]) <= np.sqrt(3) * values.std() + 1e-12
