"""Excel workbooks (.xlsx): a sheet is a table like any other."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from genesig.data.files.delimited import Matrix, parse_table
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.table import TABLES
from genesig.errors import InvalidInput, did_you_mean, refuse
from genesig.machine import check_size
from genesig.words import listing

if TYPE_CHECKING:
    import pandas as pd

Rows = list[list[str]]
TEXT = ".tsv"
ZIP, OLD = b"PK", bytes.fromhex("d0cf11e0")
"""What workbooks begin with, today's and those before."""


def matrix(content: bytes, where: str, part: str | None) -> Matrix:
    """Read a sheet of numbers."""
    sheets = _sheets(content, where)
    return TABLES[TEXT].matrix(_text(sheets[_choice(sheets, part, where)]).encode(), where, None)


def samples(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read a sheet of words: beside a larger one that `part` names, the other of two."""
    sheets = _sheets(content, where)
    name = _choice(sheets, part, where)
    if len(sheets) == 2 and max(sheets, key=lambda each: _size(sheets[each])) == name:
        (name,) = set(sheets) - {name}
    return parse_table(_text(sheets[name]), TEXT, where)


def genes(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read a sheet of words."""
    sheets = _sheets(content, where)
    return parse_table(_text(sheets[_choice(sheets, part, where)]), TEXT, where)


def _sheets(content: bytes, where: str) -> dict[str, Rows]:
    """Return the cells of each sheet that has any."""
    if not content.startswith(ZIP):
        what = "is a workbook of before 2007, or one with a password"
        what = what if content.startswith(OLD) else "is no Excel workbook, whatever its ending says"
        raise refuse(where, f"{what}; save its sheet as .xlsx, or name a text .tsv or .csv")
    try:
        import openpyxl
    except ImportError:
        what = "is an Excel workbook, which needs the package openpyxl: pip install "
        what += "'genesig[excel]', or save the sheet as tab-separated text"
        raise refuse(where, what) from None
    try:
        size = sum(each.file_size for each in ZipFile(BytesIO(content)).infolist())
        check_size(where, size, len(content))
        book = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True)
        sheets = {sheet.title: [list(map(_cell, row)) for row in sheet.iter_rows(values_only=True)]
                  for sheet in book.worksheets}  # fmt: skip
    except (InvalidInput, MemoryError):
        raise
    except Exception as error:  # of zip, XML or openpyxl: a damaged workbook makes them raise any
        what = f"is no Excel workbook, or damaged ({' '.join(str(error).split())[:80]})"
        raise refuse(where, f"{what}; save it again, or its sheet as tab-separated text") from None
    return {name: rows for name, rows in sheets.items() if any(map(any, rows))}


def _choice(sheets: dict[str, Rows], part: str | None, where: str) -> str:
    if part is not None and part not in sheets:
        raise refuse(where, f"has no sheet '{part}' with cells{did_you_mean(part, sheets)}; name "
                     "another file or sheet")  # fmt: skip
    if not sheets:
        raise refuse(where, "every sheet is empty; name another file or sheet")
    if part is None and len(sheets) > 1:
        what = f"holds several sheets: {listing(sheets, 9)}; set data.part to one, of two to that "
        raise refuse(where, what + "of the matrix: the other may be the sample table")
    return next(iter(sheets)) if part is None else part


def _size(rows: Rows) -> int:
    return sum(bool(cell) for row in rows for cell in row)


def _text(rows: Rows) -> str:
    """Return a sheet as text with tabs."""
    return "\n".join("\t".join(row) for row in rows) + "\n"


def _cell(value: Any) -> str:
    """Write a cell as text: whole numbers without a point, dates as they sort, no tabs."""
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return " ".join(str(value).split())


EXCEL = Format("an Excel workbook", matrix, samples, genes, (".xlsx",), parts="sheet", binary=True,
               either_way=True)  # fmt: skip
