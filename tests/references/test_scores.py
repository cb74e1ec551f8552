"""Metrics and intervals against scikit-learn, SciPy, published and hand values."""

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn import metrics

from genesig.selection.assess.intervals import (
    CONFIDENCE_LEVEL,
    NORMAL_QUANTILE,
    auc,
    balanced_error,
    corrected_t,
    delong,
    hull,
    mean_of_shares,
    mean_t,
    misclassification,
    relative_squared_error,
    squared_error,
    t_quantile,
    wilson,
)


def sample(seed, n=40):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:4] = -1, -1, 1, 1
    return y, np.round(y * 0.4 + rng.standard_normal(n), 1) + 0.05  # ties, and never 0


def test_quantiles_equal_scipy():
    assert pytest.approx(stats.norm.ppf((1 + CONFIDENCE_LEVEL) / 2), rel=1e-15) == NORMAL_QUANTILE
    assert t_quantile(7) == stats.t.ppf((1 + CONFIDENCE_LEVEL) / 2, 7)


@pytest.mark.parametrize("seed", range(10))
def test_classification_metrics_equal_scikit_learn(seed):
    y, f = sample(seed)
    predicted = np.sign(f)
    assert misclassification(y, f) == pytest.approx(metrics.zero_one_loss(y, predicted))
    assert balanced_error(y, f) == pytest.approx(1 - metrics.balanced_accuracy_score(y, predicted))
    assert squared_error(y, f) == pytest.approx(metrics.mean_squared_error(y, f))
    assert auc(y, f) == pytest.approx(metrics.roc_auc_score(y, f))


@pytest.mark.parametrize("seed", range(5))
def test_relative_squared_error_equals_one_minus_r2_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y, f = rng.standard_normal((2, 30))
    assert relative_squared_error(y, f) == pytest.approx(1 - metrics.r2_score(y, f))


def test_hand_values():
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    f = np.array([2.0, -1.0, -1.0, 0.0, -3.0, -0.5])
    assert misclassification(y, f) == pytest.approx(2 / 6)
    assert balanced_error(y, f) == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert auc(y, f) == pytest.approx((4 + 1 + 0.5) / 8)  # 2 beats all; -1 beats -3, ties with -1


def test_undefined_metric_is_nan():
    ones = np.ones(3)
    for metric in (balanced_error, auc, relative_squared_error):
        assert np.isnan(metric(ones, np.array([1.0, -1.0, 2.0])))


@pytest.mark.parametrize(("errors", "n"), [(0, 34), (1, 8), (5, 10), (7, 7)])
def test_wilson_equals_scipy(errors, n):
    expected = stats.binomtest(errors, n).proportion_ci(method="wilson")
    assert wilson(errors / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_of_a_class_without_samples_is_unknown():
    assert np.isnan(wilson(0.0, 0)).all()


def test_the_interval_of_two_shares_is_newcombe_1998():
    """Newcombe 1998, Statistics in Medicine 17:873, example (a), method 10: 56/70 - 48/80."""
    low, high = mean_of_shares([56 / 70, 1 - 48 / 80], [70, 80])
    assert (2 * low - 1, 2 * high - 1) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_interval_of_a_single_share_is_wilson():
    assert mean_of_shares([0.2], [25]) == pytest.approx(wilson(0.2, 25))


@pytest.mark.parametrize("n", [1, 7, 10, 25, 57])
def test_limits_without_an_error_or_a_hit_are_exactly_none_and_all(n: int) -> None:
    assert (wilson(0.0, n)[0], wilson(1.0, n)[1]) == (0.0, 1.0)
    assert mean_of_shares([0.0, 0.0], [1, n])[0] == 0.0
    assert mean_of_shares([1.0, 1.0], [1, n])[1] == 1.0


def test_corrected_t_is_the_formula_of_nadeau_and_bengio():
    values = np.array([0.1, 0.3, 0.2, 0.4, 0.0])
    spread = np.sqrt((1 / 5 + 1 / 4) * np.var(values, ddof=1)) * stats.t.ppf(0.975, 4)
    assert corrected_t(values, 0.2, 1 / 4) == pytest.approx((0.2 - spread, 0.2 + spread))
    assert np.isnan(corrected_t(values[:1], 0.1, 1 / 4)).all()


def test_the_mean_loss_has_the_t_interval_of_scipy():
    values = np.random.default_rng(0).random(20)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean_t(values) == pytest.approx((expected.low, expected.high))


def test_hull_ignores_undefined_intervals():
    assert hull((0.1, 0.2), (np.nan, np.nan)) == (0.1, 0.2)
    assert hull((0.1, 0.2), (0.15, 0.4)) == (0.1, 0.4)
    assert np.isnan(hull((np.nan, np.nan))).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_of_the_area_holds_delongs_by_the_definition(seed):
    y, f = sample(seed)
    wins = (f[y > 0][:, None] > f[y < 0]) + 0.5 * (f[y > 0][:, None] == f[y < 0])
    m, n = wins.shape
    variance = np.var(wins.mean(axis=1), ddof=1) / m + np.var(wins.mean(axis=0), ddof=1) / n
    area, low, high = delong(y, f)
    assert area == pytest.approx(metrics.roc_auc_score(y, f))
    many = area * (1 - area) / variance  # samples of a share with this variance
    wilson_bounds = wilson_by_roots(area, many)
    score = score_interval(area, m, n)
    assert low == pytest.approx(min(wilson_bounds[0], score[0]), abs=2e-4)
    assert high == pytest.approx(max(wilson_bounds[1], score[1]), abs=2e-4)


def wilson_by_roots(share, n):
    """The roots of (share - θ)² = z² θ (1 - θ)/n."""
    z2 = stats.norm.ppf(0.975) ** 2
    low, high = np.sort(np.roots([1 + z2 / n, -2 * share - z2 / n, share**2]))
    return low, high


def test_a_pair_in_the_wrong_order_does_not_take_all_certainty():
    """AUC .996 of 11 against 27 samples, between 1, whose limit is .87, and .97."""
    y = np.repeat([1.0, -1.0], [11, 27])
    f = np.arange(38.0)[::-1]
    f[[10, 11]] = f[[11, 10]]
    area, low, _ = delong(y, f)
    assert area == pytest.approx(1 - 1 / 297)
    assert 0.8 < low < 0.9


def score_interval(area, m, n):
    """The roots of (area - θ)² = z² V(θ), with the variance of Hanley and McNeil at θ."""
    z2 = stats.norm.ppf(0.975) ** 2
    mean_rank_offset = (m + n) / 2 - 1

    def excess(t):
        inflation = 1 + mean_rank_offset * (1 - t) / (2 - t) + mean_rank_offset * t / (1 + t)
        return (area - t) ** 2 - z2 * t * (1 - t) * inflation / (m * n)

    low = optimize.brentq(excess, 1e-12, area) if area > 1e-9 else 0.0
    high = optimize.brentq(excess, area, 1 - 1e-12) if area < 1 - 1e-9 else 1.0
    return low, high


def test_one_misordered_pair_makes_no_area_more_certain():
    """Ten against ten: DeLong's variance alone gives 0.96 to 1 for 0.99, 0.80 to 1 for 1."""
    y = np.repeat([1.0, -1.0], 10)
    f = np.arange(20.0)[::-1]
    perfect = delong(y, f)
    f[[9, 10]] = f[[10, 9]]
    area, low, _ = delong(y, f)
    assert area == pytest.approx(0.99)
    assert low < perfect[1]


@pytest.mark.parametrize("area", [0.8, 0.95])
def test_the_interval_of_the_area_covers(area):
    rng = np.random.default_rng(5)
    hits = 0
    y = np.repeat([1.0, -1.0], 15)
    for _ in range(400):
        f = rng.normal(size=30) + np.sqrt(2) * stats.norm.ppf(area) * (y > 0)
        _, low, high = delong(y, f)
        hits += low <= area <= high
    assert hits >= 0.95 * 400


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_perfect_area_in_few_samples_is_not_certain(side):
    """|1 - θ| = z √V at the limit, with the variance of Hanley and McNeil at θ."""
    y = np.array([1.0] * 6 + [-1.0] * 9)
    area, low, high = delong(y, side * y)
    assert area == (1 + side) / 2
    theta = low if side > 0 else high
    n = (6 + 9) / 2 - 1
    inflation = 1 + n * (1 - theta) / (2 - theta) + n * theta / (1 + theta)
    limit = stats.norm.ppf(0.975) * np.sqrt(theta * (1 - theta) * inflation / 54)
    assert abs(area - theta) == pytest.approx(limit, abs=3e-4)
    assert 0 < abs(area - theta) < 0.5
    assert (high if side > 0 else low) == area


def test_delong_needs_two_samples_of_each_class():
    assert np.isnan(delong(np.array([1.0, -1.0, -1.0]), np.arange(3.0))).all()
