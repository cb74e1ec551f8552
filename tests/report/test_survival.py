"""Numbers of the survival section."""

import pytest

from genesig.report.page.words import with_limits
from genesig.report.survival import _survival_at

CURVE = {
    "time": [0.0, 10.0, 20.0],
    "survival": [1.0, 0.8, 0.5],
    "low": [1.0, 0.6, 0.3],
    "high": [1.0, 0.95, 0.7],
}


@pytest.mark.parametrize(
    ("time", "expected"), [(0.0, 1.0), (9.9, 1.0), (10.0, 0.8), (19.9, 0.8), (20.0, 0.5)]
)
def test_a_curve_falls_at_the_time_of_its_step(time, expected):
    place = CURVE["survival"].index(expected)
    assert _survival_at(CURVE, time) == {
        key: CURVE[key if key != "value" else "survival"][place] for key in ("value", "low", "high")
    }


@pytest.mark.parametrize("limits", [(0.7, None), (None, 0.9), (None, None)])
def test_value_without_both_limits_stands_alone(limits):
    assert with_limits("C", 0.8, *limits) == "C 0.80"
    assert with_limits("C", 0.8, 0.7, 0.9) == "C 0.80 (0.70–0.90)"
