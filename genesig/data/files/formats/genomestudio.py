"""Illumina GenomeStudio and BeadStudio: sample probe profiles, several columns for each sample."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from genesig.data.files.delimited import Matrix, TextTable, parse_matrix, parse_table
from genesig.data.files.formats.interface import Format
from genesig.errors import input_error
from genesig.words import listing

SIGNAL_COLUMN = "AVG_Signal"
ID_HEADERS = ("PROBE_ID", "ProbeID", "ID_REF", "TargetID")
EXPORT_AGAIN = "export the Sample Probe Profile again, with AVG_Signal"


def matrix(text: str, file_name: str, part: str | None) -> Matrix:
    """Return probes × samples: the columns ``<sample>.AVG_Signal``, or of the measure `part`.

    Raises InvalidInput: no line of column names, no such columns, a row that is cut off.
    """
    start, suffix, lines = _profile_lines(text, file_name)
    measure = part or SIGNAL_COLUMN
    profile = parse_table("\n".join(lines), suffix, file_name)
    table = profile.cells
    names = [str(table.index.name), *table.columns]
    sample_of_column = {
        name: sample for name in names if (sample := _sample_of_column(name, measure))
    }
    if not sample_of_column:
        raise input_error(
            file_name,
            f"no column is called '<sample>.{measure}' (columns: {listing(names, 6)}); "
            f"{EXPORT_AGAIN}",
            start,
        )
    columns = table.reset_index()[[_id_header(names, file_name, start), *sample_of_column]]
    rows = ["\t".join(row) for row in columns.itertuples(index=False, name=None)]
    plain_text = "\n".join(["\t".join(["probe", *sample_of_column.values()]), *rows])
    line_numbers = tuple(number + start - 1 for number in profile.lines)
    return replace(parse_matrix(plain_text, ".tsv", file_name), lines=line_numbers)


def genes(text: str, file_name: str, part: str | None) -> TextTable:
    """Return the columns that describe probes, such as SYMBOL."""
    start, suffix, lines = _profile_lines(text, file_name)
    table = parse_table("\n".join(lines), suffix, file_name).cells
    names = [str(table.index.name), *table.columns]
    gene_headers = [
        name
        for name in names
        if not re.search(r"signal|detection|\.|stderr|nbeads|stdev", name, re.IGNORECASE)
    ]
    gene_table = table.reset_index()[gene_headers].set_index(_id_header(names, file_name, start))
    if "SYMBOL" in gene_table:  # data.symbol: null takes the first column
        gene_table.insert(0, "SYMBOL", gene_table.pop("SYMBOL"))
    return TextTable(gene_table)


def _profile_lines(text: str, file_name: str) -> tuple[int, str, Sequence[str]]:
    """Return the line of the headers (from 1), the ending of their delimiter, and the lines.

    The lines are the headers and the probes, up to the next section. The ending is .tsv or .csv.
    """
    lines = text.split("\n")
    start = next((k for k, line in enumerate(lines) if SIGNAL_COLUMN.lower() in line.lower()), None)
    if start is None:
        raise input_error(
            file_name, f"has no line of column names with {SIGNAL_COLUMN}; {EXPORT_AGAIN}"
        )
    stop = next((k for k in range(start, len(lines)) if lines[k].startswith("[")), len(lines))
    suffix = ".tsv" if "\t" in lines[start] else ".csv"
    if not any(line.strip() for line in lines[start + 1 : stop]):
        raise input_error(
            file_name, f"has no probes below the column names: it is cut off; {EXPORT_AGAIN}"
        )
    return start + 1, suffix, lines[start:stop]


def _sample_of_column(name: str, measure: str) -> str:
    """Return the sample of ``<sample>.AVG_Signal`` (BeadStudio: ``AVG_Signal-<sample>``), or ''."""
    pattern = re.escape(measure)
    match = re.fullmatch(rf"(.+)\.{pattern}|{pattern}-(.+)", name, re.IGNORECASE)
    return (match[1] or match[2]).strip() if match else ""


def _id_header(names: Sequence[str], file_name: str, line: int) -> str:
    """Return the header of the column of probe ids; line: of the headers, for messages."""
    header_of_upper = {name.upper(): name for name in reversed(names)}  # of equals the first
    for name in ID_HEADERS:
        if name.upper() in header_of_upper:
            return header_of_upper[name.upper()]
    raise input_error(
        file_name, f"has no column of probe ids ({', '.join(ID_HEADERS)}); {EXPORT_AGAIN}", line
    )


GENOMESTUDIO = Format(
    "an Illumina GenomeStudio file",
    matrix,
    genes=genes,
    parts="column",
    opening=r"\[Header\]|Illumina Inc\.|[^\n]*AVG_Signal",
)
