"""The figures of genes draw the numbers of their records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_figures import curves, dots, labels, named_points, segments, x_ticks, y_ticks
from matplotlib.colors import to_hex, to_rgba

from genesig.report.genes import section
from genesig.report.genes.figures import draw_correlation, draw_heat_map, draw_volcano
from genesig.report.genes.section import ListLength, draw_brevity
from genesig.report.page.style import (
    BLOCK_COLOURS,
    CLASS_COLOURS,
    GENESIG_COLOUR,
    GREY,
    NEGATIVE,
    PAPER,
    RULE,
    diverging,
)

STUDY: Any = {"task": "classification", "classes": ["well", "ill"], "label": "state"}


def test_correlations_have_thick_lines_between_blocks_and_thin_ones_between_layers() -> None:
    r = np.array([[1.0, 0.5, 0.2, 0.1], [0.5, 1, 0, 0], [0.2, 0, 1, -0.6], [0.1, 0, -0.6, 1]])
    data: Any = {
        "correlation": {
            "genes": ["g1", "g2", "g3", "g4"],
            "symbols": ["", "", "", ""],
            "blocks": [1, 1, 1, 2],
            "layers": [1, 1, 2, 1],
            "r": r.tolist(),
        }
    }
    ax, bar = draw_correlation(data).axes
    (image,) = ax.images
    assert image.get_array().tolist() == r.tolist()
    assert image.get_clim() == (-1, 1)
    widths: dict[float, set[float]] = {}
    for line in ax.lines:
        (edge,) = set(line.get_xdata()) - {0, 1} or set(line.get_ydata()) - {0, 1}
        widths.setdefault(edge, set()).add(line.get_linewidth())
    assert sorted(widths) == [1.5, 2.5]  # a layer, a block
    assert max(widths[1.5]) < min(widths[2.5])
    assert len(ax.lines) == 4
    assert x_ticks(ax) == {"1": 1, "2": 3}
    assert y_ticks(ax) == {"g1": 0, "g2": 1, "g3": 2, "g4": 3}
    assert bar.get_ylabel() == "Pearson's r"


def test_many_genes_have_numbers_of_large_blocks_in_place_of_their_names() -> None:
    n = 90
    blocks = [1] * 40 + [2] + [3] * 2 + [4] * 47
    data: Any = {
        "correlation": {
            "genes": [f"g{k}" for k in range(n)],
            "symbols": [""] * n,
            "blocks": blocks,
            "layers": [1] * n,
            "r": np.eye(n).tolist(),
        }
    }
    ax = draw_correlation(data).axes[0]
    expected = {"1": 19.5, "3": 41.5, "4": 66.0}  # block 2 has a single gene
    assert x_ticks(ax) == y_ticks(ax) == expected


def test_volcano_marks_the_lists_at_their_effect_and_p() -> None:
    data: Any = {
        "study": STUDY,
        "config": {"controls": {"fdr": 0.05}},
        "univariate": {"bound": 0.01},
        "volcano": {
            "effect": [-2.0, 1.0, 0.1, 3.0, -0.5],
            "p": [1e-4, 0.001, 0.8, 0.0, 0.5],
            "genes": ["g1", "g2", "g3", "g4", "g5"],
            "symbols": ["TP53", "", "", "MYC", ""],
            "signature": [True, False, False, True, False],
            "passes": [True, True, False, True, False],
            "nonlinear": [False, False, True, False, False],
            "logarithm": True,
        },
    }
    (ax,) = draw_volcano(data).axes
    height = [4.0, 3.0, -np.log10(0.8), 300.0, -np.log10(0.5)]
    points = np.column_stack([data["volcano"]["effect"], height])

    def group(*rows: int) -> list[Any]:
        return [pytest.approx(points[row]) for row in rows]

    assert dots(ax) == [
        (group(2, 4), to_hex(RULE)),
        (group(1), to_hex(GREY)),
        (group(0, 3), to_hex(GENESIG_COLOUR)),
        (group(2), "none"),
    ]
    assert to_hex(ax.collections[3].get_edgecolor()[0]) == to_hex(NEGATIVE)
    ((_, named),) = named_points(ax)
    np.testing.assert_allclose(named, points)
    limit, zero = curves(ax)
    assert set(limit[:, 1]) == {2}
    assert set(zero[:, 0]) == {0}
    assert labels(ax)["FDR 5% ↑"][1] == 2
    notes = {text.get_text(): text for text in ax.texts if hasattr(text, "xy")}
    assert {name: text.xy for name, text in notes.items()} == {
        "TP53": (-2, pytest.approx(4)),
        "MYC": (3, 300),
    }
    for name, side in (("TP53", 1), ("MYC", -1)):  # towards the middle
        assert np.sign(notes[name].get_position()[0]) == side
        assert notes[name].get_ha() == {1: "left", -1: "right"}[side]
    assert ax.get_xlabel() == "log₂ fold change, ill less well"


def heat_data(**changes: Any) -> Any:
    heat = {
        "genes": ["g1", "g2"],
        "symbols": ["TP53", ""],
        "samples": ["s1", "s2", "s3"],
        "z": [[0.5, -1.0, 0.0], [2.0, 1.0, -3.5]],
        "response": [-1.0, 1.0, 1.0],
        "batches": ["b", "a", "b"],
        "score": [-0.4, 0.8, None],
        "sample_tree": [[0.0, 1.0, 0.0, 0.0, 0.5], [0.5, 2.0, 0.5, 0.0, 2.0]],
        "gene_tree": [[0.0, 1.0, 0.0, 0.0, 3.0]],
    }
    return {"study": STUDY, "batch": {"column": "centre"}, "heat": heat | changes}


def test_heat_map_has_trees_and_bars_above_its_columns() -> None:
    figure = draw_heat_map(heat_data())
    _, sample_tree, _, bar_axes, gene_tree, body = figure.axes[:6]
    (image,) = body.images
    assert image.get_array().tolist() == [[0.5, -1.0, 0.0], [2.0, 1.0, -3.5]]
    assert image.get_clim() == (-3, 3)
    assert y_ticks(body) == {"TP53 · g1": 0, "g2": 1}
    assert x_ticks(body) == {"s1": 0, "s2": 1, "s3": 2}
    assert sample_tree.get_xlim() == body.get_xlim() == (-0.5, 2.5)
    assert gene_tree.get_ylim() == body.get_ylim() == (1.5, -0.5)
    joints = curves(sample_tree)[0].reshape(2, 5, 2)[:, :4].tolist()
    assert joints == [
        [[0, 0], [0, 0.5], [1, 0.5], [1, 0]],
        [[0.5, 0.5], [0.5, 2], [2, 2], [2, 0]],
    ]
    assert sample_tree.get_ylim()[0] == 0
    assert sample_tree.get_ylim()[1] > 2
    assert curves(gene_tree)[0][:4].tolist() == [[0, 0], [3, 0], [3, 1], [0, 1]]
    far, near = gene_tree.get_xlim()
    assert far > 3
    assert near == 0  # the leaves are beside the image
    assert y_ticks(bar_axes) == {"state": 0, "centre": 1, "held-out score": 2}
    (colours,) = (picture.get_array() for picture in bar_axes.images)
    well, ill = map(to_rgba, CLASS_COLOURS[:2])
    first, second = map(to_rgba, BLOCK_COLOURS[2:4])
    np.testing.assert_allclose(colours[0], [well, ill, ill])
    np.testing.assert_allclose(colours[1], [second, first, second])  # by name
    np.testing.assert_allclose(colours[2], [diverging()(0.25), diverging()(1.0), to_rgba(RULE)])


def test_heat_map_of_a_number_runs_from_its_smallest_to_its_largest_value() -> None:
    data = heat_data(response=[10.0, 20.0, 15.0], batches=None, score=[None, 1.0, 3.0])
    data["study"] = STUDY | {"classes": None, "task": "regression"}
    bar_axes = draw_heat_map(data).axes[3]
    assert y_ticks(bar_axes) == {"state": 0, "held-out prediction": 1}
    (colours,) = (np.array(picture.get_array()) for picture in bar_axes.images)
    low, high, middle = colours[0]
    np.testing.assert_allclose(colours[1], [low, low, high])
    assert not np.allclose(middle, low)
    assert not np.allclose(middle, high)


@pytest.mark.parametrize("has_stability", [True, False])
def test_values_of_lists_stand_over_their_number_of_genes(
    has_stability: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stabilities = (0.4, None, 0.5) if has_stability else (None, None, None)
    first, second, third = stabilities
    lengths = [
        ListLength(False, 5.0, 0.7, (0.6, 0.8), first),
        ListLength(False, 5.4, 0.75, (None, None), second),
        ListLength(True, 20.0, 0.9, (0.8, 0.95), third),
    ]
    monkeypatch.setattr(section, "list_lengths", lambda data: lengths)
    data: Any = {"study": STUDY}
    axes = draw_brevity(data).axes
    assert [ax.get_title() for ax in axes] == (["a", "b"] if has_stability else [""])
    top = axes[0]
    green = to_hex(GENESIG_COLOUR)
    white = to_hex(PAPER)
    assert dots(top) == [([[5, 0.7]], white), ([[5.4, 0.75]], white), ([[20, 0.9]], green)]
    assert [line for (line,), _ in segments(top)] == [[5, 0.6, 5, 0.8], [20, 0.8, 20, 0.95]]
    nested, chance = curves(top)
    assert nested.tolist() == [[5, 0.7], [5.4, 0.75]]
    assert set(chance[:, 1]) == {0.5}
    assert labels(top)["chance"][1] == 0.5
    assert x_ticks(axes[-1]) == {"5": 5, "20": 20}  # 5.4 would overlap
    if has_stability:
        assert dots(axes[1]) == [([[5, 0.4]], white), ([[20, 0.5]], green)]
        assert axes[1].get_ylim()[0] < 0 < 1 < axes[1].get_ylim()[1]
