"""Pictures of several studies."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from genesig.report.page.style import INK, OWN, POSITIVE, WIDE, rule, sheet
from genesig.report.page.words import shorten
from genesig.report.studies.record import StudiesRecord


def forest(it: StudiesRecord, chance: float) -> Figure:
    """Draw each study while it was held out, their mean, and where the next one may lie."""
    rows = [(one["name"], one["value"], one["low"], one["high"]) for one in it["studies"]]
    count = len(rows)
    figure, ax = sheet(WIDE, 1.2 + 0.26 * (count + 2))
    largest = max(one["samples"] for one in it["studies"])
    for y, (one, (_, value, low, high)) in enumerate(zip(it["studies"], rows, strict=True)):
        colour = POSITIVE if one["apart"] else OWN
        if low is not None and high is not None:
            ax.hlines(y, low, high, color=colour, lw=1.8)
        if value is not None:
            size = 20 + 60 * one["samples"] / largest
            ax.scatter([value], [y], s=size, marker="s", color=colour, zorder=3)
    names = [shorten(name, 24) for name, *_ in rows]
    value, low, high = it["mean"]
    if value is not None and low is not None and high is not None:
        ax.fill([low, value, high, value], [count, count - 0.3, count, count + 0.3], color=INK)
        names.append("mean")
    if it["next"][0] is not None and it["next"][1] is not None:
        ax.hlines(len(names), it["next"][0], it["next"][1], color=INK, lw=5, alpha=0.35)
        names.append("the next study")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    rule(ax, x=chance)
    ax.set_xlabel(f"{it['measure']} (larger is better; dashed: chance)")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    return figure


def genes(names: Sequence[str], effects: Sequence[Sequence[float | None]],
          means: Sequence[Sequence[float | None]], measure: str) -> Figure:  # fmt: skip
    """Draw the effect of genes in each study, as dots, and their mean with its interval.

    Parameters
    ----------
    names : sequence of str
    effects : one list of effects for each gene
    means : (mean, low, high) of each gene
    measure : str
    """
    figure, ax = sheet(WIDE, 1.0 + 0.26 * len(names))
    for y, (each, (value, low, high)) in enumerate(zip(effects, means, strict=True)):
        known = [effect for effect in each if effect is not None]
        ax.scatter(known, [y] * len(known), s=16, color=OWN, alpha=0.7, zorder=2)
        if low is not None and high is not None:
            ax.hlines(y, low, high, color=INK, lw=1.2)
        if value is not None:
            ax.scatter([value], [y], s=30, marker="D", color=INK, zorder=3)
    ax.set_yticks(range(len(names)), [shorten(name, 26) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    rule(ax, x=0.0)
    ax.set_xlabel(f"{measure} (dots: single studies; diamond: their mean)")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    return figure
