"""report_data.json matches its records to the last key."""

from __future__ import annotations

import json
from typing import NotRequired, TypedDict

import pytest
from report_checks import misfits
from report_records import HOSTILE, Study, arguments, make_about

from genesig.report.collect import StudyResults, collect
from genesig.report.record import Report

RECORDED_STUDIES = {
    "classes": Study(),
    "numbers": Study(regression=True, sets=True, placed=True, enriched=True),
    "without nonlinear selection": Study(nonlinear=False),
    "odd names": Study(names=HOSTILE, sets=True, placed=True, enriched=True),
    "nothing selected": Study(empty=True, sets=True, placed=True, enriched=True),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", RECORDED_STUDIES)
def test_collected_value_matches_its_record(name):
    inputs = arguments(RECORDED_STUDIES[name])
    cohorts = [make_about(inputs["dataset"], "a"), make_about(inputs["dataset"], "b", combat=True)]
    data = json.loads(
        json.dumps(collect(StudyResults(**inputs, external=cohorts)), allow_nan=False)
    )
    assert misfits(Report, data) == []


class Inner(TypedDict):
    share: float | None


class Outer(TypedDict):
    name: str
    rows: list[Inner]
    later: NotRequired[dict[str, int]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"name": "a", "rows": [{"share": 1}, {"share": None}]}, []),
        ({"name": "a", "rows": [], "later": {"x": 1}}, []),
        ({"name": "a"}, ["['rows']: absent"]),
        ({"name": "a", "rows": [], "more": 1}, ["['more']: unknown"]),
        ({"name": 1, "rows": []}, ["['name']: 1 is no <class 'str'>"]),
        ({"name": "a", "rows": [{}]}, ["['rows'][0]['share']: absent"]),
        ({"name": "a", "rows": [{"share": "1"}]}, ["['rows'][0]['share']: '1' is no"]),
        ({"name": "a", "rows": [], "later": {"x": True}}, ["['later']['x']: True is no <class"]),
        ({"name": "a", "rows": {}}, ["['rows']: {} is no list"]),
    ],
)
def test_misfits_finds_values_unlike_their_record(value, expected):
    misfits_found = misfits(Outer, value)
    assert len(misfits_found) == len(expected)
    assert all(line.startswith(start) for line, start in zip(misfits_found, expected, strict=True))
