"""CEL files: the mean intensity of every cell of one array, in the three forms there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from genesig.arrays import Array
from genesig.data.files.cells import exact
from genesig.data.files.content import Cursor
from genesig.errors import refuse

FLOAT = 6  # the container's number for a column of 32-bit floats


def read_header(cursor: Cursor) -> dict[str, str | int]:
    """Read the parameters of a file, from its first byte on; the cursor stays at its tables.

    Numbers are read where they are integers; other kinds keep no value.
    """
    cursor.take(2)  # magic number and version
    if (groups := cursor.number("i")) < 1:
        raise cursor.refuse(f"is a Command Console file with {groups} groups of data, needs one")
    first = cursor.number("I")
    for _ in range(2):
        cursor.text()  # kind of data, identifier
    for _ in range(2):
        cursor.wide_text()  # date, language
    values = _parameters(cursor)
    cursor.jump(first)
    return values


def read_intensities(cursor: Cursor) -> Array:
    """Read the table ``Intensity`` of the group at the cursor, as float64."""
    cursor.take(4)  # place of the next group
    place = cursor.number("I")
    tables = cursor.number("i")
    for _ in range(tables):
        if place < cursor.at:  # or a damaged file could send us round for ever
            break
        cursor.jump(place)
        data = cursor.number("I")
        place = cursor.number("I")
        name = cursor.wide_text()
        if name == "Intensity":
            return _one_column(cursor, data)
    raise cursor.refuse(
        "is a Command Console file without a table 'Intensity'; export the array again"
    )


def _one_column(cursor: Cursor, data: int) -> Array:
    _parameters(cursor)
    columns = []
    for _ in range(cursor.number("I")):
        cursor.wide_text()
        columns.append((cursor.number("b"), cursor.number("i")))
    count = cursor.number("I")
    if columns != [(FLOAT, 4)]:
        raise cursor.refuse(
            "has a table 'Intensity' that is not one column of 32-bit floats; "
            "export the array again"
        )
    cursor.jump(data)
    return cursor.floats(np.dtype(">f4"), count)


def _parameters(cursor: Cursor) -> dict[str, str | int]:
    values: dict[str, str | int] = {}
    for _ in range(cursor.number("i")):
        name = cursor.wide_text()
        raw = cursor.take(cursor.number("i"))
        kind = cursor.wide_text()
        if kind == "text/plain":
            values[name] = raw.decode("utf-16-be", errors="replace").rstrip("\0")
        elif "integer" in kind:
            values[name] = int.from_bytes(raw[:4], "big")
    return values


T = TypeVar("T")
Binary = Mapping[bytes, tuple[Literal["<", ">"], Callable[[Cursor], T]]]


def parse_form(
    content: bytes,
    where: str,
    kind: str,
    text: Callable[[str, str], T],
    binary: Binary[T],
    others: str,
) -> T:
    """Parse a file that is text with the opening ``[kind]``, or binary.

    Parameters
    ----------
    content : bytes
        The whole file, unpacked.
    where : str
        Its name, for messages.
    kind : str
        As in "is no CEL file".
    text : function (text, where) -> record
    binary : dict
        First bytes -> order of bytes, function (cursor) -> record.
    others : str
        The binary forms in words.

    Raises
    ------
    InvalidInput
        The file is of no form.
    """
    if content.startswith(f"[{kind}]".encode()):
        return text(content.decode("latin-1"), where)
    for magic, (order, parse) in binary.items():
        if content.startswith(magic):
            return parse(Cursor(content, where, order))
    raise refuse(
        where,
        f"is no {kind} file: it begins neither with [{kind}] nor as {others}; "
        "copy or download it again",
    )


BINARY = b"\x40\x00\x00\x00"
COMMAND_CONSOLE = b"\x3b\x01"
# Of a cell: mean, standard deviation, number of pixels.
CELL = np.dtype([("mean", "<f4"), ("deviation", "<f4"), ("pixels", "<i2")])


@dataclass(frozen=True, eq=False)
class Cel:
    """One array.

    Attributes
    ----------
    chip : str
        Chip type as the scanner wrote it (``HG-U133A``); empty where it did not.
    n_columns, n_rows : int
    intensity : (n_rows * n_columns,) float64
        Mean intensity; the cell at (x, y) has number ``y * n_columns + x``.
    """

    chip: str
    n_columns: int
    n_rows: int
    intensity: Array


def parse_cel(content: bytes, where: str) -> Cel:
    """Parse a CEL file: version 3 (text), version 4 (binary) or Command Console.

    `content` and `where` are those of `parse_form`.

    Raises
    ------
    InvalidInput
        The file is none of these, ends too early, or its cells are not those it announces.
        Masked cells and outliers are kept, as affy does.
    """
    binary: Binary[Cel] = {
        BINARY: ("<", _parse_binary),
        COMMAND_CONSOLE: (">", _parse_command_console),
    }
    cel = parse_form(content, where, "CEL", _parse_text, binary, "version 4 or Command Console")
    wrong = np.flatnonzero(~(np.isfinite(cel.intensity) & (cel.intensity >= 0)))
    if len(wrong):
        y, x = divmod(int(wrong[0]), cel.n_columns)
        what = (
            f"{len(wrong)} of {len(cel.intensity)} intensities are negative or no number, "
            f"the first at x={x}, y={y}; the file is damaged, copy it again"
        )
        raise refuse(where, what)
    return cel


def _parse_binary(cursor: Cursor) -> Cel:
    cursor.version("CEL", [4])
    n_columns, n_rows, n_cells = (cursor.number("i") for _ in range(3))
    _check_size(n_columns, n_rows, n_cells, cursor.where)
    header = cursor.text()
    cursor.text()  # algorithm
    cursor.text()  # its parameters
    cursor.take(4 * 4)  # margin; numbers of outliers, of masked cells, of subgrids
    return Cel(_chip(header), n_columns, n_rows, cursor.floats(CELL, n_cells, "mean"))


def _parse_command_console(cursor: Cursor) -> Cel:
    header = read_header(cursor)
    try:
        n_columns, n_rows = (int(header[f"affymetrix-cel-{key}"]) for key in ("cols", "rows"))
    except (KeyError, ValueError):
        what = "is a Command Console file but no CEL file: it lacks affymetrix-cel-cols and -rows; "
        what += "keep CEL files only in the folder"
        raise cursor.refuse(what) from None
    intensity = read_intensities(cursor)
    _check_size(n_columns, n_rows, len(intensity), cursor.where)
    return Cel(str(header.get("affymetrix-array-type", "")), n_columns, n_rows, intensity)


def _parse_text(text: str, where: str) -> Cel:
    head, found, rest = text.partition("[INTENSITY]")
    if not found:
        raise refuse(where, "ends before its section [INTENSITY]; copy it again")
    values = dict(re.findall(r"^([^=\n]+)=(.*?)\r?$", head, re.MULTILINE))
    if values.get("Version") != "3":
        version = values.get("Version", "unknown")
        what = f"is a CEL text file of version {version}; version 3 is read, export it so"
        raise refuse(where, what)
    body, ended, _ = rest.partition("\n[")
    if not (ended or body.endswith("\n")):
        raise refuse(where, "ends in the middle of a line; copy it again")
    count = re.search(r"NumberCells=(\d+)", body)
    columns, rows = (str(values.get(key, "")).strip() for key in ("Cols", "Rows"))
    if count is None or not (columns.isdecimal() and rows.isdecimal()):
        what = "lacks Cols, Rows or NumberCells; the file is damaged, copy it again"
        raise refuse(where, what)
    size = int(columns), int(rows)
    _check_size(*size, int(count[1]), where)
    return Cel(_chip(head), *size, _text_cells(body, *size, where))


def _text_cells(body: str, n_columns: int, n_rows: int, where: str) -> Array:
    """Place the lines ``x y mean deviation pixels``, in whatever order they come."""
    from io import StringIO

    import pandas as pd

    lines = body.partition("CellHeader=")[2].partition("\n")[2]
    try:
        cells = pd.read_csv(
            StringIO(lines),
            sep=r"\s+",
            header=None,
            names=list("xymsp"),
            dtype=np.float64,
            **exact(),
        )
    except ValueError:  # pandas' ParserError and EmptyDataError among them
        what = "section [INTENSITY] holds something else than numbers; copy the file again"
        raise refuse(where, what) from None
    x, y, mean, _, _ = cells.dropna().to_numpy().T
    inside = (x >= 0) & (x < n_columns) & (y >= 0) & (y < n_rows)
    place = (y * n_columns + x)[inside].astype(np.int64)
    n_cells = n_columns * n_rows
    if len(x) != n_cells or len(np.unique(place)) != n_cells:
        what = (
            f"has {len(np.unique(place))} different cells where {n_columns} × {n_rows} = "
            f"{n_cells} are announced; copy or download it again"
        )
        raise refuse(where, what)
    intensity = np.empty(n_cells)
    intensity[place] = mean
    return intensity


def _check_size(n_columns: int, n_rows: int, n_cells: int, where: str) -> None:
    if min(n_columns, n_rows) < 1 or n_columns * n_rows != n_cells:
        what = (
            f"announces {n_columns} × {n_rows} cells but holds {n_cells}; the file is "
            "damaged, copy or download it again"
        )
        raise refuse(where, what)


def _chip(header: str) -> str:
    """Find the chip in the scanner's DatHeader: ``... HG-U133A.1sq ...``."""
    found = re.search(r"([\w.-]+)\.1sq", header)
    return found[1] if found else ""
