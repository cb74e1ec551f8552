"""Survival measures equal published tables, their definitions and scikit-survival."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_formulas import tied

from genesig.optim.cox.path import ridge
from genesig.optim.cox.risk_sets import RiskSets
from genesig.selection.assess.survival import (
    auc_at,
    brier_losses,
    calibration_slope_of_cox,
    censoring,
    explained_variation,
    harrell,
    integrated_brier,
    kaplan_meier,
    log_rank,
    risk_at,
    risk_groups,
    uno,
)

# Remission of leukemia in weeks, 6-mercaptopurine and placebo (Freireich et al. 1963).
DRUG = [6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]
WEEKS = np.array(DRUG + PLACEBO, dtype=float)
RELAPSE = np.r_[np.arange(21) < 9, np.ones(21, dtype=bool)]
GROUP = np.repeat(["6-MP", "placebo"], 21)

seeds = st.integers(0, 10_000)
samples = st.integers(4, 40)


def test_kaplan_meier_of_the_published_table():
    """Kleinbaum and Klein 2012, chapter 2; limits as Stata's sts list has them."""
    curve = kaplan_meier(WEEKS[:21], RELAPSE[:21])
    has_events = curve.events > 0
    assert curve.times[has_events].tolist() == [6, 7, 10, 13, 16, 22, 23]
    assert curve.at_risk[has_events].tolist() == [21, 17, 15, 12, 11, 7, 6]
    table = [0.8571, 0.8067, 0.7529, 0.6902, 0.6275, 0.5378, 0.4482]
    error = [0.0764, 0.0869, 0.0963, 0.1068, 0.1141, 0.1282, 0.1346]
    low = [0.6197, 0.5631, 0.5032, 0.4316, 0.3675, 0.2678, 0.1881]
    high = [0.9516, 0.9228, 0.8894, 0.8491, 0.8049, 0.7468, 0.6801]
    np.testing.assert_allclose(curve.value[has_events], table, atol=6e-5)
    np.testing.assert_allclose(np.sqrt(curve.variance[has_events]), error, atol=6e-5)
    for limit, expected in zip(curve.interval(), (low, high), strict=True):
        np.testing.assert_allclose(limit[has_events], expected, atol=6e-5)
    assert curve.median() == 23
    assert kaplan_meier(WEEKS[21:], RELAPSE[21:]).median() == 8
    np.testing.assert_array_equal(curve.at([0, 5.9, 6, 36]), [1, 1, curve.value[0], np.nan])


def test_log_rank_of_the_published_table():
    """Kleinbaum and Klein 2012, chapter 2."""
    test = log_rank(WEEKS, RELAPSE, GROUP)
    assert test.observed.tolist() == [9, 21]
    np.testing.assert_allclose(test.expected, [19.25, 10.75], atol=5e-3)
    assert test.chi_squared == pytest.approx(16.79, abs=5e-3)
    assert test.p == pytest.approx(4.17e-5, rel=2e-3)


@pytest.mark.parametrize(
    ("ties", "expected", "likelihood"),
    [("breslow", 1.509191, -86.379622), ("efron", 1.572125, -85.008422)],
)
def test_cox_of_the_published_table(ties, expected, likelihood):
    """Kleinbaum and Klein 2012, chapter 3 (Breslow); R's coxph (Efron)."""
    b, (low, high) = calibration_slope_of_cox(
        WEEKS, RELAPSE, (GROUP == "placebo").astype(float), ties
    )
    assert b == pytest.approx(expected, abs=1e-6)
    assert (high - low) / 2 / 1.959964 == pytest.approx(
        {"breslow": 0.4096, "efron": 0.4124}[ties], abs=1e-4
    )
    risk = RiskSets.from_times(WEEKS, RELAPSE, ties)
    value = risk.value(b * (GROUP == "placebo")[risk.order])
    assert -21 * value == pytest.approx(likelihood, abs=1e-5)


def test_the_log_rank_test_is_the_score_test_of_cox():
    """Breslow's information is larger only where there are ties."""
    rng = np.random.default_rng(0)
    time = rng.exponential(size=50)
    event = rng.random(50) < 0.7
    group = np.arange(50) % 2
    risk = RiskSets.from_times(time, event)
    Z = group[risk.order][:, None].astype(float)
    p = risk.shares(np.zeros(50))
    score = (25 * Z.T @ risk.gradient(p))[0] ** 2 / (25 * risk.hessian(p, Z))[0, 0]
    assert log_rank(time, event, group).chi_squared == pytest.approx(score, rel=1e-12)


def test_log_rank_of_three_groups_matches_and_undefined_is_nan():
    rng = np.random.default_rng(1)
    time = rng.exponential(size=60)
    event = rng.random(60) < 0.8
    ascending = log_rank(time, event, np.arange(60) % 3)
    descending = log_rank(time, event, (np.arange(60) % 3)[:] * -1.0)
    assert ascending.chi_squared == pytest.approx(descending.chi_squared)
    assert ascending.observed.sum() == pytest.approx(ascending.expected.sum())
    assert np.isnan(log_rank(time, event, np.zeros(60)).p)
    assert np.isnan(log_rank(time, ~event & False, np.arange(60) % 3).p)


def pairs_by_hand(time, event, f, weight):
    """Sum over all pairs of an event and a later sample; weight(i, j)."""
    right = total = 0.0
    for i in np.flatnonzero(event):
        for j in range(len(time)):
            later = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if later and weight(i, j):
                total += weight(i, j)
                right += weight(i, j) * (1.0 if f[i] > f[j] else 0.5 if f[i] == f[j] else 0.0)
    return right / total if total else np.nan


def lost_by_hand(time, event, t):
    """Return G(t), events before censoring at equal times."""
    total = 1.0
    for s in np.unique(time[time <= t]):
        n = np.sum(time >= s) - np.sum(event & (time == s))
        total *= 1 - np.sum(~event & (time == s)) / n if n else 1.0
    return total


@given(seed=seeds, n=samples)
def test_concordances_by_their_definition(seed, n):
    X, time, event = tied(seed, n, 1)
    f = np.round(X[:, 0], 1)

    def G(i):
        return lost_by_hand(time, event, time[i])

    lost = censoring(time, event)
    horizon = float(np.quantile(time, 0.7))
    expected = pairs_by_hand(time, event, f, lambda i, j: 1.0)
    assert harrell(time, event, f).value == pytest.approx(expected, rel=1e-12, nan_ok=True)
    expected = pairs_by_hand(time, event, f, lambda i, j: G(i) ** -2 if time[i] < horizon else 0.0)
    estimate = uno(time, event, f, lost, horizon).value
    assert estimate == pytest.approx(expected, rel=1e-12, nan_ok=True)
    expected = pairs_by_hand(
        time, event, f, lambda i, j: 1 / G(i) if time[i] <= horizon < time[j] else 0.0
    )
    estimate = auc_at(time, event, f, lost, horizon).value
    assert estimate == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_without_censoring_and_at_one_horizon_auc_is_that_of_two_classes():
    from sklearn.metrics import roc_auc_score

    X, time, _ = tied(5, 80, 1)
    event = np.ones(80, dtype=bool)
    estimate = auc_at(time, event, X[:, 0], censoring(time, event), 2.0)
    assert estimate.value == pytest.approx(roc_auc_score(time <= 2.0, X[:, 0]), rel=1e-12)


def test_the_influence_is_the_derivative_by_a_samples_weight():
    X, time, event = tied(6, 25, 1)
    estimate = harrell(time, event, X[:, 0])
    for i in (0, 7):
        weight = np.where(np.arange(25) == i, 1 + 1e-6, 1.0)
        moved_pairs = pairs_by_hand(time, event, X[:, 0], lambda a, b, v=weight: v[a] * v[b])
        assert (moved_pairs - estimate.value) / 1e-6 == pytest.approx(
            estimate.influence[i], abs=1e-5
        )


@pytest.mark.slow
def test_c_interval_covers_the_true_value():
    """C of one normal score, n = 80, a third censored; 95 % less what 400 rounds leave open."""
    rng = np.random.default_rng(0)
    rounds = 400
    truth = harrell(*drawn(rng, 4000)).value
    n_covered = 0
    for _ in range(rounds):
        low, high = harrell(*drawn(rng, 80)).interval
        n_covered += low <= truth <= high
    assert n_covered / rounds > 0.92


def drawn(rng, n):
    """Return time, event and score; exponential times, hazard exp(score)."""
    f = rng.normal(size=n)
    failure = rng.exponential(size=n) * np.exp(-f)
    end = 2 * rng.exponential(size=n)
    return np.minimum(failure, end), failure <= end, f


def test_scores_that_are_not_defined_are_no_numbers():
    time = np.array([1.0, 2, 3, 4])
    event = np.array([False, False, False, True])
    lost = censoring(time, event)
    for estimate in (
        harrell(time, event, time),
        uno(time, event, time, lost),
        auc_at(time, event, time, lost, 2.0),
    ):
        assert np.isnan(estimate.value)
        assert np.isnan(estimate.interval).all()
    late = uno(np.array([9.0, 10]), np.array([True, True]), np.array([1.0, 0]), lost)
    assert late.value == 1  # the last training sample had the event: G is known
    open_end = censoring(time, ~event)
    assert np.isnan(uno(np.array([9.0, 10]), np.array([True, True]), np.arange(2.0), open_end)[0])
    assert np.isnan(harrell(time, ~event, np.array([np.nan, 1, 2, 3])).value)


def test_every_pair_in_order_still_has_an_interval():
    time = np.arange(1.0, 21)
    estimate = harrell(time, np.ones(20, dtype=bool), -time)
    assert estimate.value == 1
    assert 0.6 < estimate.interval[0] < 0.9
    assert estimate.interval[1] == 1


@given(seed=seeds, n=samples)
def test_brier_by_its_definition(seed, n):
    _, time, event = tied(seed, n, 1)
    rng = np.random.default_rng(seed)
    times = np.unique(rng.choice(time, 5)) * 0.99
    S = rng.random((n, len(times)))
    lost = censoring(time, event)
    last_time = time.max()
    expected = np.zeros(S.shape)
    for i in range(n):
        for m, t in enumerate(times):
            if event[i] and time[i] <= t:
                expected[i, m] = S[i, m] ** 2 / lost_by_hand(time, event, time[i])
            elif time[i] > t:
                expected[i, m] = (1 - S[i, m]) ** 2 / lost_by_hand(time, event, t)
    losses = brier_losses(time, event, S, times, lost)
    np.testing.assert_allclose(losses, expected, rtol=1e-12)
    assert (
        np.isnan(lost.at([last_time + 1])[0])
        or lost.value[-1] == 0
        or event[time == last_time].all()
    )


def test_integrated_brier_without_censoring_and_its_share():
    rng = np.random.default_rng(0)
    time = rng.exponential(size=40)
    event = np.ones(40, dtype=bool)
    times = np.linspace(0.1, 1, 7)
    lost = censoring(time, event)
    truth = (time[:, None] > times).astype(float)
    perfect = integrated_brier(brier_losses(time, event, truth, times, lost), times)
    assert perfect.value == 0
    guess = integrated_brier(brier_losses(time, event, np.full((40, 7), 0.5), times, lost), times)
    assert guess.value == pytest.approx(0.25)
    marginal = kaplan_meier(time, event).at(times)[None]
    none = integrated_brier(brier_losses(time, event, marginal, times, lost), times)
    mean = np.trapezoid(((truth - marginal) ** 2).mean(axis=0), times) / 0.9
    assert none.value == pytest.approx(mean)
    assert explained_variation(perfect, none)[0] == 1
    share, (low, high) = explained_variation(none, none)
    assert share == pytest.approx(0, abs=1e-15)
    assert low == pytest.approx(0, abs=1e-12) == high


def test_calibration_at_a_horizon():
    rng = np.random.default_rng(3)
    time, event, f = drawn(rng, 600)
    S = np.exp(-np.exp(f))  # the truth at time 1
    all_risks = risk_at(time, event, S, 1.0)
    assert all_risks.interval[0] < all_risks.expected < all_risks.interval[1]
    assert all_risks.observed == pytest.approx(all_risks.expected, rel=0.1)
    groups = list(risk_groups(time, event, S, 1.0))
    assert len(groups) == 5
    assert sum(group.samples for group in groups) == 600
    assert np.diff([group.expected for group in groups]).min() > 0
    assert sum(g.interval[0] <= g.expected <= g.interval[1] for g in groups) >= 4
    b, (low, high) = calibration_slope_of_cox(time, event, f)
    assert low < 1 < high
    half, limits = calibration_slope_of_cox(time, event, 2 * f + 5)
    assert half == pytest.approx(b / 2, rel=1e-6)
    assert limits[1] < 1


@pytest.mark.parametrize(("horizon", "observed"), [(1.0, 1 / 3), (1.9, 1 / 3), (2.5, 2 / 3)])
def test_observed_risk_counts_the_deaths_until_the_horizon(horizon, observed):
    risk = risk_at(np.array([1.0, 2, 3]), np.array([True, True, False]), np.full(3, 0.5), horizon)
    assert risk.observed == pytest.approx(observed)


def test_calibration_without_data_is_undefined():
    time = np.array([1.0, 2, 3])
    event = np.array([True, False, False])
    S = np.full(3, 0.5)
    assert np.isnan(risk_at(time, event, S, 4.0).observed)
    assert risk_at(time, event, S, 0.5).observed == 0
    assert np.isnan(calibration_slope_of_cox(time, event, np.ones(3))[0])
    assert np.isnan(calibration_slope_of_cox(time, event & False, time)[0])
    order = calibration_slope_of_cox(np.arange(1.0, 9), np.ones(8, dtype=bool), -np.arange(8.0))
    assert np.isnan(order[0])
    assert np.isnan(order[1]).all()


def test_survival_measures_equal_scikit_survival():
    metrics = pytest.importorskip("sksurv.metrics")
    rng = np.random.default_rng(0)
    train = drawn(rng, 200)[:2]
    (time, event, f) = drawn(rng, 80)
    in_range = time < 0.9 * train[0].max()
    time = time[in_range]
    event = event[in_range]
    f = f[in_range]
    kind = [("event", bool), ("time", float)]
    y, y_train = (
        np.array(list(zip(e, t, strict=True)), dtype=kind) for t, e in ((time, event), train)
    )
    lost = censoring(*train)
    times = np.quantile(time, [0.2, 0.4, 0.6])
    S = np.exp(-times * np.exp(f)[:, None])
    assert harrell(time, event, f).value == pytest.approx(
        metrics.concordance_index_censored(event, time, f)[0], abs=1e-10
    )
    for horizon in times:
        expected = metrics.concordance_index_ipcw(y_train, y, f, tau=horizon)[0]
        assert uno(time, event, f, lost, horizon).value == pytest.approx(expected, abs=1e-10)
        expected = metrics.cumulative_dynamic_auc(y_train, y, f, [horizon])[0][0]
        assert auc_at(time, event, f, lost, horizon).value == pytest.approx(expected, abs=1e-10)
    mean_loss = integrated_brier(brier_losses(time, event, S, times, lost), times).value
    expected = metrics.integrated_brier_score(y_train, y, S, times)
    assert mean_loss == pytest.approx(expected, abs=1e-10)


def test_ridge_at_lam_0_is_the_maximum_of_the_likelihood():
    X, time, event = tied(11, 60, 2)
    risk = RiskSets.from_times(time, event)
    fit = ridge(risk, X[risk.order], X[:, :0], np.zeros(1))
    assert fit.gap[0] <= 1e-10
    u = risk.gradient(risk.shares(X[risk.order] @ fit.b[:, 0]))
    np.testing.assert_allclose(X[risk.order].T @ u, 0, atol=1e-8)
