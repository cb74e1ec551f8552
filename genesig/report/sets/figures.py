"""Picture of the selected gene sets: how often, and their share of the score."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from genesig.report.page.style import MUTED, OWN, PAPER, RULE, WIDE, rule, sheet
from genesig.report.page.words import percent, shorten
from genesig.report.sets.record import SelectedSet


def frequencies(rows: Sequence[SelectedSet], bound: float) -> Figure:
    """How often each set is selected, and its share of the score.

    Parameters
    ----------
    rows : sequence of SelectedSet
        From top to bottom.
    bound : float
        Frequency of the sets of a list.
    """
    figure, (left, right) = sheet(
        WIDE, 1.2 + 0.2 * len(rows), 1, 2, sharey=True, width_ratios=[2.2, 1], squeeze=True,
        gap=0.03,
    )  # fmt: skip
    for y, row in enumerate(rows):
        left.hlines(y, 0, row["frequency"], color=RULE, lw=2.4)
        left.scatter(row["frequency"], y, s=26, color=OWN, zorder=4)
        if row["mean_share"] is not None:
            right.hlines(y, 0, row["mean_share"], color=OWN, lw=3.2)
        if row["final_share"]:
            right.scatter(row["final_share"], y, s=24, facecolor=PAPER, edgecolor=OWN, zorder=4)
    rule(left, x=bound)
    left.text(bound, 1.005, percent(bound), color=MUTED, fontsize=8, ha="center", va="bottom",
              transform=left.get_xaxis_transform())  # fmt: skip
    left.set_yticks(range(len(rows)), [shorten(row["set"].replace("_", " "), 46) for row in rows])
    for label, row in zip(left.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row["in_list"] else "normal")
    left.set_ylim(len(rows) - 0.4, -0.7)
    left.set_xlim(-0.03, 1.03)
    left.set_xlabel("selection frequency")
    right.set_xlabel("share of the score")
    right.set_xlim(left=0)
    right.locator_params(axis="x", nbins=3)
    for ax in (left, right):
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", color=RULE, lw=0.5)
        ax.spines["left"].set_visible(False)
    return figure
