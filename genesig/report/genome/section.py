"""The section about the genome: which stretches the final model has, and how often they are."""

from __future__ import annotations

from functools import partial

from genesig.report.genome import figures
from genesig.report.genome.record import Genome, GenomeRecord, Stretch
from genesig.report.page.rows import columns_of
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import packed_table
from genesig.report.page.words import clean, counted, percent, shorten, shown_of, significant

TITLE = "Along the genome"
NAMED = 3
"""Stretches that a sentence names."""


def genome(data: Genome, limits: Limits) -> Section:
    """Show where the genes lie; nothing where that is not known."""
    it = data["genome"]
    if it is None:
        return Section("genome", TITLE)
    items: list[Item] = [] if not it["places"] else [_along(data, it)]
    if it["found"]:
        caption = (
            "Stretches of the final model: neighbours among the measured genes of a chromosome."
        )
        items.append(packed_table(data, "stretches", caption, limits.table_rows, search=True))
    return Section("genome", TITLE, [_found(it), *_how(data)], items, part="signature")


def _found(it: GenomeRecord) -> str:
    if not it["found"]:
        return "The final model has no gene."
    longest = max(one["genes"] for one in it["stretches"])
    named = "; ".join(map(_named, it["stretches"][:NAMED]))
    return (
        f"The final model has {counted(it['found'], 'stretch')} of at most"
        f" {counted(longest, 'gene')}. Those that contribute most: {named}."
    )


def _named(one: Stretch) -> str:
    often = f"selected in {percent(one['frequency'])} of the training sets"
    if one["chromosome"] is None or one["start"] is None:
        return f"{shorten(one['first'], 30)}, without a place ({often})"
    place = f"chromosome {clean(one['chromosome']).removeprefix('chr')}"
    if one["genes"] == 1:
        return f"{shorten(one['first'], 30)} on {place} ({often})"
    where = f"{shorten(one['first'], 30)} to {shorten(one['last'], 30)} on {place}"
    return f"{where}, {counted(one['genes'], 'gene')} ({often}, on average)"


def _how(data: Genome) -> list[str]:
    linear = data["config"]["linear"]
    if linear["penalty"] != "fused":
        return []
    return [
        "Genes were selected as stretches of neighbours: a stretch costs as much as its genes, and"
        f" each of its two ends as much as {significant(linear['jump'])} more. A"
        " gene inside a stretch need not differ by itself."
    ]


def _along(data: Genome, it: GenomeRecord) -> Picture:
    bound = data["config"]["signature"]["frequency"]
    shown = shown_of(len(it["places"]), it["total"], "gene", ", those selected most often")
    named = "; ".join(map(_named, it["stretches"][:NAMED]))
    return picture(
        "genome",
        partial(figures.along, it, bound),
        data={
            "name": [it["chromosomes"][one["chromosome"]]["name"] for one in it["places"]],
            **columns_of(it["places"], "gene", "symbol", "position", "size", "frequency"),
        },
        title="Selected genes along the genome",
        description=f"Contribution to the final model and selection frequency of"
        f" {counted(len(it['places']), 'gene')} on {counted(len(it['chromosomes']), 'chromosome')}."
        f" {named}.",
        caption="Genes at their places, chromosome by chromosome. Above: contribution to the final"
        " model, weight times the gene's standard deviation; orange raises the score, blue lowers"
        " it. Below: share of the outer splits that select the gene; dashed: what makes it part of"
        f" the list.{shown}",
    )
