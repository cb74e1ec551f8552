"""Intervals of grouped samples equal known intervals in special cases."""

from __future__ import annotations

import numpy as np
import pytest

from genesig.selection.assess.clusters import (
    Spread,
    area_influence,
    area_interval,
    design_effect,
    effective_sample_size,
    explained_interval,
    group_numbers,
    influence_spread,
    line_spreads,
    mean_of_shares_interval,
    mean_spread,
    order_interval,
    positive_mean_interval,
    satterthwaite_df,
    share_interval,
)
from genesig.selection.assess.intervals import (
    NO_INTERVAL,
    mean_t,
    share_limits,
    t_quantile,
    wilson,
)
from genesig.selection.assess.survival import (
    calibration_slope_of_cox,
    harrell,
    kaplan_meier,
    log_rank,
    risk_at,
)
from genesig.selection.model.external_scores import (
    measure_numbers,
    measure_several_classes,
    measure_two_classes,
)

ALONE = np.arange(30)
TRIPLES = np.repeat(np.arange(10), 3)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _times(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.exponential(size=n), rng.random(n) < 0.7


def test_group_numbers_of_unrepeated_groups_are_none() -> None:
    assert group_numbers(None) is None
    assert group_numbers(["a", "b", "c"]) is None
    assert group_numbers(["b", "a", "b"]).tolist() == [1, 0, 1]  # type: ignore[union-attr]


def test_mean_spread_of_single_samples_is_that_of_the_t_interval(rng: np.random.Generator) -> None:
    values = rng.standard_normal(30)
    np.testing.assert_allclose(mean_spread(values, ALONE).around(values.mean()), mean_t(values))


def test_mean_spread_of_equal_groups_is_that_of_their_means(rng: np.random.Generator) -> None:
    values = rng.standard_normal(30)
    means = values.reshape(10, 3).mean(axis=1)
    np.testing.assert_allclose(mean_spread(values, TRIPLES).around(means.mean()), mean_t(means))


@pytest.mark.parametrize("sizes", [[2, 2, 2, 2], [1, 1, 1], [5] * 40])
def test_freedom_of_equal_groups_is_their_number_less_one(sizes: list[int]) -> None:
    assert satterthwaite_df([np.array(sizes)]) == pytest.approx(len(sizes) - 1)
    assert satterthwaite_df([np.array(sizes)] * 2) == pytest.approx(2 * (len(sizes) - 1))


def test_freedom_of_one_large_group_is_small() -> None:
    assert satterthwaite_df([np.array([1] * 20 + [60])]) < 3


def test_freedom_is_that_of_the_quadratic_form(rng: np.random.Generator) -> None:
    sizes = np.array([1, 2, 3, 8, 1])
    share = sizes / sizes.sum()
    centre = np.eye(5) - np.outer(np.ones(5), share)
    K = centre.T @ np.diag(share**2 / (1 - share)) @ centre
    assert satterthwaite_df([sizes]) == pytest.approx(np.trace(K) ** 2 / np.trace(K @ K))


def test_share_of_identical_samples_counts_groups(rng: np.random.Generator) -> None:
    hits = np.repeat((np.arange(10) < 4).astype(float), 3)
    expected = 0.4 * 0.6 / (mean_t(hits[::3])[1] - 0.4) ** 2 * 1.959963984540054**2
    assert effective_sample_size(hits, TRIPLES) == pytest.approx(expected)
    assert share_interval(np.ones(30), TRIPLES) == wilson(1.0, 10)
    assert share_interval(np.zeros(0), np.zeros(0)) == NO_INTERVAL


def test_mean_of_shares_knows_that_classes_share_groups(rng: np.random.Generator) -> None:
    patient = np.repeat(np.arange(20), 2)
    y = np.tile([-1.0, 1.0], 20)
    hits = np.repeat(rng.random(20) < 0.4, 2).astype(float)
    low, high = mean_of_shares_interval(hits, y, patient)
    separate_groups = mean_of_shares_interval(hits, y, patient + 20 * (y > 0))
    assert high - low > 1.2 * (separate_groups[1] - separate_groups[0])  # both classes err together


def test_mean_of_shares_is_certain_where_errors_of_the_classes_cancel() -> None:
    patient = np.repeat(np.arange(20), 2)
    y = np.tile([-1.0, 1.0], 20)
    hits = np.where(patient % 2, y > 0, y < 0).astype(float)  # one hit of each patient
    assert mean_of_shares_interval(hits, y, patient) == pytest.approx((0.5, 0.5), abs=1e-7)


@pytest.mark.parametrize("seed", [1, 3])
def test_area_interval_holds_the_limits_by_the_error_over_groups(seed: int) -> None:
    y = np.where(np.arange(24) % 2, 1.0, -1.0)
    patient = np.arange(24) // 2
    f = 0.3 * y + np.random.default_rng(seed).standard_normal(24)
    area, influence = area_influence(y > 0, f)
    by_error = share_limits(area, influence_spread(influence, patient, y).normal_error, 1)
    low, high = area_interval(y, patient, [(y > 0, f)])
    assert low <= by_error[0] + 1e-12
    assert high >= by_error[1] - 1e-12


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ((1.2, 1.0), 1.44),
        ((3.0, 1.0), 14 / 6),
        ((1.0, 3.0), 6 / 14),
        ((np.nan, 1.0), 14 / 6),
        ((1.0, 0.0), 14 / 6),
    ],
)
def test_design_effect_is_a_ratio_of_variances_that_groups_of_these_sizes_can_have(
    errors: tuple[float, float], expected: float
) -> None:
    """Groups of 1, 2 and 3 samples have at most the design effect (1 + 4 + 9) / 6 (Kish 1965)."""
    grouped, ungrouped = (Spread(error, 2.0) for error in errors)
    group = np.array([0, 1, 1, 2, 2, 2])
    assert design_effect(grouped, ungrouped, group) == pytest.approx(expected)


@pytest.mark.parametrize("gap", [0.0, 1.0, 9.0])
def test_area_interval_of_copied_samples_is_no_shorter(
    rng: np.random.Generator, gap: float
) -> None:
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    f = gap * y + rng.standard_normal(20)
    once = next(iter(measure_two_classes(y, f, 0.0)))[2]
    copied = next(
        iter(measure_two_classes(np.repeat(y, 3), np.repeat(f, 3), 0.0, np.arange(60) // 3))
    )[2]
    assert copied[1] - copied[0] > 0.96 * (once[1] - once[0])
    ignored = next(iter(measure_two_classes(np.repeat(y, 3), np.repeat(f, 3), 0.0)))[2]
    assert ignored[1] - ignored[0] < 0.8 * (copied[1] - copied[0])


def test_area_influence_is_its_derivative_by_a_weight(rng: np.random.Generator) -> None:
    positive = np.arange(12) < 5
    f = rng.standard_normal(12)
    area, influence = area_influence(positive, f)
    assert influence.sum() == pytest.approx(0)
    weight = np.ones(12)
    weight[2] += 1e-6
    is_above = (f[positive][:, None] > f[~positive]).astype(float)
    moved_area = weight[positive] @ is_above @ weight[~positive]
    moved_area /= weight[positive].sum() * weight[~positive].sum()
    assert (moved_area - area) / 1e-6 == pytest.approx(influence[2], abs=1e-5)


def test_area_interval_needs_two_groups_of_each_side(rng: np.random.Generator) -> None:
    positive = np.arange(30) < 3
    f = rng.standard_normal(30)
    assert area_interval(positive * 1.0, TRIPLES, [(positive, f)]) == NO_INTERVAL


@pytest.mark.parametrize("group", [np.zeros(30), np.arange(30) // 15])
def test_one_or_two_groups_give_no_traceback(group: np.ndarray, rng: np.random.Generator) -> None:
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    f = rng.standard_normal(30)
    rows = [*measure_two_classes(y, f, 0.0, group), *measure_numbers(y, f, group)]
    rows += measure_several_classes(
        np.arange(30) % 3.0,
        rng.standard_normal((30, 3)),
        list("abc"),
        np.full((30, 3), 1 / 3),
        [1 / 3] * 3,
        group,
    )
    assert all(np.isnan(low) or low <= high for _, _, (low, high), _ in rows)
    time, event = _times(rng, 30)
    number = group.astype(int)
    calibration_slope_of_cox(time, event, f, group=number)
    risk_at(time, event, np.full(30, 0.5), 0.5, number)
    log_rank(time, event, f > 0, number)


def test_explained_interval_of_single_samples_is_near_the_jackknife(
    rng: np.random.Generator,
) -> None:
    f = rng.standard_normal(30)
    y = f + rng.standard_normal(30)
    usual = next(iter(measure_numbers(y, f)))[2]
    np.testing.assert_allclose(explained_interval(y, f, ALONE), usual, atol=0.1)


def test_line_spreads_of_single_samples_are_those_of_hc3(rng: np.random.Generator) -> None:
    X = np.column_stack([np.ones(30), rng.standard_normal(30)])
    y = X[:, 1] + rng.standard_normal(30)
    inverse = np.linalg.inv(X.T @ X)
    residual = y - X @ (inverse @ X.T @ y)
    leverage_rest = 1 - np.einsum("ij,jk,ik->i", X, inverse, X)
    weighted = X * (residual / leverage_rest)[:, None]
    expected = np.sqrt(np.diag(inverse @ (weighted.T @ weighted) @ inverse))
    spreads = line_spreads(X, residual, ALONE)
    np.testing.assert_allclose([spread.error for spread in spreads], expected)
    assert spreads[0].df == pytest.approx(28)


def test_losses_have_at_least_the_error_of_normal_squares() -> None:
    values = np.ones(30)
    values[0] = 1.001
    low, high = positive_mean_interval(values, TRIPLES)
    least = t_quantile(9) * np.sqrt(2 / 30)
    assert np.log(high / low) / 2 >= least * 0.999


def test_survival_variances_of_single_samples_are_the_usual_ones(
    rng: np.random.Generator,
) -> None:
    time, event = _times(rng, 400)
    f = rng.standard_normal(400)
    group = np.arange(400)
    usual = kaplan_meier(time, event)
    grouped = kaplan_meier(time, event, group)
    middle = slice(0, 200)
    np.testing.assert_allclose(grouped.variance[middle], usual.variance[middle], rtol=0.08)
    p = log_rank(time, event, f > 0).p
    over_groups = log_rank(time, event, f > 0, group).p
    assert over_groups == pytest.approx(p, abs=0.05)
    widths = [
        np.ptp(calibration_slope_of_cox(time, event, f, group=groups)[1])
        for groups in (None, group)
    ]
    assert widths[1] == pytest.approx(widths[0], rel=0.15)


def test_survival_intervals_of_copied_samples_are_no_shorter(rng: np.random.Generator) -> None:
    time, event = _times(rng, 40)
    f = rng.standard_normal(40)
    copy = np.repeat(np.arange(40), 3)
    once = harrell(time, event, f)
    estimate = harrell(time[copy], event[copy], f[copy])
    assert estimate.value == pytest.approx(once.value)
    copied = order_interval(estimate.value, estimate.influence, copy, int(event.sum()))
    assert np.ptp(copied) > np.ptp(once.interval)
    risks = [
        risk_at(time, event, np.full(40, 0.5), 0.5).interval,
        risk_at(time[copy], event[copy], np.full(120, 0.5), 0.5, copy).interval,
        risk_at(time[copy], event[copy], np.full(120, 0.5), 0.5).interval,
    ]
    widths = [np.ptp(limits) for limits in risks]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
    assert widths[2] < 0.7 * widths[0]
    assert log_rank(time[copy], event[copy], (f > 0)[copy], copy).p == pytest.approx(
        log_rank(time, event, f > 0).p, abs=0.1
    )


def test_order_interval_counts_groups_with_an_event(rng: np.random.Generator) -> None:
    influence = rng.normal(0, 0.01, 30)
    spread = influence_spread(influence, TRIPLES)
    half_of_df = spread._replace(df=spread.df / 2)
    expected = share_limits(0.7, half_of_df.normal_error, 2)
    assert order_interval(0.7, influence, TRIPLES, 5) == pytest.approx(expected)
    assert order_interval(1.0, np.zeros(30), TRIPLES, 5) == pytest.approx(wilson(1.0, 2))
    assert np.isnan(order_interval(0.7, influence, np.zeros(30), 1)).all()


def test_order_interval_ignores_samples_without_a_pair(rng: np.random.Generator) -> None:
    influence = rng.normal(0, 0.01, 30)
    side = np.tile([1.0, 0.0, 2.0], 10)
    paired = side > 0
    expected = order_interval(0.7, influence[paired], TRIPLES[paired], 5, side[paired])
    assert order_interval(0.7, influence, TRIPLES, 5, side) == pytest.approx(expected)
    once = np.minimum(side, 1)
    assert np.isfinite(order_interval(0.7, influence, TRIPLES, 5, once)).all()


def test_influence_spread_of_one_group_is_unknown(rng: np.random.Generator) -> None:
    spread = influence_spread(rng.standard_normal(9), np.zeros(9))
    assert np.isnan(spread.half_width)


def test_explained_interval_does_not_depend_on_the_unit() -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(size=30)
    f = y + rng.normal(size=30)
    expected = explained_interval(y, f, TRIPLES)
    np.testing.assert_allclose(explained_interval(y / 1000, f / 1000, TRIPLES), expected)
