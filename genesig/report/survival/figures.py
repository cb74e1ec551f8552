"""Pictures of held-out survival."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from genesig.report.page.style import MUTED, OWN, PAPER, RULE, SMALL, sheet
from genesig.report.survival.record import RiskGroup


def calibration(groups: Sequence[RiskGroup]) -> Figure:
    """Predicted risk by the horizon against what happened, in groups of like risk."""
    figure, ax = sheet(SMALL, 4.0)
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.9, dashes=(4, 3))
    for one in groups:
        if one["observed"] is None:
            continue
        if one["low"] is not None and one["high"] is not None:
            ax.vlines(one["expected"], one["low"], one["high"], color=OWN, lw=1.6)
        ax.scatter(
            one["expected"],
            one["observed"],
            s=44,
            facecolor=OWN,
            edgecolor=PAPER,
            zorder=3,
            clip_on=False,
        )
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_xlabel("predicted risk")
    ax.set_ylabel("observed risk")
    ax.grid(color=RULE)
    return figure
