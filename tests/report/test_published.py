"""The section on published signatures gives the rank and is absent without them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from drawn_figures import boxes, curves, dots, segments, y_ticks
from matplotlib.colors import to_hex
from report_records import Study, arguments

from genesig.report.collect import StudyResults, collect
from genesig.report.methods import methods, references
from genesig.report.page.measure import MEASURES
from genesig.report.page.section import Limits
from genesig.report.page.style import GENESIG_COLOUR, INK
from genesig.report.page.svg import draw_picture
from genesig.report.published import _draw_random_lists, published_section

LIMITS = Limits(12, 500)


def collected_published(study=None, genesig_error=0.2, **changes):
    inputs = arguments(study or Study())
    drawn = np.linspace(0.25, 0.55, 200)
    rows = [
        {
            "row": "genesig",
            "name": "genesig",
            "genes": 12.5,
            "error": genesig_error,
            "low": 0.1,
            "high": 0.3,
            "as_good": np.mean(drawn <= genesig_error),
        },
        {
            "row": "published",
            "name": "<b>70</b>",
            "genes": 61.0,
            "error": 0.3,
            "low": 0.2,
            "high": 0.4,
            "difference": 0.1,
            "difference_low": -0.05,
            "difference_high": 0.25,
            "as_good": np.mean(drawn <= 0.3),
        },
    ]
    random_rows = [
        {"row": "random", "name": f"random {k + 1}", "genes": 12.5, "error": error}
        for k, error in enumerate(drawn)
    ]
    inputs["tables"]["published"] = pd.DataFrame([*rows, *random_rows])
    return collect(StudyResults(**inputs))


def test_words_give_the_share_of_random_lists_as_good():
    (text,) = published_section(collected_published(genesig_error=0.3), LIMITS).words
    share = f"{100 * np.mean(np.linspace(0.25, 0.55, 200) <= 0.3):.1f}"
    assert "Of 200 random lists of as many genes as the lists of the splits (12 on" in text
    assert f"{share}% reach an equal or higher" in text.replace("\u00a0", " ")
    assert "lie between 0.46 and 0.74" in text


def test_numbers_are_shown_as_r2():
    text = published_section(collected_published(Study(regression=True)), LIMITS).words[0]
    assert "an equal or higher R²" in text
    assert "(0.80)" in text
    assert "lie between 0.46 and 0.74" in text


@pytest.mark.drawn
def test_the_table_has_the_named_ones_and_the_picture_all():
    image, table = published_section(collected_published(), LIMITS).items
    assert [row[0].value for row in table.rows] == ["genesig", "<b>70</b>"]
    assert len(image.data["name"]) == 202
    assert "<b>" not in re.sub(r"&lt;b&gt;", "", draw_picture(image).svg)


def test_the_methods_say_how():
    data = collected_published()
    (paragraph,) = [text for text in methods(data) if "Venet" in text]
    assert "1 published signature and 200 random lists" in paragraph
    assert any(text.startswith("Venet D") for text in references(data))


@pytest.mark.parametrize("name", [None, "undefined"])
def test_page_without_published_lists_has_no_section(name):
    data = (
        collect(StudyResults(**arguments(Study())))
        if name is None
        else collected_published(genesig_error=np.nan)
    )
    section = published_section(data, LIMITS)
    assert (section is None) == (name is None)
    assert section is None or (not section.items and len(section.words) == 1)
    assert any("Venet" in text for text in methods(data)) == (name is not None)


def test_signatures_stand_below_the_random_lists_at_one_minus_their_error():
    rows = [
        {"name": "genesig", "error": 0.2, "low": 0.1, "high": 0.3},
        {"name": "other", "error": 0.4, "low": None, "high": None},
    ]
    random_values = [0.5, 0.52, 0.7, 0.9]
    histogram_axes, interval_axes = _draw_random_lists(
        rows, random_values, MEASURES["classification"]
    ).axes
    green, ink = map(to_hex, (GENESIG_COLOUR, INK))
    assert dots(interval_axes) == [([[0.8, 0]], green), ([[0.6, 1]], ink)]
    ((line,), colour), *others = segments(interval_axes)
    assert (line, colour, others) == ([0.7, 0, 0.9, 0], green, [])
    assert [set(curve[:, 0]) for curve in curves(histogram_axes)] == [{0.8}, {0.6}, {0.5}]
    assert [set(curve[:, 0]) for curve in curves(interval_axes)] == [{0.5}]
    bars = [bar for bar in boxes(histogram_axes) if bar[3] > 0]
    assert sum(bar[3] for bar in bars) == 4
    for value in random_values:
        assert any(left - 1e-9 <= value <= right + 1e-9 for left, _, right, _ in bars)
    assert y_ticks(interval_axes) == {"genesig": 0, "other": 1}
