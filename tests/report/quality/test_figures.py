"""The figures of the samples' quality draw the numbers of their record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_figures import boxes, curves, dots, labels, named_points, x_ticks, y_ticks
from matplotlib.colors import to_hex

from genesig.report.page.style import CLASS_COLOURS, GREY, INK
from genesig.report.quality.figures import (
    draw_associations,
    draw_components,
    draw_distributions,
    draw_rle,
)

NAMES = ["s0", "s1", "s2", "s3"]
WELL, ILL = map(to_hex, CLASS_COLOURS[:2])
BANDS = [[k + share for share in (0.0, 0.25, 0.5, 0.75, 1.0)] for k in range(4)]
RLE = [[0.1 * value - 0.2 for value in band] for band in BANDS]


def record(**changes: Any) -> Any:
    distributions = {"logarithm": False, "quantiles": BANDS, "rle": RLE}
    quality = {
        "samples": NAMES,
        "response": [-1.0, -1.0, 1.0, 1.0],
        "batches": None,
        "changed": True,
        "before": distributions | {"logarithm": True},
        "after": distributions,
        "outliers": [{"sample": "s3", "row": 3, "rules": ["level"]}],
        "components": {
            "points": [[1.0, 2.0, 9.0], [3.0, -1.0, 9.0], [-2.0, 0.5, 9.0], [0.0, -4.0, 9.0]],
            "explained": [0.5, 0.3, 0.2, 0.0],
        },
        "colour_column": None,
    }
    study = {"classes": ["well", "ill"], "label": "state"}
    return {"quality": quality | changes, "study": study}


@pytest.mark.parametrize(("draw", "bands"), [(draw_distributions, BANDS), (draw_rle, RLE)])
def test_bands_of_a_sample_stand_above_its_name_in_the_colour_of_its_class(
    draw: Any, bands: list[list[float]]
) -> None:
    top_axes, bottom_axes = draw(record()).axes
    values = np.array(bands)
    for ax in (top_axes, bottom_axes):
        lines = [(to_hex(line.get_color()), line.get_xydata(), line) for line in ax.lines]
        by_class = [
            (line.get_linewidth(), data.reshape(-1, 3, 2)[:, :2].tolist())
            for colour, data, line in lines
            if colour in (WELL, ILL)
        ]
        widths = []
        for samples, pair in (((0, 1), by_class[:2]), ((2, 3), by_class[2:])):
            (thin, outer), (thick, inner) = pair
            assert outer == [[[k, values[k, 0]], [k, values[k, 4]]] for k in samples]
            assert inner == [[[k, values[k, 1]], [k, values[k, 3]]] for k in samples]
            widths.append((thin, thick))
        assert widths[0] == widths[1]
        assert widths[0][0] < widths[0][1]
        (medians,) = (data for colour, data, _ in lines if colour == to_hex(INK))
        marks = medians.reshape(-1, 3, 2)[:, :2]
        np.testing.assert_allclose(marks[..., 1], np.repeat(values[:, 2:3], 2, axis=1))
        np.testing.assert_allclose(marks[..., 0].mean(axis=1), range(4), atol=1e-12)
        assert (np.ptp(marks[..., 0], axis=1) > 0).all()
        assert (np.ptp(marks[..., 0], axis=1) < 1).all()  # no mark reaches the next sample
        low, high = ax.get_xlim()
        assert low < -0.5
        assert high > 3.5
    between = [set(curve[:, 0]) for curve in curves(bottom_axes)]
    assert {1.5} in between  # from the last sample of a class to the first of the next
    zero = [set(curve[:, 1]) == {0} for curve in curves(bottom_axes)]
    assert any(zero) == (draw is draw_rle)
    assert x_ticks(bottom_axes) == dict(zip(NAMES, range(4), strict=True))
    weights = [label.get_fontweight() for label in bottom_axes.get_xticklabels()]
    assert weights == ["normal"] * 3 + ["bold"]  # an outlier
    assert {text: x for text, (x, _) in labels(top_axes).items()} == {"well": 0.5, "ill": 2.5}
    unit = "RLE" if draw is draw_rle else "log₂(1 + value)"
    assert top_axes.get_ylabel() == f"{unit}\nas read"
    assert bottom_axes.get_ylabel().endswith("\nas analysed")


def test_one_panel_has_batches_above_and_names_of_outliers_alone_if_samples_are_many() -> None:
    n = 90
    bands = [[0.0, 1.0, 2.0, 3.0, 4.0]] * n
    data = record(
        samples=[f"s{k}" for k in range(n)],
        response=[-1.0, 1.0] * 45,
        batches=["a"] * 60 + ["b"] * 3 + ["c"] * 27,
        changed=False,
        after={"logarithm": False, "quantiles": bands, "rle": bands},
        outliers=[{"sample": f"s{k}", "row": k, "rules": ["level"]} for k in (7, 8, 40)],
    )
    figure = draw_distributions(data)
    (ax,) = figure.axes
    assert ax.get_ylabel() == "value"
    assert x_ticks(ax) == {"s7": 7, "s40": 40}  # s8 would overlap
    assert {label.get_fontweight() for label in ax.get_xticklabels()} == {"normal"}
    assert {text: x for text, (x, _) in labels(ax).items()} == {"a": 29.5, "c": 76}
    between = [set(curve[:, 0]) for curve in curves(ax) if len(set(curve[:, 0])) == 1]
    assert between == [{59.5}, {62.5}]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["well", "ill"]


@pytest.mark.parametrize("kind", [None, "classes", "number"])
def test_samples_stand_at_their_first_two_components(kind: str | None) -> None:
    values = {"classes": ["b", "a", "b", "c"], "number": ["3", "1.5", "", "2"]}.get(kind or "")
    column = None if kind is None else {"column": "centre", "kind": kind, "values": values}
    data = record(colour_column=column)
    points = [point[:2] for point in data["quality"]["components"]["points"]]
    axes = draw_components(data).axes
    assert dots(axes[0]) == [(points[:2], WELL), (points[2:], ILL)]
    for ax in axes[: 1 if kind is None else 2]:
        assert ax.get_xlabel() == "component 1 (50%)"
        assert ax.get_ylabel() == "component 2 (30%)"
        assert named_points(ax) == [(NAMES, points)]
        assert [(note.get_text(), note.xy) for note in ax.texts] == [("s3", (0.0, -4.0))]
        zeros = [curve.tolist() for curve in curves(ax)]
        assert zeros == [[[0, 0], [1, 0]], [[0, 0], [0, 1]]]
    legend = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert legend == ["well", "ill"]
    if kind == "classes":
        by_name = {
            artist.get_label(): artist.get_offsets().tolist() for artist in axes[1].collections
        }
        assert by_name == {"a": [points[1]], "b": [points[0], points[2]], "c": [points[3]]}
        colours = {colour for _, colour in dots(axes[1])}
        assert len(colours) == 3
        assert axes[1].get_legend().get_title().get_text() == "centre"
    elif kind == "number":
        (missing, colour), (known, _) = dots(axes[1])
        assert (missing, colour) == ([points[2]], to_hex(GREY))
        assert known == [points[0], points[1], points[3]]
        assert axes[1].collections[1].get_array().tolist() == [3, 1.5, 2]
        assert axes[1].get_title() == "centre"


def test_samples_of_a_number_are_coloured_by_it_and_run_from_small_to_large() -> None:
    data = record(response=[1.0, 2.5, 3.0, 7.0])
    data["study"] = {"classes": None, "label": "age"}
    ax, bar = draw_components(data).axes
    (scatter,) = ax.collections
    assert scatter.get_offsets().tolist() == [
        point[:2] for point in data["quality"]["components"]["points"]
    ]
    assert scatter.get_array().tolist() == [1, 2.5, 3, 7]
    assert bar.get_xlim() == (1, 7)
    assert ax.get_title() == "age"
    top_axes = draw_distributions(data).axes[0]
    assert {text: x for text, (x, _) in labels(top_axes).items()} == {
        "age, from small to large": 1.5
    }
    assert not any(set(curve[:, 0]) == {1.5} for curve in curves(top_axes))


def test_rare_values_of_a_column_are_grey_and_counted() -> None:
    values = [name for name in "abcdefgh" for _ in range(2)] + ["rare", "seldom", ""]
    n = len(values)
    points = np.random.default_rng(0).normal(size=(n, 2))
    data = record(
        samples=[f"s{k}" for k in range(n)],
        response=[-1.0] * 10 + [1.0] * (n - 10),
        outliers=[],
        components={"points": points.tolist(), "explained": [0.5, 0.3]},
        colour_column={"column": "centre", "kind": "classes", "values": values},
    )
    ax = draw_components(data).axes[1]
    by_name = {artist.get_label(): artist.get_offsets().tolist() for artist in ax.collections}
    others = [name for name in by_name if name.endswith(" others")]
    n_named = len(by_name) - len(others)
    assert others == [f"{11 - n_named} others"]
    assert sum(map(len, by_name.values())) == n
    for name in "abcde":
        assert by_name[name] == points[[value == name for value in values]].tolist()
    assert dots(ax)[0][1] == to_hex(GREY)


def test_associations_have_shares_of_each_component_and_frames_of_small_q() -> None:
    data = record(
        associations=[
            {"column": "state", "role": "label", "share": [0.1, 0.75, 0.0, 0.5]}
            | {"q": [0.5, 0.01, 0.9, 0.01]},
            {"column": "centre", "role": "", "share": [0.333, 0.02, 1.0, 0.5]}
            | {"q": [0.04, 0.06, 0.001, 0.01]},
        ]
    )
    ax, bar = draw_associations(data).axes
    (image,) = ax.images
    assert image.get_array().tolist() == [[0.1, 0.75, 0.0], [0.333, 0.02, 1.0]]
    assert image.get_clim() == (0, 1)
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    assert texts == {
        (0, 0): "10%",
        (1, 0): "75%",
        (2, 0): "0%",
        (0, 1): "33%",
        (1, 1): "2%",
        (2, 1): "100%",
    }
    framed = [((left + right) / 2, (low + high) / 2) for left, low, right, high in boxes(ax)]
    np.testing.assert_allclose(framed, [(1, 0), (0, 1), (2, 1)], atol=0.01)
    assert all(right - left < 1 > high - low for left, low, right, high in boxes(ax))
    assert x_ticks(ax) == {"1\n50%": 0, "2\n30%": 1, "3\n20%": 2}  # the fourth explains nothing
    assert y_ticks(ax) == {"state (label)": 0, "centre": 1}
    assert [text.get_fontweight() for text in ax.get_yticklabels()] == ["bold", "normal"]
    assert bar.get_ylabel() == "explained"
