"""Picture of all genes: the sets furthest from chance."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from genesig.report.enrichment.record import LEVEL, Ranked
from genesig.report.page.style import MUTED, NEGATIVE, POSITIVE, RULE, WIDE, sheet
from genesig.report.page.words import shorten, significant


def order(rows: Sequence[Ranked]) -> Figure:
    """Draw standard deviations above chance, to the side of the set; filled where it is called."""
    figure, ax = sheet(WIDE, 1.1 + 0.2 * len(rows))
    for y, row in enumerate(rows):
        side, colour = (1, POSITIVE) if row["higher"] else (-1, NEGATIVE)
        score = side * max(row["normalised"], 0.0)
        ax.hlines(y, 0, score, color=colour, lw=2.4)
        face = colour if row["p"] <= LEVEL else "none"
        ax.scatter(score, y, s=26, facecolor=face, edgecolor=colour, zorder=4)
        ax.text(1.01, y, f"p {significant(row['p'], 2)}", color=MUTED, fontsize=8, va="center",
                transform=ax.get_yaxis_transform())  # fmt: skip
    ax.axvline(0, color=MUTED, lw=0.8)
    ax.set_yticks(range(len(rows)), [shorten(row["set"].replace("_", " "), 46) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.7)
    ax.set_xlabel("standard deviations above chance")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color=RULE, lw=0.5)
    ax.spines["left"].set_visible(False)
    return figure
