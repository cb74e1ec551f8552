"""Many dots are drawn as few paths at the same places."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from genesig.report.page.style import STYLE, new_figure
from genesig.report.page.svg import COPY, Picture, draw_picture, shifted_path

pytestmark = pytest.mark.drawn

WORDS = {"title": "t", "description": "d", "caption": "c", "data": {}}


def dots(marker, count=300):
    rng = np.random.default_rng(0)
    figure, ax = new_figure(4, 3)
    ax.scatter(*rng.normal(size=(2, count)), marker=marker, s=20, color="#007a58")
    return figure


@pytest.mark.one_in(2)
@pytest.mark.parametrize("marker", ["o", "^", "s", "D"])
def test_many_dots_are_one_path_with_as_many_pieces(marker):
    svg = draw_picture(Picture("many", lambda: dots(marker), **WORDS)).svg
    assert COPY not in svg
    assert "<use" not in svg
    pieces = [e.get("d").count("M") for e in ET.fromstring(svg).iter() if e.get("d")]
    assert 300 in pieces
    assert len(pieces) < 15


def places(svg: str) -> list[tuple[float, float]]:
    uses = re.findall(r'<use [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*fill: #007a58', svg)
    return [(float(x), float(y)) for x, y in uses]


@pytest.mark.slow
def test_each_circle_stays_where_it_was():
    stream = io.StringIO()
    with mpl.rc_context(STYLE):
        dots("o", 20).savefig(stream, format="svg")
    expected = places(stream.getvalue())
    assert len(expected) == 20
    svg = draw_picture(Picture("same", lambda: dots("o", 20), **WORDS)).svg
    d = next(e.get("d") for e in ET.fromstring(svg).iter() if (e.get("d") or "").count("M") == 20)
    circles = re.findall(r"M([\d.]+) ([\d.]+)a([\d.]+) ", d)
    centres = [(float(x) + float(r), float(y)) for x, y, r in circles]
    np.testing.assert_allclose(centres, expected, atol=0.02)


def test_marks_above_dots_stay_above_dots():
    """Two layers of dots with a line between them are not one layer."""

    def draw() -> Figure:
        figure, ax = new_figure(4, 3)
        ax.scatter([1, 2], [1, 2], color="#007a58", zorder=1)
        ax.plot([1, 2], [2, 1], color="#000000", zorder=2)
        ax.scatter([1.5, 1.2], [1.5, 1.2], color="#007a58", zorder=3)
        return figure

    svg = draw_picture(Picture("layers", draw, **WORDS)).svg
    order = re.findall(r'fill="#007a58"|stroke="#000000"', svg)
    assert order == ['fill="#007a58"', 'stroke="#000000"', 'fill="#007a58"']


def test_a_shape_is_moved_by_pairs():
    assert shifted_path("M 0 1 \nL -1.5 2 \nz", 10, 20) == "M10.00 21.00 L8.50 22.00 z"
