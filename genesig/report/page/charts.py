"""Figures and axes that several topics share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from genesig.report.page.measure import Measure, model_name
from genesig.report.page.record import GroupCurve
from genesig.report.page.style import (
    BEHIND_LABEL,
    GENESIG_COLOUR,
    GREY,
    HALF_WIDTH,
    INK,
    MUTED,
    NEGATIVE,
    ON_IMAGE,
    PAGE_WIDTH,
    PAPER,
    POSITIVE,
    RULE,
    hide_frame,
    new_figure,
    reference_line,
    small_label,
)
from genesig.report.page.svg import SAMPLE, FigureColumns, name_points
from genesig.report.page.tables import TableRow, transposed
from genesig.report.page.words import ABSENT, Write, clean, percent, shorten, significant

if TYPE_CHECKING:  # the job that collects report_data.json does not load matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


T = TypeVar("T", int, float)
MIN_BAND_PERMUTATIONS = 10  # permutations from which the band of their values is drawn


class ForestRow(NamedTuple):
    """A row of a forest plot."""

    name: str
    value: float | None
    limits: tuple[float | None, float | None]  # of the interval
    colour: str = INK
    marker: str = "o"
    bold: bool = False


MAX_SMALL_HEIGHT = 2.4  # inches of a small forest plot, unless its labels need more


def forest(
    rows: Sequence[ForestRow],
    label: str,
    *,
    reference_value: float | None = None,
    null_values: Sequence[float] = (),
    small: bool = False,
    in_percent: bool = False,
) -> Figure:
    """Draw values with their intervals, one below the other; `label` names the axis of values.

    A dashed line is at `reference_value`. A grey band shows the middle 95% of `null_values`, those
    with permuted labels, if they are at least `MIN_BAND_PERMUTATIONS`. A `small` figure has half
    the width of the page.
    """
    height = 1.0 + 0.3 * len(rows)
    if small:
        height = max(min(height, MAX_SMALL_HEIGHT), 0.62 + 0.152 * len(rows))
    figure, ax = new_figure(HALF_WIDTH if small else PAGE_WIDTH, height)
    if len(null_values) >= MIN_BAND_PERMUTATIONS:
        _draw_permuted_band(ax, null_values)
    for y, row in enumerate(rows):
        low, high = row.limits
        if low is not None and high is not None:
            ax.hlines(y, low, high, color=row.colour, lw=2.2 if row.bold else 1.6)
        if row.value is not None:
            ax.scatter(
                [row.value], [y], s=46, marker=row.marker, color=row.colour, zorder=3, clip_on=False
            )
    ax.set_yticks(range(len(rows)), [row.name for row in rows])
    for text, row in zip(ax.get_yticklabels(), rows, strict=True):
        text.set_fontweight("bold" if row.bold else "normal")
    ax.set_ylim(len(rows) - 0.5, -0.7)
    reference_line(ax, x=reference_value)
    ax.set_xlabel(label)
    if in_percent:
        _label_in_percent(ax)
    ax.tick_params(axis="y", length=0, pad=8)
    ax.grid(axis="x")
    return figure


def colour_legend(
    figure: Figure, names: Sequence[str], colours: Sequence[str], loc: Any, max_columns: int
) -> None:
    """Add a legend with a square of its colour for each name."""
    from matplotlib.patches import Rectangle

    figure.legend(
        [Rectangle((0, 0), 1, 1, color=colour, lw=0) for colour in colours],
        names,
        loc=loc,
        ncols=min(len(names), max_columns),
        fontsize=8,
        handlelength=1.0,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def runs_of_equal(values: Sequence[Any]) -> list[tuple[int, int, Any]]:
    """Return (start, stop, value) of each run of equal values."""
    runs = []
    start = 0
    for value, run in groupby(values):
        stop = start + len(list(run))
        runs.append((start, stop, value))
        start = stop
    return runs


def spaced_positions(positions: Iterable[T], min_distance: float) -> list[T]:
    """Return ascending positions, for labels, without those too near the one kept before."""
    spaced: list[T] = []
    for position in positions:
        if not spaced or position - spaced[-1] >= min_distance:
            spaced.append(position)
    return spaced


def _label_in_percent(ax: Axes) -> None:
    """Write the values of the horizontal axis as per cent."""
    from matplotlib.ticker import MaxNLocator

    # Steps of 2.5 would be rounded to labels at unequal distances.
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(lambda value, _: percent(value))


def frequencies(
    names: Sequence[str], bold: Sequence[bool], threshold: float, size_label: str
) -> tuple[Figure, Axes, Axes]:
    """Return empty axes for the selection frequency of named rows, and for a size beside it.

    A dashed line marks the frequency `threshold` from which a row is in the list.
    """
    figure, (frequency_axes, size_axes) = new_figure(
        PAGE_WIDTH,
        1.2 + 0.2 * len(names),
        1,
        2,
        sharey=True,
        width_ratios=[2.2, 1],
        squeeze=True,
        gap=0.03,
    )
    reference_line(frequency_axes, x=threshold)
    above_axes = {"ha": "center", "va": "bottom", "transform": frequency_axes.get_xaxis_transform()}
    small_label(frequency_axes, threshold, 1.005, percent(threshold), **above_axes)
    frequency_axes.set_yticks(range(len(names)), names)
    for label, is_bold in zip(frequency_axes.get_yticklabels(), bold, strict=True):
        label.set_fontweight("bold" if is_bold else "normal")
    frequency_axes.set_ylim(len(names) - 0.4, -0.7)
    frequency_axes.set_xlim(-0.03, 1.03)
    frequency_axes.set_xlabel("selection frequency")
    size_axes.set_xlabel(size_label)
    size_axes.ticklabel_format(axis="x", style="plain")
    size_axes.locator_params(axis="x", nbins=3)
    for ax in (frequency_axes, size_axes):
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", color=RULE, lw=0.5)
        ax.spines["left"].set_visible(False)
    return figure, frequency_axes, size_axes


def _draw_permuted_band(ax: Axes, values: Sequence[float]) -> None:
    """Draw a grey band over the middle 95% of values with permuted labels."""
    low, high = np.quantile(values, [0.025, 0.975])
    ax.axvspan(low, high, color=GREY, alpha=0.22, lw=0)
    above_axes = {"ha": "center", "va": "bottom", "transform": ax.get_xaxis_transform()}
    small_label(ax, (low + high) / 2, 1.01, "permuted labels", **above_axes)


def permuted_values(
    permuted: Sequence[float], observed: float, name: str, write: Write, *, in_percent: bool
) -> Figure:
    """Draw a histogram of values with permuted labels, and the observed value as a line."""
    from matplotlib.ticker import MaxNLocator

    figure, ax = new_figure(HALF_WIDTH, 2.9)
    low = min([*permuted, observed])
    high = max([*permuted, observed])
    n_bins = min(25, max(8, len(permuted) // 4))
    bins = np.linspace(low, high + 1e-9, n_bins + 1)  # of some width, also if all values are equal
    ax.hist(permuted, bins=bins, color=GREY, alpha=0.75, edgecolor=PAPER, lw=0.6)
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    top = ax.get_ylim()[1] * 1.18
    ax.set_ylim(0, top)
    ax.vlines(observed, 0, top * 0.86, color=GENESIG_COLOUR, lw=2.2)
    is_left = observed < (low + high) / 2
    ax.text(
        observed,
        top * 0.88,
        f"observed {write(observed)}",
        color=GENESIG_COLOUR,
        va="bottom",
        ha="left" if is_left else "right",
        fontweight="bold",
    )
    if in_percent:
        _label_in_percent(ax)
    ax.set_xlabel(f"{name} with permuted labels")
    ax.set_ylabel("permutations")
    return figure


def observed_predicted(
    x: Sequence[float],
    y: Sequence[float],
    names: Sequence[str],
    labels: tuple[str, str],
    text: str,
    kind: str = SAMPLE,
) -> tuple[Figure, Axes]:
    """Scatter named samples around the dashed line of perfect prediction.

    `labels` are those of x and y; `text` stands in the corner; `kind` is that of `name_points`.
    """
    figure, ax = new_figure(HALF_WIDTH, 2.9)
    ends = [min(*x, *y), max(*x, *y)]
    ax.plot(ends, ends, color=MUTED, lw=0.9, dashes=(4, 3))
    ax.scatter(x, y, s=28, color=GENESIG_COLOUR, edgecolor=PAPER, lw=0.5, zorder=3)
    name_points(ax, x, y, names, kind)
    ax.text(0.97, 0.05, text, ha="right", transform=ax.transAxes)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    return figure, ax


def roc_axes(classes: Sequence[str]) -> tuple[Figure, Axes]:
    """Return square axes for an ROC curve of negative and positive class, with the chance line."""
    figure, ax = new_figure(HALF_WIDTH, 3.7)
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.9, dashes=(4, 3))
    ax.set_aspect("equal")
    ax.set_xlim(-0.01, 1)
    ax.set_ylim(0, 1.01)
    negative, positive = (shorten(name, 24) for name in classes)
    ax.set_xlabel(f"false positive rate ({negative} called {positive})")
    ax.set_ylabel(f"sensitivity ({positive} called {positive})")
    return figure, ax


MAX_HORIZONTAL_LETTERS = 36  # letters of all class names that fit below the figure in one line


def confusion(matrix: Sequence[Sequence[float]], classes: Sequence[str]) -> Figure:
    """Draw a confusion matrix (row = true class): counts, and shares of the true class."""
    from matplotlib.colors import LinearSegmentedColormap

    figure, ax = new_figure(HALF_WIDTH, 2.9)
    counts = np.array(matrix, dtype=float)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    shade = LinearSegmentedColormap.from_list("blue", ["#eef4f8", "#7fb6d6"])
    ax.imshow(share, cmap=shade, vmin=0, vmax=1, aspect="auto")
    class_numbers = range(len(classes))
    for row in class_numbers:
        for column in class_numbers:
            share_text = percent(share[row, column]) if counts[row].sum() else ABSENT
            text = f"{significant(counts[row, column], 4)}\n{share_text}"
            ax.text(
                column,
                row,
                text,
                ha="center",
                va="center",
                color=ON_IMAGE,
                fontsize=11 if len(classes) < 5 else 7,
            )
    names = [shorten(name, 16) for name in classes]
    is_horizontal = max(map(len, names)) * len(names) <= MAX_HORIZONTAL_LETTERS
    ax.set_xticks(class_numbers, names, rotation=0 if is_horizontal else 45)
    ax.set_yticks(class_numbers, names)
    ax.set_xlabel("predicted")
    ax.set_ylabel("true")
    ax.tick_params(length=0)
    hide_frame(ax)
    return figure


def confusion_data(counts: Sequence[Sequence[float]], classes: Sequence[str]) -> FigureColumns:
    """Return a confusion matrix as columns: true class, called class, samples."""
    return transposed(
        ("true", "called", "samples"),
        [
            (true, called, counts[row][column])
            for row, true in enumerate(classes)
            for column, called in enumerate(classes)
        ],
    )


def confusion_words(matrix: Sequence[Sequence[float]], classes: Sequence[str]) -> str:
    """Return the description of a confusion matrix for screen readers."""
    return "; ".join(
        f"true {clean(true)} called {clean(called)} {significant(matrix[row][column], 4)}"
        for row, true in enumerate(classes)
        for column, called in enumerate(classes)
    )


def model_values(rows: Sequence[TableRow], metric: Measure) -> str:
    """Return ``"genesig (this procedure) 0.10; ridge, all genes 0.20"``."""
    values = (f"{model_name(row['model'])} {metric.text(row['error'])}" for row in rows)
    return clean("; ".join(values))


GROUP_COLOURS = {"high": POSITIVE, "low": NEGATIVE}  # of risk groups
GROUP_STYLES = {"high": "-", "low": (0, (5, 2))}
MAX_TIMES_AT_RISK = 6  # round times with numbers at risk below the curves


def kaplan_meier_data(curves: Sequence[GroupCurve]) -> dict[str, list[Any]]:
    """Return the points of all curves as columns."""
    return transposed(
        ("group", "time", "survival", "low", "high", "at_risk"),
        [
            (curve["group"], *point)
            for curve in curves
            for point in zip(
                curve["time"],
                curve["survival"],
                curve["low"],
                curve["high"],
                curve["at_risk"],
                strict=True,
            )
        ],
    )


def kaplan_meier(curves: Sequence[GroupCurve], time_name: str, horizon: float) -> Figure:
    """Draw Kaplan-Meier curves of the risk groups, with numbers at risk; a line at the horizon.

    time_name: name of the column of times, for the axis.
    """
    from matplotlib.ticker import MaxNLocator

    figure, axes = new_figure(HALF_WIDTH, 2.75, 2, 1, sharex=True, height_ratios=[4, 0.7])
    ax, risk_axes = axes[:, 0]
    for curve in curves:
        _draw_survival_curve(ax, curve)
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("share without the event")
    ax.grid(axis="y")
    reference_line(ax, x=horizon)
    end = max(max(curve["time"]) for curve in curves)
    times = [
        float(time) for time in MaxNLocator(MAX_TIMES_AT_RISK).tick_values(0, end) if time <= end
    ]
    for row, curve in enumerate(curves):
        for time in times:
            n_at_risk = str(number_at_risk(curve, time))
            risk_axes.text(time, row, n_at_risk, ha="center", va="center", fontsize=8, color=INK)
    risk_axes.set_yticks(range(len(curves)), [curve["group"] for curve in curves])
    risk_axes.set_ylim(len(curves) - 0.4, -0.6)
    risk_axes.set_ylabel("at risk", fontsize=8, color=MUTED)
    risk_axes.tick_params(axis="y", length=0)
    risk_axes.spines["left"].set_visible(False)
    risk_axes.set_xticks(times, [significant(time, 2) for time in times])
    risk_axes.set_xlabel(f"time ({shorten(time_name, 34)})")
    return figure


def _draw_survival_curve(ax: Axes, curve: GroupCurve) -> None:
    """Draw the curve of a risk group with its band and its name."""
    colour = GROUP_COLOURS[curve["group"]]
    time = np.array(curve["time"])
    low, high = (np.array(curve[key], dtype=float) for key in ("low", "high"))
    ax.fill_between(time, low, high, step="post", color=colour, alpha=0.13, lw=0)
    ax.step(
        time,
        curve["survival"],
        where="post",
        color=colour,
        lw=1.8,
        linestyle=GROUP_STYLES[curve["group"]],
    )
    ax.annotate(
        f"{curve['group']} risk",
        (time[-1], curve["survival"][-1]),
        xytext=(4, 0),
        textcoords="offset points",
        color=colour,
        fontsize=8,
        va="center",
        bbox=BEHIND_LABEL,  # the dashed line of the horizon must not cross the label
    )


def number_at_risk(curve: GroupCurve, time: float) -> int:
    """Return the number at risk at a time: that of the next time of the curve; 0 after the last."""
    steps = zip(curve["time"], curve["at_risk"], strict=True)
    return next((n_at_risk for step, n_at_risk in steps if step >= time - 1e-9), 0)
