"""A row for each predictor: its axes, and its value in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from matplotlib.axes import Axes

from genesig.report.page.measure import Measure
from genesig.report.page.model_names import model_name
from genesig.report.page.rows import Row
from genesig.report.page.style import rule
from genesig.report.page.words import clean, decimal


def predictor_axes(ax: Axes, rows: Sequence[Row], shown: Measure, bold: Collection[str]) -> None:
    """Name the predictors from top to bottom, over an axis of what the page measures."""
    ax.set_yticks(range(len(rows)), [model_name(row["model"]) for row in rows])
    for label, row in zip(ax.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row["model"] in bold else "normal")
    ax.set_ylim(len(rows) - 0.5, -0.7)
    rule(ax, x=shown.chance)
    if shown.better == "smaller":
        ax.set_xlim(left=0)
    ax.set_xlabel(f"{shown.name} on held-out samples ({shown.better} is better)")
    ax.tick_params(axis="y", length=0, pad=8)
    ax.grid(axis="x")


def each_value(rows: Sequence[Row], shown: Measure) -> str:
    """Return ``"genesig (this procedure) 0.10; ridge, all genes 0.20"``."""
    said = (f"{model_name(row['model'])} {decimal(shown.value(row['error']))}" for row in rows)
    return clean("; ".join(said))
