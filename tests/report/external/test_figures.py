"""The figures of an external cohort draw the numbers of its record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_figures import boxes, curves, dots, labels, named_points, segments, y_ticks
from matplotlib.colors import to_hex

from genesig.report.external.figures import (
    draw_observed,
    draw_reliability,
    draw_roc,
    draw_scores,
    draw_shift,
)
from genesig.report.page.style import CLASS_COLOURS, GENESIG_COLOUR, INK

CLASSES = ["well", "ill"]
WELL, ILL = map(to_hex, CLASS_COLOURS[:2])


def estimate(value: float | None, low: float | None = None, high: float | None = None) -> Any:
    return {"value": value, "low": low, "high": high}


def scored(*points: tuple[str, str, float], **scores: float) -> Any:
    rows = [{"sample": name, "label": label, "score": score} for name, label, score in points]
    return {
        "name": "other study",
        "points": rows,
        "reliability": [],
        "scores": {name: estimate(value) for name, value in scores.items()},
    }


def test_reliability_has_shares_with_limits_and_the_calibration_line() -> None:
    cohort = scored(
        ("p", "well", -1.6),
        ("q", "ill", 0.9),
        calibration_slope=1.5,
        calibration_intercept=-0.2,
    )
    cohort["reliability"] = [
        {"score": -0.5, "share": 0.2, "low": 0.1, "high": 0.4, "samples": 11},
        {"score": 0.6, "share": 0.7, "low": 0.5, "high": 0.8, "samples": 12},
    ]
    (ax,) = draw_reliability(cohort, CLASSES).axes
    expected, fitted = curves(ax)
    assert expected.tolist() == [[-1.6, 0], [-1, 0], [1, 1]]  # a score is 2p − 1
    assert (fitted[0, 0], fitted[-1, 0]) == (-1.6, 1)
    line = np.interp([-0.2, 0.0, 0.4], *fitted.T)
    assert line == pytest.approx([0.25, 0.4, 0.7], abs=1e-3)  # (1 − 0.2 + 1.5 s) / 2
    assert fitted[:, 1].min() == 0
    assert fitted[:, 1].max() == 1
    assert [part for part, _ in segments(ax)] == [[[-0.5, 0.1, -0.5, 0.4]], [[0.6, 0.5, 0.6, 0.8]]]
    shares = [points for points, colour in dots(ax) if colour == to_hex(INK)]
    assert shares == [[[-0.5, 0.2]], [[0.6, 0.7]]]
    assert {text: x for text, (x, _) in labels(ax).items()} == {"11": -0.5, "12": 0.6}
    low, high = ax.get_ylim()
    (well,), (ill,) = (points for points, colour in dots(ax) if colour in (WELL, ILL))
    assert (well[0], ill[0]) == (-1.6, 0.9)
    assert low < well[1] < ill[1] < 0 < 1 < high
    for name in ("slope", "intercept"):
        without = {**cohort, "scores": cohort["scores"] | {f"calibration_{name}": estimate(None)}}
        assert len(draw_reliability(without, CLASSES).axes[0].lines) == 1


def test_observed_numbers_have_the_line_of_their_calibration() -> None:
    cohort = scored(
        ("p", "2.5", 1.0),
        ("q", "4", 3.0),
        calibration_slope=0.5,
        calibration_intercept=2.0,
    )
    cohort["scores"]["r2"] = estimate(0.4, 0.1, 0.6)
    (ax,) = draw_observed(cohort, "age").axes
    diagonal, line = curves(ax)
    assert diagonal.tolist() == [[1, 1], [4, 4]]
    assert line.tolist() == [[1, 2.5], [3, 3.5]]
    assert dots(ax)[0][0] == [[1, 2.5], [3, 4]]
    assert named_points(ax) == [(["p", "q"], [[1, 2.5], [3, 4]])]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted age", "observed")


def test_scores_of_study_and_cohort_have_a_row_and_a_median_for_each_class() -> None:
    cohort = scored(("p", "ill", 0.4), ("q", "ill", 0.8), ("r", "ill", 0.5))
    held_out: Any = [
        {"sample": "a", "label": "well", "mean": -1.0},
        {"sample": "b", "label": "well", "mean": -0.5},
        {"sample": "c", "label": "ill", "mean": 0.3},
    ]
    (ax,) = draw_scores(held_out, cohort, CLASSES).axes
    rows = y_ticks(ax)
    assert list(rows) == ["well (2)", "ill (1)", "well (0)", "ill (3)"]
    heights = list(rows.values())
    bottom, top = ax.get_ylim()
    assert bottom < min(heights)
    assert max(heights) < top
    assert np.diff(heights).max() < -0.7  # room for the dots of each row, downwards
    values = [[-1.0, -0.5], [0.3], [], [0.4, 0.5, 0.8]]
    for (points, colour), row, expected, of_class in zip(
        dots(ax), heights, values, (WELL, ILL, WELL, ILL), strict=True
    ):
        assert [x for x, _ in points] == expected
        assert all(abs(y - row) < 0.3 for _, y in points)
        assert not expected or colour == of_class
    named = named_points(ax)
    assert [names for names, _ in named] == [["a", "b"], ["c"], ["p", "r", "q"]]
    assert [points for _, points in named] == [points for points, _ in dots(ax) if points]
    medians = [part for part, _ in segments(ax)]
    for (median,), row, expected in zip(medians, (0, 1, 3), (-0.75, 0.3, 0.5), strict=True):
        assert median[::2] == [expected, expected]
        assert median[1] < heights[row] < median[3]
    threshold, border = curves(ax)
    assert set(threshold[:, 0]) == {0}
    assert heights[1] > border[0, 1] > heights[2]  # between study and cohort
    notes = {text: y for text, (_, y) in labels(ax).items()}
    assert heights[0] < notes["this study, mean score while held out"]
    assert heights[1] > notes["other study"] > heights[2]


def test_roc_curve_of_the_cohort_is_above_those_of_the_study() -> None:
    held_out: Any = [{"x": [0, 0.5, 1], "y": [0, 1, 1]}]
    cohort: Any = {"x": [0, 0.2, 1], "y": [0, 0.6, 1]}
    (ax,) = draw_roc(held_out, cohort, estimate(0.7, 0.5, 0.9), CLASSES).axes
    _, study_line, cohort_line = ax.lines
    assert study_line.get_xydata().tolist() == [[0, 0], [0.5, 1], [1, 1]]
    assert cohort_line.get_xydata().tolist() == [[0, 0], [0.2, 0.6], [1, 1]]
    assert to_hex(cohort_line.get_color()) == to_hex(GENESIG_COLOUR)
    assert [text.get_text() for text in ax.texts] == ["AUC 0.70 (0.50–0.90)"]


@pytest.mark.parametrize("combat", [False, True])
def test_shifts_have_their_counts_the_band_by_chance_and_the_genes_of_the_model(
    combat: bool,
) -> None:
    cohort: Any = {
        "combat": combat,
        "shift": {
            "by_chance": 0.25,
            "edges": [-2.0, -1.0, 0.0, 1.0, 2.0],
            "measured": {"counts": [1, 4, 8, 2]},
            "scored": {"counts": [0, 20, 10, 0]},
        },
        "genes": [
            {"gene": "g1", "symbol": "", "weight": 0.1, "shift": -0.5},
            {"gene": "g2", "symbol": "", "weight": -0.9, "shift": 3.0},  # beyond the last edge
            {"gene": "g3", "symbol": "", "weight": 0.5, "shift": None},
            *(
                {"gene": f"h{k}", "symbol": "", "weight": 0.01 * k, "shift": 0.0}
                for k in range(1, 7)
            ),
        ],
    }
    (ax,) = draw_shift(cohort).axes
    (band,) = boxes(ax)
    assert band == pytest.approx([-0.49, 0, 0.49, 1], abs=1e-9)
    measured, *after_combat = (patch.get_data() for patch in ax.patches[1:])
    assert measured.values.tolist() == [1, 4, 8, 2]
    assert measured.edges.tolist() == [-2, -1, 0, 1, 2]
    assert [steps.values.tolist() for steps in after_combat] == [[0, 8, 4, 0]] * combat
    lines = [line for (line,), _ in segments(ax)]
    assert [line[0] for line in lines] == [2.0, -0.5, *[0.0] * 6, 0.0]  # by weight, then zero
    assert all(line[1] == 0 and 8 < line[3] < ax.get_ylim()[1] for line in lines[:-1])
    names = {text.strip(): position for text, position in labels(ax).items()}
    assert list(names) == ["g2", "g1", "h6", "h5", "h4", "h3"]
    assert [x for x, _ in names.values()] == [2.0, -0.5, 0, 0, 0, 0]
    heights = [y for _, y in names.values()]
    assert lines[0][3] < heights[0]
    assert min(np.diff(heights)) > 0.5
    assert heights[-1] < ax.get_ylim()[1]
    assert ax.get_ylim()[0] == 0
    sides = [text.get_horizontalalignment() for text in ax.texts]
    assert sides == ["right", *["left"] * 5]
