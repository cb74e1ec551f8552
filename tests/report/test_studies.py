"""Sentences on several studies agree with the intervals."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_figures import curves, dots, segments, y_ticks
from matplotlib.colors import to_hex

from genesig.report.page.section import Limits
from genesig.report.page.style import GENESIG_COLOUR, INK, POSITIVE
from genesig.report.page.verdict import NEUTRAL_LOOK, SUPPORT_LOOK
from genesig.report.studies import draw_forest, draw_genes, left_out_badge, studies_section


def of(name):
    return {
        "name": name,
        "samples": 20,
        "value": 0.9,
        "low": 0.7,
        "high": 0.98,
        "error": 0.1,
        "probes": 9,
        "genes": 9,
        "measured": 9,
        "lost": 0,
        "same_sign": 1.0,
        "differs": False,
    }


@pytest.mark.parametrize("ahead", [(0.79, 0.98), (0.6, 0.99)])
def test_the_interval_of_the_next_study_is_not_called_wider_where_it_is_as_wide(ahead):
    studies_data = {
        "measure": "AUC",
        "whole": True,
        "mean": (0.94, 0.79, 0.98),
        "next_study": ahead,
        "i2": 0.0,
        "studies": [of(name) for name in "abc"],
        "genes": [],
        "tested": 0,
        "significant": 0,
    }
    text = " ".join(studies_section({"studies": studies_data}, Limits(3, 15)).words)
    if ahead == studies_data["mean"][1:]:
        assert "In a further, comparable study expect the same interval (95% prediction)" in text
        assert "no differences seen" in text
    else:
        assert f"{ahead[0]:.2f}–{ahead[1]:.2f} (95% prediction interval)" in text
    assert "wider" not in text
    assert "holds a new study with a probability of 95%" in text


@pytest.mark.parametrize(("low", "look"), [(0.7, SUPPORT_LOOK), (0.5, NEUTRAL_LOOK)])
def test_left_out_badge_has_the_colour_of_support_if_all_studies_exceed_chance(low, look):
    studies_data = {
        "measure": "AUC",
        "whole": True,
        "studies": [of("a"), {**of("b"), "low": low}],
    }
    text = f"Better than chance in {1 + (low > 0.5)} of 2 left-out studies"
    for n_cohorts, cohort_words in ((0, "; no external cohort"), (1, "")):
        answer = {"cohorts": {"tested": n_cohorts}}
        badge = left_out_badge({"studies": studies_data, "answer": answer})
        assert badge.look == look
        assert badge.text == text + cohort_words


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("mean", "rows"),
    [((0.8, 0.7, 0.9), ["a", "b", "mean"]), ((0.8, None, None), ["a", "b"])],
)
def test_mean_of_studies_is_drawn_with_its_interval_or_not_at_all(mean, rows):
    study = {"samples": 20, "value": 0.8, "low": 0.7, "high": 0.9, "differs": False}
    record = {
        "measure": "AUC",
        "studies": [study | {"name": name} for name in "ab"],
        "mean": mean,
        "next_study": (None, None),
    }
    (ax,) = draw_forest(record, 0.5).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == rows
    assert len(ax.patches) == (mean[1] is not None)


def test_forest_of_studies_has_squares_by_size_a_diamond_and_the_interval_of_a_further_study():
    record = {
        "measure": "AUC",
        "studies": [
            {"name": "a", "samples": 40, "value": 0.8, "low": 0.7, "high": 0.9, "differs": True},
            {"name": "b", "samples": 10, "value": 0.6, "low": 0.3, "high": 0.7, "differs": False},
            {"name": "c", "samples": 20, "value": None, "low": None, "high": None}
            | {"differs": False},
        ],
        "mean": (0.7, 0.6, 0.8),
        "next_study": (0.45, 0.95),
    }
    (ax,) = draw_forest(record, 0.5).axes
    assert y_ticks(ax) == {"a": 0, "b": 1, "c": 2, "mean": 3, "a further study": 4}
    orange = to_hex(POSITIVE)
    green = to_hex(GENESIG_COLOUR)
    assert dots(ax) == [([[0.8, 0]], orange), ([[0.6, 1]], green)]
    sizes = [squares.get_sizes()[0] for squares in ax.collections if hasattr(squares, "get_sizes")]
    assert sizes[0] > sizes[1]
    *intervals, (further, _) = segments(ax)
    assert intervals == [([[0.7, 0, 0.9, 0]], orange), ([[0.3, 1, 0.7, 1]], green)]
    assert further == [[0.45, 4, 0.95, 4]]
    (diamond,) = ax.patches
    corners = diamond.get_xy()
    assert [corners[:, 0].min(), corners[:, 0].max()] == [0.6, 0.8]
    assert corners[:, 1].mean() == pytest.approx(3)
    tops = corners[(corners[:, 1] != 3)]
    assert set(tops[:, 0]) == {0.7}
    assert np.ptp(tops[:, 1]) < 1
    assert set(curves(ax)[0][:, 0]) == {0.5}


def test_genes_of_studies_have_a_dot_for_each_study_and_their_mean():
    figure = draw_genes(
        ["g1", "g2"],
        [[1.0, None, 2.0], [-0.5, -1.0, 0.2]],
        [(1.4, 0.9, 1.9), (-0.4, None, None)],
        "d",
    )
    (ax,) = figure.axes
    green = to_hex(GENESIG_COLOUR)
    ink = to_hex(INK)
    assert sorted(dots(ax)) == sorted(
        [
            ([[1.4, 0]], ink),
            ([[-0.4, 1]], ink),
            ([[1.0, 0], [2.0, 0]], green),
            ([[-0.5, 1], [-1.0, 1], [0.2, 1]], green),
        ]
    )
    assert segments(ax) == [([[0.9, 0, 1.9, 0]], ink)]
    assert set(curves(ax)[0][:, 0]) == {0}
    assert y_ticks(ax) == {"g1": 0, "g2": 1}
