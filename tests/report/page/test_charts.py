"""Charts write the numbers of their data."""

from __future__ import annotations

from genesig.report.page.charts import number_at_risk


def test_at_risk_counts_those_whose_follow_up_ends_at_that_time() -> None:
    curve = {
        "group": "low",
        "time": [0.0, 1.0, 2.0],
        "survival": [1.0, 0.6, 0.4],
        "low": [1.0, 0.3, 0.1],
        "high": [1.0, 0.8, 0.7],
        "at_risk": [5, 3, 1],
    }
    assert [number_at_risk(curve, time) for time in (0.5, 1.0, 2.5)] == [3, 3, 0]
