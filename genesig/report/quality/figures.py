"""Figures of the quality of the samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from genesig.report.page.charts import colour_legend, runs_of_equal, spaced_positions
from genesig.report.page.measure import class_codes, class_number
from genesig.report.page.style import (
    BLOCK_COLOURS,
    BLOCK_MARKERS,
    CLASS_COLOURS,
    CLASS_MARKERS,
    GENESIG_COLOUR,
    GREY,
    HALF_WIDTH,
    INK,
    MUTED,
    ON_IMAGE,
    PAGE_WIDTH,
    PAPER,
    RULE,
    SEQUENTIAL,
    colour_bar,
    hide_frame,
    new_figure,
    reference_line,
)
from genesig.report.page.svg import name_columns, name_points
from genesig.report.page.words import percent, shorten
from genesig.report.quality.collect import (
    MAX_ADJUSTED_P,
    AssociatedColumn,
    Band,
    ColourColumn,
    QualityStudy,
    SampleDistributions,
)

MAX_LABELLED_SAMPLES = 60  # samples up to which each has its name
SAMPLE_AXIS_POINTS = 460  # width of the axis of the samples, in points


class BandPanel(NamedTuple):
    """A panel with the bands of all samples."""

    version: str  # "as read" or "as analysed"
    unit: str
    bands: Sequence[Band]


def draw_distributions(data: QualityStudy) -> Figure:
    """Draw the quantiles of each sample, as read and as analysed."""
    panels = [
        BandPanel(version, _value_unit(distributions), distributions["quantiles"])
        for version, distributions in shown_distributions(data)
    ]
    return _draw_bands(data, panels)


def draw_rle(data: QualityStudy) -> Figure:
    """Draw the relative log expression of each sample, as read and as analysed."""
    figure = _draw_bands(
        data,
        [
            BandPanel(version, "RLE", distributions["rle"])
            for version, distributions in shown_distributions(data)
        ],
    )
    for ax in figure.axes:
        reference_line(ax, y=0)
    return figure


def shown_distributions(data: QualityStudy) -> list[tuple[str, SampleDistributions]]:
    """Return (name, distributions) as read, if steps change them, and as analysed."""
    record = data["quality"]
    versions = [("as read", record["before"]), ("as analysed", record["after"])]
    return versions if record["changed"] else versions[1:]


def _value_unit(distributions: SampleDistributions) -> str:
    """Return the unit of the values."""
    return "log₂(1 + value)" if distributions["logarithm"] else "value"


def _draw_bands(data: QualityStudy, panels: Sequence[BandPanel]) -> Figure:
    """Draw the bands of all samples, one panel per version."""
    count = len(panels)
    thin_width, thick_width = _bar_widths(len(data["quality"]["samples"]))
    figure, axes = new_figure(PAGE_WIDTH, 0.95 + 1.75 * count, count, 1, sharex=True, squeeze=False)
    for ax, panel in zip(axes[:, 0], panels, strict=True):
        p5, p25, median, p75, p95 = np.array(panel.bands, dtype=float).T
        for rows, colour in _rows_by_colour(data):
            _draw_bars(ax, rows, p5[rows], p95[rows], colour, thin_width)
            _draw_bars(ax, rows, p25[rows], p75[rows], colour, thick_width)
        samples_per_point = len(median) / SAMPLE_AXIS_POINTS
        _draw_medians(ax, median, 0.6 * thick_width * samples_per_point)
        ax.set_ylabel(f"{panel.unit}\n{panel.version}" if count > 1 else panel.unit)
        ax.yaxis.set_major_locator(MaxNLocator(5))
    _label_sample_axis(figure, data)
    return figure


def _rows_by_colour(data: QualityStudy) -> list[tuple[Any, str]]:
    """Return the samples of each class with its colour."""
    response = np.array(data["quality"]["response"], dtype=float)
    if data["study"]["classes"] is None:
        return [(np.arange(len(response)), GENESIG_COLOUR)]
    codes = enumerate(class_codes(data["study"]["classes"]))
    return [
        (np.flatnonzero(response == code), CLASS_COLOURS[class_index])
        for class_index, code in codes
    ]


def _bar_widths(count: int) -> tuple[float, float]:
    """Return the widths of thin and thick bars in points; gaps between many samples are smaller."""
    points_per_sample = min(SAMPLE_AXIS_POINTS / count, 20.0)
    return max(0.16 * points_per_sample, 0.5), max(
        (0.62 if count <= MAX_LABELLED_SAMPLES else 0.85) * points_per_sample, 0.8
    )


def _draw_bars(
    ax: Axes, positions: Any, low: Any, high: Any, colour: str, line_width: float
) -> None:
    """Draw upright bars as one path, so that a page of a thousand samples stays small."""
    x = np.repeat(positions.astype(float), 3)
    y = np.column_stack([low, high, low]).ravel()
    y[2::3] = np.nan
    ax.plot(x, y, color=colour, lw=line_width, solid_capstyle="butt", alpha=0.85)


def _draw_medians(ax: Axes, values: Any, half_width: float) -> None:
    """Draw a level mark for each sample, all in one path; half_width: in samples."""
    positions = np.arange(len(values), dtype=float)
    x = np.column_stack([positions - half_width, positions + half_width, positions]).ravel()
    y = np.repeat(values, 3)
    y[2::3] = np.nan
    ax.plot(x, y, color=INK, lw=1.3, solid_capstyle="butt")


def _label_sample_axis(figure: Figure, data: QualityStudy) -> None:
    """Name samples below the panels, groups of samples above."""
    record = data["quality"]
    top_axes = figure.axes[0]
    bottom_axes = figure.axes[-1]
    count = len(record["samples"])
    for ax in figure.axes:
        name_columns(ax, record["samples"])
    bottom_axes.set_xlim(-0.8, count - 0.2)
    outlier_rows = {outlier["row"] for outlier in record["outliers"]}
    labelled_rows = (
        range(count)
        if count <= MAX_LABELLED_SAMPLES
        else spaced_positions(sorted(outlier_rows), count // 45 + 1)
    )
    names = [shorten(record["samples"][row], 14) for row in labelled_rows]
    bottom_axes.set_xticks(list(labelled_rows), names, rotation=90, fontsize=7)
    all_labelled = count <= MAX_LABELLED_SAMPLES  # otherwise only outliers have their names
    for row, text in zip(labelled_rows, bottom_axes.get_xticklabels(), strict=True):
        text.set_fontweight("bold" if row in outlier_rows and all_labelled else "normal")
    for ax in figure.axes:
        ax.tick_params(axis="x", length=0 if all_labelled else 3)
    runs = _sample_runs(data)
    for start, _, _, _ in runs[1:]:
        for ax in figure.axes:
            ax.axvline(start - 0.5, color=RULE, lw=1, zorder=0.4)
    if record["batches"] is not None and data["study"]["classes"]:
        classes = [shorten(name, 24) for name in data["study"]["classes"]]
        colour_legend(figure, classes, CLASS_COLOURS[: len(classes)], "outside upper right", 5)
    for start, stop, name, colour in runs:
        if stop - start >= count / 18:  # shorter ones have no room for a name
            top_axes.text(
                (start + stop - 1) / 2,
                1.02,
                name,
                color=colour,
                ha="center",
                va="bottom",
                fontsize=8,
                fontweight="bold",
                transform=top_axes.get_xaxis_transform(),
            )


def _sample_runs(data: QualityStudy) -> list[tuple[int, int, str, str]]:
    """Return (start, stop, name, colour) of each batch, or of each class without batches."""
    record = data["quality"]
    classes = data["study"]["classes"]
    if record["batches"] is not None:
        runs = runs_of_equal(record["batches"])
        return [(start, stop, shorten(name, 22), INK) for start, stop, name in runs]
    if classes is None:
        label = shorten(data["study"]["label"], 30)
        return [(0, len(record["samples"]), f"{label}, from small to large", INK)]
    class_runs = runs_of_equal([class_number(value, classes) for value in record["response"]])
    return [
        (start, stop, shorten(classes[class_index], 22), CLASS_COLOURS[class_index])
        for start, stop, class_index in class_runs
    ]


MAX_COMPONENTS = 8  # components in the figure of associations
MAX_NAMED_OUTLIERS = 12  # outliers with a name in the figure of components
SHARE_COLOURS = LinearSegmentedColormap.from_list("share", ["#f3f2ee", "#b3d3e6", "#5fa5d0"])


def _draw_component_axes(ax: Axes, explained: Sequence[float]) -> None:
    """Turn axes into the plane of the first two components, with the share that each explains."""
    for axis, component in ((ax.xaxis, 0), (ax.yaxis, 1)):
        axis.set_label_text(f"component {component + 1} ({percent(explained[component])})")
    ax.axhline(0, color=MUTED, lw=0.5, zorder=0)
    ax.axvline(0, color=MUTED, lw=0.5, zorder=0)
    ax.set_xticks([])
    ax.set_yticks([])
    hide_frame(ax)


def _scatter_by_label(
    ax: Axes, points: Any, response: Sequence[float], classes: Sequence[str] | None
) -> Any:
    """Scatter samples by class, or coloured by a number; return the dots of a number, else None."""
    responses = np.array(response, dtype=float)
    if classes is None:
        x, y = points[:, :2].T
        return ax.scatter(x, y, c=responses, cmap=SEQUENTIAL, s=30, edgecolor=MUTED, lw=0.6)
    for class_index, name in enumerate(classes):
        in_class = responses == class_codes(classes)[class_index]
        ax.scatter(
            points[in_class, 0],
            points[in_class, 1],
            s=34,
            color=CLASS_COLOURS[class_index],
            edgecolor=PAPER,
            lw=0.6,
            marker=CLASS_MARKERS[class_index],
            label=shorten(name, 24),
        )
    return None


def draw_components(data: QualityStudy) -> Figure:
    """Draw samples on the first two components, by the label and by another column."""
    record = data["quality"]
    points = np.array(record["components"]["points"], dtype=float)
    colour_column = record["colour_column"]
    count = 2 if colour_column else 1
    figure, axes = new_figure(
        PAGE_WIDTH if colour_column else HALF_WIDTH, 3.9, 1, count, squeeze=False, gap=0.06
    )
    image = _scatter_by_label(axes[0, 0], points, record["response"], data["study"]["classes"])
    _add_title(axes[0, 0], data["study"]["label"], has_key=image is None)
    if image is not None:
        colour_bar(figure, image, axes[0, 0], "", location="bottom", aspect=30)
    if colour_column:
        _draw_by_column(figure, axes[0, 1], points, colour_column)
    for ax in axes[0]:
        _draw_component_axes(ax, record["components"]["explained"])
        name_points(ax, points[:, 0], points[:, 1], record["samples"])
        for outlier in record["outliers"][:MAX_NAMED_OUTLIERS]:
            ax.annotate(
                shorten(outlier["sample"], 14),
                points[outlier["row"], :2],
                (4, 4),
                textcoords="offset points",
                fontsize=7,
            )
    return figure


def _add_title(ax: Axes, title: str, *, has_key: bool) -> None:
    """Name the column above the axes, with the legend of its classes if it has a key."""
    handles, names = ax.get_legend_handles_labels()
    if has_key and names:
        ax.legend(
            handles,
            names,
            loc="lower left",
            bbox_to_anchor=(-0.03, 1.0),
            fontsize=8,
            ncols=2 if len(names) < 5 else 3,
            title=shorten(title, 40),
            alignment="left",
            title_fontproperties={"weight": "bold", "size": 9},
            handletextpad=0.2,
            columnspacing=1.0,
            borderaxespad=0.2,
        )
    else:
        ax.set_title(shorten(title, 40), fontsize=9, fontweight="bold")


def _draw_by_column(figure: Figure, ax: Axes, points: Any, colour_column: ColourColumn) -> None:
    """Draw samples by the values of another column."""
    x, y = points[:, :2].T
    if colour_column["kind"] == "number":
        numbers = np.array([_float_or_nan(text) for text in colour_column["values"]])
        is_number = ~np.isnan(numbers)
        ax.scatter(x[~is_number], y[~is_number], s=30, color=GREY, alpha=0.5, lw=0)
        image = ax.scatter(
            x[is_number],
            y[is_number],
            c=numbers[is_number],
            cmap=SEQUENTIAL,
            s=30,
            edgecolor=PAPER,
            lw=0.5,
        )
        _add_title(ax, colour_column["column"], has_key=False)
        colour_bar(figure, image, ax, "", location="bottom", aspect=30)
        return
    values = np.array(colour_column["values"], dtype=object)
    names, counts = np.unique(values, return_counts=True)
    common = sorted(names[np.argsort(-counts, kind="stable")][: len(BLOCK_COLOURS)])
    is_other = ~np.isin(values, common)
    if is_other.any():
        label = f"{len(names) - len(common)} others"
        ax.scatter(x[is_other], y[is_other], s=22, color=GREY, alpha=0.6, lw=0, label=label)
    styles = list(zip(BLOCK_COLOURS, BLOCK_MARKERS, strict=True))
    # The plot of the label uses the first styles for its classes; two of them come last here.
    for name, (colour, marker) in zip(common, styles[2:] + styles[:2], strict=False):
        is_member = values == name
        ax.scatter(
            x[is_member],
            y[is_member],
            s=34,
            color=colour,
            marker=marker,
            edgecolor=PAPER,
            lw=0.6,
            label=shorten(name, 16) or "blank",
        )
    _add_title(ax, colour_column["column"], has_key=True)


def _float_or_nan(text: str) -> float:
    """Return the number that a text states, or NaN."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def draw_associations(data: QualityStudy) -> Figure:
    """Draw the share of each component that each column explains."""
    record = data["quality"]
    rows = record["associations"]
    explained = record["components"]["explained"]
    count = min(MAX_COMPONENTS, sum(share > 0 for share in explained))
    share = np.array([association["share"][:count] for association in rows], dtype=float)
    figure, ax = new_figure(PAGE_WIDTH, 1.0 + 0.27 * max(len(rows), 2))
    image = ax.imshow(share, cmap=SHARE_COLOURS, vmin=0, vmax=1, aspect="auto")
    for row, association in enumerate(rows):
        for component in range(count):
            if association["q"][component] < MAX_ADJUSTED_P:
                corner = (component - 0.47, row - 0.43)
                frame = Rectangle(corner, 0.94, 0.86, fill=False, edgecolor=ON_IMAGE, lw=1.2)
                ax.add_patch(frame)
            text = percent(share[row, component])
            ax.text(component, row, text, ha="center", va="center", fontsize=7.5, color=ON_IMAGE)
    headings = [f"{number + 1}\n{percent(explained[number])}" for number in range(count)]
    ax.set_xticks(range(count), headings)
    ax.set_yticks(range(len(rows)), [_column_label(association) for association in rows])
    ax.get_yticklabels()[0].set_fontweight("bold" if rows[0]["role"] == "label" else "normal")
    ax.tick_params(length=0)
    ax.set_xlabel("component, and its share of the variance")
    hide_frame(ax)
    colour_bar(figure, image, ax, "explained", aspect=max(8, 3 * len(rows)))
    return figure


def _column_label(association: AssociatedColumn) -> str:
    """Return the name of a column with its role."""
    name = shorten(association["column"], 30)
    return f"{name} ({association['role']})" if association["role"] else name
