"""Marks of a sheet beside its values: merged cells, hidden parts, formulas without results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from posixpath import join, normpath
from typing import TYPE_CHECKING
from zipfile import ZipFile

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

WORKBOOK = "xl/workbook.xml"
RELATIONS = "xl/_rels/workbook.xml.rels"
CELL_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


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
            for relation in _attributes(archive, RELATIONS, "Relationship")
        }
        sheets = list(_attributes(archive, WORKBOOK, "sheet"))
        paths = set(archive.namelist())
        marks_by_title: dict[str, Marks] = {}
        for sheet in sheets:
            target = target_of_id.get(sheet.get("id", ""), "")
            path = target.lstrip("/") if target.startswith("/") else normpath(join("xl", target))
            marks = _marks(archive, path) if path in paths else Marks()
            marks.hidden_sheet = sheet.get("state", "visible") != "visible"
            marks_by_title[sheet.get("name", "")] = marks
        return marks_by_title


def _attributes(archive: ZipFile, path: str, tag: str) -> Iterator[dict[str, str]]:
    """Yield the attributes of each element of a name, without their namespaces."""
    for element in _elements(archive, path):
        if _name(element.tag) == tag:
            yield {_name(key): value for key, value in element.attrib.items()}


def _elements(archive: ZipFile, path: str) -> Iterator[Element]:
    """Yield the elements of a part of the workbook as they end, and free those that are done."""
    from xml.etree.ElementTree import iterparse

    for _, element in iterparse(BytesIO(archive.read(path))):
        yield element
        if _name(element.tag) not in ("f", "v", "is", "t", "r"):
            element.clear()


def _marks(archive: ZipFile, path: str) -> Marks:
    """Return the marks of one sheet, whose XML is at `path` in the archive."""
    marks = Marks()
    row = -1
    for element in _elements(archive, path):
        tag = _name(element.tag)
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
        elif tag == "mergeCell" and (corners := _corners(element.get("ref", ""))):
            marks.merged.append(corners)
    return marks


MAX_SHEET_COLUMNS = 16_384  # columns of a sheet


def _note_formula(cell: Element, marks: Marks) -> None:
    """Add a formula without a stored result to the marks; an empty text is a result."""
    children = {_name(child.tag): child for child in cell}
    value = children.get("v")
    if "f" in children and (value is None or not value.text) and cell.get("t") != "str":
        marks.formulas.append(cell.get("r", "?"))


def _corners(reference: str) -> tuple[int, int, int, int] | None:
    """Return first row and column, last row and column of ``B2:B5``; None if it is no range."""
    cells = [CELL_REFERENCE.fullmatch(part.replace("$", "")) for part in reference.split(":")]
    if len(cells) != 2 or cells[0] is None or cells[1] is None:
        return None
    start = cells[0]
    end = cells[1]
    return int(start[2]) - 1, _column(start[1]), int(end[2]) - 1, _column(end[1])


def _column(letters: str) -> int:
    """Return the number of a column from its letters, 0 for A."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _name(tag: str) -> str:
    """Return a name without its namespace."""
    return tag.rpartition("}")[2]
