"""What a shorter list costs: error and agreement against the number of genes."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.genes.record import Genes
from genesig.report.page.measure import measure
from genesig.report.page.rows import own_rows, records, transposed
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import MUTED, OWN, PAPER, SMALL, note, rule, sheet
from genesig.report.page.svg import picture
from genesig.report.page.tables import packed_table
from genesig.report.page.words import between, counted, decimal, rate

TITLE = "What a shorter list costs"


class Length(NamedTuple):
    """Lists of one kind: genes on average, value and limits, agreement of those of halves."""

    chosen: bool
    genes: float
    value: float
    limits: tuple[float | None, float | None]
    stability: float | None


def lengths(data: Genes) -> list[Length]:
    """Return the chosen lists and the nested ones that hold genes, the shortest first."""
    shown, tables = measure(data), data["tables"]
    sizes: dict[float | None, list[float]] = {}
    for row in records(tables["scores"]):
        if row["n_genes"]:
            sizes.setdefault(row["mu"], []).append(row["n_genes"])
    alike = {row["mu"]: row["stability"] for row in records(tables["stability"])
             if row["source"] == "half_subsamples"}  # fmt: skip
    found = [
        Length(row["mu"] is None, float(np.mean(sizes[row["mu"]])), value, shown.interval(row),
               alike.get(row["mu"]))
        for row in own_rows(tables["controls"])
        if row["mu"] in sizes and (value := shown.value(row["error"])) is not None
    ]  # fmt: skip
    return sorted(found, key=lambda one: one.genes)


def brevity(data: Genes, limits: Limits) -> Section:
    """Show error and agreement of the lists by their length, in place of a choice among them."""
    found, shown = lengths(data), measure(data)
    if len(found) < 2:
        return Section("brevity", TITLE, part="stability")
    write = rate if data["study"]["classes"] else decimal
    shortest, own = found[0], next((one for one in found if one.chosen), found[-1])
    words = [
        f"The shortest lists have {counted(round(shortest.genes), 'gene')} on average and a"
        f" {shown.name} of {write(shortest.value)}{between(*shortest.limits, write)}; the chosen"
        f" ones have {counted(round(own.genes), 'gene')}, {write(own.value)}"
        f"{between(*own.limits, write)}. Each training set has a list of its own: a number here is"
        " that of the whole lists, not of the few genes that all of them share."
    ]
    image = picture(
        "brevity",
        partial(draw, data),
        data=transposed(
            ("list", "genes", shown.column, "low", "high", "stability"),
            [("chosen" if one.chosen else "nested", one.genes, one.value, *one.limits,
              one.stability) for one in found],
        ),
        title=f"{shown.title} against the number of genes",
        description="; ".join(
            f"{one.genes:.0f} genes: {write(one.value)}" for one in found
        ),
        caption=f"Above: {shown.name} of held-out samples with its 95\u00a0% CI, by the mean number"
        " of genes in the lists of the training sets. Filled: the chosen lists, whose error is the"
        " one reported; open: nested lists, the shortest at the left. Choosing the one that looks"
        " best here would bias its estimate. Below: agreement of lists of disjoint halves of the"
        " samples (1: identical lists, 0: overlap expected by chance).",
    )  # fmt: skip
    items: list[Item] = [image]
    if data["tables"]["stability"]["rows"]:
        items.append(packed_table(data, "stability", "Agreement of the lists.", limits.table_rows))
    return Section("brevity", TITLE, words, items, part="stability")


def draw(data: Genes) -> Figure:
    """Draw error, and agreement where it was measured, over the number of genes."""
    found, shown = lengths(data), measure(data)
    alike = any(one.stability is not None for one in found)
    figure, axes = sheet(SMALL, 4.2 if alike else 2.8, 1 + alike, 1, sharex=True, squeeze=False,
                         height_ratios=[3, 2][: 1 + alike])  # fmt: skip
    top = axes[0, 0]
    for one in found:
        low, high = one.limits
        if low is not None and high is not None:
            top.vlines(one.genes, low, high, color=OWN, lw=1.6)
    _dots(top, found, [one.value for one in found])
    rule(top, y=shown.chance)
    note(top, found[0].genes, shown.chance, "guessing", va="bottom")
    top.set_ylabel(shown.name)
    if shown.better == "smaller":
        top.set_ylim(bottom=0)
    if alike:
        _dots(axes[1, 0], found, [one.stability for one in found])
        axes[1, 0].set_ylabel("agreement")
        axes[1, 0].set_ylim(min(0, *(one.stability or 0 for one in found)) - 0.02, 1.02)
    last = axes[-1, 0]
    last.set_xscale("log")
    ticks = [one.genes for one in found]
    last.set_xticks(ticks, [f"{each:.0f}" for each in ticks])
    last.set_xticks([], minor=True)
    last.set_xlabel("genes in a list, on average")
    for ax in axes[:, 0]:
        ax.grid(axis="y")
    return figure


def _dots(ax: Axes, found: list[Length], values: list[float | None]) -> None:
    known = [(one, value) for one, value in zip(found, values, strict=True) if value is not None]
    nested = [(one.genes, value) for one, value in known if not one.chosen]
    ax.plot(*zip(*nested, strict=True), color=MUTED, lw=0.8) if nested else None
    for one, value in known:
        ax.scatter([one.genes], [value], s=42, facecolor=OWN if one.chosen else PAPER,
                   edgecolor=OWN, lw=1.5, zorder=3)  # fmt: skip
