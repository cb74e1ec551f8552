"""Modules of genes in the quality section: what varies together, whatever the label."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from genesig.report.page.columns import Column
from genesig.report.page.section import Item
from genesig.report.page.tables import filled_table
from genesig.report.page.words import percent, shorten
from genesig.report.quality.record import Quality

NAMED = 12
"""Genes of a module that are named in the table."""
COLUMNS = (
    Column("Module", "integer"),
    Column("Genes", "integer"),
    Column("Variance", "share", "Of all genes, added to that of the modules before"),
    Column("Genes with the largest loadings", "text", "− where a gene falls as the others rise"),
)


def modules(data: Quality) -> list[Item]:
    """Show the modules as a table; nothing where none were asked for or found."""
    found = by_module(data)
    if not found:
        return []
    rows = [
        (number, len(genes), genes[0]["explained"], _named(genes)) for number, genes in found
    ]  # fmt: skip
    total, file = len(rows), data["tables"]["modules"]["file"]
    caption = (
        "Modules: genes that vary together over all samples, by sparse principal components,"
        " without the label. Of the variance of samples left out,"
        f" {percent(1 - found[0][1][0]['unexplained'])} is reconstructed from them."
    )
    return [filled_table("modules", caption, COLUMNS, rows, total, total=total, file=file)]


def by_module(data: Quality) -> list[tuple[int, list[dict[str, Any]]]]:
    """Return each module's number with its genes, by falling |loading|."""
    table = data["tables"].get("modules")
    if table is None:
        return []
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return [(key, list(part)) for key, part in groupby(rows, lambda row: int(row["module"]))]


def _named(genes: list[dict[str, Any]]) -> str:
    names = [
        ("−" if one["loading"] < 0 else "") + shorten(one["symbol"], 20) for one in genes[:NAMED]
    ]  # fmt: skip
    more = f" and {len(genes) - NAMED} more" if len(genes) > NAMED else ""
    return ", ".join(names) + more
