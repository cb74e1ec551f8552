"""Picture of the order of all genes: the sets that stand highest and lowest."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from genesig.report.enrichment.record import Ranked
from genesig.report.page.style import MUTED, NEGATIVE, POSITIVE, RULE, WIDE, sheet
from genesig.report.page.words import shorten, significant


def order(rows: Sequence[Ranked], fdr: float) -> Figure:
    """Normalised score of each set; filled where q is at most the threshold."""
    figure, ax = sheet(WIDE, 1.1 + 0.2 * len(rows))
    for y, row in enumerate(rows):
        score = row["normalised"] or 0.0
        colour = POSITIVE if score > 0 else NEGATIVE
        ax.hlines(y, 0, score, color=colour, lw=2.4)
        face = colour if row["q"] <= fdr else "none"
        ax.scatter(score, y, s=26, facecolor=face, edgecolor=colour, zorder=4)
        ax.text(1.01, y, f"q {significant(row['q'], 2)}", color=MUTED, fontsize=8, va="center",
                transform=ax.get_yaxis_transform())  # fmt: skip
    ax.axvline(0, color=MUTED, lw=0.8)
    ax.set_yticks(range(len(rows)), [shorten(row["set"].replace("_", " "), 46) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.7)
    ax.set_xlabel("normalised enrichment score")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color=RULE, lw=0.5)
    ax.spines["left"].set_visible(False)
    return figure
