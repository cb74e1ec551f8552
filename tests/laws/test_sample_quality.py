"""Sample quality: distances, deviations, a planted outlier, and the rate without outliers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genesig.data.quality.samples import (
    BOX_QUANTILES,
    OUTLIER_MADS,
    as_logarithms,
    column_medians,
    deviations,
    nearest_distances,
    relative_log_expression,
    row_quantiles,
    scaling_factors,
    standardised_products,
)

RNG = np.random.default_rng


def with_gaps(rng, n, d):
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.3] = np.nan
    X[:, 0] = np.nan
    X[:, 1] = rng.normal(size=n)
    return X


@pytest.mark.filterwarnings("ignore:All-NaN slice")  # of the referees
@given(seed=st.integers(0, 1000), n=st.integers(1, 9), d=st.integers(2, 12))
def test_medians_and_quantiles_equal_numpy_without_missing_values(seed, n, d):
    X = with_gaps(RNG(seed), n, d)
    np.testing.assert_allclose(column_medians(X)[1:], np.nanmedian(X[:, 1:], axis=0))
    assert np.isnan(column_medians(X)[0])
    np.testing.assert_allclose(row_quantiles(X), np.nanquantile(X, BOX_QUANTILES, axis=1).T)


def test_a_sample_without_any_value_has_no_quantile():
    X = np.array([[np.nan, np.nan], [1.0, 3.0]])
    quantiles = row_quantiles(X)
    assert np.isnan(quantiles[0]).all()
    assert quantiles[1, 2] == 2


def test_medians_do_not_depend_on_blocks():
    X = RNG(0).normal(size=(5, 5000))
    np.testing.assert_array_equal(column_medians(X), np.median(X, axis=0))


@given(seed=st.integers(0, 1000), n=st.integers(1, 8), d=st.integers(1, 30))
def test_rle_of_identical_samples_is_zero(seed, n, d):
    X = np.tile(RNG(seed).normal(size=d), (n, 1))
    rle, _ = relative_log_expression(X)
    np.testing.assert_array_equal(rle, np.zeros((n, 5)))


def test_rle_shows_a_shift_and_forgets_the_genes():
    rng = RNG(1)
    X = rng.normal(size=(9, 400))
    shifted = X + rng.normal(0, 100, 400)
    np.testing.assert_allclose(
        relative_log_expression(X)[0], relative_log_expression(shifted)[0], atol=1e-10
    )
    X[4] += 50  # more than any value differs from its median, so no median moves far
    rle, _ = relative_log_expression(X)
    assert np.argmax(rle[:, 2]) == 4
    assert rle[4, 2] == pytest.approx(50, abs=1)


def test_genes_missing_in_half_of_the_samples_are_not_compared():
    X = RNG(2).normal(8, 1, (6, 10))
    X[:4, :3] = 0  # the smallest value of all
    rle, compared = relative_log_expression(X)
    assert compared == 7
    np.testing.assert_allclose(rle, relative_log_expression(X[:, 3:])[0])
    zeros = np.zeros((4, 5))
    assert relative_log_expression(zeros)[1] == 5


def test_logarithm_of_values_below_zero_is_the_floor():
    np.testing.assert_allclose(as_logarithms(np.array([[-5.0, 0.0, 1.0, 7.0]])), [[0, 0, 1, 3]])
    assert np.isnan(as_logarithms(np.array([[np.nan]]))).all()


@given(seed=st.integers(0, 1000), factor=st.floats(0.1, 10))
def test_a_sample_twice_as_bright_has_half_the_factor(seed, factor):
    X = RNG(seed).lognormal(5, 1, (7, 200))
    brighter = X.copy()
    brighter[3] *= factor
    before = scaling_factors(X)
    after = scaling_factors(brighter)
    # Relative to another sample, as the median of all may move.
    assert after[3] / after[0] == pytest.approx(before[3] / before[0] / factor)
    levelled = brighter * after[:, None]
    np.testing.assert_allclose(scaling_factors(levelled), 1)


def test_a_sample_without_light_has_no_factor():
    X = RNG(0).lognormal(5, 1, (5, 50))
    X[2] *= -1
    assert np.isnan(scaling_factors(X)).tolist() == [False, False, True, False, False]


def test_distances_are_root_mean_squares_to_the_three_nearest():
    X = RNG(3).normal(size=(6, 40))
    distances = nearest_distances(X @ X.T, 40)
    for row in range(6):
        expected_distances = np.sort(np.sqrt(np.mean((np.delete(X, row, 0) - X[row]) ** 2, axis=1)))
        assert distances[row] == pytest.approx(expected_distances[:3].mean())
    assert nearest_distances(np.ones((1, 1)), 3).tolist() == [0]


def test_a_small_class_is_not_far_from_itself():
    """Four samples of another kind among thirty have three neighbours each."""
    rng = RNG(5)
    X = rng.normal(size=(34, 500))
    X[:4] += rng.normal(0, 2, 500)
    alone = nearest_distances(standardised_products(X, unit_variance=False), 500)
    far = deviations(np.log2(alone), np.log2(1.5)) > OUTLIER_MADS
    assert not far.any()


@given(seed=st.integers(0, 300), scale=st.floats(0.01, 100), shift=st.floats(-50, 50))
def test_deviations_do_not_depend_on_units(seed, scale, shift):
    x = RNG(seed).normal(size=25)
    np.testing.assert_allclose(
        deviations(x * scale + shift, 0.0), deviations(x, 0.0), rtol=1e-6, atol=1e-6
    )


def test_no_difference_counts_where_the_others_hardly_differ():
    x = np.zeros(20)
    x[3] = 0.09
    assert not (np.abs(deviations(x, 0.1)) > OUTLIER_MADS).any()
    x[3] = 0.11
    assert np.flatnonzero(np.abs(deviations(x, 0.1)) > OUTLIER_MADS).tolist() == [3]


def test_missing_values_have_no_deviation():
    deviation = deviations(np.array([1.0, np.nan, 2.0, 3.0]), 0.1)
    assert np.isnan(deviation).tolist() == [False, True, False, False]
    assert np.isnan(deviations(np.full(3, np.nan), 0.1)).all()
