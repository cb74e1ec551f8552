"""The two drawings of the first screen: strips of held-out scores, lollipops of genes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.page.style import (
    BEHIND_LABEL,
    HALF_WIDTH,
    INK,
    MUTED,
    RULE,
    new_figure,
    reference_line,
    small_label,
)
from genesig.report.page.svg import gene_names, name_points, name_rows
from genesig.report.page.tables import TableRow
from genesig.report.page.words import percent, short_symbol, shorten, two_digits

MAX_NAMED_SAMPLES = 6  # misclassified samples of a row up to which each has its name
LOW_ROW_INCHES = 0.52  # height of a row beside that of an external cohort
MAX_LARGE_DOTS = 60  # samples of a row up to which its dots are large


class Strip(NamedTuple):
    """One row of dots: a class of the study, or an external cohort."""

    label: str
    size: str  # number of samples as text
    colour: str
    scores: Sequence[float]  # of each sample
    names: Sequence[str]  # of each sample
    wrong: Sequence[bool]  # whether each sample is misclassified


def draw_strips(rows: Sequence[Strip], classes: Sequence[str], axis_label: str) -> Figure:
    """Draw a dot for each sample at its score, dots of similar scores stacked.

    A score above 0 calls the second of the two classes.
    """
    figure, ax = new_figure(
        HALF_WIDTH, 0.8 + (0.78 if len(rows) < 3 else LOW_ROW_INCHES) * len(rows)
    )
    scores = [score for row in rows for score in row.scores]
    margin = 0.0648 * (max(map(abs, scores), default=1.0) or 1.0)  # also if all scores are 0
    low = min([*scores, 0.0]) - margin
    high = max([*scores, 0.0]) + margin
    ax.set_xlim(low, high)
    ax.set_ylim(len(rows) - 0.45, -0.55)
    ax.axvspan(0, high, color=MUTED, alpha=0.07, lw=0)
    reference_line(ax, x=0)
    for row_number, row in enumerate(rows):
        _draw_dots(ax, row_number, row, column_width=(high - low) / 46)  # about that of a dot
        # A label of two lines has no anchor in SVG: their right ends would not meet.
        for line, text, alignment in (
            (row_number - 0.03, shorten(row.label, 18), "bottom"),
            (row_number + 0.03, row.size, "top"),
        ):
            ax.text(
                -0.02,
                line,
                text,
                transform=ax.get_yaxis_transform(),
                ha="right",
                va=alignment,
                fontsize=rcParams["ytick.labelsize"],
                color=row.colour,
            )
    ax.set_yticks([])
    negative, positive = (shorten(name, 16) for name in classes)
    above_axes = ax.get_xaxis_transform()
    for x, text, alignment in (
        (low, f"← called {negative}", "left"),
        (high, f"called {positive} →", "right"),
    ):
        small_label(ax, x, 1.01, text, transform=above_axes, ha=alignment, va="bottom")
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(axis_label)
    return figure


def _draw_dots(ax: Axes, row_number: int, row: Strip, column_width: float) -> None:
    """Draw the dots of one row, with rings around misclassified samples.

    Dots whose scores lie in the same column of this width are stacked.
    """
    x = np.asarray(row.scores, dtype=float)
    if not len(x):
        return
    y = row_number + stack_heights(x, column_width)
    size = 34 if len(x) <= MAX_LARGE_DOTS else 14
    ax.scatter(x, y, s=size, color=row.colour, alpha=0.85, lw=0, zorder=3)
    name_points(ax, x, y, row.names)
    wrong = np.flatnonzero(row.wrong)
    ax.scatter(x[wrong], y[wrong], s=2 * size, facecolor="none", edgecolor=INK, lw=1.1, zorder=4)
    if len(wrong) <= MAX_NAMED_SAMPLES:
        for sample in wrong:
            # Beyond the dot, because the dashed line of the threshold must not cross the name.
            is_right = x[sample] > 0
            small_label(
                ax,
                x[sample] + (0.6 if is_right else -0.6) * column_width,
                y[sample] + 0.2,
                shorten(row.names[int(sample)], 12),
                va="top",
                ha="left" if is_right else "right",
                color=INK,
                bbox=BEHIND_LABEL,
            )


MAX_STACK_HEIGHT = 0.76  # of a row of height 1
MAX_DOT_DISTANCE = 0.13


def stack_heights(x: np.ndarray, column_width: float) -> np.ndarray:
    """Return heights around 0 (n,) that stack points (n ≥ 1) whose x lie in the same column."""
    columns = np.floor(x / column_width).astype(int)
    tallest = max(Counter(columns.tolist()).values())
    distance = min(MAX_DOT_DISTANCE, MAX_STACK_HEIGHT / tallest)
    heights = np.empty(len(x))
    for column in np.unique(columns):
        members = np.flatnonzero(columns == column)
        heights[members] = distance * (np.arange(len(members)) - (len(members) - 1) / 2)
    return heights


class Lollipop(NamedTuple):
    """A gene of the figure."""

    name: str  # symbol
    gene: str  # id
    colour: str
    frequency: float  # selection frequency, or CV frequency if genes were not tested
    null_frequency: float | None  # with permuted labels; None if genes were not tested, like q
    q: float | None


def gene_name(row: TableRow) -> str:
    """Return the symbol of a gene, short enough for an axis."""
    symbol = str(row["symbol"] or row["gene"])
    return short_symbol(symbol) or shorten(symbol, 17)


def draw_lollipops(genes: Sequence[Lollipop], axis_label: str) -> Figure:
    """Draw a line and a dot for each gene, a tick at its frequency with permuted labels."""
    n_rows = max(len(genes), 5)  # fewer genes leave rows empty
    figure, ax = new_figure(HALF_WIDTH, 0.62 + 0.152 * n_rows)
    for y, gene in enumerate(genes):
        ax.hlines(y, 0, gene.frequency, color=gene.colour, lw=1.6)
        ax.scatter([gene.frequency], [y], s=30, color=gene.colour, zorder=3, clip_on=False)
        if gene.null_frequency is not None:
            ax.vlines(gene.null_frequency, y - 0.32, y + 0.32, color=INK, lw=1.3)
        if gene.q is not None:
            small_label(ax, 1.06, y, f"q {two_digits(gene.q)}", va="center", clip_on=False)
    ax.set_yticks(range(len(genes)), [gene.name for gene in genes], style="italic")
    name_rows(ax, gene_names([gene.gene for gene in genes], [gene.name for gene in genes]))
    ax.set_ylim(n_rows - 0.4, -0.6)
    ax.set_xlim(0, 1.02)
    shares = (0, 0.25, 0.5, 0.75, 1)
    ax.set_xticks(shares, [percent(share) for share in shares])
    ax.grid(axis="x", color=RULE)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(axis_label)
    return figure
