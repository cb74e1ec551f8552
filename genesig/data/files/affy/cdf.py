"""Affymetrix CDF files: which cells of a chip are the perfect-match probes of which probe set.

Source: Affymetrix, data file formats: CDF (text, and the binary form "XDA").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.affy.arrays import Layout
from genesig.data.files.affy.cel import parse_form
from genesig.data.files.content import Cursor
from genesig.errors import input_error
from genesig.words import is_size

CDF_MAGIC = b"\x43\x00\x00\x00"  # first bytes of the binary form
COMPLEMENTARY_BASE = {"A": "T", "T": "A", "C": "G", "G": "C"}
# Versions of the binary form, each of which may add fields to the blocks and cells of version 1.
BINARY_VERSIONS = (1, 2, 3, 4)
BLOCK_FIELDS: list[tuple[str, str]] = [
    ("atoms", "<i4"),
    ("cells", "<i4"),
    ("per_atom", "u1"),
    ("direction", "u1"),
    ("first", "<i4"),
    ("last", "<i4"),
    ("name", "S64"),
]
CELL_FIELDS: list[tuple[str, str]] = [
    ("atom", "<i4"),
    ("x", "<u2"),
    ("y", "<u2"),
    ("index", "<i4"),
    ("probe", "S1"),
    ("target", "S1"),
]
BLOCK_FIELDS_ADDED = {
    2: [("wobble", "<u2"), ("allele", "<u2")],
    3: [("channel", "u1"), ("kind", "u1")],
}
CELL_FIELDS_ADDED = {2: [("length", "<u2"), ("grouping", "<u2")]}


@dataclass(frozen=True)
class _Block:
    """All cells of a block, which is a probe set or a part of one, in the order of the file."""

    name: str  # of the probe set
    x: Array
    y: Array
    atom: Array  # number of the probe pair, by which the probes of a set are sorted
    matches: Array  # whether the cell is a perfect match


def parse_cdf(content: bytes, file_name: str) -> Layout:
    """Return the layout in a CDF file: text, or one of four versions of the binary ("XDA") form.

    Raises InvalidInput: the file is neither, ends too early, has no probe set, or names a cell
        outside the chip.
    """
    return parse_form(
        content, file_name, "CDF", _parse_text, {CDF_MAGIC: ("<", _parse_binary)}, "the binary form"
    )


def _make_layout(
    chip: str, shape: tuple[int, int], blocks: Sequence[_Block], file_name: str
) -> Layout:
    """Return the layout of the perfect matches in blocks; blocks of one name are one probe set.

    shape: columns and rows of the chip.
    """
    number_of_set: dict[str, int] = {}
    set_of_block = [number_of_set.setdefault(block.name, len(number_of_set)) for block in blocks]
    if not blocks:
        raise input_error(
            file_name, "has no probe set; use the CDF file of the chip's library files"
        )
    sets = np.repeat(set_of_block, [len(block.x) for block in blocks])
    x, y, atom, matches = (
        np.concatenate([getattr(block, part) for block in blocks]).astype(np.int64)
        for part in ("x", "y", "atom", "matches")
    )
    if x.min(initial=0) < 0 or y.min(initial=0) < 0 or np.any((x >= shape[0]) | (y >= shape[1])):
        message = f"names cells outside its {shape[0]} × {shape[1]} ones; copy or download it again"
        raise input_error(file_name, message)
    match_positions = np.flatnonzero(matches)
    order = match_positions[np.lexsort((atom[match_positions], sets[match_positions]))]
    sets_with_matches, sets = np.unique(sets[order], return_inverse=True)
    set_names = np.array(list(number_of_set), dtype=object)[sets_with_matches]
    return Layout(
        (chip,) if chip else (), *shape, tuple(set_names), (y * shape[0] + x)[order], sets
    )


def _parse_binary(cursor: Cursor) -> Layout:
    """Return the layout in a binary CDF file."""
    version = cursor.read_version("CDF", BINARY_VERSIONS)
    chip = _read_chip_name(cursor) if version >= 4 else ""
    shape = cursor.number("H"), cursor.number("H")
    n_units = cursor.number("i")
    n_controls = cursor.number("i")
    cursor.text()  # reference sequence, of resequencing chips
    names = [name.decode("latin-1") for name in cursor.array(np.dtype("S64"), n_units)]
    cursor.take(4 * n_controls)
    offsets = cursor.array(np.dtype("<i4"), n_units)
    block_type = _record_type(BLOCK_FIELDS, BLOCK_FIELDS_ADDED, version)
    cell_type = _record_type(CELL_FIELDS, CELL_FIELDS_ADDED, version)
    blocks = []
    for name, offset in zip(names, offsets, strict=True):
        cursor.jump(int(offset))
        blocks += _read_binary_unit(cursor, name, block_type, cell_type)
    return _make_layout(chip, shape, blocks, cursor.file_name)


def _read_chip_name(cursor: Cursor) -> str:
    """Return the name of the chip; a name with a dot is that of a revision."""
    cursor.text()  # identifier
    cursor.take(32)  # checksum
    chip_names = [cursor.text() for _ in range(cursor.number("B"))]
    return next((name for name in chip_names if "." not in name), "")


def _record_type(
    fields: list[tuple[str, str]], added_fields: Mapping[int, list[tuple[str, str]]], version: int
) -> np.dtype[Any]:
    """Return the dtype of a record in a version: all fields that were added up to it."""
    added = (added_fields[first] for first in added_fields if first <= version)
    return np.dtype([*fields, *chain.from_iterable(added)])


def _read_binary_unit(
    cursor: Cursor, unit_name: str, block_type: np.dtype[Any], cell_type: np.dtype[Any]
) -> list[_Block]:
    """Return the blocks of a unit at the cursor; the block of a single one has the unit's name."""
    cursor.take(2 + 1 + 4)  # kind, direction, atoms
    n_blocks = cursor.number("i")
    cursor.take(4 + 4 + 1)  # cells, number, cells per atom
    blocks = []
    for _ in range(n_blocks):
        block = cursor.array(block_type, 1)[0]
        cells = cursor.array(cell_type, int(block["cells"]))
        name = unit_name if n_blocks == 1 else block["name"].decode("latin-1")
        matches = _are_perfect_matches(
            *(np.char.decode(cells[base], "latin-1") for base in ("probe", "target"))
        )
        blocks.append(_Block(name, cells["x"], cells["y"], cells["atom"], matches))
    return blocks


def _parse_text(text: str, file_name: str) -> Layout:
    """Return the layout in a text CDF file."""
    text = text.replace("\r", "")
    chip_section = re.search(r"^\[Chip\]\n(.*?)(?=^\[)", text, re.MULTILINE | re.DOTALL)
    values = (
        dict(re.findall(r"^(\w+)=(.*)$", chip_section[1], re.MULTILINE)) if chip_section else {}
    )
    if not all(is_size(values.get(key, "")) for key in ("Cols", "Rows", "NumberOfUnits")):
        message = "lacks Rows, Cols or NumberOfUnits in its section [Chip]; copy the file again"
        raise input_error(file_name, message)
    sections = re.split(r"^\[(Unit\d+_Block\d+)\]$", text, flags=re.MULTILINE)
    n_units = int(values["NumberOfUnits"])
    if len(sections) // 2 < n_units:
        message = (
            f"announces {n_units} probe sets but ends after {len(sections) // 2}; copy or download "
            "it again"
        )
        raise input_error(file_name, message)
    blocks = [
        _parse_text_block(*pair, file_name)
        for pair in zip(sections[1::2], sections[2::2], strict=True)
    ]
    return _make_layout(
        values.get("Name", ""), (int(values["Cols"]), int(values["Rows"])), blocks, file_name
    )


def _parse_text_block(section: str, body: str, file_name: str) -> _Block:
    """Return the cells of one section of a text CDF file; raise InvalidInput if some are lacking.

    section, body: name of the section, for messages, and the text below it.
    """
    body = body.partition("\n[")[0]
    values = dict(re.findall(r"^(Name|NumCells|CellHeader)=(.*)$", body, re.MULTILINE))
    lines = re.findall(r"^Cell\d+=(.*)$", body, re.MULTILINE)
    try:
        name = values["Name"]
        header = values["CellHeader"].split("\t")
        positions = [header.index(key) for key in ("X", "Y", "ATOM", "PBASE", "TBASE")]
        cells = [line.split("\t") for line in lines]
        columns = [np.array([cell[k] for cell in cells]) for k in positions]
        x, y, atom = (column.astype(np.int64) for column in columns[:3])
        is_complete = len(lines) == int(values["NumCells"])
    except (KeyError, ValueError, IndexError):
        is_complete = False
    if not is_complete:
        message = f"section [{section}] is not complete; copy or download the file again"
        raise input_error(file_name, message)
    return _Block(name, x, y, atom, _are_perfect_matches(*columns[3:]))


def _are_perfect_matches(probe: Array, target: Array) -> Array:
    """Return whether the middle base of each probe, a letter, is the complement of its target's."""
    probe = np.char.upper(probe)
    target = np.char.upper(target)
    matches = np.zeros(len(probe), dtype=bool)
    for base, complement in COMPLEMENTARY_BASE.items():
        matches |= (probe == base) & (target == complement)
    return matches
