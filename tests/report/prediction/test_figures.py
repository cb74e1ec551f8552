"""The figures of held-out predictions draw the scores and probabilities of their samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_figures import curves, dots, labels, segments, x_ticks, y_ticks
from matplotlib.colors import to_hex

from genesig.report.page.style import CLASS_COLOURS, GENESIG_COLOUR, MUTED
from genesig.report.prediction.decision import (
    HeldOutProbabilities,
    draw_calibration,
    draw_decisions,
)
from genesig.report.prediction.figures import (
    draw_observed_predicted,
    draw_roc,
    draw_samples,
    draw_surface,
    surface_data,
)

WELL, ILL = map(to_hex, CLASS_COLOURS[:2])


def held_out(name: str, label: str, *scores: float) -> Any:
    mean = float(np.mean(scores))
    return {"sample": name, "label": label, "scores": scores, "mean": mean, "tested": len(scores)}


def test_samples_of_a_class_run_upwards_with_a_dot_for_each_repeat_and_their_mean() -> None:
    samples = [
        held_out("a", "ill", 2.0, 1.0),
        held_out("b", "well", 0.5, -1.5),
        held_out("c", "well", -2.0),
        held_out("d", "ill", 0.4, 0.6),
    ]
    (ax,) = draw_samples(samples, ["well", "ill"]).axes
    assert x_ticks(ax) == {"c": 0, "b": 1, "d": 2, "a": 3}
    assert dots(ax) == [
        ([[0, -2.0], [1, 0.5], [1, -1.5]], WELL),
        ([[2, 0.4], [2, 0.6], [3, 2.0], [3, 1.0]], ILL),
    ]
    means = [line for part, _ in segments(ax) for line in part]
    assert [((left + right) / 2, low, high) for left, low, right, high in means] == [
        (1, -0.5, -0.5),
        (2, 0.5, 0.5),
        (3, 1.5, 1.5),
    ]
    assert all(0 < right - left < 1 for left, _, right, _ in means)
    threshold, border = curves(ax)
    assert set(threshold[:, 1]) == {0}
    assert set(border[:, 0]) == {1.5}
    assert {name: x for name, (x, _) in labels(ax).items()} == {"well": 0.5, "ill": 2.5}
    low, high = ax.get_xlim()
    assert -1 < low < -0.5
    assert 3.5 < high < 4
    many = [held_out(f"s{k}", "well", float(k)) for k in range(405)]
    (ax,) = draw_samples(many, ["well", "ill"]).axes
    ((points, _), _) = dots(ax)
    assert points == [[k, 2 * k] for k in range(203)]  # every second sample
    assert not x_ticks(ax)


def test_predictions_of_a_number_have_a_line_over_their_repeats() -> None:
    samples: Any = [held_out("a", "", 2.0, 4.0), held_out("b", "", 1.0)]
    for sample, value in zip(samples, (2.5, 1.5), strict=True):
        sample["label"] = value
    (ax,) = draw_observed_predicted(samples, {"r2": 0.25, "r": 0.5}, "age").axes  # type: ignore[typeddict-item]
    assert dots(ax)[0][0] == [[2.5, 3.0], [1.5, 1.0]]
    assert [line for line, _ in segments(ax)] == [[[2.5, 2.0, 2.5, 4.0]], [[1.5, 1.0, 1.5, 1.0]]]
    assert "R² 0.25\nr 0.50" in labels(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("observed age", "predicted while held out")


def test_roc_curves_of_all_repeats_are_drawn() -> None:
    repeats: Any = [{"x": [0, 0.5, 1], "y": [0, 1, 1]}, {"x": [0, 1], "y": [0, 1]}]
    (ax,) = draw_roc(repeats, ["well", "ill"], "AUC 0.7").axes
    assert [curve.tolist() for curve in curves(ax)[1:]] == [
        [[0, 0], [0.5, 1], [1, 1]],
        [[0, 0], [1, 1]],
    ]
    assert list(labels(ax)) == ["AUC 0.7"]


def test_surface_has_errors_choices_and_sizes_at_their_tau_and_mu() -> None:
    grid: Any = {
        "along": "mu",
        "rows": [0.001, 0.1],
        "tau": [0.9, 0.5, 0.1],
        "error": [[0.4, 0.3, 0.35], [0.45, 0.2, 0.25]],
        "size": [[1, 4, 9], [2, 5, None]],
        "chosen": [(1, 0, 1), (2, 1, 3)],
        "final": (1, 1),
    }
    figure = draw_surface({"surface": grid})  # type: ignore[typeddict-item]
    error_axes, size_axes, bar = figure.axes
    (image,) = error_axes.images
    assert image.get_array().tolist() == grid["error"]
    assert image.origin == "lower"  # so that rows and dots agree
    assert [points for points, _ in dots(error_axes)] == [[[1, 0]], [[2, 1]], [[1, 1]], [[1, 1]]]
    assert labels(error_axes) == {"1": (1, 0), "3": (2, 1)}
    assert y_ticks(error_axes) == {"10⁻³": 0, "0.1": 1}
    first, second = curves(size_axes)
    assert first.tolist() == [[0, 1], [1, 4], [2, 9]]
    assert second[:2].tolist() == [[0, 2], [1, 5]]
    notes = {text.get_text(): text.xy for text in size_axes.texts}
    assert notes == {"μ = 10⁻³": (2, 9), "μ = 0.1": (1, 5)}
    assert x_ticks(size_axes) == {"0.9": 0, "0.5": 1, "0.1": 2}
    assert size_axes.get_ylim()[0] == 0
    assert bar.get_ylabel() == "validation error"
    assert dict(surface_data(grid)) == {
        "tau": [0.9, 0.5, 0.1] * 2,
        "mu": [0.001] * 3 + [0.1] * 3,
        "error": [0.4, 0.3, 0.35, 0.45, 0.2, 0.25],
        "splits": [0, 1, 0, 0, 0, 3],
    }


def test_probabilities_have_their_observed_shares_and_net_benefit() -> None:
    probability = np.repeat([0.2, 0.8], 10)
    positive = np.array([True] * 3 + [False] * 7 + [True] * 9 + [False])
    held_out = HeldOutProbabilities(probability, positive, repeats=1, share=0.6)
    (ax,) = draw_calibration(held_out, "ill").axes
    assert curves(ax)[0].tolist() == [[0, 0], [1, 1]]
    shares = [point for (point,), colour in dots(ax) if colour == to_hex(GENESIG_COLOUR)]
    assert shares == [[pytest.approx(0.2), 0.3], [pytest.approx(0.8), pytest.approx(0.9)]]
    for ((line,), _), (x, y) in zip(segments(ax), shares, strict=True):
        assert line[0] == line[2] == x
        assert 0 < line[1] < y < line[3] < 1
    counts = [(text.get_text(), text.get_position()[0]) for text in ax.texts]
    assert counts == [("10", pytest.approx(0.2)), ("10", pytest.approx(0.8))]
    well, ill = curves(ax)[1:]
    assert well[:, 0].tolist() == [0.2] * 7 + [0.8]
    assert ill[:, 0].tolist() == [0.2] * 3 + [0.8] * 9
    low, high = ax.get_ylim()
    assert low < well[0, 1] < ill[0, 1] < 0 < 1 < high
    assert ax.get_xlim()[0] < 0 < 1 < ax.get_xlim()[1]

    (ax,) = draw_decisions(held_out, "ill").axes
    everybody, nobody, model = ax.lines
    assert to_hex(everybody.get_color()) == to_hex(MUTED)
    assert set(nobody.get_ydata()) == {0}
    threshold = np.array([0.1, 0.5, 0.9])
    odds = threshold / (1 - threshold)
    # Of 12 positive and 8 negative samples, 9 and 1 are treated above 0.2, and none above 0.8.
    benefit = 0.6 * np.array([1, 9 / 12, 0]) - 0.4 * np.array([1, 1 / 8, 0]) * odds
    assert np.interp(threshold, *model.get_data()) == pytest.approx(benefit)
    assert np.interp(threshold, *everybody.get_data()) == pytest.approx(0.6 - 0.4 * odds)
    assert ax.get_ylim()[0] < 0 < 0.6 < ax.get_ylim()[1]
    assert ax.get_xlim() == (0, 1)
    notes = {text: y for text, (_, y) in labels(ax).items()}
    assert notes["none treated as ill"] < 0
    assert notes["all treated as ill"] > 0.6
