"""The figures of the first screen draw the scores and frequencies of their rows."""

from __future__ import annotations

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

from genesig.report.answer.section import (
    MAX_NAMED_SAMPLES,
    Lollipop,
    Strip,
    draw_lollipops,
    draw_strips,
)
from genesig.report.page.style import CLASS_COLOURS, INK

WELL, ILL = map(to_hex, CLASS_COLOURS[:2])


def test_samples_stand_at_their_scores_and_errors_have_a_ring_and_a_name() -> None:
    rows = [
        Strip("well", "3 patients", WELL, [-2.0, -0.5, 0.4], ["a", "b", "c"], [False, False, True]),
        Strip("ill", "2 patients", ILL, [0.9, -0.2], ["d", "e"], [False, True]),
        Strip("none", "0 patients", ILL, [], [], []),
    ]
    figure = draw_strips(rows, ["well", "ill"], "score")
    (ax,) = figure.axes
    (well, ring), (ill, other_ring) = (
        [points for points, _ in dots(ax)[first : first + 2]] for first in (0, 2)
    )
    assert well == [[-2.0, 0], [-0.5, 0], [0.4, 0]]  # alone in their columns: on the row's line
    assert ill == [[0.9, 1], [-0.2, 1]]
    assert (ring, other_ring) == ([well[2]], [ill[1]])
    assert [colour for _, colour in dots(ax)] == [WELL, "none", ILL, "none"]
    assert [to_hex(ax.collections[k].get_edgecolor()[0]) for k in (1, 3)] == [to_hex(INK)] * 2
    assert named_points(ax) == [(["a", "b", "c"], well), (["d", "e"], ill)]
    low, high = ax.get_xlim()
    assert -2.2 < low < -2.1  # room for whole dots
    assert 1 < high < 1.1
    bottom, top = ax.get_ylim()
    assert top < -0.3
    assert bottom > 2.3
    assert boxes(ax)[0][::2] == [0, high]  # shaded where the second class is called
    assert set(curves(ax)[0][:, 0]) == {0}
    texts = labels(ax)
    assert texts["c"][0] > 0.4  # to the right of its dot, away from the threshold
    assert texts["e"][0] < -0.2
    assert 0 < texts["c"][1] < 0.5 < 1 < texts["e"][1] < 1.5
    assert {"a", "b", "d"}.isdisjoint(texts)
    assert (texts["← called well"][0], texts["called ill →"][0]) == (low, high)
    for row, (label, size) in enumerate((("well", "3 patients"), ("ill", "2 patients"))):
        assert row - 0.1 < texts[label][1] < row < texts[size][1] < row + 0.1
        assert texts[label][0] < 0


def test_equal_scores_are_stacked_around_the_line_of_their_row() -> None:
    scores = [0.5] * 8 + [-0.5, -0.3]
    is_wrong = [False] * 8 + [True] * 2
    names = [f"s{k}" for k in range(10)]
    (ax,) = draw_strips([Strip("a", "", ILL, scores, names, is_wrong)] * 2, ["x", "y"], "").axes
    for row in (0, 1):
        y = np.array(dots(ax)[2 * row][0])[:8, 1] - row
        assert np.ptp(np.diff(y)) == pytest.approx(0)
        assert np.diff(y).min() > 0
        assert y.mean() == pytest.approx(0)
        assert np.ptp(y) < 0.76  # inside its row, of height 1
    many = [Strip("a", "", ILL, [-1.0] * 7, names[:7], [True] * 7)]
    assert MAX_NAMED_SAMPLES == 6
    assert not set(names) & set(labels(draw_strips(many, ["x", "y"], "").axes[0]))


def test_scores_of_zero_have_axes_of_some_width() -> None:
    strip = Strip("a", "", ILL, [0.0, 0.0], ["s", "t"], [False, False])
    low, high = draw_strips([strip], ["x", "y"], "").axes[0].get_xlim()
    assert -1 < low < 0 < high < 1


def test_genes_stand_at_their_frequency_beside_that_of_permuted_labels() -> None:
    genes = [
        Lollipop("TP53", "g1", ILL, 0.95, 0.1, 0.011),
        Lollipop("MYC", "g2", WELL, 0.4, None, None),
    ]
    figure = draw_lollipops(genes, "selection frequency")
    (ax,) = figure.axes
    assert dots(ax) == [([[0.95, 0]], ILL), ([[0.4, 1]], WELL)]
    stem, tick, other_stem = (part for (part,), _ in segments(ax))
    assert (stem, other_stem) == ([0, 0, 0.95, 0], [0, 1, 0.4, 1])
    assert tick[0] == tick[2] == 0.1
    assert -0.5 < tick[1] < 0 < tick[3] < 0.5
    assert [colour for _, colour in segments(ax)] == [ILL, to_hex(INK), WELL]
    assert y_ticks(ax) == {"TP53": 0, "MYC": 1}
    assert x_ticks(ax) == {"0%": 0, "25%": 0.25, "50%": 0.5, "75%": 0.75, "100%": 1}
    ((text, (x, y)),) = labels(ax).items()
    assert (text, y) == ("q 0.011", 0)
    assert x > 1
    low, high = ax.get_xlim()
    assert (low, 1 <= high < 1.1) == (0, True)
    bottom, top = ax.get_ylim()
    assert top < 0 < 4 < bottom  # room for five rows
    assert rows_have_room(draw_lollipops(genes * 4, "selection frequency"))
