"""Published signatures: where this one stands among them and random lists of genes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from genesig.report.page.measure import Measure, measure
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.style import INK, OTHER, OWN, WIDE, rule, sheet
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import FROM, TO, Column, Row, filled_table, records, turned
from genesig.report.page.words import clean, counted, decimal, percent, shorten, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Published signatures"
NAME = "published"
TABLES = SHOWN = (NAME,)
TEXT = ("name",)
MIDDLE = (2.5, 97.5)
"""Percentiles between which 95% of the random lists lie."""


def published(data: Study, limits: Limits) -> Section:
    """Show the signature among random lists and published ones; nothing where none are named."""
    if NAME not in data["tables"]:
        return Section(NAME, TITLE)
    rows, shown = records(data["tables"][NAME]), measure(data)
    drawn = shown.values([row["error"] for row in rows if row["row"] == "random"])
    named = [row for row in rows if row["row"] != "random" and row["error"] is not None]
    if not named or named[0]["row"] == NAME or not drawn:
        return Section(
            NAME, TITLE, ["The error of this signature is not defined."], part="prediction"
        )
    columns = (
        Column("Signature", "name"), Column("Genes", "count", "In the study"),
        Column(shown.title, "number"), Column(FROM, "number"), Column(TO, "number"),
        Column("Difference", "number", "Less that of genesig, on the same samples"),
        Column(FROM, "number"), Column(TO, "number"),
        Column("Random lists", "share", "That are at least as good"),
    )  # fmt: skip
    cells = [[row["name"], row["genes"], shown.value(row["error"]), *shown.interval(row),
              *turned(row), row["as_good"]] for row in named]  # fmt: skip
    caption = "Each signature refitted on the training samples of each split, lam by inner folds."
    table = filled_table(NAME, caption, columns, cells, limits.table_rows, file=f"{NAME}.tsv")
    words = [_place(named[0], drawn, shown)]
    return Section(NAME, TITLE, words, [_picture(named, drawn, shown), table], part="prediction")


def _place(own: Row, drawn: Sequence[float], shown: Measure) -> str:
    low, high = np.percentile(drawn, MIDDLE)
    return (
        f"Of {counted(len(drawn), 'random list')} of as many genes as the lists of the splits"
        f" ({significant(own['genes'], 2)} on average), {percent(own['as_good'], 1)} reach"
        f" {shown.as_good} than this signature ({decimal(shown.value(own['error']))}); 95% of"
        f" them lie between {decimal(low)} and {decimal(high)}."
    )


def _picture(named: Sequence[Row], drawn: Sequence[float], shown: Measure) -> Picture:
    told = "; ".join(
        f"{clean(row['name'])} {decimal(shown.value(row['error']))}" for row in named[:10]
    )
    names = [row["name"] for row in named] + [f"random {k}" for k in range(1, len(drawn) + 1)]
    limits = [*map(shown.interval, named), *[(None, None)] * len(drawn)]
    values = [*(shown.value(row["error"]) for row in named), *drawn]
    return picture(
        NAME,
        partial(_among, named, drawn, shown),
        data={"name": names, shown.column: values, "low": [low for low, _ in limits],
              "high": [high for _, high in limits]},
        title="The signature among random lists",
        description=f"{shown.name} of {counted(len(drawn), 'random list')}; {told}.",
        caption=f"Grey: how many random lists reach a {shown.name}; each has in every split as many"
        " genes as the list chosen there. Below: this and published ones, dots with"
        " 95% CI. Dashed: chance.",
    )  # fmt: skip


def _among(named: Sequence[Row], drawn: Sequence[float], shown: Measure) -> Figure:
    figure, axes = sheet(WIDE, 2.2 + 0.26 * len(named), 2, 1, sharex=True,
                         height_ratios=[1.5, 0.26 * len(named) + 0.2], gap=0.04)  # fmt: skip
    above, below = axes[:, 0]
    above.hist(drawn, bins=24, color=OTHER, alpha=0.6)
    above.set_ylabel("random lists")
    for y, row in enumerate(named):
        colour, value = (OWN if y == 0 else INK), shown.value(row["error"])
        low, high = shown.interval(row)
        if low is not None and high is not None:
            below.hlines(y, low, high, color=colour, lw=1.8)
        below.scatter([value], [y], s=34, color=colour, zorder=3)
        above.axvline(value, color=colour, lw=1.6 if y == 0 else 0.6)
    below.set_yticks(range(len(named)), [shorten(row["name"], 34) for row in named])
    below.set_ylim(len(named) - 0.4, -0.6)
    for ax in (above, below):
        rule(ax, x=shown.chance)
    below.set_xlabel(f"{shown.name} (dashed: chance)")
    below.tick_params(axis="y", length=0)
    return figure


def sentences(data: Study) -> Iterator[str]:
    """Say how they were refitted; nothing where no published signatures are named."""
    if NAME in data["tables"]:
        rows = data["tables"][NAME]["rows"]
        kinds = [row[0] for row in rows]
        yield (
            f"{counted(kinds.count('published'), 'published signature')} and"
            f" {counted(kinds.count('random'), 'random list')} of as many genes as the chosen list"
            " of each split (Venet et al. 2011) were refitted by ridge on the same training"
            " samples, the penalty by the same inner folds."
        )
