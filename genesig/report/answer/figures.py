"""The two drawings of the first screen: strips of held-out scores, lollipops of genes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
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
from genesig.report.page.words import percent, short_symbol, shorten, significant

MAX_LABELS = 6
"""Misclassified samples that are named."""
MAX_DOTS = 60
"""Samples of a strip whose dots are large."""


class Strip(NamedTuple):
    """One row of dots: a class of the study or of an external cohort."""

    label: str
    number: str
    colour: str
    scores: Sequence[float]
    names: Sequence[str]
    wrong: Sequence[bool]


def strips(rows: Sequence[Strip], classes: Sequence[str], axis: str) -> Figure:
    """Draw a dot for each sample at its score, dots of similar scores stacked."""
    figure, ax = new_figure(HALF_WIDTH, 0.8 + 0.78 * len(rows))
    scores = [score for row in rows for score in row.scores]
    reach = 1.08 * max(map(abs, scores), default=1.0) or 1.0
    low = min(min(scores, default=0.0), 0.0) - 0.06 * reach
    high = max(max(scores, default=0.0), 0.0) + 0.06 * reach
    ax.set_xlim(low, high)
    ax.set_ylim(len(rows) - 0.45, -0.55)
    ax.axvspan(0, high, color=MUTED, alpha=0.07, lw=0)
    reference_line(ax, x=0)
    for place, row in enumerate(rows):
        _dots(ax, place, row, (high - low) / 46)
    ax.set_yticks(range(len(rows)), [f"{shorten(row.label, 18)}\n{row.number}" for row in rows])
    for text, row in zip(ax.get_yticklabels(), rows, strict=True):
        text.set_color(row.colour)
    for name, x, align in ((classes[0], low, "left"), (classes[1], high, "right")):
        arrow = f"← called {shorten(name, 16)}" if x == low else f"called {shorten(name, 16)} →"
        ax.text(
            x,
            1.01,
            arrow,
            transform=ax.get_xaxis_transform(),
            ha=align,
            va="bottom",
            fontsize=8,
            color=MUTED,
        )
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(axis)
    return figure


def _dots(ax: Axes, place: int, row: Strip, width: float) -> None:
    x = np.asarray(row.scores, dtype=float)
    if not len(x):
        return
    y = place + stacked(x, width)
    size = 34 if len(x) <= MAX_DOTS else 14
    ax.scatter(x, y, s=size, color=row.colour, alpha=0.85, lw=0, zorder=3)
    name_points(ax, x, y, row.names)
    wrong = np.flatnonzero(row.wrong)
    ax.scatter(x[wrong], y[wrong], s=2 * size, facecolor="none", edgecolor=INK, lw=1.1, zorder=4)
    if len(wrong) <= MAX_LABELS:
        for sample in wrong:
            small_label(
                ax,
                x[sample],
                y[sample] + 0.2,
                shorten(row.names[int(sample)], 12),
                va="top",
                ha="center",
                color=INK,
                # The dashed line of the threshold must not cross the name.
                bbox=BEHIND_LABEL,
            )


def stacked(x: np.ndarray, width: float, *, half: float = 0.38, step: float = 0.13) -> np.ndarray:
    """Return heights around 0 (n,) so that points within one `width` of x lie beside each other."""
    columns = np.floor(x / width).astype(int)
    tallest = max(Counter(columns.tolist()).values())
    step = min(step, 2 * half / tallest)
    heights = np.empty(len(x))
    for column in np.unique(columns):
        members = np.flatnonzero(columns == column)
        heights[members] = step * (np.arange(len(members)) - (len(members) - 1) / 2)
    return heights


class Lollipop(NamedTuple):
    """A gene: how often it is selected, how often with permuted labels, its q."""

    name: str
    gene: str
    colour: str
    frequency: float
    null_frequency: float | None
    q: float | None


def gene_name(row: TableRow) -> str:
    """Return the symbol of a gene, short enough for an axis."""
    symbol = str(row["symbol"] or row["gene"])
    return short_symbol(symbol) or shorten(symbol, 17)


def lollipops(genes: Sequence[Lollipop], axis: str) -> Figure:
    """Draw a line and a dot for each gene, a tick at its frequency with permuted labels."""
    figure, ax = new_figure(HALF_WIDTH, 0.62 + 0.152 * max(len(genes), 5))
    for place, gene in enumerate(genes):
        ax.hlines(place, 0, gene.frequency, color=gene.colour, lw=1.6)
        ax.scatter([gene.frequency], [place], s=30, color=gene.colour, zorder=3, clip_on=False)
        if gene.null_frequency is not None:
            ax.vlines(gene.null_frequency, place - 0.32, place + 0.32, color=INK, lw=1.3)
        if gene.q is not None:
            small_label(ax, 1.06, place, f"q {significant(gene.q, 2)}", va="center", clip_on=False)
    ax.set_yticks(range(len(genes)), [gene.name for gene in genes], style="italic")
    name_rows(ax, gene_names([gene.gene for gene in genes], [gene.name for gene in genes]))
    ax.set_ylim(max(len(genes), 5) - 0.4, -0.6)
    ax.set_xlim(0, 1.02)
    shares = (0, 0.25, 0.5, 0.75, 1)
    ax.set_xticks(shares, [percent(share) for share in shares])
    ax.grid(axis="x", color=RULE)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(axis)
    return figure
