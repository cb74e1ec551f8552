"""CDF files: which cells of a chip are the perfect-match probes of which probe set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.affy.arrays import Layout
from genesig.data.files.affy.cel import parse_form
from genesig.data.files.content import Cursor
from genesig.errors import refuse

BINARY = b"\x43\x00\x00\x00"
COMPLEMENT = {"A": "T", "T": "A", "C": "G", "G": "C"}
# Version of the binary form -> what it adds to each block and to each cell of version 1.
VERSIONS = (1, 2, 3, 4)
BLOCK: list[tuple[str, str]] = [
    ("atoms", "<i4"),
    ("cells", "<i4"),
    ("per_atom", "u1"),
    ("direction", "u1"),
    ("first", "<i4"),
    ("last", "<i4"),
    ("name", "S64"),
]
CELL: list[tuple[str, str]] = [
    ("atom", "<i4"),
    ("x", "<u2"),
    ("y", "<u2"),
    ("index", "<i4"),
    ("probe", "S1"),
    ("target", "S1"),
]
BLOCK_ADDED = {2: [("wobble", "<u2"), ("allele", "<u2")], 3: [("channel", "u1"), ("kind", "u1")]}
CELL_ADDED = {2: [("length", "<u2"), ("grouping", "<u2")]}


@dataclass(frozen=True)
class _Block:
    """The cells of one probe set, all of them, in file order."""

    name: str
    x: Array
    y: Array
    atom: Array
    matches: Array


def parse_cdf(content: bytes, where: str) -> Layout:
    """Parse a CDF file in its text or its binary ("XDA") form, of which there are four versions.

    `content` and `where` are those of `parse_form`.

    Raises
    ------
    InvalidInput
        The file is neither, ends too early, has no probe set, or names a cell outside the chip.
    """
    return parse_form(
        content, where, "CDF", _parse_text, {BINARY: ("<", _parse_binary)}, "the binary form"
    )


def _layout(chip: str, shape: tuple[int, int], blocks: Sequence[_Block], where: str) -> Layout:
    """Keep the perfect matches; blocks of one name are one probe set."""
    names: dict[str, int] = {}
    number = [names.setdefault(block.name, len(names)) for block in blocks]
    if not blocks:
        raise refuse(where, "has no probe set; use the CDF file of the chip's library files")
    sets = np.repeat(number, [len(block.x) for block in blocks])
    x, y, atom, matches = (
        np.concatenate([getattr(block, part) for block in blocks]).astype(np.int64)
        for part in ("x", "y", "atom", "matches")
    )
    if x.min(initial=0) < 0 or y.min(initial=0) < 0 or np.any((x >= shape[0]) | (y >= shape[1])):
        what = f"names cells outside its {shape[0]} × {shape[1]} ones; copy or download it again"
        raise refuse(where, what)
    kept = np.flatnonzero(matches)
    order = kept[np.lexsort((atom[kept], sets[kept]))]
    present, sets = np.unique(sets[order], return_inverse=True)
    known = np.array(list(names), dtype=object)[present]
    return Layout((chip,) if chip else (), *shape, tuple(known), (y * shape[0] + x)[order], sets)


def _parse_binary(cursor: Cursor) -> Layout:
    version = cursor.version("CDF", VERSIONS)
    chip = _chip(cursor) if version >= 4 else ""
    shape = cursor.number("H"), cursor.number("H")
    units = cursor.number("i")
    controls = cursor.number("i")
    cursor.text()  # reference sequence, of resequencing chips
    names = [name.decode("latin-1") for name in cursor.array(np.dtype("S64"), units)]
    cursor.take(4 * controls)
    places = cursor.array(np.dtype("<i4"), units)
    block = _dtype(BLOCK, BLOCK_ADDED, version)
    cell = _dtype(CELL, CELL_ADDED, version)
    blocks = []
    for name, place in zip(names, places, strict=True):
        cursor.jump(int(place))
        blocks += _binary_unit(cursor, name, block, cell)
    return _layout(chip, shape, blocks, cursor.where)


def _chip(cursor: Cursor) -> str:
    """Read the names of the chip; one without a dot is that of the chip and not of a revision."""
    cursor.text()  # identifier
    cursor.take(32)  # checksum
    names = [cursor.text() for _ in range(cursor.number("B"))]
    return next((name for name in names if "." not in name), "")


def _dtype(
    fields: list[tuple[str, str]], added: Mapping[int, list[tuple[str, str]]], version: int
) -> np.dtype[Any]:
    return np.dtype(
        [*fields, *(f for since, more in added.items() if since <= version for f in more)]
    )


def _binary_unit(
    cursor: Cursor, unit: str, block_type: np.dtype[Any], cell_type: np.dtype[Any]
) -> list[_Block]:
    cursor.take(2 + 1 + 4)  # kind, direction, atoms
    count = cursor.number("i")
    cursor.take(4 + 4 + 1)  # cells, number, cells per atom
    blocks = []
    for _ in range(count):
        block = cursor.array(block_type, 1)[0]
        cells = cursor.array(cell_type, int(block["cells"]))
        name = unit if count == 1 else block["name"].decode("latin-1")
        matches = _are_matches(*(np.char.decode(cells[k], "latin-1") for k in ("probe", "target")))
        blocks.append(_Block(name, cells["x"], cells["y"], cells["atom"], matches))
    return blocks


def _parse_text(text: str, where: str) -> Layout:
    text = text.replace("\r", "")
    chip = re.search(r"^\[Chip\]\n(.*?)(?=^\[)", text, re.MULTILINE | re.DOTALL)
    values = dict(re.findall(r"^(\w+)=(.*)$", chip[1], re.MULTILINE)) if chip else {}
    if not all(values.get(key, "").isdecimal() for key in ("Cols", "Rows", "NumberOfUnits")):
        what = "lacks Rows, Cols or NumberOfUnits in its section [Chip]; copy the file again"
        raise refuse(where, what)
    sections = re.split(r"^\[(Unit\d+_Block\d+)\]$", text, flags=re.MULTILINE)
    units = int(values["NumberOfUnits"])
    if len(sections) // 2 < units:
        what = (
            f"announces {units} probe sets but ends after {len(sections) // 2}; copy or "
            "download it again"
        )
        raise refuse(where, what)
    blocks = [
        _text_block(*pair, where) for pair in zip(sections[1::2], sections[2::2], strict=True)
    ]
    return _layout(
        values.get("Name", ""), (int(values["Cols"]), int(values["Rows"])), blocks, where
    )


def _text_block(section: str, body: str, where: str) -> _Block:
    body = body.partition("\n[")[0]
    values = dict(re.findall(r"^(Name|NumCells|CellHeader)=(.*)$", body, re.MULTILINE))
    lines = re.findall(r"^Cell\d+=(.*)$", body, re.MULTILINE)
    try:
        name = values["Name"]
        header = values["CellHeader"].split("\t")
        wanted = [header.index(key) for key in ("X", "Y", "ATOM", "PBASE", "TBASE")]
        cells = [line.split("\t") for line in lines]
        columns = [np.array([cell[k] for cell in cells]) for k in wanted]
        x, y, atom = (column.astype(np.int64) for column in columns[:3])
        complete = len(lines) == int(values["NumCells"])
    except (KeyError, ValueError, IndexError):
        complete = False
    if not complete:
        what = f"section [{section}] is not complete; copy or download the file again"
        raise refuse(where, what)
    return _Block(name, x, y, atom, _are_matches(*columns[3:]))


def _are_matches(probe: Array, target: Array) -> Array:
    """Tell where the probe's middle base is the complement of the target's."""
    probe = np.char.upper(probe)
    target = np.char.upper(target)
    matches = np.zeros(len(probe), dtype=bool)
    for base, other in COMPLEMENT.items():
        matches |= (probe == base) & (target == other)
    return matches
