"""Sections about lists of genes, their values and what a shorter list costs."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.genes import figures
from genesig.report.genes.methods import evidence_words, in_test, one_value
from genesig.report.genes.record import Correlation, Genes
from genesig.report.page.measure import bound, measure, speaks_for
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import MUTED, OWN, PAPER, SMALL, note, rule, sheet
from genesig.report.page.svg import Columns, Picture, picture
from genesig.report.page.tables import (
    own_rows,
    packed_table,
    records,
    transposed,
)
from genesig.report.page.words import (
    between,
    clean,
    counted,
    decimal,
    first_of,
    percent,
    shown_of,
)

IN_THE_FILE = ("rank", "selection_p", "size", "first_mu", "mean_weight", "sign_consistency",
               "univariate_p", "univariate_q")  # fmt: skip
"""Columns of signature.tsv that the page leaves to it."""
FIRST = 8
"""Genes that are read before the table is opened."""


def signature(data: Genes, limits: Limits) -> Section:
    """Show the signature as one table."""
    proved, items = data["answer"]["evidence"], list[Item]()
    if data["answer"]["size"]:
        more = " and FDR-selected genes" if proved and proved["fdr_selected"] else ""
        caption = f"Signature genes{more}."
        items.append(packed_table(
            data, "signature", caption, min(limits.table_rows, FIRST), search=True, shown=True,
            without=(*IN_THE_FILE, *_of_each_class(data)),
        ))  # fmt: skip
    if data["tables"]["selection"]["rows"]:
        caption = "All genes selected in at least one random half."
        items.append(packed_table(data, "selection", caption, limits.table_rows, search=True))
    words = _signature_words(data)
    return Section("signature", "Signature genes", words, items, part="genes")


def _of_each_class(data: Genes) -> list[str]:
    """Return the weights of each of several classes: the page has that of the gene's own class."""
    return [f"weight {name}" for name in data["study"]["classes"] or []]


def _signature_words(data: Genes) -> list[str]:
    if not data["answer"]["size"]:
        return ["The signature is empty: the final model selected no gene."]
    if data["answer"]["evidence"]:
        return evidence_words(data, data["answer"]["evidence"])
    return [
        f"{counted(data['answer']['size'], 'gene')} of the final model, the most often selected"
        f" first. Core genes were selected in at least {bound(data)} of the outer training sets."
        f" {speaks_for(data)}."
    ]


def blocks(data: Genes, limits: Limits) -> Section:
    """Show groups of correlated genes around the genes of the shortest list."""
    total, shown = data["correlation"]["total"], len(data["correlation"]["genes"])
    if not shown:
        words = ["No genes were selected, so there are no groups."]
        return Section("blocks", "Groups of correlated genes", words, part="genes")
    words = [
        "Genes are grouped around representative genes (the shortest list) by correlation. Groups"
        " are ordered by the weight of their representative. Other patients may well select another"
        " gene of a group."
        f"{_apart(data)}"
    ]
    caption = "All selected genes by group, in the order in which they enter."
    items = [packed_table(data, "blocks", caption, limits.table_rows, search=True)]
    pictures = [_correlation(data, shown, total)] if shown > 1 else []
    return Section("blocks", "Groups of correlated genes", words, items, part="genes",
                   folded=True, files=["prototypes.tsv"], pictures=pictures)  # fmt: skip


def _apart(data: Genes) -> str:
    """Count the genes that belong to no group."""
    rows = records(data["tables"]["blocks"])
    number = sum(row["block"] is None for row in rows)
    if not number:
        return ""
    least = decimal(data["config"]["clusters"]["least"])
    verb = "belongs" if number == 1 else "belong"
    return f" {counted(number, 'gene')} {verb} to no group (|r| < {least})."


def _correlation(data: Genes, shown: int, total: int) -> Picture:
    return picture(
        "correlation",
        partial(figures.correlation, data),
        data=_square(data["correlation"]),
        title="Correlation between selected genes",
        description=f"Image of Pearson's r between {shown} genes in the order of groups and"
        " layers.",
        caption="Pearson's r between genes, by group. Thick lines separate groups; thin lines, the"
        " layers in which genes enter as μ grows. Orange: positive; blue: negative correlation."
        f"{shown_of(shown, total, 'gene', ', the first ones of each group')}",
    )


def _square(it: Correlation) -> Columns:
    square = dict(zip(it["genes"], it["r"], strict=True))
    return {"gene": it["genes"], "symbol": it["symbols"], "block": it["blocks"], **square}


def expression(data: Genes, limits: Limits) -> Section:
    """Show samples and values of the signature, for illustration."""
    if not data["answer"]["size"]:
        words = ["The signature is empty, so there is nothing to show."]
        return Section("expression", "Expression of the signature", words, part="genes")
    words = [
        "For illustration only: these samples selected the genes, so they separate well even by"
        " chance."
    ]
    return Section("expression", "Expression of the signature", words, [_heat(data)],
                   part="genes")  # fmt: skip


def _heat(data: Genes) -> Picture:
    it = data["heat"]
    shown, columns = len(it["genes"]), len(it["samples"])
    capped = first_of(shown, it["total"], "gene")
    capped += shown_of(columns, data["study"]["samples"], "sample", ", evenly spaced")
    score = "held-out score" if data["study"]["classes"] else "held-out prediction"
    scale = "" if data["study"]["classes"] else ", dark low, yellow high"
    return picture(
        "heat_map",
        partial(figures.heat, data),
        data={
            "gene": it["genes"],
            "symbol": it["symbols"],
            **dict(zip(it["samples"], map(list, zip(*it["z"], strict=True)), strict=True)),
        },
        title="Heat map of the signature",
        description=f"Standardised expression of {shown} genes in {columns} samples, both"
        " clustered.",
        caption="Z-scores per gene (capped at ±3): orange above, blue below the mean. Rows and"
        " columns are clustered (average linkage, Euclidean distance). Top bars:"
        f" {clean(data['study']['label'])}{_batch_bar(data)} and {score}{scale}.{capped}",
    )


def _batch_bar(data: Genes) -> str:
    return f", {clean(data['batch']['column'])}" if data["batch"] else ""


def _volcano(data: Genes) -> Picture:
    it = data["volcano"]
    shown = len(it["genes"])
    other = " Diamonds: the nonlinear list." if it["nonlinear"] is not None else ""
    logs = "" if it["logarithm"] or not data["study"]["classes"] else (
        " If your values are log₂, the difference is the log₂ fold change."
    )  # fmt: skip
    return picture(
        "volcano",
        partial(figures.volcano, data),
        data={
            "gene": it["genes"],
            "symbol": it["symbols"],
            "effect": it["effect"],
            "p": it["p"],
            "passes": it["passes"],
            "signature": it["signature"],
        },
        title="Volcano plot of single-gene tests",
        description=f"{figures.effect_name(data)} against minus log p of {shown} genes.",
        caption=f"Green: the signature.{other} Grey: other genes, faint below the dashed"
        f" line of the false discovery rate.{logs}"
        f"{shown_of(shown, it['total'], 'gene', how=_which())}",
    )


def _which() -> str:
    return ": selected genes, the smallest p, and others evenly spaced"


def _included(both: int, size: int) -> str:
    """Say how many signature genes are among those that pass."""
    if not size:
        return ""
    if both == size:
        every = "the one signature gene" if size == 1 else f"all {size} signature genes"
        return f", including {every}"
    return f", including {both or 'none'} of {counted(size, 'signature gene')}"


def single_genes(data: Genes, limits: Limits) -> Section:
    """Set the tests of single genes beside the selection."""
    tests, fdr = data["univariate"], data["config"]["controls"]["fdr"]
    words = [
        f"Single-gene tests (FDR {percent(fdr)}){one_value(data)}{in_test(data)} find"
        f" {tests['significant']:,} of {counted(tests['total'], 'gene')} associated with the"
        f" outcome{_included(tests['both'], data['answer']['size'])}.",
        "The lists differ because one of several correlated genes is enough to predict, and some"
        " genes matter only in combination.",
    ]
    items: list[Item] = [_volcano(data)] if data["volcano"]["genes"] else []
    caption = "Single-gene tests, smallest p first."
    items.append(packed_table(data, "univariate", caption, limits.table_rows, search=True))
    return Section("single-genes", "Single-gene tests", words, items, part="genes", folded=True)


TITLE = "Accuracy and stability by number of genes"


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
    """Show accuracy and stability of the lists by their length, instead of a choice among them."""
    found, shown = lengths(data), measure(data)
    if len(found) < 2:
        return Section("brevity", TITLE, part="genes")
    write, write_limits = shown.write, shown.write_limits
    shortest, own = found[0], next((one for one in found if one.chosen), found[-1])
    words = [
        f"The shortest lists have {counted(round(shortest.genes), 'gene')} on average and a"
        f" {shown.name} of {write(shortest.value)}{between(*shortest.limits, write_limits)}; the"
        f" chosen ones have {counted(round(own.genes), 'gene')}, {write(own.value)}"
        f"{between(*own.limits, write_limits)}. These values are for whole lists; a panel of"
        " genes common to all lists was not tested."
    ]
    image = picture(
        "brevity",
        partial(draw_brevity, data),
        data=transposed(
            ("list", "genes", shown.column, "low", "high", "stability"),
            [("chosen" if one.chosen else "nested", one.genes, one.value, *one.limits,
              one.stability) for one in found],
        ),
        title=f"{shown.title} against the number of genes",
        description="; ".join(
            f"{one.genes:.0f} genes: {write(one.value)}" for one in found
        ),
        caption=f"a: {shown.name} with 95% CI. Filled: the chosen lists, which are reported; open:"
        " nested lists (choosing the best here would bias its estimate). b: stability of lists from"
        " separate halves of the samples (1: identical, 0: chance).",
    )  # fmt: skip
    files = ["lists.tsv", "nested_lists.tsv", "stability.tsv"]
    return Section("brevity", TITLE, words, [image], part="genes", files=files)


def draw_brevity(data: Genes) -> Figure:
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
    note(top, found[0].genes, shown.chance, "chance", va="bottom")
    top.set_ylabel(shown.name)
    if shown.share:
        top.set_ylim(top=1.02)
    if alike:
        _dots(axes[1, 0], found, [one.stability for one in found])
        axes[1, 0].set_ylabel("stability")
        axes[1, 0].set_ylim(min(0, *(one.stability or 0 for one in found)) - 0.02, 1.02)
    last = axes[-1, 0]
    last.set_xscale("log")
    ticks: list[float] = []
    for one in found:  # those too near the one before could not be read
        if not ticks or one.genes > 1.12 * ticks[-1]:
            ticks.append(one.genes)
    last.set_xticks(ticks, [f"{each:.0f}" for each in ticks])
    last.set_xticks([], minor=True)
    last.set_xlabel("mean number of genes")
    for letter, ax in zip("ab", axes[:, 0], strict=False):
        ax.grid(axis="y")
        ax.set_title(letter if alike else "", fontweight="bold")
    return figure


def _dots(ax: Axes, found: list[Length], values: list[float | None]) -> None:
    known = [(one, value) for one, value in zip(found, values, strict=True) if value is not None]
    nested = [(one.genes, value) for one, value in known if not one.chosen]
    ax.plot(*zip(*nested, strict=True), color=MUTED, lw=0.8) if nested else None
    for one, value in known:
        ax.scatter([one.genes], [value], s=42, facecolor=OWN if one.chosen else PAPER,
                   edgecolor=OWN, lw=1.5, zorder=3)  # fmt: skip
