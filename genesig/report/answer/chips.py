"""The genes of the signature as the first screen names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from genesig.report.answer.record import Answer
from genesig.report.page.gene_links import Link, gene_anchor, gene_links, short_symbol
from genesig.report.page.measure import measure
from genesig.report.page.rows import records
from genesig.report.page.words import clean, percent, shorten

MOST_NAMED = 12
"""Genes of the signature on the first screen."""


@dataclass(frozen=True)
class GeneChip:
    """A gene of the signature as the first screen shows it.

    ``direction`` is the class for which it weighs most, where there are more than two.
    """

    name: str
    gene: str
    direction: str
    frequency: str
    core: bool
    links: Sequence[Link]
    card: str


def gene_chips(data: Answer) -> list[GeneChip]:
    """Return the genes of the signature, those selected most often first."""
    found = sorted(data["answer"]["chips"], key=lambda one: -one["frequency"])
    own = {row["gene"]: row.get("class") for row in records(data["tables"]["signature"])}
    return [
        GeneChip(
            short_symbol(one["symbol"]) or shorten(one["symbol"], 18),
            clean(one["gene"]),
            _direction(data, one["up"]) or shorten(own.get(one["gene"]) or "", 18),
            percent(one["frequency"]),
            one["core"],
            gene_links(one["gene"], one["symbol"]),
            gene_anchor(one["gene"]),
        )
        for one in found[:MOST_NAMED]
    ]


def _direction(data: Answer, up: bool | None) -> str:
    classes = data["study"]["classes"]
    if up is None:
        return ""
    if classes is None:
        way = measure(data).words.ways[not up]
        return way.format(shorten(data["study"]["label"], 18))
    return f"{'↑' if up else '↓'} in {shorten(classes[1], 18)}"
