"""Pictures of Kaplan-Meier curves of groups of risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from genesig.report.page.group_curves import GroupCurve
from genesig.report.page.rows import transposed
from genesig.report.page.style import INK, MUTED, NEGATIVE, POSITIVE, WIDE, rule, sheet
from genesig.report.page.words import shorten, significant

COLOURS = {"high": POSITIVE, "low": NEGATIVE}
STYLES = {"high": "-", "low": (0, (5, 2))}
MARKS = 6
"""Times at most, all round, at which the numbers at risk stand below the picture."""


def curve_data(found: Sequence[GroupCurve]) -> dict[str, list[Any]]:
    """Return the curves as columns."""
    return transposed(
        ("group", "time", "survival", "low", "high", "at_risk"),
        [
            (one["group"], *at)
            for one in found
            for at in zip(
                one["time"], one["survival"], one["low"], one["high"], one["at_risk"], strict=True
            )
        ],
    )


def curves(found: Sequence[GroupCurve], time: str, horizon: float) -> Figure:
    """Kaplan-Meier curves of the groups of risk, with numbers at risk.

    Parameters
    ----------
    found : sequence of GroupCurve
    time : str
        Name of the times.
    horizon : float
    """
    figure, axes = sheet(WIDE, 4.2, 2, 1, sharex=True, height_ratios=[5, 0.7])
    ax, below = axes[:, 0]
    for curve in found:
        _curve(ax, curve)
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("share without the event")
    ax.grid(axis="y")
    rule(ax, x=horizon)
    end = max(max(curve["time"]) for curve in found)
    marks = [at for at in MaxNLocator(MARKS).tick_values(0, end) if at <= end]
    for row, curve in enumerate(found):
        for at in marks:
            left = at_risk(curve, float(at))
            below.text(at, row, str(left), ha="center", va="center", fontsize=8, color=INK)
    below.set_yticks(range(len(found)), [curve["group"] for curve in found])
    below.set_ylim(len(found) - 0.4, -0.6)
    below.set_ylabel("at risk", fontsize=8, color=MUTED)
    below.tick_params(axis="y", length=0)
    below.spines["left"].set_visible(False)
    below.set_xticks(marks, [significant(float(at), 2) for at in marks])
    below.set_xlabel(shorten(time, 40))
    return figure


def _curve(ax: Axes, curve: GroupCurve) -> None:
    colour, time = COLOURS[curve["group"]], np.array(curve["time"])
    low, high = (np.array(curve[key], dtype=float) for key in ("low", "high"))
    ax.fill_between(time, low, high, step="post", color=colour, alpha=0.13, lw=0)
    ax.step(time, curve["survival"], where="post", color=colour, lw=1.8,
            linestyle=STYLES[curve["group"]])  # fmt: skip
    ax.annotate(f"{curve['group']} risk", (time[-1], curve["survival"][-1]), xytext=(4, 0),
                textcoords="offset points", color=colour, fontsize=8, va="center")  # fmt: skip


def at_risk(curve: GroupCurve, at: float) -> int:
    """Return how many are still followed at a time."""
    later = [n for t, n in zip(curve["time"], curve["at_risk"], strict=True) if t >= at - 1e-9]
    return later[0] if later else 0
