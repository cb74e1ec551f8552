"""Sections about lists of genes: the signature, its stability, nested lists, overlap, blocks."""

from __future__ import annotations

from functools import partial

from genesig.report.genes import figures, figures_effects, figures_lists
from genesig.report.genes.proved import evidence_words
from genesig.report.genes.record import Correlation, Genes
from genesig.report.page.columns import Column
from genesig.report.page.measure import speaks_for
from genesig.report.page.often import bound, often
from genesig.report.page.rows import columns_of, records, transposed
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import Columns, Picture, picture
from genesig.report.page.tables import filled_table, packed_table
from genesig.report.page.words import (
    clean,
    counted,
    decimal,
    shown_of,
)

FIRST = 8
"""Genes that are read before the table is opened."""


def signature(data: Genes, limits: Limits) -> Section:
    """Show the signature as one table."""
    proved, items = data["answer"]["evidence"], list[Item]()
    if data["answer"]["size"]:
        more = ", and those that can be named" if proved and proved["named"] else ""
        caption = f"The signature: the genes of the predictive model{more}."
        caption = caption if proved else "The signature: the genes of the final model."
        items.append(packed_table(
            data, "signature", caption, min(limits.table_rows, FIRST), search=True, shown=True
        ))  # fmt: skip
    if data["tables"]["evidence"]["rows"]:
        caption = "Every gene that any half of the samples lists, and how often chance lists it."
        items.append(packed_table(data, "evidence", caption, limits.table_rows, search=True))
    words = _signature_words(data)
    return Section("signature", "Genes of the signature", words, items, part="signature")


def _signature_words(data: Genes) -> list[str]:
    if not data["answer"]["size"]:
        return ["The signature is empty: the final model selected no gene."]
    if data["answer"]["evidence"]:
        return evidence_words(data, data["answer"]["evidence"])
    return [
        f"{counted(data['answer']['size'], 'gene')} of the final model, the most often selected"
        f" first. Core: selected in at least {bound(data)} of the outer training sets."
        f" {speaks_for(data)}. p and q come from single-gene tests and were not"
        " used for selection."
    ]


def overlap(data: Genes, limits: Limits) -> Section:
    """Show which genes the lists of different methods share."""
    it = data["overlap"]
    if len(it["lists"]) < 2:
        return Section("overlap", "Overlap of the lists", part="stability")
    sizes = ", ".join(f"{name} {n}" for name, n in zip(it["lists"], it["sizes"], strict=True))
    rows = [
        (" & ".join(name for name, here in zip(it["lists"], one["lists"], strict=True) if here),
         one["count"], ", ".join(map(clean, one["genes"])))
        for one in it["patterns"]
    ]  # fmt: skip
    columns = [Column("In these lists only", "text"), Column("Genes", "integer"),
               Column("Which", "text")]  # fmt: skip
    more = f" {it['left_out']} rarer patterns are not shown." if it["left_out"] else ""
    image = picture(
        "overlap",
        partial(figures_effects.overlap, it),
        data=transposed(("lists", "genes", "which"), rows),
        title="Genes that lists share",
        description=f"Lengths of the lists: {sizes}. In the pattern of most genes:"
        f" {rows[0][0]} ({rows[0][1]}).",
        caption="Bars above: genes that are in exactly the lists with a dark dot below; bars at the"
        f" left: lengths of the lists.{more}",
    )
    words = [
        "Lists of different methods share some of their genes; a gene that one of them lacks may be"
        " replaced there by a correlated one."
    ]
    table = filled_table("overlap", "Genes by the lists that hold them.", columns, rows,
                         limits.table_rows, search=True)  # fmt: skip
    return Section(
        "overlap", "Overlap of the lists", words, [image, table], part="stability", folded=True
    )


def lists(data: Genes, limits: Limits) -> Section:
    """Show the nested lists."""
    words = [
        "As μ grows, genes that are correlated with selected ones join the list. At large μ the"
        " lists approach a univariate ranking; part of their higher stability comes from this.",
    ]
    items: list[Item] = []
    if data["nested"]:
        items.append(_nested(data))
    items.append(packed_table(data, "lists", "The lists, one per μ.", limits.table_rows))
    if data["tables"]["nested_lists"]["rows"]:
        caption = "Every gene that any split selected, at each μ."
        items.append(
            packed_table(data, "nested_lists", caption, limits.table_rows, search=True)
        )  # fmt: skip
    return Section("lists", "Nested lists", words, items)


def _nested(data: Genes) -> Picture:
    shown = len(data["nested"])
    return picture(
        "nested_lists",
        partial(figures_lists.nested, data),
        data=_frequencies(data),
        title="Nested lists",
        description=f"Selection frequency of {shown} genes in the chosen lists and at"
        f" {len(data['mu'])} values of mu.",
        caption=f"The first {counted(shown, 'gene')}: {often(data)}s of the chosen lists, then in"
        " the order in which they enter along μ. The larger the dot, the more splits selected the"
        f" gene; filled: at least {bound(data)} of them. Where lists are nested, a row once filled"
        " stays filled to the right.",
    )


def _frequencies(data: Genes) -> Columns:
    places = ["chosen", *(f"mu {mu:g}" for mu in data["mu"])]
    shown = [one["frequency"] for one in data["nested"]]
    return {**columns_of(data["nested"], "gene", "symbol"), **transposed(places, shown)}


def blocks(data: Genes, limits: Limits) -> Section:
    """Show the blocks of correlated genes around the minimal list."""
    total, shown = data["correlation"]["total"], len(data["correlation"]["genes"])
    if not shown:
        words = ["There are no lists to group."]
        return Section("blocks", "Blocks of correlated genes", words, part="stability")
    words = [
        "Each gene of the final model's minimal list seeds a block; every other gene of its lists"
        " joins the seed with which its absolute correlation is highest. Blocks are numbered by the"
        " weight of their seed. Other patients may well select another member of a block."
        f"{_apart(data)}"
    ]
    items: list[Item] = [_correlation(data, shown, total)] if shown > 1 else []
    caption = "Block prototypes and, for each, the most correlated other prototype."
    items.append(packed_table(data, "prototypes", caption, limits.table_rows))
    caption = "All genes of the lists by block, in the order in which they enter."
    items.append(packed_table(data, "blocks", caption, limits.table_rows, search=True))
    return Section(
        "blocks", "Blocks of correlated genes", words, items, part="stability", folded=True
    )


def _apart(data: Genes) -> str:
    """Count the genes that no seed is like."""
    rows = records(data["tables"]["blocks"])
    number = sum(row["block"] is None for row in rows)
    if not number:
        return ""
    least = decimal(data["config"]["clusters"]["least"])
    verb = "stands" if number == 1 else "stand"
    of_them = f" {counted(number, 'gene')} {verb} apart"
    return f"{of_them}: not correlated with any seed (|r| below {least})."


def _correlation(data: Genes, shown: int, total: int) -> Picture:
    return picture(
        "correlation",
        partial(figures.correlation, data),
        data=_square(data["correlation"]),
        title="Correlation between the genes of the lists",
        description=f"Image of Pearson's r between {shown} genes in the order of blocks and"
        " layers.",
        caption="Pearson's r between genes, by block; thick lines part blocks, thin lines the"
        " layers in which genes enter as μ grows. Orange: positive, blue: negative correlation. A"
        " coherent block appears as a strongly coloured square on the diagonal."
        f"{shown_of(shown, total, 'gene', ', the first ones of each block')}",
    )


def _square(it: Correlation) -> Columns:
    square = dict(zip(it["genes"], it["r"], strict=True))
    return {"gene": it["genes"], "symbol": it["symbols"], "block": it["blocks"], **square}
