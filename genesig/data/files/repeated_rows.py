"""Read the rows that an SDRF file has for one sample, its raw files or runs, as one row."""

from __future__ import annotations

import re
from dataclasses import replace

from genesig.data.files.delimited import TextTable
from genesig.errors import Problem
from genesig.words import counted, listing

SDRF_HEADER = re.compile(r"source name|(characteristics|factor ?value) ?\[.*\]", re.IGNORECASE)
ROWS_MARK = "(lines"
"""Stands after the name of a column whose cells differ between the rows of a sample."""


def merge_sdrf_rows(table: TextTable, file: str, problems: list[Problem]) -> TextTable:
    """Return an SDRF table with one row for each sample; other tables are unchanged.

    A column whose cells differ between the rows of a sample gets both cells, "1.fastq; 2.fastq",
    and the lines behind its name, ``Scan Name (lines 2 and 3 differ)``, so that no setting takes
    it for a property of the sample.

    table: index = names of samples.
    file: file of the table.
    problems: a note says how many samples have several rows.
    """
    cells_of_table = table.cells
    headers = [str(cells_of_table.index.name), *map(str, cells_of_table.columns)]
    names = list(map(str, cells_of_table.index))
    if len(set(names)) == len(names) or not any(map(SDRF_HEADER.fullmatch, headers)):
        return table
    lines = table.lines or range(2, len(names) + 2)
    rows_of_sample: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        # A blank name stands for itself: `check_ids` reports it.
        rows_of_sample.setdefault(name or f"\0{row}", []).append(row)
    first_rows = [rows[0] for rows in rows_of_sample.values()]
    merged = cells_of_table.iloc[first_rows].copy()
    merged_headers = headers[1:]
    differing_headers = []
    for position, header in enumerate(merged_headers):
        cells = list(map(str, cells_of_table.iloc[:, position]))
        differing_rows = [
            (rows[0], row)
            for rows in rows_of_sample.values()
            for row in rows
            if cells[row] != cells[rows[0]]
        ]
        if not differing_rows:
            continue
        first_row, other_row = differing_rows[0]
        differing_headers.append(header)
        mark = f"{ROWS_MARK} {lines[first_row]} and {lines[other_row]} differ)"
        merged_headers[position] = f"{header} {mark}"
        joined_cells = [
            "; ".join(dict.fromkeys(cells[row] for row in rows)) for rows in rows_of_sample.values()
        ]
        merged.isetitem(position, joined_cells)
    merged.columns = merged_headers
    n_merged = sum(len(rows) > 1 for rows in rows_of_sample.values())
    message = f"{counted(n_merged, 'sample')} with several rows, read as one row each"
    if differing_headers:
        message += f"; columns that differ between them: {listing(differing_headers)}"
    problems.append(Problem(file, message, "note", "rows_merged"))
    return replace(table, cells=merged, lines=[lines[row] for row in first_rows])
