"""Excel workbooks (.xlsx): a sheet is a table like any other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from genesig.data.files.delimited import Matrix, parse_table
from genesig.data.files.formats.excel_marks import Marks, marks_of_sheets
from genesig.data.files.formats.interface import DOUBTS, Format
from genesig.data.files.formats.table import TABLES
from genesig.errors import InvalidInput, Problem, did_you_mean, refuse
from genesig.machine import check_size
from genesig.words import counted, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

Rows = list[list[str]]
TEXT = ".tsv"
ZIP = b"PK"
OLD = bytes.fromhex("d0cf11e0")
"""What workbooks begin with, today's and those before."""
MOST_NUMBERS = 0.9
"""A sheet of which so many cells are numbers is a matrix, and no sample table."""


@dataclass
class Sheet:
    """One sheet: its cells as text, and what is to be said of them beside their values."""

    rows: Rows
    marks: Marks

    @property
    def text(self) -> str:
        """The sheet as text with tabs."""
        return "\n".join("\t".join(row) for row in self.rows) + "\n"


def matrix(content: bytes, where: str, part: str | None) -> Matrix:
    """Read a sheet of numbers."""
    sheets = _sheets(content, where)
    sheet = _as_seen(sheets[_choice(sheets, part, where)], where)
    sheet_matrix = TABLES[TEXT].matrix(sheet.text.encode(), where, None)
    doubts = filter(None, [sheet_matrix.doubt, *_doubts(sheet)])
    return replace(sheet_matrix, doubt="; ".join(doubts))


def samples(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read a sheet of words: beside a matrix that `part` names, the other of two."""
    sheets = _sheets(content, where)
    name = _choice(sheets, part, where)
    largest = max(sheets, key=lambda title: _size(sheets[title].rows))
    if len(sheets) == 2 and largest == name and _is_matrix(sheets[name].rows):
        (name,) = set(sheets) - {name}
    return _table(sheets[name], where)


def genes(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read a sheet of words."""
    sheets = _sheets(content, where)
    return _table(sheets[_choice(sheets, part, where)], where)


def _table(sheet: Sheet, where: str) -> pd.DataFrame:
    """Make the table of a sheet; ``attrs[DOUBTS]`` are what warnings say of it."""
    sheet = _as_seen(sheet, where)
    table = parse_table(sheet.text, TEXT, where)
    table.attrs[DOUBTS] = tuple(_doubts(sheet))
    return table


def _as_seen(sheet: Sheet, where: str) -> Sheet:
    """Fill merged cells downwards, as the reader of a sheet sees them.

    Raises
    ------
    InvalidInput
        Formulas whose results are not stored.
    """
    marks = sheet.marks
    if marks.formulas:
        verb = "holds" if len(marks.formulas) == 1 else "hold"
        text = (
            f"{counted(len(marks.formulas), 'cell')} ({listing(marks.formulas)}) {verb} formulas "
        )
        text += "whose results are not stored; open the workbook in a spreadsheet program and save "
        text += "it again, or paste the values"
        raise InvalidInput([Problem(where, text, code="formulas_without_results")])
    rows = [list(row) for row in sheet.rows]
    for top, left, bottom, _ in marks.merged:
        if top == bottom or top >= len(rows) or left >= len(rows[top]):
            continue
        for row in rows[top + 1 : bottom + 1]:
            row += [""] * (left + 1 - len(row))
            row[left] = rows[top][left]
    return Sheet(rows, marks)


def _doubts(sheet: Sheet) -> Iterator[str]:
    """Yield what is to be warned of: merged cells that were filled, rows and columns hidden."""
    marks = sheet.marks
    rows = sheet.rows
    down = [range_ for range_ in marks.merged if range_[2] > range_[0] and range_[0] < len(rows)]
    if down:
        yield f"{counted(len(down), 'merged range')} of cells: each cell got the value of the first"
    filled = [row for row in marks.hidden_rows if row < len(rows) and any(rows[row])]
    if filled:
        lines = f"line {filled[0] + 1}" if len(filled) == 1 else f"lines {filled[0] + 1} to "
        lines += "" if len(filled) == 1 else str(filled[-1] + 1)
        yield (
            f"{counted(len(filled), 'row')} hidden in the workbook ({lines}), read as all "
            "others; delete them there if they are to be left out"
        )
    columns = [k for k in marks.hidden_columns if any(k < len(row) and row[k] for row in rows)]
    if columns:
        yield f"{counted(len(columns), 'column')} hidden in the workbook, read as all others"


def _sheets(content: bytes, where: str) -> dict[str, Sheet]:
    """Return the cells and the marks of each sheet that has any cells."""
    if not content.startswith(ZIP):
        text = "is a workbook of before 2007, or one with a password"
        text = text if content.startswith(OLD) else "is no Excel workbook, whatever its ending says"
        raise refuse(where, f"{text}; save its sheet as .xlsx, or name a text .tsv or .csv")
    try:
        import openpyxl
    except ImportError:
        text = "is an Excel workbook, which needs the package openpyxl: pip install "
        text += "'genesig[excel]', or save the sheet as tab-separated text"
        raise refuse(where, text) from None
    try:
        size = sum(entry.file_size for entry in ZipFile(BytesIO(content)).infolist())
        check_size(where, size, len(content))
        book = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True)
        marks = marks_of_sheets(content)
        sheets = {
            sheet.title: Sheet(
                [list(map(_cell, row)) for row in sheet.iter_rows(values_only=True)],
                marks.get(sheet.title, Marks()),
            )
            for sheet in book.worksheets
        }
    except (InvalidInput, MemoryError):
        raise
    except Exception as error:  # of zip, XML or openpyxl: a damaged workbook makes them raise any
        text = f"is no Excel workbook, or damaged ({' '.join(str(error).split())[:80]})"
        raise refuse(where, f"{text}; save it again, or its sheet as tab-separated text") from None
    return {
        title: sheet
        for title, sheet in sheets.items()
        if any(map(any, sheet.rows)) or sheet.marks.formulas
    }


def _choice(sheets: dict[str, Sheet], part: str | None, where: str) -> str:
    """Return the title of the sheet that `part` names, or of the one there is."""
    if part is not None and part not in sheets:
        raise refuse(
            where,
            f"has no sheet '{part}' with cells{did_you_mean(part, sheets)}; name "
            "another file or sheet",
        )
    if not sheets:
        raise refuse(where, "every sheet is empty; name another file or sheet")
    if part is None and len(sheets) > 1:
        hidden = [title for title, sheet in sheets.items() if sheet.marks.hidden_sheet]
        text = f"holds several sheets: {listing(sheets, 9)}"
        text += f" (hidden: {listing(hidden)})" if hidden else ""
        text += "; set data.part to the one to be read; if both matrix and sample table are here, "
        raise refuse(where, text + "to the matrix")
    return next(iter(sheets)) if part is None else part


def _is_matrix(rows: Rows) -> bool:
    """Tell whether nearly all cells below the header and beside the names are numbers."""
    cells = [cell for row in rows[1:] for cell in row[1:] if cell]
    return sum(map(is_number, cells)) >= MOST_NUMBERS * len(cells)


def _size(rows: Rows) -> int:
    return sum(bool(cell) for row in rows for cell in row)


def _cell(value: Any) -> str:
    """Write a cell as text: whole numbers without a point, dates as they sort, no tabs."""
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return " ".join(str(value).split())


EXCEL = Format(
    "an Excel workbook",
    matrix,
    samples,
    genes,
    (".xlsx",),
    parts="sheet",
    binary=True,
    either_way=True,
)
