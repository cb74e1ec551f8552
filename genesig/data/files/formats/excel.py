"""Excel workbooks (.xlsx): a sheet is read as a table with tabs.

Merged cells, hidden parts and formulas without results are marked beside its values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO
from posixpath import join, normpath
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from genesig.data.files.delimited import Matrix, TextTable, parse_table
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.table import TABLES
from genesig.errors import InvalidInput, Problem, did_you_mean, input_error
from genesig.machine import check_size
from genesig.words import counted, is_number, listing

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Rows = list[list[str]]
TEXT_SUFFIX = ".tsv"
ZIP_MAGIC = b"PK"  # first bytes of a workbook of today
OLD_MAGIC = bytes.fromhex("d0cf11e0")  # first bytes of a workbook of before 2007
MIN_NUMBER_SHARE = 0.9  # share of numbers among the cells of a sheet that is a matrix
MIN_COLUMNS = 2  # columns of a sample table; a legend may have one
MIN_ROWS = 3  # rows of a sample table below its header, at least one more than notes have


@dataclass
class Sheet:
    """One sheet of a workbook."""

    rows: Rows  # cells as text
    marks: Marks  # merged and hidden cells, formulas without results

    @property
    def text(self) -> str:
        """The sheet as text with tabs."""
        return "\n".join("\t".join(row) for row in self.rows) + "\n"


def matrix(content: bytes, file_name: str, part: str | None) -> Matrix:
    """Return the sheet that `part` names, or the only one of numbers, as a matrix."""
    sheets = _read_sheets(content, file_name)
    matrices = [title for title in _visible_sheets(sheets) if _is_matrix(sheets[title].rows)]
    name, doubt = _choose_fitting_sheet(sheets, part, matrices)
    sheet = _with_merged_cells_filled(sheets[_choose_sheet(sheets, name, file_name)], file_name)
    sheet_matrix = TABLES[TEXT_SUFFIX].matrix(sheet.text.encode(), file_name, None)
    return sheet_matrix.with_doubt("; ".join(filter(None, [doubt, *_sheet_doubts(sheet)])))


def samples(content: bytes, file_name: str, part: str | None) -> TextTable:
    """Return a sheet as the sample table; if `part` is the matrix of two sheets, the other one."""
    sheets = _read_sheets(content, file_name)
    tables = [title for title in _visible_sheets(sheets) if _is_sample_table(sheets[title].rows)]
    name, doubt = _choose_fitting_sheet(sheets, part, tables)
    name = _choose_sheet(sheets, name, file_name)
    # `part` names the matrix, which is the largest sheet.
    n_filled = {title: sum(sum(map(bool, row)) for row in sheets[title].rows) for title in sheets}
    largest = max(sheets, key=n_filled.__getitem__)
    if largest == name and _is_matrix(sheets[name].rows):
        other_titles = set(sheets if len(sheets) == 2 else tables) - {name}
        if len(other_titles) == 1:
            name = other_titles.pop()
    table = _sheet_table(sheets[name], file_name)
    return replace(table, doubts=(*filter(None, [doubt]), *table.doubts))


def _visible_sheets(sheets: dict[str, Sheet]) -> list[str]:
    """Return the titles of the sheets that are not hidden."""
    return [title for title, sheet in sheets.items() if not sheet.marks.hidden_sheet]


def _choose_fitting_sheet(
    sheets: dict[str, Sheet], part: str | None, fitting_titles: list[str]
) -> tuple[str | None, str]:
    """Return the title of the sheet to be read and a sentence that says so ('' if it is `part`).

    Without `part`, the sheet is the only one of `fitting_titles`; None if several or none fits.
    """
    if part is not None or len(sheets) < 2 or len(fitting_titles) != 1:
        return part, ""
    return fitting_titles[0], f"sheet '{fitting_titles[0]}' is read, of {listing(sheets, 9)}"


def _is_sample_table(rows: Rows) -> bool:
    """Tell whether a sheet may be a sample table: words, in two columns and four rows or more."""
    filled = [row for row in rows if sum(map(bool, row)) >= MIN_COLUMNS]
    return len(filled) > MIN_ROWS and not _is_matrix(rows)


def genes(content: bytes, file_name: str, part: str | None) -> TextTable:
    """Return a sheet as the gene table."""
    sheets = _read_sheets(content, file_name)
    return _sheet_table(sheets[_choose_sheet(sheets, part, file_name)], file_name)


def _sheet_table(sheet: Sheet, file_name: str) -> TextTable:
    """Return a sheet as a table of strings, with warnings about it."""
    sheet = _with_merged_cells_filled(sheet, file_name)
    table = parse_table(sheet.text, TEXT_SUFFIX, file_name)
    return replace(table, doubts=tuple(_sheet_doubts(sheet)))


def _with_merged_cells_filled(sheet: Sheet, file_name: str) -> Sheet:
    """Return a sheet whose merged cells are filled downwards, as its reader sees them.

    Cells that are merged in one row stay. Raises InvalidInput: formulas without stored results.
    """
    marks = sheet.marks
    if marks.formulas:
        verb = "holds" if len(marks.formulas) == 1 else "hold"
        message = (
            f"{counted(len(marks.formulas), 'cell')} ({listing(marks.formulas)}) {verb} formulas "
            "whose results are not stored; open the workbook in a spreadsheet program and save it "
            "again, or paste the values"
        )
        raise InvalidInput([Problem(file_name, message, code="formulas_without_results")])
    rows = [list(row) for row in sheet.rows]
    for first_row, first_column, last_row, _ in marks.merged:
        if first_row == last_row or first_row >= len(rows) or first_column >= len(rows[first_row]):
            continue
        for row in rows[first_row + 1 : last_row + 1]:
            row += [""] * (first_column + 1 - len(row))
            row[first_column] = rows[first_row][first_column]
    return Sheet(rows, marks)


def _sheet_doubts(sheet: Sheet) -> Iterator[str]:
    """Yield sentences about a sheet: merged cells that were filled, hidden rows and columns."""
    marks = sheet.marks
    rows = sheet.rows
    n_vertical = sum(
        first_row < last_row and first_row < len(rows) for first_row, _, last_row, _ in marks.merged
    )
    if n_vertical:
        ranges = counted(n_vertical, "merged range")
        yield f"{ranges} of cells: each cell got the value of the first"
    hidden_rows = [row for row in marks.hidden_rows if row < len(rows) and any(rows[row])]
    if hidden_rows:
        lines = f"line {hidden_rows[0] + 1}"
        if len(hidden_rows) > 1:
            lines = f"lines {hidden_rows[0] + 1} to {hidden_rows[-1] + 1}"
        yield (
            f"{counted(len(hidden_rows), 'row')} hidden in the workbook ({lines}), read as all "
            "others; delete them there if they are to be left out"
        )
    hidden_columns = [
        column
        for column in marks.hidden_columns
        if any(column < len(row) and row[column] for row in rows)
    ]
    if hidden_columns:
        yield f"{counted(len(hidden_columns), 'column')} hidden in the workbook, read as all others"


def _read_sheets(content: bytes, file_name: str) -> dict[str, Sheet]:
    """Return title -> sheet of the sheets that have a filled cell, or a formula without a result.

    Raises InvalidInput: no workbook of .xlsx, no openpyxl, too large, or damaged.
    """
    if not content.startswith(ZIP_MAGIC):
        message = "is no Excel workbook, whatever its ending says"
        if content.startswith(OLD_MAGIC):
            message = "is a workbook of before 2007, or one with a password"
        raise input_error(
            file_name, f"{message}; save its sheet as .xlsx, or name a text .tsv or .csv"
        )
    try:
        import openpyxl
    except ImportError:
        message = (
            "is an Excel workbook, which needs the package openpyxl: pip install 'genesig[excel]', "
            "or save the sheet as tab-separated text"
        )
        raise input_error(file_name, message) from None
    try:
        size = sum(entry.file_size for entry in ZipFile(BytesIO(content)).infolist())
        check_size(file_name, size, packed_size=len(content))
        book = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True)
        marks = marks_of_sheets(content)
        sheets = {
            sheet.title: Sheet(
                [list(map(_cell_text, row)) for row in sheet.iter_rows(values_only=True)],
                marks.get(sheet.title, Marks()),
            )
            for sheet in book.worksheets
        }
    except (InvalidInput, MemoryError):
        raise
    except Exception as error:  # of zip, XML or openpyxl: a damaged workbook makes them raise any
        message = f"is no Excel workbook, or damaged ({' '.join(str(error).split())[:80]})"
        raise input_error(
            file_name, f"{message}; save it again, or its sheet as tab-separated text"
        ) from None
    return {
        title: sheet
        for title, sheet in sheets.items()
        if any(map(any, sheet.rows)) or sheet.marks.formulas
    }


def _choose_sheet(sheets: dict[str, Sheet], part: str | None, file_name: str) -> str:
    """Return the title of the sheet that `part` names, or of the only sheet."""
    if part is not None and part not in sheets:
        raise input_error(
            file_name,
            f"has no sheet '{part}' with cells{did_you_mean(part, sheets)}; name another file or "
            "sheet",
        )
    if not sheets:
        raise input_error(file_name, "every sheet is empty; name another file or sheet")
    if part is None and len(sheets) > 1:
        hidden = [title for title, sheet in sheets.items() if sheet.marks.hidden_sheet]
        message = f"holds several sheets: {listing(sheets, 9)}"
        message += f" (hidden: {listing(hidden)})" if hidden else ""
        message += "; set data.part to the one to be read; if both matrix and sample table are "
        raise input_error(file_name, f"{message}here, to the matrix", key="data.part")
    return next(iter(sheets)) if part is None else part


def _is_matrix(rows: Rows) -> bool:
    """Tell whether nearly all cells, but for headers and names, are numbers; not without any."""
    cells = [cell for row in rows[1:] for cell in row[1:] if cell]
    return bool(cells) and sum(map(is_number, cells)) >= MIN_NUMBER_SHARE * len(cells)


def _cell_text(value: Any) -> str:
    """Return a cell as text: whole numbers without a point, dates that sort by time, no tabs."""
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
    suffixes=(".xlsx",),
    parts="sheet",
    binary=True,
    either_way=True,
)


WORKBOOK = "xl/workbook.xml"  # part of the archive that lists the sheets
RELATIONS = "xl/_rels/workbook.xml.rels"  # part with the path of each sheet, by its id
CELL_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")  # column and row of a cell, such as B2


@dataclass
class Marks:
    """Marks of one sheet; rows and columns count from 0."""

    # First row, first column, last row and last column of each merged range.
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[int] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)  # cells (B2) without a stored result
    hidden_sheet: bool = False


def marks_of_sheets(content: bytes) -> dict[str, Marks]:
    """Return title -> marks of each sheet of a workbook.

    The XML is read one element after the other, and none is kept.
    """
    with ZipFile(BytesIO(content)) as archive:
        target_of_id = {
            relation["Id"]: relation["Target"]
            for relation in _iterate_attributes(archive, RELATIONS, "Relationship")
        }
        sheets = list(_iterate_attributes(archive, WORKBOOK, "sheet"))
        paths = set(archive.namelist())
        marks_by_title: dict[str, Marks] = {}
        for sheet in sheets:
            target = target_of_id.get(sheet.get("id", ""), "")
            path = target.lstrip("/") if target.startswith("/") else normpath(join("xl", target))
            marks = _read_marks(archive, path) if path in paths else Marks()
            marks.hidden_sheet = sheet.get("state", "visible") != "visible"
            marks_by_title[sheet.get("name", "")] = marks
        return marks_by_title


def _iterate_attributes(archive: ZipFile, path: str, tag: str) -> Iterator[dict[str, str]]:
    """Yield the attributes of each element `tag` of a part of the archive, without namespaces."""
    for element in _iterate_elements(archive, path):
        if _local_name(element.tag) == tag:
            yield {_local_name(key): value for key, value in element.attrib.items()}


def _iterate_elements(archive: ZipFile, path: str) -> Iterator[Element]:
    """Yield the elements of a part of the workbook as they end, and free those that are done.

    Formula, value and text of a cell (f, v, is, t, r) are kept until the cell itself ends.
    """
    from xml.etree.ElementTree import iterparse

    for _, element in iterparse(BytesIO(archive.read(path))):
        yield element
        if _local_name(element.tag) not in ("f", "v", "is", "t", "r"):
            element.clear()


def _read_marks(archive: ZipFile, path: str) -> Marks:
    """Return the marks of one sheet, whose XML is at `path` in the archive."""
    marks = Marks()
    row = -1  # a row without a number is the next one
    for element in _iterate_elements(archive, path):
        tag = _local_name(element.tag)
        if tag == "c":
            _note_formula(element, marks)
        elif tag == "row":
            row = int(element.get("r", row + 2)) - 1
            if element.get("hidden") in ("1", "true"):
                marks.hidden_rows.append(row)
        elif tag == "col" and element.get("hidden") in ("1", "true"):
            first_column = int(element.get("min", 1))
            last_column = min(int(element.get("max", 1)), first_column + MAX_SHEET_COLUMNS)
            marks.hidden_columns += range(first_column - 1, last_column)
        elif tag == "mergeCell" and (corners := _parse_range(element.get("ref", ""))):
            marks.merged.append(corners)
    return marks


MAX_SHEET_COLUMNS = 16_384  # columns of a sheet


def _note_formula(cell: Element, marks: Marks) -> None:
    """Add a formula without a stored result to the marks; an empty text is a result."""
    children = {_local_name(child.tag): child for child in cell}
    value = children.get("v")
    if "f" in children and (value is None or not value.text) and cell.get("t") != "str":
        marks.formulas.append(cell.get("r", "?"))


def _parse_range(reference: str) -> tuple[int, int, int, int] | None:
    """Return first row and column, last row and column of ``B2:B5``; None if it is no range."""
    cells = [CELL_REFERENCE.fullmatch(part.replace("$", "")) for part in reference.split(":")]
    if len(cells) != 2 or cells[0] is None or cells[1] is None:
        return None
    start = cells[0]
    end = cells[1]
    return int(start[2]) - 1, _column_number(start[1]), int(end[2]) - 1, _column_number(end[1])


def _column_number(letters: str) -> int:
    """Return the number of a column from its letters, 0 for A."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _local_name(tag: str) -> str:
    """Return a name without its namespace."""
    return tag.rpartition("}")[2]
