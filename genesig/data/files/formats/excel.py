"""Excel workbooks (.xlsx): a sheet is a table like any other."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from genesig.data.files.delimited import Matrix, parse_table
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.table import TABLES
from genesig.errors import refuse
from genesig.machine import check_size
from genesig.words import listing

if TYPE_CHECKING:
    import pandas as pd

TEXT = ".tsv"
ZIP, OLD = b"PK", bytes.fromhex("d0cf11e0")
"""What workbooks begin with, today's and those before."""


def matrix(content: bytes, where: str, part: str | None) -> Matrix:
    """Read a sheet of numbers."""
    return TABLES[TEXT].matrix(_text(content, where, part).encode(), where, None)


def table(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read a sheet of words."""
    return parse_table(_text(content, where, part), TEXT, where)


def _text(content: bytes, where: str, part: str | None) -> str:
    """Return a sheet as text with tabs."""
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
                  for sheet in book.worksheets if part in (None, sheet.title)}  # fmt: skip
    except (BadZipFile, KeyError, ValueError, TypeError, OSError, SyntaxError) as error:
        what = f"is no Excel workbook, or damaged ({' '.join(str(error).split())[:80]})"
        raise refuse(where, f"{what}; save it again, or its sheet as tab-separated text") from None
    filled = {name: rows for name, rows in sheets.items() if any(map(any, rows))}
    if len(filled) > 1:
        raise refuse(where, f"holds several sheets: {listing(filled, 9)}; set data.part to one")
    if not filled:
        found = "every sheet is empty" if part is None else f"has no sheet '{part}' with cells"
        raise refuse(where, f"{found}; name another file or sheet")
    (rows,) = filled.values()
    return "\n".join("\t".join(row) for row in rows) + "\n"


def _cell(value: Any) -> str:
    """Write a cell as text: whole numbers without a point, dates as they sort, no tabs."""
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return " ".join(str(value).split())


EXCEL = Format("an Excel workbook", matrix, table, table, (".xlsx",), parts="sheet", binary=True,
               either_way=True)  # fmt: skip
