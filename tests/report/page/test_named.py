"""Names in figures stand at the drawn points, and every figure has its data."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from report_records import Study, arguments, kind_arguments, make_about

from genesig.report.collect import StudyResults, collect
from genesig.report.page.section import Limits, flat_items
from genesig.report.page.style import new_figure
from genesig.report.page.svg import (
    Picture,
    draw_picture,
    name_columns,
    name_points,
    name_rows,
)
from genesig.report.sections import SECTIONS, summary

pytestmark = pytest.mark.drawn

STUDIES_OF_PAGES = {
    "classes": Study(nonlinear=False),
    "all topics": Study(sets=True, placed=True, enriched=True),
    "number": Study(regression=True),
}


def drawn(fill):
    def draw():
        figure, ax = new_figure(4, 3)
        fill(ax)
        return figure

    return draw_picture(Picture("p", draw, title="t", description="d", caption="c", data={}))


def test_a_name_stands_where_its_point_is_drawn():
    def fill(ax):
        ax.scatter([1, 2, 9], [3, 1, 2], s=16, color="#123456", lw=0)
        name_points(ax, [1, 2, 9], [3, 1, 2], ["a", "b", "c"])

    drawn_picture = drawn(fill)
    d = next(
        e.get("d") for e in ET.fromstring(drawn_picture.svg).iter() if e.get("fill") == "#123456"
    )
    starts = [tuple(map(float, pair)) for pair in re.findall(r"M(-?[\d.]+) (-?[\d.]+)a(?=2)", d)]
    (marks,) = drawn_picture.marks
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
    left_edge, top, right, bottom = columns["box"]
    assert columns["y"] is None
    assert rows["x"] is None
    middles = [left_edge + (k + 0.5) * (right - left_edge) / 3 for k in range(3)]
    assert columns["x"] == pytest.approx(middles, abs=0.2)
    middles = [top + (k + 0.5) * (bottom - top) / 2 for k in range(2)]
    assert rows["y"] == pytest.approx(middles, abs=0.2)


def inputs_and_cohorts(name):
    if name in ("survival", "several_classes"):
        return kind_arguments(name), []
    inputs = arguments(STUDIES_OF_PAGES[name])
    return inputs, [make_about(inputs["dataset"], "other")]


def pictures(data, keys):
    limits = Limits(12, 15)
    items = [*summary(data, limits).items]
    for key in keys:
        if section := SECTIONS[key](data, limits):
            items += [*flat_items(section.items), *section.pictures]
    return [draw_picture(item) for item in items if isinstance(item, Picture)]


def have_data_and_one_name(data, figures):
    samples = set(data["study"]["response"]["name"])
    samples |= {sample["sample"] for cohort in data["external"] for sample in cohort["points"]}
    for figure in figures:
        assert figure.data, figure.name
        assert len({len(column) for column in figure.data.values()}) == 1, figure.name
        assert all(len(column) for column in figure.data.values()), figure.name
        for marks in figure.marks:
            assert marks["kind"] != "sample" or set(marks["names"]) <= samples
    return {figure.name for figure in figures if any(m["kind"] == "sample" for m in figure.marks)}


@pytest.mark.slow
def test_a_figure_has_its_data_and_samples_have_one_name():
    data = collect(StudyResults(**arguments(STUDIES_OF_PAGES["classes"])))
    figures = pictures(data, ["expression", "samples", "quality"])
    assert {"heat_map", "quality_components", "held_out_scores"} <= have_data_and_one_name(
        data, figures
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classes", "all topics", "number", "survival", "several_classes"])
def test_every_figure_has_its_data_and_samples_have_one_name(name):
    inputs, cohorts = inputs_and_cohorts(name)
    data = collect(StudyResults(**inputs, external=cohorts))
    figures = pictures(data, SECTIONS)
    assert len(figures) >= 14
    marked = have_data_and_one_name(data, figures)
    assert {"heat_map", "quality_components"} <= marked
    name_of_data = {
        "classes": "held_out_scores",
        "all topics": "held_out_scores",
        "number": "observed_predicted",
        "several_classes": "samples",
    }
    assert name_of_data.get(name, "heat_map") in marked
