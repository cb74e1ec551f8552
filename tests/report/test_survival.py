"""Numbers of the survival section."""

import pytest
from drawn_figures import curves, dots, segments
from report_records import kind_arguments

from genesig.optim.classes import VARIANCE_FACTOR
from genesig.report.collect import StudyResults, collect
from genesig.report.methods import methods
from genesig.report.page.words import with_limits
from genesig.report.survival import _survival_at, draw_calibration

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


def test_observed_risk_stands_over_the_predicted_risk_with_its_limits():
    groups = [
        {"samples": 9, "expected": 0.2, "observed": 0.3, "low": 0.1, "high": 0.5},
        {"samples": 9, "expected": 0.6, "observed": 0.5, "low": None, "high": None},
        {"samples": 9, "expected": 0.9, "observed": None, "low": None, "high": None},
    ]
    (ax,) = draw_calibration(groups).axes
    assert [points for points, _ in dots(ax)] == [[[0.2, 0.3]], [[0.6, 0.5]]]
    assert [lines for lines, _ in segments(ax)] == [[[0.2, 0.1, 0.2, 0.5]]]
    assert curves(ax)[0].tolist() == [[0, 0], [1, 1]]
    assert ax.get_xlim() == ax.get_ylim() == (0, 1)


@pytest.mark.usefixtures("undrawn")
def test_methods_state_the_shrinkage_of_the_slope():
    text = " ".join(methods(collect(StudyResults(**kind_arguments("survival")))))
    assert f"max(0, 1 − ({VARIANCE_FACTOR:g} s²/b²)^1.5)" in text
