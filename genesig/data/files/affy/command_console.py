"""Affymetrix' Command Console ("Calvin") container: parameters and the first group's tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.data.files.cursor import Cursor

Array = np.ndarray[Any, Any]
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
    place, tables = cursor.number("I"), cursor.number("i")
    for _ in range(tables):
        if place < cursor.at:  # or a damaged file could send us round for ever
            break
        cursor.jump(place)
        data, place, name = cursor.number("I"), cursor.number("I"), cursor.wide_text()
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
        name, raw, kind = cursor.wide_text(), cursor.take(cursor.number("i")), cursor.wide_text()
        if kind == "text/plain":
            values[name] = raw.decode("utf-16-be", errors="replace").rstrip("\0")
        elif "integer" in kind:
            values[name] = int.from_bytes(raw[:4], "big")
    return values
