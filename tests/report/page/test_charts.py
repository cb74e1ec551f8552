"""Charts draw the numbers of their data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_figures import (
    boxes,
    curves,
    dots,
    labels,
    named_points,
    rows_have_room,
    segments,
    x_ticks,
    y_ticks,
)
from matplotlib.colors import to_hex

from genesig.report.page import charts
from genesig.report.page.charts import number_at_risk
from genesig.report.page.style import GENESIG_COLOUR, INK, NEGATIVE, POSITIVE
from genesig.report.page.words import percent

CURVE: Any = {
    "group": "low",
    "time": [0.0, 1.0, 2.0],
    "survival": [1.0, 0.6, 0.4],
    "low": [1.0, 0.3, 0.1],
    "high": [1.0, 0.8, 0.7],
    "at_risk": [5, 3, 1],
}


def test_at_risk_counts_those_whose_follow_up_ends_at_that_time() -> None:
    assert [number_at_risk(CURVE, time) for time in (0.5, 1.0, 2.5)] == [3, 3, 0]


def test_survival_curves_fall_at_their_times_above_the_numbers_at_risk() -> None:
    high: Any = CURVE | {"group": "high", "time": [0.0, 3.0, 4.0], "survival": [1.0, 0.5, 0.2]}
    figure = charts.kaplan_meier([CURVE, high], "days", 1.5)
    ax, risk_axes = figure.axes
    for curve, line, band in zip((CURVE, high), ax.lines, ax.collections, strict=False):
        assert line.get_drawstyle() == "steps-post"
        assert (
            line.get_xydata().tolist()
            == np.column_stack([curve["time"], curve["survival"]]).tolist()
        )
        colour = to_hex({"low": NEGATIVE, "high": POSITIVE}[curve["group"]])
        assert to_hex(line.get_color()) == to_hex(band.get_facecolor()[0]) == colour
        (path,) = band.get_paths()
        area = path.vertices
        for limit in ("low", "high"):
            for start, stop, value in zip(
                curve["time"], curve["time"][1:], curve[limit], strict=False
            ):
                assert value in area[(area[:, 0] >= start) & (area[:, 0] <= stop), 1]
    assert ax.get_ylim()[0] == 0
    assert 1 < ax.get_ylim()[1] < 1.1
    assert set(ax.lines[2].get_xdata()) == {1.5}
    notes = {text.get_text(): text.xy for text in ax.texts}
    assert notes == {"low risk": (2.0, 0.4), "high risk": (4.0, 0.2)}
    assert y_ticks(risk_axes) == {"low": 0, "high": 1}
    at_risk = [(*text.get_position(), text.get_text()) for text in risk_axes.texts]
    times = sorted({x for x, _, _ in at_risk})
    assert times[0] == 0
    assert times[-1] == 4
    assert list(x_ticks(risk_axes).values()) == times
    assert [float(text) for text in x_ticks(risk_axes)] == pytest.approx(times)
    for row, curve in enumerate((CURVE, high)):
        follow_up = np.repeat(curve["time"], -np.diff([*curve["at_risk"], 0]))  # 2, 2 and 1 samples
        for time in times:
            assert (time, row, str((follow_up >= time).sum())) in at_risk
    bottom, top = risk_axes.get_ylim()
    assert top < 0 < 1 < bottom  # the first group is above
    assert risk_axes.get_xlabel() == "time (days)"


def test_forest_draws_each_value_in_its_interval_and_the_middle_of_permuted_values() -> None:
    rows = [
        charts.ForestRow("a", 0.8, (0.6, 0.9), GENESIG_COLOUR, marker="D", bold=True),
        charts.ForestRow("b", 0.5, (None, None)),
        charts.ForestRow("c", None, (0.2, 0.3)),
    ]
    null = list(np.linspace(0, 0.4, 41))
    figure = charts.forest(rows, "AUC", reference_value=0.5, null_values=null, in_percent=True)
    (ax,) = figure.axes
    assert segments(ax) == [
        ([[0.6, 0, 0.9, 0]], to_hex(GENESIG_COLOUR)),
        ([[0.2, 2, 0.3, 2]], to_hex(INK)),
    ]
    assert dots(ax) == [([[0.8, 0]], to_hex(GENESIG_COLOUR)), ([[0.5, 1]], to_hex(INK))]
    assert y_ticks(ax) == {"a": 0, "b": 1, "c": 2}
    weights = [label.get_fontweight() for label in ax.get_yticklabels()]
    assert weights == ["bold", "normal", "normal"]
    bottom, top = ax.get_ylim()
    assert top < 0 < 2 < bottom
    assert [set(curve[:, 0]) for curve in curves(ax)] == [{0.5}]
    (band,) = boxes(ax)
    assert band == pytest.approx([0.01, 0, 0.39, 1])  # 2.5 and 97.5 of 100
    assert labels(ax)["permuted labels"][0] == pytest.approx(0.2)
    figure.canvas.draw()
    for text, position in x_ticks(ax).items():
        assert text == percent(position)
    (without,) = charts.forest(rows, "AUC", null_values=null[:9]).axes
    assert not boxes(without)
    assert not curves(without)


@pytest.mark.parametrize(("n_rows", "small"), [(6, False), (16, True)])
def test_rows_of_a_forest_have_room_for_their_names(n_rows: int, small: bool) -> None:
    rows = [charts.ForestRow(f"row {k}", 0.5, (0.4, 0.6)) for k in range(n_rows)]
    figure = charts.forest(rows, "AUC", small=small)
    assert rows_have_room(figure)


@pytest.mark.parametrize(("observed", "is_left"), [(0.9, False), (-0.2, True)])
def test_histogram_counts_all_permutations_beside_the_observed_value(
    observed: float, is_left: bool
) -> None:
    permuted = [0.1] * 5 + [0.5] * 20 + [0.85] * 15
    write = "{:.2f}".format
    figure = charts.permuted_values(permuted, observed, "accuracy", write, in_percent=False)
    (ax,) = figure.axes
    bars = [bar for bar in boxes(ax) if bar[3] > 0]
    assert [bar[3] for bar in bars] == [5, 20, 15]
    for bar, value in zip(bars, (0.1, 0.5, 0.85), strict=True):
        assert bar[0] - 1e-9 <= value <= bar[2]
    all_bars = boxes(ax)
    assert all_bars[0][0] == pytest.approx(min([*permuted, observed]))
    assert all_bars[-1][2] == pytest.approx(max([*permuted, observed]))
    ((line,), colour), *_ = segments(ax)
    assert (line[0], line[1], line[2], colour) == (observed, 0, observed, to_hex(GENESIG_COLOUR))
    assert ax.get_ylim()[0] == 0
    assert 20 < line[3] < labels(ax)[f"observed {observed:.2f}"][1] < ax.get_ylim()[1]
    (text,) = ax.texts
    assert text.get_position()[0] == observed
    assert text.get_horizontalalignment() == ("left" if is_left else "right")


def test_observed_values_stand_over_predicted_ones_beside_the_diagonal() -> None:
    x = [0.5, 2.0, -1.0]
    y = [1.0, 3.5, 0.0]
    _, ax = charts.observed_predicted(x, y, ["p", "q", "r"], ("predicted", "observed"), "R² 0.4")
    points = np.column_stack([x, y]).tolist()
    assert dots(ax) == [(points, to_hex(GENESIG_COLOUR))]
    assert named_points(ax) == [(["p", "q", "r"], points)]
    assert curves(ax)[0].tolist() == [[-1.0, -1.0], [3.5, 3.5]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "observed")
    assert "R² 0.4" in labels(ax)


def test_roc_axes_hold_all_rates_and_the_line_of_chance() -> None:
    _, ax = charts.roc_axes(["well", "ill"])
    assert curves(ax)[0].tolist() == [[0, 0], [1, 1]]
    for low, high in (ax.get_xlim(), ax.get_ylim()):
        assert -0.05 < low <= 0 < 1 <= high < 1.05
    assert ax.get_xlabel() == "false positive rate (well called ill)"
    assert ax.get_ylabel() == "sensitivity (ill called ill)"


def test_confusion_matrix_has_counts_over_shares_of_the_true_class() -> None:
    matrix = [[6, 2, 0], [1, 3, 0], [0, 0, 0]]
    figure = charts.confusion(matrix, ["a", "b", "c"])
    (ax,) = figure.axes
    positions = {text.get_position(): text.get_text() for text in ax.texts}
    assert positions == {
        (0, 0): "6\n75%",
        (1, 0): "2\n25%",
        (2, 0): "0\n0%",
        (0, 1): "1\n25%",
        (1, 1): "3\n75%",
        (2, 1): "0\n0%",
        (0, 2): "0\n–",
        (1, 2): "0\n–",
        (2, 2): "0\n–",
    }
    (image,) = ax.images
    assert image.get_array().tolist() == [[0.75, 0.25, 0], [0.25, 0.75, 0], [0, 0, 0]]
    assert image.get_clim() == (0, 1)
    assert x_ticks(ax) == y_ticks(ax) == {"a": 0, "b": 1, "c": 2}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "true")


def test_axes_of_frequencies_mark_the_threshold_and_name_the_rows() -> None:
    figure, frequency_axes, size_axes = charts.frequencies(["g1", "g2"], [True, False], 0.75, "n")
    assert [set(curve[:, 0]) for curve in curves(frequency_axes)] == [{0.75}]
    assert labels(frequency_axes)["75%"][0] == 0.75
    assert y_ticks(frequency_axes) == {"g1": 0, "g2": 1}
    weights = [label.get_fontweight() for label in frequency_axes.get_yticklabels()]
    assert weights == ["bold", "normal"]
    bottom, top = frequency_axes.get_ylim()
    assert top < 0 < 1 < bottom
    low, high = frequency_axes.get_xlim()
    assert -0.1 < low <= 0 < 1 <= high < 1.1
    assert (frequency_axes.get_xlabel(), size_axes.get_xlabel()) == ("selection frequency", "n")
    figure.clear()
