"""Sample sizes for a validation study equal published examples and reach their precision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, norm

from genesig.response.kinds import survival_response
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.intervals import (
    NORMAL_QUANTILE,
    area_variance,
    delong,
    newcombe,
)
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores
from genesig.selection.assess.patients_tables import (
    MIN_R2_SAMPLES,
    events_for_concordance,
    next_study_table,
    samples_for_area,
    samples_for_r2,
)


def test_sample_size_for_c_equals_the_published_number():
    # Riley et al. 2021 and the manual of their program pmvalsampsize: C 0.8, prevalence 0.018,
    # interval of width 0.1.
    assert samples_for_area(0.8, 0.018) == pytest.approx(4252, abs=1)


@pytest.mark.parametrize(("area", "share"), [(0.55, 0.5), (0.75, 0.1), (0.9, 0.3), (0.99, 0.5)])
def test_sample_size_is_the_smallest_with_the_requested_intervals(area, share):
    n = samples_for_area(area, share)

    def is_precise(k):
        low, high = newcombe(area, k * share, k * (1 - share))
        error = NORMAL_QUANTILE * np.sqrt(area_variance(area, k * share, k * (1 - share)))
        return max(error, (high - low) / 2) <= 0.05 + 1e-9

    assert is_precise(n)
    assert not is_precise(n - 1)


@pytest.mark.parametrize(("area", "share"), [(0.75, 0.5), (0.95, 0.5), (0.95, 0.2), (0.98, 0.5)])
def test_studies_of_that_size_have_intervals_of_that_width(area, share):
    n = samples_for_area(area, share)
    y = np.where(np.arange(n) < round(n * share), 1.0, -1.0)
    rng = np.random.default_rng(6)
    limits = [
        delong(y, rng.standard_normal(n) + np.sqrt(2) * norm.ppf(area) * (y > 0))[1:]
        for _ in range(60)
    ]
    assert np.mean(np.ptp(limits, axis=1)) / 2 == pytest.approx(0.05, abs=0.0015)


def test_sample_size_for_r2_measures_r2_within_005():
    # Random predictors, for which the formula is: 95 % of estimates within 0.05 of the truth.
    n = samples_for_r2(0.3)
    r2 = 0.3
    rng = np.random.default_rng(0)
    f = np.sqrt(r2) * rng.standard_normal((2000, n))
    y = f + np.sqrt(1 - r2) * rng.standard_normal((2000, n))
    r2_estimates = 1 - ((y - f) ** 2).sum(axis=1) / ((y - y.mean(axis=1)[:, None]) ** 2).sum(axis=1)
    assert np.mean(np.abs(r2_estimates - r2) <= 0.05) == pytest.approx(0.95, abs=0.02)


def test_no_fewer_are_asked_for_than_tell_a_standard_deviation_to_a_tenth():
    def widest(n):
        return max(
            np.sqrt(chi2.ppf(0.975, n - 1) / (n - 1)), np.sqrt((n - 1) / chi2.ppf(0.025, n - 1))
        )

    assert widest(MIN_R2_SAMPLES - 1) > 1.1 >= widest(MIN_R2_SAMPLES)
    assert samples_for_r2(0.97) == MIN_R2_SAMPLES


def test_four_times_the_events_halve_the_interval():
    assert events_for_concordance((0.1 / NORMAL_QUANTILE) ** 2, 50) == 200


def held(y, f):
    row = np.arange(len(y))
    return HeldOutScores(y, row, row % 5, 0 * row, 0 * row, f[:, None], 0.25)


@pytest.mark.parametrize(("signal", "rows"), [(2.0, 2), (0.0, 0)])
def test_study_at_chance_has_no_sample_size(signal, rows):
    rng = np.random.default_rng(3)
    y = np.repeat([-1.0, 1.0], [60, 40])
    order = rng.permutation(100)
    y = y[order]
    scores = held(y, signal * y / 2 + rng.standard_normal(100))
    table = next_study_table(scores, ASSESSMENT_KINDS["classification"].headline, ("a", "b"))
    assert len(table) == rows
    if rows:
        value, safe = table.to_dict("records")
        assert value["samples"] == samples_for_area(value["value"], 0.4)
        assert value["events"] == np.ceil(0.4 * value["samples"])
        assert safe["value"] < value["value"]
        assert safe["samples"] > value["samples"]


@pytest.mark.parametrize(("signal", "n_rows"), [(2.0, 2), (0.0, 0)])
def test_study_of_numbers_is_sized_by_r2_and_its_lower_limit(signal, n_rows):
    rng = np.random.default_rng(3)
    y = rng.standard_normal(100)
    scores = held(y, signal * y / 2 + 0.3 * rng.standard_normal(100))
    headline = ASSESSMENT_KINDS["regression"].headline
    table = next_study_table(scores, headline, None)
    assert len(table) == n_rows
    if n_rows:
        (assessment,) = assess(scores, headline)
        assert table["value"].tolist() == [1 - assessment.error, 1 - assessment.high]
        assert table["value"][1] < table["value"][0] < 1
        assert table["samples"].tolist() == [samples_for_r2(value) for value in table["value"]]


def test_survival_in_perfect_order_has_no_sample_size():
    times = np.arange(1.0, 61.0)
    y = survival_response(times, np.ones(60, dtype=bool))
    headline = ASSESSMENT_KINDS["survival"].headline
    assert len(next_study_table(held(y, -times), headline, None)) == 0
    noise = np.random.default_rng(0).normal(scale=8, size=60)
    assert len(next_study_table(held(y, noise - times), headline, None)) == 2
