"""Figures of genes and their values.

A block is a group of correlated selected genes; the genes of a layer enter it at the same μ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from genesig.arrays import Array
from genesig.report.genes.record import Genes, HeatMap, Tree
from genesig.report.page.charts import colour_legend, runs_of_equal, spaced_positions
from genesig.report.page.measure import class_number, measure
from genesig.report.page.record import StudyFacts
from genesig.report.page.style import (
    BLOCK_COLOURS,
    CLASS_COLOURS,
    GENESIG_COLOUR,
    GREY,
    MUTED,
    NEGATIVE,
    ON_IMAGE,
    PAGE_WIDTH,
    PAPER,
    RULE,
    SEQUENTIAL,
    colour_bar,
    diverging,
    hide_frame,
    new_figure,
    reference_line,
    small_label,
)
from genesig.report.page.svg import GENE, gene_names, name_columns, name_points, name_rows
from genesig.report.page.words import gene_label, percent, short_symbol, shorten

MAX_LABELLED_ROWS = 45  # genes up to which the correlation image has their names


def draw_correlation(data: Genes) -> Figure:
    """Draw Pearson's r by block and layer; thick lines separate blocks, thin lines layers."""
    correlation = data["correlation"]
    count = len(correlation["genes"])
    is_labelled = count <= MAX_LABELLED_ROWS
    figure, ax = new_figure(PAGE_WIDTH, 5.0 if is_labelled else 6.2)
    image = ax.imshow(np.array(correlation["r"]), cmap=diverging(), vmin=-1, vmax=1)
    colour_bar(figure, image, ax, "Pearson's r", shrink=0.6)
    block_and_layer = list(zip(correlation["blocks"], correlation["layers"], strict=True))
    for edge in range(1, count):
        if block_and_layer[edge] != block_and_layer[edge - 1]:
            is_block_edge = block_and_layer[edge][0] != block_and_layer[edge - 1][0]
            for draw in (ax.axhline, ax.axvline):
                draw(edge - 0.5, color=ON_IMAGE, lw=1.6 if is_block_edge else 0.5)
    labels = gene_names(correlation["genes"], correlation["symbols"])
    name_rows(ax, labels)
    name_columns(ax, labels, GENE)
    min_genes = max(1, count // MAX_LABELLED_ROWS)  # of a block with a number beside it
    block_at_middle = {
        (start + stop - 1) / 2: block
        for start, stop, block in runs_of_equal(correlation["blocks"])
        if stop - start >= min_genes
    }
    ticks = spaced_positions(block_at_middle, count / 36)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(ticks, [str(block_at_middle[tick]) for tick in ticks])
    ax.set_xlabel("block")
    ax.set_ylabel("block")
    if is_labelled:
        names = [
            gene_label(gene, symbol, 32)
            for gene, symbol in zip(correlation["genes"], correlation["symbols"], strict=True)
        ]
        ax.set_yticks(range(count), names, fontsize=6)
        ax.set_ylabel("")
    ax.tick_params(length=0)
    hide_frame(ax)
    return figure


MAX_LABELLED_POINTS = 14  # genes of the signature with a name in the volcano plot


def effect_axis_label(data: Genes) -> str:
    """Return the label of the x axis of the volcano plot."""
    classes = data["study"]["classes"]
    if not classes:
        return measure(data).words.effect.format(shorten(data["study"]["label"], 24))
    scale_label = mean_difference_label(data)
    if len(classes) > 2:
        return f"{scale_label}, largest of the class means less the smallest"
    return f"{scale_label}, {shorten(classes[1], 18)} less {shorten(classes[0], 18)}"


def mean_difference_label(data: Genes) -> str:
    """Return the name of a difference of two class means."""
    return "log₂ fold change" if data["volcano"]["logarithm"] else "difference of the means"


def draw_volcano(data: Genes) -> Figure:
    """Draw the effect of each gene against its p, with the lists marked."""
    volcano = data["volcano"]
    figure, ax = new_figure(PAGE_WIDTH, 3.9)
    effect = np.array(volcano["effect"], dtype=float)
    minus_log_p = -np.log10(np.maximum(np.array(volcano["p"], dtype=float), 1e-300))
    points = np.column_stack([effect, minus_log_p])
    in_signature = np.array(volcano["signature"], dtype=bool)
    passes = np.array(volcano["passes"], dtype=bool)
    in_nonlinear_list = np.array(volcano["nonlinear"] or [False] * len(effect), dtype=bool)
    for rows, colour, size in (
        (~passes & ~in_signature, RULE, 9),
        (passes & ~in_signature, GREY, 11),
    ):
        ax.scatter(*points[rows].T, s=size, color=colour, lw=0)
    ax.scatter(*points[in_signature].T, s=34, color=GENESIG_COLOUR, edgecolor=PAPER, lw=0.6)
    diamonds = {"marker": "D", "facecolor": "none", "edgecolor": NEGATIVE}
    ax.scatter(*points[in_nonlinear_list].T, s=70, lw=1.2, **diamonds)
    name_points(ax, effect, minus_log_p, gene_names(volcano["genes"], volcano["symbols"]), GENE)
    if data["univariate"]["bound"] is not None:
        fdr_limit = -np.log10(max(data["univariate"]["bound"], 1e-300))
        reference_line(ax, y=fdr_limit)
        fdr = percent(data["config"]["controls"]["fdr"])
        # The label of the line is at the left, unless genes are there.
        near_limit = effect[np.abs(minus_log_p - fdr_limit) < 0.08 * minus_log_p.max()]
        is_left = not near_limit.size or near_limit.min() > effect.min() + 0.12 * np.ptp(effect)
        small_label(
            ax,
            0.01 if is_left else 0.99,
            fdr_limit,
            f"FDR {fdr} ↑",
            va="bottom",
            ha="left" if is_left else "right",
            transform=ax.get_yaxis_transform(),
        )
    reference_line(ax, x=0)
    labelled_points = sorted(np.flatnonzero(in_signature), key=lambda point: -minus_log_p[point])[
        :MAX_LABELLED_POINTS
    ]
    names = {
        int(point): short_symbol(volcano["symbols"][point])
        or shorten(volcano["symbols"][point], 18)
        for point in labelled_points
    }
    _label_points(ax, effect, minus_log_p, np.flatnonzero(in_signature | in_nonlinear_list), names)
    ax.set_xlabel(effect_axis_label(data))
    ax.set_ylabel("−log₁₀ p of the gene by itself")
    return figure


def _label_points(ax: Axes, x: Array, y: Array, marked: Array, names: Mapping[int, str]) -> None:
    """Name points at their right or left, unless a marked point or another name is there.

    marked: numbers of the points that names must not cover; names: name by number of the point.
    """
    if not names:
        return
    label_room = 1.1 * np.ptp(x)
    y_range = np.ptp(y)
    placed_labels: list[tuple[float, float, float]] = []  # start, end and y
    for point, name in names.items():
        for direction in (-1, 1) if x[point] > 0.7 * x.max() else (1, -1):
            # a gap, and the width of each letter
            end = x[point] + direction * label_room * (0.02 + 0.009 * len(name))
            span_start, span_end = sorted((x[point], end))
            points = marked[(marked != point) & (np.abs(y[marked] - y[point]) < 0.03 * y_range)]
            is_blocked = bool(np.any((x[points] > span_start) & (x[points] < span_end)))
            is_blocked |= any(
                abs(label_y - y[point]) < 0.04 * y_range
                and label_start < span_end
                and span_start < label_end
                for label_start, label_end, label_y in placed_labels
            )
            if not is_blocked and x.min() - 0.05 * label_room < end < x.max() + 0.05 * label_room:
                placed_labels.append((span_start, span_end, y[point]))
                ax.annotate(
                    name,
                    (x[point], y[point]),
                    (8 * direction, 0),
                    fontsize=7,
                    va="center",
                    ha="left" if direction > 0 else "right",
                    textcoords="offset points",
                )
                break


MAX_LABELLED_SAMPLES = 60  # samples up to which the heat map has their names
LABEL_INCHES = 3.4  # width of the names and of the genes' tree
SAMPLE_INCHES = 2 / 96  # two pixels of a screen
GENE_INCHES = 0.14
BAR_INCHES = 0.17


def draw_heat_map(data: Genes) -> Figure:
    """Draw the clustered standardised values of the signature below bars about the samples."""
    heat = data["heat"]
    bars = list(_annotation_bars(data))
    count = len(heat["genes"])
    width = len(heat["samples"])
    heights = [0.55, BAR_INCHES * len(bars), GENE_INCHES * max(count, 3)]
    figure, axes = new_figure(
        max(PAGE_WIDTH, LABEL_INCHES + SAMPLE_INCHES * width),
        1.15 + sum(heights),
        3,
        2,
        width_ratios=[0.09, 1],
        height_ratios=heights,
        gap=0.005,
    )
    (key_axes, sample_tree_axes), (unused_axes, bar_axes), (gene_tree_axes, image_axes) = axes
    image = image_axes.imshow(
        np.array(heat["z"], dtype=float), cmap=diverging(), vmin=-3, vmax=3, aspect="auto"
    )
    _draw_colour_key(key_axes, image)
    unused_axes.set_axis_off()
    _draw_branches(sample_tree_axes, heat["sample_tree"], width)
    _draw_branches(gene_tree_axes, heat["gene_tree"], count, is_upright=False)
    bar_axes.imshow(np.array([colours for _, colours in bars]), aspect="auto")
    bar_axes.set_yticks(range(len(bars)), [name for name, _ in bars], fontsize=7)
    _label_genes_and_samples(image_axes, heat)
    name_rows(image_axes, gene_names(heat["genes"], heat["symbols"]))
    for ax in (bar_axes, image_axes):
        name_columns(ax, heat["samples"])
        ax.yaxis.tick_right()
        ax.tick_params(length=0)
        hide_frame(ax)
    bar_axes.set_xticks([])
    _add_legend(figure, data)
    return figure


def _label_genes_and_samples(ax: Axes, heat: HeatMap) -> None:
    """Set the names of genes, and of samples if they are few."""
    pairs = zip(heat["genes"], heat["symbols"], strict=True)
    ax.set_yticks(
        range(len(heat["genes"])),
        [gene_label(gene, symbol, 34) for gene, symbol in pairs],
        fontsize=7,
    )
    labelled_samples = heat["samples"] if len(heat["samples"]) <= MAX_LABELLED_SAMPLES else []
    ax.set_xticks(
        range(len(labelled_samples)),
        [shorten(sample, 14) for sample in labelled_samples],
        rotation=90,
        fontsize=6.5,
    )


def _draw_branches(ax: Axes, tree: Tree, count: int, *, is_upright: bool = True) -> None:
    """Draw the joints of a tree as one path, with its leaves at the side of the image."""
    positions = []
    heights = []
    for left_position, right_position, left_height, right_height, level in tree:
        positions += [left_position, left_position, right_position, right_position, np.nan]
        heights += [left_height, level, level, right_height, np.nan]
    x, y = (positions, heights) if is_upright else (heights, positions)
    ax.plot(x, y, color=MUTED, lw=0.7)
    if is_upright:
        ax.set_xlim(-0.5, count - 0.5)
        ax.set_ylim(bottom=0)
    else:
        ax.set_ylim(count - 0.5, -0.5)
        ax.set_xlim(max([1e-9, *(joint[-1] for joint in tree)]) * 1.02, 0)
    ax.set_axis_off()


def _draw_colour_key(ax: Axes, image: Any) -> None:
    """Draw the colour scale of the values into the corner."""
    ax.set_axis_off()
    key_axes = ax.inset_axes((0.0, 0.45, 0.9, 0.22))
    colour_bar_artist = ax.figure.colorbar(image, cax=key_axes, orientation="horizontal")
    colour_bar_artist.outline.set_visible(False)
    colour_bar_artist.set_ticks([-3, 0, 3], labels=["−3", "0", "3"])
    key_axes.tick_params(length=1.5, labelsize=6)


def _annotation_bars(data: Genes) -> Iterator[tuple[str, Any]]:
    """Yield (name, colours of the samples) of each bar."""
    heat = data["heat"]
    study = data["study"]
    yield shorten(study["label"], 24), _response_colours(heat["response"], study)
    if heat["batches"] is not None and data["batch"] is not None:
        colour_of_batch = _colour_of_batch(heat["batches"])
        yield (
            shorten(data["batch"]["column"], 24),
            [to_rgba(colour_of_batch[batch]) for batch in heat["batches"]],
        )
    score = np.array(heat["score"], dtype=float)  # None becomes NaN
    if not study["classes"]:
        yield "held-out prediction", _colour_scale(score)
        return
    # The sign of a score has a meaning, so its colours have their middle at 0; a number has none.
    largest_score = max(float(np.nanmax(np.abs(score), initial=0.0)), 1e-12)
    colours = diverging()(np.nan_to_num(score / largest_score) / 2 + 0.5)
    colours[np.isnan(score)] = to_rgba(RULE)
    yield "held-out score", colours.tolist()


def _response_colours(response: list[float], study: StudyFacts) -> Any:
    """Return the colour of each sample by its class or its number."""
    if not study["classes"]:
        return _colour_scale(np.array(response, dtype=float))
    return [to_rgba(CLASS_COLOURS[class_number(value, study["classes"])]) for value in response]


def _colour_scale(values: Array) -> Any:
    """Return colours from the smallest to the largest value; NaN has that of the smallest."""
    low = np.nanmin(values, initial=np.inf)
    high = np.nanmax(values, initial=-np.inf)
    share = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return mpl.colormaps[SEQUENTIAL](np.nan_to_num(share)).tolist()


def _colour_of_batch(names: list[str]) -> dict[str, str]:
    """Return the colour of each batch: colours without a class, then grey."""
    colours = BLOCK_COLOURS[2:]  # the first two are those of two classes
    return {
        name: colours[number] if number < len(colours) else GREY
        for number, name in enumerate(sorted(set(names)))
    }


def _add_legend(figure: Figure, data: Genes) -> None:
    """Add the legend of classes and batches."""
    pairs = list(zip(data["study"]["classes"] or [], CLASS_COLOURS, strict=False))
    if data["heat"]["batches"] is not None:
        # Batches with a colour of their own, and the first of the grey ones.
        pairs += list(_colour_of_batch(data["heat"]["batches"]).items())[: len(BLOCK_COLOURS) - 1]
    if pairs:
        names = [shorten(name, 20) for name, _ in pairs]
        colours = [colour for _, colour in pairs]
        colour_legend(figure, names, colours, "outside upper center", 6)
