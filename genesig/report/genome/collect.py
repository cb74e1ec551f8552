"""The part of report_data.json about places on the genome."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.report.genome.record import Chromosome, GenomeRecord, Place, Stretch
from genesig.report.page.rounding import plain, rounded
from genesig.report.page.rows import at_mu

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset

Array = np.ndarray[Any, Any]

TABLES = ("stretches",)
TEXT = ("chromosome", "first", "last")
MOST_PLACES = 3000
MOST_STRETCHES = 20


def genome(dataset: Dataset, tables: Mapping[str, pd.DataFrame]) -> GenomeRecord | None:
    """Collect places and stretches; None where the study does not know them."""
    if "stretches" not in tables or not dataset.placed:
        return None
    names, places = dataset.places()
    known = np.array([not name.startswith("\0") for name in names])
    ordered = sorted({str(name) for name in names[known]}, key=natural)
    found = _selected(tables, [dataset.genes[j] for j in np.flatnonzero(known)])
    number = {name: k for k, name in enumerate(ordered)}
    at = {gene: (number[str(names[j])], float(places[j])) for j, gene in enumerate(dataset.genes)
          if known[j]}  # fmt: skip
    symbols = dict(zip(dataset.genes, map(str, dataset.var["symbol"]), strict=True))
    stretches = tables["stretches"]
    return {
        "chromosomes": [_chromosome(name, names, places) for name in ordered],
        "places": [_place(gene, symbols[gene], at[gene], row)
                   for gene, row in list(found.items())[:MOST_PLACES]],
        "total": len(found),
        "placed": int(known.sum()),
        "stretches": [_stretch(row) for row in stretches.head(MOST_STRETCHES).to_dict("records")],
        "found": len(stretches),
    }  # fmt: skip


def natural(name: str) -> tuple[int, int, str]:
    """Order chromosomes as people do: 1 to 22 by number, then X, Y, M, the others."""
    short = re.sub("^(chr(omosome)?)[ _]?", "", name, flags=re.IGNORECASE).upper()
    if short.isascii() and short.isdigit():
        return 0, int(short), name
    known = ("X", "Y", "M", "MT")
    return (1, known.index(short), name) if short in known else (2, 0, name)


def _selected(
    tables: Mapping[str, pd.DataFrame], placed: list[str]
) -> dict[str, tuple[float, float]]:  # fmt: skip
    """Return frequency and signed contribution of each gene that anything selects, by frequency."""
    nested, signature = tables["nested_lists"], tables["signature"]
    chosen, there = nested[at_mu(nested, None)], set(placed)
    often = dict(zip(chosen["gene"], chosen["frequency"], strict=True))
    size = dict(zip(signature["gene"], np.sign(signature["coef"]) * signature["size"], strict=True))
    genes = [gene for gene in dict.fromkeys([*often, *size]) if gene in there]
    rows = {gene: (float(often.get(gene, 0.0)), float(size.get(gene, 0.0))) for gene in genes}
    return dict(sorted(rows.items(), key=lambda row: (-row[1][0], -abs(row[1][1]))))


def _chromosome(name: str, names: Array, places: Array) -> Chromosome:
    on = names == name
    return {"name": name, "end": float(places[on].max()), "genes": int(on.sum())}


def _place(
    gene: str, symbol: str, at: tuple[int, float], row: tuple[float, float]
) -> Place:  # fmt: skip
    return {
        "gene": gene,
        "symbol": symbol,
        "chromosome": at[0],
        "position": at[1],
        "frequency": rounded(row[0], 4),
        "size": rounded(row[1], 4),
    }


def _stretch(row: Mapping[Any, Any]) -> Stretch:
    blank = not isinstance(row["chromosome"], str) or not row["chromosome"]
    return {
        "chromosome": None if blank else row["chromosome"],
        "start": plain(row["start"]),
        "end": plain(row["end"]),
        "genes": int(row["genes"]),
        "first": str(row["first"]),
        "last": str(row["last"]),
        "contribution": rounded(row["contribution"], 4),
        "frequency": rounded(row["frequency"], 4),
    }
