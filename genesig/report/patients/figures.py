"""Picture of the error in subgroups."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from genesig.report.page.measure import Measure
from genesig.report.page.rows import Row
from genesig.report.page.style import INK, MUTED, OWN, WIDE, rule, sheet
from genesig.report.page.words import decimal


def subgroups(rows: Sequence[Row], shown: Measure) -> Figure:
    """Value and interval of each subgroup below that of all samples."""
    figure, ax = sheet(WIDE, 0.9 + 0.27 * len(rows))
    for y, row in enumerate(rows):
        colour = INK if y else OWN
        if row["low"] is not None and row["high"] is not None:
            ax.hlines(y, row["low"], row["high"], color=colour, lw=1.4 if y else 2.2)
        if row["value"] is not None:
            ax.scatter([row["value"]], [y], s=44, marker="s" if y else "D", color=colour, zorder=3,
                       clip_on=False)  # fmt: skip
        ax.text(1.02, y, f"{decimal(row['value'])}", transform=ax.get_yaxis_transform(),
                va="center", fontsize=8)  # fmt: skip
    rule(ax, x=rows[0]["value"])
    ax.axvline(shown.chance, color=MUTED, lw=0.9, dashes=(1, 2), zorder=0.5)
    names = [f"{row['name']} (n = {row['samples']})" for row in rows]
    ax.set_yticks(range(len(rows)), names)
    ax.get_yticklabels()[0].set_fontweight("bold")
    ax.set_ylim(len(rows) - 0.5, -0.7)
    ax.set_xlabel(f"{shown.name} on held-out samples ({shown.better} is better)")
    ax.tick_params(axis="y", length=0, pad=8)
    ax.grid(axis="x")
    return figure
