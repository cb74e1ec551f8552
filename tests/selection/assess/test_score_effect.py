"""The effect of the score over pairs equals other fits, and is NaN if undefined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression, LogisticRegression

from genesig.response.kinds import survival_response
from genesig.selection.assess.kinds import HeldOutScores
from genesig.selection.assess.score_effect import pairs_within_blocks, score_effect
from genesig.selection.assess.survival import calibration_slope_of_cox


def held(y, f, split, group=None):
    row = np.arange(len(y))
    return HeldOutScores(y, row, split, 0 * row, 0 * row, f[:, None], 0.25, group)


def scored(n=60, tests=4, signal=1.0, seed=0):
    rng = np.random.default_rng(seed)
    split = np.arange(n) % tests
    f = rng.standard_normal(n) + split  # each model has a level of its own
    C = rng.standard_normal((n, 2)) + 0.5 * f[:, None]
    linear = signal * (f - split) + 0.5 * C[:, 0]
    return rng, split, f, C, linear


def unit(f, split):
    """Return the standard deviation inside test sets."""
    scores_of_test_sets = [f[split == s] for s in np.unique(split)]
    return np.sqrt(
        sum(((x - x.mean()) ** 2).sum() for x in scores_of_test_sets)
        / (len(f) - len(scores_of_test_sets))
    )


def test_effect_of_numbers_equals_least_squares_by_test_set():
    rng, split, f, C, linear = scored()
    y = linear + rng.standard_normal(len(f)) + 3 * split
    dummies = (split[:, None] == np.unique(split)).astype(float)
    for covariates in (C, C[:, :0]):
        reference = LinearRegression(fit_intercept=False).fit(
            np.column_stack([f, covariates, dummies]), y
        )
        estimate = score_effect(held(y, f, split), y, f, covariates)
        assert estimate.value == pytest.approx(reference.coef_[0] * unit(f, split), rel=1e-9)


def test_effect_of_classes_maximises_firth_likelihood_of_pairs():
    rng, split, f, C, linear = scored()
    y = linear + rng.logistic(size=len(f)) > 0.3
    pairs = pairs_within_blocks(y, split)
    D = np.column_stack([f, C])[pairs.first_row] - np.column_stack([f, C])[pairs.second_row]

    def loss(b):
        P = 1 / (1 + np.exp(-D @ b))
        A = (D * (pairs.weight * P * (1 - P))[:, None]).T @ D
        return -pairs.weight @ np.log(P) - np.linalg.slogdet(A)[1] / 2

    reference = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x
    estimate = score_effect(held(y, f, split), y, f, C)
    assert estimate.value == pytest.approx(reference[0] * unit(f, split), rel=1e-5)


def test_effect_of_many_samples_equals_logistic_regression_of_pairs():
    rng, split, f, _, linear = scored(n=800, tests=4)
    y = linear + rng.logistic(size=len(f)) > 0.3
    pairs = pairs_within_blocks(y, split)
    d = (f[pairs.first_row] - f[pairs.second_row])[:, None]
    both_signs = np.vstack([d, -d])  # scikit-learn wants both classes
    side = np.repeat([1, 0], len(d))
    weight = np.tile(pairs.weight, 2)
    reference = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(
        both_signs, side, weight
    )
    estimate = score_effect(held(y, f, split), y, f, np.zeros((len(f), 0)))
    assert estimate.value == pytest.approx(reference.coef_[0, 0] * unit(f, split), rel=0.01)


def test_effect_of_times_is_close_to_the_cox_model():
    rng, _, f, _, _ = scored(n=900, tests=1)
    y = survival_response(rng.exponential(np.exp(-0.8 * f)), rng.random(len(f)) < 0.7)
    reference, (low, high) = calibration_slope_of_cox(y["time"], y["event"], f)
    estimate = score_effect(held(y, f, np.zeros(len(f), int)), y, f, np.zeros((len(f), 0)))
    assert estimate.value == pytest.approx(reference * f.std(ddof=1), rel=0.05)
    assert estimate.high - estimate.low == pytest.approx((high - low) * f.std(ddof=1), rel=0.25)


def test_separated_classes_have_a_finite_effect_and_a_wide_interval():
    f = np.concatenate([np.linspace(-2, -1, 20), np.linspace(1, 2, 20)])
    split = np.arange(40) % 4
    y = f > 0
    estimate = score_effect(held(y, f, split), y, f, np.zeros((40, 0)))
    assert 1 < estimate.value < 20
    assert estimate.low < 0.6 * estimate.value


@pytest.mark.parametrize("change", ["constant", "missing", "one class", "same as a covariate"])
def test_undefined_effect_is_nan(change):
    rng, split, f, C, linear = scored()
    y = linear + rng.logistic(size=len(f)) > 0
    if change == "constant":
        f = split.astype(float)
    elif change == "missing":
        f[3] = np.nan
    elif change == "one class":
        y[:] = True
    else:
        C[:, 1] = 2 * f
    assert np.isnan(score_effect(held(y, f, split), y, f, C)).all()


def test_repeats_and_grouped_copies_leave_the_effect_interval():
    rng, split, f, _, linear = scored()
    y = linear + rng.logistic(size=len(f)) > 0
    none = np.zeros((len(f), 0))
    once = score_effect(held(y, f, split), y, f, none)
    twice = HeldOutScores(
        np.tile(y, 2),
        np.tile(np.arange(60), 2),
        np.concatenate([split, split + 4]),
        np.repeat([0, 1], 60),
        np.zeros(120, int),
        np.tile(f, 2)[:, None],
        0.25,
    )
    estimate_of_repeats = score_effect(twice, twice.y, twice.scores[:, 0], np.tile(none, (2, 1)))
    assert estimate_of_repeats.value == pytest.approx(once.value, rel=0.1)
    assert estimate_of_repeats.high - estimate_of_repeats.low > 0.85 * (once.high - once.low)
    y2, f2, split2 = (np.repeat(values, 2) for values in (y, f, split))
    twins = held(y2, f2, split2, np.repeat(np.arange(60), 2))
    as_samples = score_effect(held(y2, f2, split2), y2, f2, np.tile(none, (2, 1)))
    as_groups = score_effect(twins, y2, f2, np.tile(none, (2, 1)))
    assert as_groups.high - as_groups.low > 1.1 * (as_samples.high - as_samples.low)


def test_where_each_test_set_has_one_sample_pairs_are_of_a_repeat():
    rng, _, f, _, linear = scored()
    y = linear + rng.logistic(size=len(f)) > 0
    none = np.zeros((len(f), 0))
    alone = score_effect(held(y, f, np.arange(60)), y, f, none)
    estimate_of_one_set = score_effect(held(y, f, np.zeros(60, int)), y, f, none)
    assert alone.value == pytest.approx(estimate_of_one_set.value)
    assert alone.high - alone.low >= estimate_of_one_set.high - estimate_of_one_set.low
