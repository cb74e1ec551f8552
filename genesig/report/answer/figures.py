"""The one picture of the first screen: every error with its interval on one axis."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.answer.record import Answer
from genesig.report.page.measure import measure
from genesig.report.page.model_names import model_name
from genesig.report.page.shuffling import held
from genesig.report.page.style import INK, MUTED, OTHER, OWN, WIDE, rule, sheet
from genesig.report.page.verdict import Grade, here
from genesig.report.page.words import counted, shorten

MOST = 12
"""Cohorts in the picture."""
OWN_NAME = "cross-validation, this study"
FEWEST_FOR_BAND = 10
"""Permutations."""


class Line(NamedTuple):
    """A row of the picture, its value in the units of the page."""

    name: str
    value: float
    limits: tuple[float | None, float | None]
    marker: str
    colour: str


def forest(data: Answer) -> Figure:
    """Error of this study, of its best rival and in each cohort, with the permutation band."""
    shown, lines = measure(data), list(lines_of(data))
    figure, ax = sheet(WIDE, 1.05 + 0.3 * len(lines))
    band = shown.values(data["null"]["errors"])
    if len(band) >= FEWEST_FOR_BAND:
        _band(ax, band)
    for y, line in enumerate(lines):
        low, high = line.limits
        if low is not None and high is not None:
            ax.hlines(y, low, high, color=line.colour, lw=1.8)
        ax.scatter(
            [line.value], [y], s=46, marker=line.marker, color=line.colour, zorder=3, clip_on=False
        )
    ax.set_yticks(range(len(lines)), [line.name for line in lines])
    for label in ax.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() == OWN_NAME else "normal")
    ax.set_ylim(len(lines) - 0.5, -0.7)
    if not held(data):  # what is held fixed predicts, too
        rule(ax, x=shown.chance)
    if shown.better == "smaller":
        ax.set_xlim(left=0)
    ax.set_xlabel(f"{shown.name} ({shown.better} is better)")
    ax.tick_params(axis="y", length=0, pad=8)
    ax.grid(axis="x")
    return figure


def lines_of(data: Answer) -> list[Line]:
    """Return the rows that have an error: other cohorts, cross-validation, the best rival."""
    shown, best = measure(data), data["answer"]["control"]
    own = data["answer"]["error"]
    colour = OWN if here(data) is Grade.HERE else INK
    rows: list[tuple[str, float | None, Any, str, str]] = []
    for one in data["answer"]["cohorts"]["rows"][:MOST]:
        seen = ", seen in training" if one["seen"] else ""
        name = f"{shorten(one['name'], 24)} ({counted(one['samples'], 'sample')}{seen})"
        rows.append((name, one["error"], one, "D", MUTED if one["seen"] else INK))
    rows.append((OWN_NAME, own["value"], own, "o", colour))
    if best is not None:
        rows.append((f"{model_name(best['model'])}, this study", best["error"], best, "s", INK))
    return [
        Line(name, value, shown.interval(row), marker, colour)
        for name, error, row, marker, colour in rows
        if (value := shown.value(error)) is not None
    ]


def _band(ax: Axes, errors: list[float]) -> None:
    low, high = np.quantile(errors, [0.025, 0.975])
    ax.axvspan(low, high, color=OTHER, alpha=0.22, lw=0)
    ax.text((low + high) / 2, 1.01, "labels shuffled", color=MUTED, fontsize=8, ha="center",
            va="bottom", transform=ax.get_xaxis_transform())  # fmt: skip
