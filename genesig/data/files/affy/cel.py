"""Affymetrix CEL files: the mean intensity of every cell of one array, in three forms.

Source: Affymetrix, data file formats: CEL (versions 3 and 4), Command Console generic data file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from genesig.arrays import Array
from genesig.data.files.cells import exact_float_options
from genesig.data.files.content import Cursor
from genesig.errors import input_error
from genesig.words import is_size

FLOAT32_CODE = 6  # type of a column of 32-bit floats in Command Console files


def read_header(cursor: Cursor) -> dict[str, str | int]:
    """Return the parameters of a Command Console file; the cursor then is at its first group.

    Text and integers are read; parameters of other types are left out.
    """
    cursor.take(2)  # magic number and version
    if (n_groups := cursor.number("i")) < 1:
        raise cursor.error(f"is a Command Console file with {n_groups} groups of data, needs one")
    first_group = cursor.number("I")
    for _ in range(2):
        cursor.text()  # kind of data, identifier
    for _ in range(2):
        cursor.wide_text()  # date, language
    values = _read_parameters(cursor)
    cursor.jump(first_group)
    return values


def read_intensities(cursor: Cursor) -> Array:
    """Return the table ``Intensity`` of the group at the cursor, (n_cells,) float64."""
    cursor.take(4)  # place of the next group
    offset = cursor.number("I")
    n_tables = cursor.number("i")
    for _ in range(n_tables):
        if offset < cursor.offset:  # or a damaged file could send us round for ever
            break
        cursor.jump(offset)
        values_offset = cursor.number("I")
        offset = cursor.number("I")
        name = cursor.wide_text()
        if name == "Intensity":
            return _read_float_column(cursor, values_offset)
    raise cursor.error(
        "is a Command Console file without a table 'Intensity'; export the array again"
    )


def _read_float_column(cursor: Cursor, values_offset: int) -> Array:
    """Return the one column of a table, which must have 32-bit floats, as float64.

    values_offset: byte of the file at which its values begin.
    """
    _read_parameters(cursor)
    column_types = []
    for _ in range(cursor.number("I")):
        cursor.wide_text()
        column_types.append((cursor.number("b"), cursor.number("i")))
    n_cells = cursor.number("I")
    if column_types != [(FLOAT32_CODE, 4)]:
        raise cursor.error(
            "has a table 'Intensity' that is not one column of 32-bit floats; export the array "
            "again"
        )
    cursor.jump(values_offset)
    return cursor.floats(np.dtype(">f4"), n_cells)


def _read_parameters(cursor: Cursor) -> dict[str, str | int]:
    """Return name -> value of the parameters at the cursor that are text or integers."""
    values: dict[str, str | int] = {}
    for _ in range(cursor.number("i")):
        name = cursor.wide_text()
        raw_value = cursor.take(cursor.number("i"))
        mime_type = cursor.wide_text()
        if mime_type == "text/plain":
            values[name] = raw_value.decode("utf-16-be", errors="replace").rstrip("\0")
        elif "integer" in mime_type:
            values[name] = int.from_bytes(raw_value[:4], "big")
    return values


Record = TypeVar("Record")
BinaryParsers = Mapping[bytes, tuple[Literal["<", ">"], Callable[[Cursor], Record]]]


def parse_form(
    content: bytes,
    file_name: str,
    kind: str,
    parse_text: Callable[[str, str], Record],
    binary_parsers: BinaryParsers[Record],
    binary_forms: str,
) -> Record:
    """Return the record of a file that is text with the opening ``[kind]``, or binary.

    content: the whole file, unpacked.
    file_name: its name, for messages.
    kind: as in "is no CEL file".
    binary_parsers: first bytes -> order of bytes, function (cursor) -> record.
    binary_forms: the binary forms in words.

    Raises InvalidInput: the file is of no form.
    """
    if content.startswith(f"[{kind}]".encode()):
        return parse_text(content.decode("latin-1"), file_name)
    for magic, (byte_order, parse_binary) in binary_parsers.items():
        if content.startswith(magic):
            return parse_binary(Cursor(content, file_name, byte_order))
    raise input_error(
        file_name,
        f"is no {kind} file: it begins neither with [{kind}] nor as {binary_forms}; copy or "
        "download it again",
    )


CEL_MAGIC = b"\x40\x00\x00\x00"
COMMAND_CONSOLE_MAGIC = b"\x3b\x01"
# Record of a cell: mean and standard deviation of the intensities of its pixels, and their number.
CELL_RECORD = np.dtype([("mean", "<f4"), ("deviation", "<f4"), ("pixels", "<i2")])


@dataclass(frozen=True, eq=False)
class Cel:
    """One array."""

    chip: str  # chip type as the scanner wrote it (``HG-U133A``); '' if it did not
    n_columns: int
    n_rows: int
    intensity: Array  # (n_rows * n_columns,) float64 means; the cell (x, y) is y * n_columns + x


def parse_cel(content: bytes, file_name: str) -> Cel:
    """Return the array in a CEL file: version 3 (text), version 4 (binary) or Command Console.

    Masked cells and outliers are kept, as affy does.

    Raises InvalidInput: the file is none of these, ends too early, or its cells are not those it
        announces.
    """
    binary_parsers: BinaryParsers[Cel] = {
        CEL_MAGIC: ("<", _parse_binary),
        COMMAND_CONSOLE_MAGIC: (">", _parse_command_console),
    }
    cel = parse_form(
        content, file_name, "CEL", _parse_text, binary_parsers, "version 4 or Command Console"
    )
    invalid_cells = np.flatnonzero(~(np.isfinite(cel.intensity) & (cel.intensity >= 0)))
    if len(invalid_cells):
        y, x = divmod(int(invalid_cells[0]), cel.n_columns)
        message = (
            f"{len(invalid_cells)} of {len(cel.intensity)} intensities are negative or no number, "
            f"the first at x={x}, y={y}; the file is damaged, copy it again"
        )
        raise input_error(file_name, message)
    return cel


def _parse_binary(cursor: Cursor) -> Cel:
    """Return the array in a CEL file of version 4."""
    cursor.read_version("CEL", [4])
    n_columns, n_rows, n_cells = (cursor.number("i") for _ in range(3))
    _check_size(n_columns, n_rows, n_cells, cursor.file_name)
    header = cursor.text()
    cursor.text()  # algorithm
    cursor.text()  # its parameters
    cursor.take(4 * 4)  # margin; numbers of outliers, of masked cells, of subgrids
    return Cel(_chip_name(header), n_columns, n_rows, cursor.floats(CELL_RECORD, n_cells, "mean"))


def _parse_command_console(cursor: Cursor) -> Cel:
    """Return the array in a Command Console CEL file."""
    header = read_header(cursor)
    try:
        n_columns, n_rows = (int(header[f"affymetrix-cel-{key}"]) for key in ("cols", "rows"))
    except (KeyError, ValueError):
        raise cursor.error(
            "is a Command Console file but no CEL file: it lacks affymetrix-cel-cols and -rows; "
            "keep CEL files only in the folder"
        ) from None
    intensity = read_intensities(cursor)
    _check_size(n_columns, n_rows, len(intensity), cursor.file_name)
    return Cel(str(header.get("affymetrix-array-type", "")), n_columns, n_rows, intensity)


def _parse_text(text: str, file_name: str) -> Cel:
    """Return the array in a CEL file of version 3."""
    header, section_name, section = text.partition("[INTENSITY]")
    if not section_name:
        raise input_error(file_name, "ends before its section [INTENSITY]; copy it again")
    values = dict(re.findall(r"^([^=\n]+)=(.*?)\r?$", header, re.MULTILINE))
    if values.get("Version") != "3":
        version = values.get("Version", "unknown")
        message = f"is a CEL text file of version {version}; version 3 is read, export it so"
        raise input_error(file_name, message)
    body, next_section, _ = section.partition("\n[")
    if not (next_section or body.endswith("\n")):
        raise input_error(file_name, "ends in the middle of a line; copy it again")
    cell_count = re.search(r"NumberCells=(\d+)", body)
    sizes = [values.get("Cols", "").strip(), values.get("Rows", "").strip()]
    sizes.append("" if cell_count is None else cell_count[1])
    if not all(map(is_size, sizes)):
        message = "lacks Cols, Rows or NumberCells; the file is damaged, copy it again"
        raise input_error(file_name, message)
    n_columns, n_rows, n_cells = map(int, sizes)
    _check_size(n_columns, n_rows, n_cells, file_name)
    intensity = _place_text_cells(body, n_columns, n_rows, file_name)
    return Cel(_chip_name(header), n_columns, n_rows, intensity)


def _place_text_cells(body: str, n_columns: int, n_rows: int, file_name: str) -> Array:
    """Return the intensities by cell from lines ``x y mean deviation pixels`` in any order."""
    from io import StringIO

    import pandas as pd

    lines = body.partition("CellHeader=")[2].partition("\n")[2]
    try:
        cells = pd.read_csv(
            StringIO(lines),
            sep=r"\s+",
            header=None,
            names=["x", "y", "mean", "deviation", "pixels"],
            dtype=np.float64,
            **exact_float_options(),
        )
    except ValueError:  # pandas' ParserError and EmptyDataError among them
        message = "section [INTENSITY] holds something else than numbers; copy the file again"
        raise input_error(file_name, message) from None
    x, y, mean, _, _ = cells.dropna().to_numpy().T
    on_chip = (x >= 0) & (x < n_columns) & (y >= 0) & (y < n_rows)
    cell_numbers = (y * n_columns + x)[on_chip].astype(np.int64)
    n_cells = n_columns * n_rows
    if len(x) != n_cells or len(np.unique(cell_numbers)) != n_cells:
        message = (
            f"has {len(np.unique(cell_numbers))} different cells where {n_columns} × {n_rows} = "
            f"{n_cells} are announced; copy or download it again"
        )
        raise input_error(file_name, message)
    intensity = np.empty(n_cells)
    intensity[cell_numbers] = mean
    return intensity


def _check_size(n_columns: int, n_rows: int, n_cells: int, file_name: str) -> None:
    """Raise InvalidInput if an array has another number of cells than its columns times rows."""
    if min(n_columns, n_rows) < 1 or n_columns * n_rows != n_cells:
        message = (
            f"announces {n_columns} × {n_rows} cells but holds {n_cells}; the file is damaged, "
            "copy or download it again"
        )
        raise input_error(file_name, message)


def _chip_name(header: str) -> str:
    """Return the chip in the scanner's DatHeader, ``... HG-U133A.1sq ...``, or ''."""
    match = re.search(r"([\w.-]+)\.1sq", header)
    return match[1] if match else ""
