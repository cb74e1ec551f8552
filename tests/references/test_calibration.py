"""The calibration line against leaving samples out one by one, and the coverage it claims."""

import numpy as np
import pytest
from scipy.stats import t as student

from genesig.selection.assess.calibration import calibration_line, reliability
from genesig.selection.assess.intervals import MAX_BINS, MIN_BIN_SAMPLES, wilson

SHAPES = {
    "uniform": lambda rng, n: rng.uniform(-1, 1, n),
    "extreme": lambda rng, n: 2 * rng.beta(0.5, 0.5, n) - 1,
    "middling": lambda rng, n: np.clip(0.5 * rng.standard_normal(n), -1, 1),
}


def calibrated(rng, n, shape):
    """Draw scores and classes of which (1 + f)/2 are positive."""
    f = SHAPES[shape](rng, n)
    return np.where(rng.random(n) < (1 + f) / 2, 1.0, -1.0), f


@pytest.mark.parametrize("n", [6, 23, 80])
def test_calibration_variance_equals_leaving_samples_out(n):
    """HC3 is the sum of squares of the changes of the line when each sample is left out."""
    y, f = calibrated(np.random.default_rng(n), n, "uniform")
    line = calibration_line(y, f)
    all_samples_fit = np.polyfit(f, y, 1)
    changes = [np.polyfit(np.delete(f, i), np.delete(y, i), 1) - all_samples_fit for i in range(n)]
    half = student.ppf(0.975, n - 2) * np.sqrt(np.sum(np.square(changes), axis=0))
    np.testing.assert_allclose([line.slope, line.intercept], all_samples_fit, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        line.slope_interval, all_samples_fit[0] + half[0] * np.array([-1, 1])
    )
    np.testing.assert_allclose(
        line.intercept_interval, all_samples_fit[1] + half[1] * np.array([-1, 1])
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [20, 100])
def test_calibrated_scores_are_covered_as_claimed(n, shape):
    rng = np.random.default_rng(1)
    slope = []
    intercept = []
    for _ in range(400):
        line = calibration_line(*calibrated(rng, n, shape))
        slope.append(line.slope_interval[0] <= 1 <= line.slope_interval[1])
        intercept.append(line.intercept_interval[0] <= 0 <= line.intercept_interval[1])
    noise = 3 * np.sqrt(0.95 * 0.05 / 400)
    assert 0.90 - noise < np.mean(slope) < 0.95 + noise
    assert 0.95 - noise < np.mean(intercept) < 0.97 + noise


def test_scores_too_far_apart_have_a_small_slope_and_shifted_ones_an_intercept():
    y, f = calibrated(np.random.default_rng(2), 5000, "middling")
    assert calibration_line(y, 2 * f).slope == pytest.approx(0.5, abs=0.05)
    assert calibration_line(y, f + 0.4).intercept == pytest.approx(-0.4, abs=0.05)


@pytest.mark.parametrize(
    ("y", "f"),
    [([1, -1, 1], [0.1, 0.2, 0.3]), ([1] * 9, list(range(9))), ([1, -1] * 5, [0.3] * 10)],
    ids=["three samples", "one class", "equal scores"],
)
def test_undefined_calibration_is_nan(y, f):
    line = calibration_line(np.array(y, dtype=float), np.array(f, dtype=float))
    assert np.isnan([line.slope, line.intercept, *line.slope_interval]).all()


def test_one_extreme_score_gives_no_interval():
    f = np.array([0.0] * 9 + [5.0])
    line = calibration_line(np.array([1.0, -1.0] * 5), f)
    assert np.isfinite(line.slope)
    assert np.isnan(line.slope_interval).all()


@pytest.mark.parametrize("n", [3, 8, 20, 50, 200])
def test_groups_hold_all_samples_in_the_order_of_their_scores(n):
    y, f = calibrated(np.random.default_rng(n), n, "uniform")
    groups = list(reliability(y, f))
    assert 1 <= len(groups) <= MAX_BINS
    sizes = [group["samples"] for group in groups]
    assert sum(sizes) == n
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= min(n, MIN_BIN_SAMPLES)
    order = np.argsort(f)
    parts = np.split(order, np.cumsum(sizes)[:-1])
    for group, rows in zip(groups, parts, strict=True):
        share = np.mean(y[rows] > 0)
        assert group["share"] == pytest.approx(share)
        assert (group["low"], group["high"]) == pytest.approx(wilson(float(share), len(rows)))
        assert group["expected"] == pytest.approx(np.mean((1 + f[rows]) / 2))


def test_equal_scores_stay_together():
    y = np.resize([1.0, -1.0], 40)
    f = np.repeat([0.1, 0.2], 20)
    groups = list(reliability(y, f))
    assert [group["score"] for group in groups] == pytest.approx([0.1, 0.2])
