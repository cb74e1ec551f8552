"""Figures of held-out predictions and of model selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.page import charts
from genesig.report.page.charts import roc_axes
from genesig.report.page.measure import measure, model_name
from genesig.report.page.record import FitStatistics, HeldOutSample, RepeatRocCurve
from genesig.report.page.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    GENESIG_COLOUR,
    INK,
    ON_IMAGE,
    PAGE_WIDTH,
    PAPER_ON_IMAGE,
    RULE,
    SEQUENTIAL,
    colour_bar,
    new_figure,
    reference_line,
)
from genesig.report.page.svg import FigureColumns, name_columns
from genesig.report.page.tables import control_rows, transposed
from genesig.report.page.words import decimal, power, shorten, significant
from genesig.report.prediction.collect import ErrorSurface, Prediction


def draw_roc(curves: Sequence[RepeatRocCurve], classes: Sequence[str], text: str) -> Figure:
    """Draw one ROC curve per repeat of the outer splits."""
    figure, ax = roc_axes(classes)
    for curve in curves:
        ax.plot(
            curve["x"], curve["y"], color=GENESIG_COLOUR, lw=1.6, alpha=max(0.35, 1 / len(curves))
        )
    ax.text(0.97, 0.06, text, ha="right", fontsize=9)
    return figure


def draw_samples(tested: Sequence[HeldOutSample], classes: Sequence[str]) -> Figure:
    """Draw the held-out scores of each sample, one dot per repeat, fewer than 400 samples."""
    ordered = sorted(tested, key=lambda sample: (classes.index(sample["label"]), sample["mean"]))
    ordered = ordered[:: max(1, len(ordered) // 200)]  # of more, every second, third, ..
    figure, ax = new_figure(PAGE_WIDTH, 3.4)
    for class_index, name in enumerate(classes):
        class_samples = [
            (position, sample) for position, sample in enumerate(ordered) if sample["label"] == name
        ]
        dot_points = [
            (position, score) for position, sample in class_samples for score in sample["scores"]
        ]
        mean_points = [
            (position, sample["mean"]) for position, sample in class_samples if sample["tested"] > 1
        ]
        ax.scatter(
            *_x_and_y(dot_points),
            s=16,
            marker=CLASS_MARKERS[class_index],
            color=CLASS_COLOURS[class_index],
            alpha=0.75,
            lw=0,
        )
        position, mean = _x_and_y(mean_points)
        ax.hlines(mean, position - 0.35, position + 0.35, color=INK, lw=1.3)
    reference_line(ax, y=0)
    name_columns(ax, [sample["sample"] for sample in ordered])
    _label_classes(ax, [classes.index(sample["label"]) for sample in ordered], classes)
    ax.set_xlim(-0.8, len(ordered) - 0.2)
    ax.set_ylabel("score while held out")
    sample_names = (
        [shorten(sample["sample"], 14) for sample in ordered] if len(ordered) <= 60 else []
    )
    ax.set_xticks(range(len(sample_names)), sample_names, rotation=90, fontsize=7)
    ax.tick_params(axis="x", length=0)
    return figure


def _x_and_y(points: list[tuple[int, float]]) -> Any:
    """Return the x and the y of points, (2, n)."""
    return np.array(points, dtype=float).reshape(-1, 2).T


def _label_classes(ax: Axes, class_of_sample: list[int], classes: Sequence[str]) -> None:
    """Name the classes above their samples, with a line between two classes."""
    for class_index, name in enumerate(classes):
        positions = [
            x for x, member_class in enumerate(class_of_sample) if member_class == class_index
        ]
        if positions:
            ax.text(
                float(np.mean(positions)),
                1.01,
                shorten(name, 24),
                transform=ax.get_xaxis_transform(),
                ha="center",
                va="bottom",
                color=CLASS_COLOURS[class_index],
                fontweight="bold",
            )
    for start in np.flatnonzero(np.diff(class_of_sample)):
        ax.axvline(start + 0.5, color=RULE, lw=1)


def draw_observed_predicted(
    samples: Sequence[HeldOutSample], fit: FitStatistics, label: str
) -> Figure:
    """Draw held-out predictions against observed values; a thin line spans the repeats."""
    figure, ax = charts.observed_predicted(
        [sample["label"] for sample in samples],
        [sample["mean"] for sample in samples],
        [sample["sample"] for sample in samples],
        (f"observed {shorten(label, 24)}", "predicted while held out"),
        f"R² {decimal(fit['r2'])}\nr {decimal(fit['r'])}",
    )
    for sample in samples:
        ax.vlines(sample["label"], min(sample["scores"]), max(sample["scores"]), color=RULE, lw=1)
    return figure


def draw_controls(data: Prediction) -> Figure:
    """Draw the measure of every method on the same splits, with its interval."""
    study_measure = measure(data)
    lines = [
        charts.ForestRow(
            model_name(row["model"]),
            study_measure.value(row["error"]),
            study_measure.interval(row),
            GENESIG_COLOUR if row["model"] == "genesig" else INK,
            bold=row["model"] == "genesig",
        )
        for row in control_rows(data)
    ]
    axis_label = f"{study_measure.name} on held-out samples"
    null_values = study_measure.values(data["null"]["errors"])
    return charts.forest(
        lines, axis_label, reference_value=study_measure.chance, null_values=null_values
    )


def draw_surface(data: Prediction) -> Figure:
    """Draw the validation error over tau and mu, the chosen points and the number of genes."""
    grid = data["surface"]
    rows = grid["rows"]
    figure, ((error_axes,), (size_axes,)) = new_figure(
        PAGE_WIDTH,
        1.7 + 0.42 * len(rows) + 1.0,
        2,
        1,
        sharex=True,
        height_ratios=[max(len(rows), 3) * 0.42, 1.3],
    )
    error = np.array(grid["error"], dtype=float)
    image = error_axes.imshow(error, cmap=SEQUENTIAL, aspect="auto", origin="lower")
    colour_bar(figure, image, error_axes, "validation error")
    max_splits = max((count for *_, count in grid["chosen"]), default=1)
    for tau_index, row, count in grid["chosen"]:
        error_axes.scatter(
            [tau_index],
            [row],
            s=60 + 200 * count / max_splits,
            color=PAPER_ON_IMAGE,
            edgecolor=ON_IMAGE,
            lw=1,
        )
        error_axes.text(
            tau_index, row, str(count), ha="center", va="center", fontsize=8, color=ON_IMAGE
        )
    tau_index, row = grid["final"]
    # A dark diamond below a thinner light one is visible on every colour.
    for colour, line_width in ((ON_IMAGE, 3.2), (PAPER_ON_IMAGE, 1.4)):
        error_axes.scatter(
            [tau_index], [row], marker="D", s=330, facecolor="none", edgecolor=colour, lw=line_width
        )
    error_axes.set_yticks(range(len(rows)), [power(row_value) for row_value in rows])
    error_axes.set_ylabel("μ" if grid["along"] == "mu" else "λ (ridge refit)")
    error_axes.tick_params(length=0)
    _draw_list_sizes(size_axes, grid)
    return figure


def surface_data(grid: ErrorSurface) -> FigureColumns:
    """Return the error at each point of the grid, and the number of splits that chose it."""
    splits_of_point = {(index, row): count for index, row, count in grid["chosen"]}
    return transposed(
        ("tau", grid["along"], "error", "splits"),
        [
            (tau, value, grid["error"][row][index], splits_of_point.get((index, row), 0))
            for row, value in enumerate(grid["rows"])
            for index, tau in enumerate(grid["tau"])
        ],
    )


def _draw_list_sizes(ax: Axes, grid: ErrorSurface) -> None:
    """Draw the number of genes along tau, a line for each searched mu."""
    tau = grid["tau"]
    for row, size in enumerate(np.array(grid["size"], dtype=float)):
        ax.plot(range(len(tau)), size, color=GENESIG_COLOUR, marker="o", markersize=3)
        defined = np.flatnonzero(~np.isnan(size))
        if len(grid["size"]) > 1 and len(defined):
            ax.annotate(
                f"μ = {power(grid['rows'][row])}",
                (defined[-1], size[defined[-1]]),
                (5, 0),
                textcoords="offset points",
                fontsize=7,
                va="center",
            )
    ax.set_ylim(bottom=0)
    ax.set_ylabel("genes")
    ax.set_xlabel("τ / τ max  (fewer genes on the left, more on the right)")
    step = max(1, len(tau) // 10)
    ax.set_xticks(range(0, len(tau), step), [significant(fraction, 2) for fraction in tau[::step]])
    ax.grid(axis="y")
