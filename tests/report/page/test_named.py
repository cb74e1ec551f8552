"""Names in figures: where they stand is where matplotlib draws; every figure has its data."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from report_records import Study, arguments, kind_arguments, make_about

from genesig.report.collect import collect
from genesig.report.page.section import Limits, flat_items
from genesig.report.page.style import new_figure
from genesig.report.page.svg import (
    Picture,
    draw_picture,
    name_columns,
    name_points,
    name_rows,
    picture,
)
from genesig.report.sections import SECTIONS, summary

pytestmark = pytest.mark.drawn

STUDIES = {
    "classes": Study(nonlinear=False),
    "all topics": Study(sets=True, placed=True, enriched=True),
    "number": Study(regression=True),
}


def drawn(fill):
    def draw():
        figure, ax = new_figure(4, 3)
        fill(ax)
        return figure

    return draw_picture(picture("p", draw, title="t", description="d", caption="c", data={}))


def test_a_name_stands_where_its_point_is_drawn():
    def fill(ax):
        ax.scatter([1, 2, 9], [3, 1, 2], s=16, color="#123456", lw=0)
        name_points(ax, [1, 2, 9], [3, 1, 2], ["a", "b", "c"])

    found = drawn(fill)
    d = next(e.get("d") for e in ET.fromstring(found.svg).iter() if e.get("fill") == "#123456")
    starts = [tuple(map(float, pair)) for pair in re.findall(r"M(-?[\d.]+) (-?[\d.]+)a(?=2)", d)]
    (marks,) = found.marks
    assert marks["names"] == ["a", "b", "c"]
    for (x, y), a, b in zip(starts, marks["x"], marks["y"], strict=True):
        assert x + 2 == pytest.approx(a, abs=0.15)  # a path begins at the left of its circle
        assert y == pytest.approx(b, abs=0.15)


def test_columns_and_rows_lie_in_the_box_of_their_axes():
    def fill(ax):
        ax.imshow([[1, 2, 3], [4, 5, 6]], aspect="auto")
        name_columns(ax, ["u", "v", "w"])
        name_rows(ax, ["first", "second"])

    columns, rows = drawn(fill).marks
    left, top, right, bottom = columns["box"]
    assert columns["y"] is None
    assert rows["x"] is None
    middles = [left + (k + 0.5) * (right - left) / 3 for k in range(3)]
    assert columns["x"] == pytest.approx(middles, abs=0.2)
    middles = [top + (k + 0.5) * (bottom - top) / 2 for k in range(2)]
    assert rows["y"] == pytest.approx(middles, abs=0.2)


def given(name):
    if name in ("survival", "several_classes"):
        return kind_arguments(name), []
    made = arguments(STUDIES[name])
    return made, [make_about(made["dataset"], "other")]


def pictures(data, keys):
    limits = Limits(12, 15)
    items = [*summary(data, limits).items]
    for key in keys:
        section = SECTIONS[key](data, limits)
        items += [*flat_items(section.items), *section.pictures]
    return [draw_picture(item) for item in items if isinstance(item, Picture)]


def have_data_and_one_name(data, found):
    samples = set(data["study"]["response"]["name"])
    for one in found:
        assert one.data, one.name
        assert len({len(column) for column in one.data.values()}) == 1, one.name
        assert all(len(column) for column in one.data.values()), one.name
        for marks in one.marks:
            assert marks["kind"] != "sample" or set(marks["names"]) <= samples
    return {one.name for one in found if any(m["kind"] == "sample" for m in one.marks)}


@pytest.mark.slow
def test_a_figure_has_its_data_and_samples_have_one_name():
    data = collect(**arguments(STUDIES["classes"]))
    found = pictures(data, ["expression", "samples", "quality"])
    assert {"heat_map", "quality_components", "held_out_scores"} <= have_data_and_one_name(
        data, found
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classes", "all topics", "number", "survival", "several_classes"])
def test_every_figure_has_its_data_and_samples_have_one_name(name):
    made, others = given(name)
    data = collect(**made, external=others)
    found = pictures(data, SECTIONS)
    assert len(found) >= 14
    marked = have_data_and_one_name(data, found)
    assert {"heat_map", "quality_components"} <= marked
    own = {
        "classes": "held_out_scores",
        "all topics": "held_out_scores",
        "number": "observed_predicted",
        "several_classes": "samples",
    }
    assert own.get(name, "heat_map") in marked
