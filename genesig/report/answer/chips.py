"""The genes of the signature as the first screen names them."""

from __future__ import annotations

from dataclasses import dataclass

from genesig.report.answer.record import Answer
from genesig.report.page.finding import Chip
from genesig.report.page.gene_links import gene_anchor, short_symbol
from genesig.report.page.measure import measure
from genesig.report.page.rows import records
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import clean, percent, shorten, significant

MOST_NAMED = 12
"""Genes of the signature on the first screen."""


@dataclass(frozen=True)
class GeneChip:
    """A gene of the signature as the first screen shows it.

    ``direction`` is the class for which it weighs most, where there are more than two; ``kind`` is
    "named" where it has evidence of its own, "core" where none was looked for, or empty.
    """

    name: str
    gene: str
    direction: str
    words: str
    kind: str
    card: str


def chips_title(data: Answer) -> str:
    """Return the heading of the chips, which says in what order they stand."""
    it, several = data["answer"]["evidence"], len(data["answer"]["chips"]) > 1
    if it is None:
        return "Genes of the signature" + ", the most often selected first" * several
    if not it["named"]:
        return "Genes of the predictive model: none has evidence of its own"
    more = ", then other genes of the predictive model" if it["named"] < MOST_NAMED else ""
    other = data["answer"]["size"] > it["named"]
    return f"Named genes, the most often listed first{more if other else ''}"


def gene_chips(data: Answer) -> list[GeneChip]:
    """Return the genes: named ones first, or the most selected; none where there is no evidence."""
    if grade(data) is Grade.NONE:
        return []
    found = list(data["answer"]["chips"])
    if data["answer"]["evidence"] is None:
        found.sort(key=lambda one: -one["frequency"])
    own = {row["gene"]: row.get("class") for row in records(data["tables"]["signature"])}
    return [
        GeneChip(
            short_symbol(one["symbol"]) or shorten(one["symbol"], 18),
            clean(one["gene"]),
            _direction(data, one["up"]) or shorten(own.get(one["gene"]) or "", 18),
            _words(one),
            "named" if one["named"] else "core" if one["core"] else "",
            gene_anchor(one["gene"]),
        )
        for one in found[:MOST_NAMED]
    ]


def _words(one: Chip) -> str:
    if one["named"] is None:
        return percent(one["frequency"]) + " · core" * bool(one["core"])
    listed = f"{percent(one['half_frequency'])} of halves, q\u00a0{significant(one['q'], 2)}"
    return f"{listed} · {'named' if one['named'] else 'no evidence of its own'}"


def _direction(data: Answer, up: bool | None) -> str:
    classes = data["study"]["classes"]
    if up is None:
        return ""
    if classes is None:
        way = measure(data).words.ways[not up]
        return way.format(shorten(data["study"]["label"], 18))
    return f"{'↑' if up else '↓'} in {shorten(classes[1], 18)}"
