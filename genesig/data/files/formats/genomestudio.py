"""Illumina GenomeStudio and BeadStudio: sample probe profiles, several columns for each sample."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from genesig.data.files.delimited import Matrix, parse_matrix, parse_table
from genesig.data.files.formats.interface import Format
from genesig.errors import refuse
from genesig.words import listing

if TYPE_CHECKING:
    import pandas as pd

SIGNAL = "AVG_Signal"
IDS = ("PROBE_ID", "ProbeID", "ID_REF", "TargetID")
AGAIN = "export the Sample Probe Profile again, with AVG_Signal"


def matrix(text: str, where: str, part: str | None) -> Matrix:
    """Read probes × samples: the columns ``<sample>.AVG_Signal``, or another one by `part`.

    Raises
    ------
    InvalidInput
        No line of column names, no such columns, a row that is cut off.
    """
    start, suffix, lines = _profile(text, where)
    wanted = part or SIGNAL
    table = parse_table("\n".join(lines), suffix, where)
    names = [str(table.index.name), *table.columns]
    samples = {name: found for name in names if (found := _sample(name, wanted))}
    if not samples:
        raise refuse(
            where,
            f"no column is called '<sample>.{wanted}' (columns: {listing(names, 6)}); {AGAIN}",
            start,
        )
    chosen = table.reset_index()[[_id(names, where, start), *samples]]
    rows = ["\t".join(row) for row in chosen.itertuples(index=False, name=None)]
    plain = "\n".join(["\t".join(["probe", *samples.values()]), *rows])
    body = tuple(number + start - 1 for number in table.attrs["lines"])
    return replace(parse_matrix(plain, ".tsv", where), lines=body)


def genes(text: str, where: str, part: str | None) -> pd.DataFrame:
    """Read the columns that describe probes, such as SYMBOL."""
    start, suffix, lines = _profile(text, where)
    table = parse_table("\n".join(lines), suffix, where)
    names = [str(table.index.name), *table.columns]
    about = [
        name
        for name in names
        if not re.search(r"signal|detection|\.|stderr|nbeads|stdev", name, re.IGNORECASE)
    ]
    found = table.reset_index()[about].set_index(_id(names, where, start))
    if "SYMBOL" in found:  # data.symbol: null takes the first column
        found.insert(0, "SYMBOL", found.pop("SYMBOL"))
    found.attrs["lines"] = [number + start - 1 for number in table.attrs["lines"]]
    return found


def _profile(text: str, where: str) -> tuple[int, str, Sequence[str]]:
    """Return the line of the names, the ending of its delimiter, and the lines from there."""
    lines = text.split("\n")
    start = next((k for k, line in enumerate(lines) if SIGNAL.lower() in line.lower()), None)
    if start is None:
        raise refuse(where, f"has no line of column names with {SIGNAL}; {AGAIN}")
    stop = next((k for k in range(start, len(lines)) if lines[k].startswith("[")), len(lines))
    suffix = ".tsv" if "\t" in lines[start] else ".csv"
    if not any(line.strip() for line in lines[start + 1 : stop]):
        raise refuse(where, f"has no probes below the column names: it is cut off; {AGAIN}")
    return start + 1, suffix, lines[start:stop]


def _sample(name: str, wanted: str) -> str:
    """Return the sample of ``<sample>.AVG_Signal`` or, of BeadStudio, ``AVG_Signal-<sample>``."""
    plain = re.escape(wanted)
    found = re.fullmatch(rf"(.+)\.{plain}|{plain}-(.+)", name, re.IGNORECASE)
    return (found[1] or found[2]).strip() if found else ""


def _id(names: Sequence[str], where: str, line: int) -> str:
    upper = {name.upper(): name for name in reversed(names)}
    for name in IDS:
        if name.upper() in upper:
            return upper[name.upper()]
    raise refuse(where, f"has no column of probe ids ({', '.join(IDS)}); {AGAIN}", line)


GENOMESTUDIO = Format(
    "an Illumina GenomeStudio file",
    matrix,
    None,
    genes,
    parts="column",
    opening=r"\[Header\]|Illumina Inc\.|[^\n]*AVG_Signal",
)
