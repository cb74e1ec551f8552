"""The part of report_data.json about enrichment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from genesig.report.enrichment.record import LEVEL, EnrichmentRecord, Over, Ranked
from genesig.report.page.rounding import rounded
from genesig.report.page.words import shorten

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("enrichment", "enrichment_ranking")
TEXT = ("list", "reference", "set", "about", "names", "leading")

LONG = ("names", "leading")
"""Columns of which the page shows the beginning; the tables have all of it."""

MOST_LETTERS = 100
MOST_OVER = 5
MOST_RANKED = 20


def enrichment(tables: Mapping[str, pd.DataFrame], permutations: int) -> EnrichmentRecord | None:
    """Sum enrichment up; None where no sets were named."""
    if "enrichment_ranking" not in tables:
        return None
    lists, ranking = tables["enrichment"], tables["enrichment_ranking"]
    chosen = lists[lists["list"] == "chosen lists"]
    return {
        "known": len(ranking),
        "permutations": permutations,
        "size": rounded(chosen["size"].iloc[0], 4) if len(chosen) else 0.0,
        "chosen": _over(chosen),
        "found": int((chosen["family_p"] <= LEVEL).sum()),
        "ranked": _ranked(ranking),
        "passing": int((ranking["family_p"] <= LEVEL).sum()),
    }


def in_brief(table: pd.DataFrame) -> pd.DataFrame:
    """Cut lists of genes, of which a set may have hundreds; other tables stay as they are."""
    for name in [name for name in LONG if name in table.columns]:
        cut = table[name].map(lambda one: shorten(one, MOST_LETTERS), na_action="ignore")
        table = table.assign(**{name: cut})
    return table


def _over(rows: pd.DataFrame) -> list[Over]:
    return [
        {
            "set": str(row["set"]),
            "shared": rounded(row["shared"], 4),
            "expected": rounded(row["expected"], 4),
            "p": rounded(row["family_p"], 4),
        }
        for row in rows.head(MOST_OVER).to_dict("records")
    ]


def _ranked(ranking: pd.DataFrame) -> list[Ranked]:
    return [
        {
            "set": str(row["set"]),
            "higher": bool(row["score"] > 0),
            "normalised": rounded(row["normalised"], 4),
            "p": rounded(row["family_p"], 4),
        }
        for row in ranking.head(MOST_RANKED).to_dict("records")
    ]
