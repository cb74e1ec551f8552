"""Layouts of Affymetrix chips (CDF; PGF, CLF, MPS), and probe intensities of several arrays.

A CDF says which cells of a chip are the perfect-match probes of which probe set; PGF, CLF and MPS
say it of transcript clusters. Arrays of one chip are then read side by side.

Source: Affymetrix, data file formats: CDF (text, and the binary form "XDA").
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.affy.cel import Cel, parse_form
from genesig.data.files.content import COPY_AGAIN, Cursor
from genesig.data.files.delimited import lines_of
from genesig.data.files.formats.text import as_text
from genesig.errors import InvalidInput, Problem, did_you_mean, input_error
from genesig.words import counted, is_size, listing

CDF_MAGIC = b"\x43\x00\x00\x00"  # first bytes of the binary form
COMPLEMENTARY_BASE = {"A": "T", "T": "A", "C": "G", "G": "C"}
# Versions of the binary form, each of which may add fields to the blocks and cells of version 1.
CDF_VERSIONS = (1, 2, 3, 4)
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

NamedContent = tuple[bytes, str]  # content of a file, unpacked, and its name for messages


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout of a chip."""

    # chip types as the file has them; empty if it has none (the binary CDF up to version 3)
    chips: tuple[str, ...]
    n_columns: int
    n_rows: int
    names: tuple[str, ...]  # probe sets, in the order of the file
    # (n_probes,) int: cell of each perfect-match probe, `y * n_columns + x`, set by set. In the
    # layout of a CDF file the probes of a set have the order of their atoms, as in makecdfenv.
    cells: Array
    sets: Array  # (n_probes,) int, ascending: number of each probe's set in `names`
    left_out: str = ""  # sentence that counts what was left out of the file; '' if nothing was


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
    version = cursor.read_version("CDF", CDF_VERSIONS)
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
    """Return the blocks of a unit, mostly a probe set; a single block has the unit's name."""
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
        _parse_cdf_section(*pair, file_name)
        for pair in zip(sections[1::2], sections[2::2], strict=True)
    ]
    return _make_layout(
        values.get("Name", ""), (int(values["Cols"]), int(values["Rows"])), blocks, file_name
    )


def _parse_cdf_section(section: str, body: str, file_name: str) -> _Block:
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


@dataclass(frozen=True)
class _LibraryTable:
    """A library file: rows with tabs below lines ``#%key=value``."""

    file_name: str
    header: Mapping[str, list[str]]  # key -> its values, in the order of the file
    rows: Iterator[tuple[int, str]]  # line and text, without comments and blank lines

    def columns(self, level: int, names: Sequence[str]) -> list[int]:
        """Return the positions of columns in rows of a level: 0 probe sets, 1 atoms, 2 probes."""
        column_names = self.header.get(f"header{level}", [""])[0].split("\t")
        for name in names:
            if name not in column_names:
                message = f"its rows have no column {name} ({listing(filter(None, column_names))})"
                advice = did_you_mean(name, column_names)
                raise input_error(
                    self.file_name,
                    f"{message}{advice}; {COPY_AGAIN}, from the chip's library files",
                )
        return [column_names.index(name) for name in names]

    def row_error(self, row: tuple[int, str], expected: str) -> Exception:
        """Return the error about a row."""
        return input_error(
            self.file_name, f"'{row[1].strip()[:40]}' is not {expected}; {COPY_AGAIN}", row[0]
        )


def parse_transcripts(pgf: NamedContent, clf: NamedContent, mps: NamedContent) -> Layout:
    """Return the layout in a chip's library files: probe sets, probe places, clusters.

    A probe set of the layout is a transcript cluster: the perfect matches of the probe sets that
    the third file lists for it and whose type is ``main``, each cell once. The others of the list
    are controls; they are left out and counted.

    pgf, clf, mps (content, file_name): each a whole file, unpacked, and its name for messages.

    Raises InvalidInput: a file is of another kind or chip, has a broken row or ends too early; a
    cluster's probe set, a probe's place, or every probe set of type ``main`` is missing.

    Source: Affymetrix Power Tools, file formats PGF, CLF and MPS.
    """
    places, probes, clusters = (_open_table(*file) for file in (clf, pgf, mps))
    chips = tuple(probes.header.get("chip_type", ()))
    for table in (places, clusters):
        table_chips = table.header.get("chip_type", [*chips])
        if chips and not {*table_chips} & {*chips}:
            message = f"is of chip {listing(table_chips)}, but {probes.file_name} of "
            message += f"{listing(chips)}; take the library files of one chip"
            raise input_error(table.file_name, message)
    names, clusters_of_set = _read_clusters(clusters)
    sets, ids, n_controls = _read_perfect_matches(probes, clusters_of_set, clusters.file_name)
    shape, cells = _read_cells(places, ids, probes.file_name)
    size = shape[0] * shape[1]
    # A probe in two probe sets of a cluster is one measurement.
    first_rows = np.sort(np.unique(sets * size + cells, return_index=True)[1])
    order = first_rows[np.argsort(sets[first_rows], kind="stable")]
    clusters_with_probes, sets = np.unique(sets[order], return_inverse=True)
    cluster_names = tuple(np.array(names, dtype=object)[clusters_with_probes])
    left_out = (
        f"{counted(n_controls, 'probe set')} of {clusters.file_name} not of type main: left out"
    )
    return Layout(chips, *shape, cluster_names, cells[order], sets, left_out if n_controls else "")


def _open_table(content: bytes, file_name: str) -> _LibraryTable:
    """Return header and rows of a library file."""
    text = as_text(content, file_name, legacy_encoding=True)
    if not text.endswith("\n"):
        fault = "ends in the middle of a line" if text else "is empty"
        raise input_error(file_name, f"{fault}; {COPY_AGAIN}")
    header: dict[str, list[str]] = {}
    rows: Iterator[tuple[int, str]]
    rows = ((k, row) for k, row in enumerate(lines_of(text), 1) if row.strip())
    for number, row in rows:
        if row.startswith("#%"):
            key, _, value = row[2:].partition("=")
            header.setdefault(key.strip(), []).append(value.rstrip())
        elif not row.startswith("#"):
            if "header0" in header:
                rows = chain([(number, row)], rows)
            else:  # MPS files of some chips name their columns in a plain row
                header["header0"] = [row]
            break
    else:  # of all files only a CLF file may lack rows: with this key it numbers the probes
        if "sequential" not in header:
            raise input_error(file_name, f"has no rows below its header; {COPY_AGAIN}")
    return _LibraryTable(file_name, header, rows)


def _read_clusters(table: _LibraryTable) -> tuple[list[str], dict[int, tuple[int, list[int]]]]:
    """Return the names of clusters, and probe set -> (line, numbers of its clusters)."""
    column_names = table.header["header0"][0].split("\t")
    name_column = (
        "transcript_cluster_id" if "transcript_cluster_id" in column_names else "probeset_id"
    )
    name_position, list_position = table.columns(0, [name_column, "probeset_list"])
    numbers: dict[str, int] = {}
    clusters_of_set: dict[int, tuple[int, list[int]]] = {}
    for line, row in table.rows:
        try:
            cells = row.split("\t")
            sets = [int(probe_set) for probe_set in cells[list_position].split()]
        except (IndexError, ValueError):
            raise table.row_error((line, row), "a cluster and its probe sets") from None
        if not (cells[name_position].strip() and sets):
            raise table.row_error((line, row), "a cluster and its probe sets")
        number = numbers.setdefault(cells[name_position].strip(), len(numbers))
        for probe_set in sets:
            clusters_of_set.setdefault(probe_set, (line, []))[1].append(number)
    return list(numbers), clusters_of_set


def _read_perfect_matches(
    table: _LibraryTable, clusters_of_set: Mapping[int, tuple[int, list[int]]], mps_file: str
) -> tuple[Array, Array, int]:
    """Return cluster and id of each perfect match, and the number of sets that are not main.

    clusters_of_set: as `_read_clusters` returns it. Rows are nested by tabs: a probe set has none,
    an atom one, a probe two. A probe of several clusters is there for each of them.
    """
    id_position, type_position = table.columns(0, ["probeset_id", "type"])
    probe_position, match_position = table.columns(2, ["probe_id", "type"])
    n_splits = max(probe_position, match_position) + 1  # later cells of a row stay unsplit
    sets = array("q")
    ids = array("q")
    present_sets = set[int]()
    n_controls = 0
    clusters: Sequence[int] | None = None  # of the current probe set
    numbered_row = (0, "")
    try:
        for numbered_row in table.rows:
            if (row := numbered_row[1]).startswith("\t\t"):
                cells = row.split("\t", n_splits)
                number = int(cells[probe_position])
                if clusters is None:
                    raise ValueError  # before the first probe set
                if _has_type(cells[match_position], "pm"):
                    sets.extend(clusters)
                    ids.extend([number] * len(clusters))
            elif not row.startswith("\t"):
                cells = row.split("\t")
                number = int(cells[id_position])
                is_main = _has_type(cells[type_position], "main")
                clusters = clusters_of_set.get(number, (0, []))[1] if is_main else []
                n_controls += number in clusters_of_set and not is_main
                present_sets.update({number} & clusters_of_set.keys())
    except (IndexError, ValueError, OverflowError):
        raise table.row_error(numbered_row, "a probe set, an atom or a probe") from None
    for number, (line, _) in clusters_of_set.items():
        if number not in present_sets:
            message = f"probe set {number} is not in {table.file_name}; take both files of "
            raise input_error(mps_file, f"{message}one version", line)
    if not ids:
        raise input_error(
            table.file_name,
            f"has no perfect match of a probe set of type main in {mps_file}; take the library "
            "files of one version",
        )
    return np.array(sets), np.array(ids), n_controls


def _has_type(kinds: str, word: str) -> bool:
    """Tell whether types such as ``a:b->c`` have a word: a or b, as c is a kind of b."""
    return any(kind.partition("->")[0] == word for kind in kinds.strip().split(":"))


def _read_cells(table: _LibraryTable, ids: Array, pgf_file: str) -> tuple[tuple[int, int], Array]:
    """Return the size of the chip (columns, rows), and the cell of each probe of `ids`."""
    n_columns, n_rows = (_header_number(table, key) for key in ("cols", "rows"))
    positions = table.columns(0, ["probe_id", "x", "y"])
    listed = array("q")
    line = 0
    row = ""
    try:
        for line, row in table.rows:
            cells = row.split("\t")
            number, x, y = (int(cells[k]) for k in positions)
            if not (0 <= x < n_columns and 0 <= y < n_rows):
                message = f"probe {number} lies outside the chip's {n_columns} × {n_rows} cells"
                raise input_error(table.file_name, f"{message}; {COPY_AGAIN}", line)
            listed.append(number)
            listed.append(y * n_columns + x)
    except (IndexError, ValueError, OverflowError):
        raise table.row_error((line, row), "a probe with its x and y") from None
    return (n_columns, n_rows), _look_up_cells(
        table, np.array(listed, dtype=np.int64), ids, pgf_file
    )


def _look_up_cells(table: _LibraryTable, listed: Array, ids: Array, pgf_file: str) -> Array:
    """Return the cell of each probe: as listed, else by the order that the header states.

    `listed` (2 * n_probes,) has id and cell of each probe of the table, one after the other.
    """
    listed_ids, listed_cells = listed.reshape(-1, 2).T
    order = np.argsort(listed_ids, kind="stable")
    duplicates = np.flatnonzero(np.diff(listed_ids[order]) == 0)
    if len(duplicates):
        raise input_error(
            table.file_name, f"lists probe {listed_ids[order][duplicates[0]]} twice; {COPY_AGAIN}"
        )
    cells = np.full(len(ids), -1)  # -1: no cell
    if "sequential" in table.header:
        # Row by row whatever #%order says, as Affymetrix Power Tools read it.
        cells = ids - _header_number(table, "sequential", minimum=0)
        cells[cells >= _header_number(table, "cols") * _header_number(table, "rows")] = -1
    if len(listed_ids):
        nearest = order[np.searchsorted(listed_ids, ids, sorter=order).clip(max=len(order) - 1)]
        cells = np.where(listed_ids[nearest] == ids, listed_cells[nearest], cells)
    if (absent_probes := np.flatnonzero(cells < 0)).size:
        message = f"lacks probe {ids[absent_probes[0]]} of {pgf_file}; {COPY_AGAIN}"
        raise input_error(table.file_name, f"{message}, and both files of one version")
    return cells


def _header_number(table: _LibraryTable, key: str, minimum: int = 1) -> int:
    """Return a whole number of the header, from `minimum` to 999999."""
    text = table.header.get(key, [""])[0].strip()
    if not (text.isdecimal() and len(text) < 7 and int(text) >= minimum):
        excerpt = text if len(text) <= 20 else f"{text[:20]}…"
        message = f"its line #%{key}={excerpt} is no whole number from {minimum} to 999999"
        message = message if text else f"has no line #%{key}=NUMBER, as layouts of chips have it"
        raise input_error(
            table.file_name, f"{message}; {COPY_AGAIN}, from the chip's library files"
        )
    return int(text)


@dataclass(frozen=True, eq=False)
class Probes:
    """Raw intensities of the perfect-match probes."""

    X: Array  # (n_arrays, n_probes) float64
    # The first probe of a set has the set's name, the others `name#2`, `name#3`, ... So the set's
    # name is that of the column that stands for the set (see `MedianPolish.genes`).
    names: tuple[str, ...]
    left_out: str = ""  # `Layout.left_out`


def probe_matrix(cels: Iterable[tuple[str, Cel]], layout: Layout, layout_file: str) -> Probes:
    """Return the perfect-match intensities of all arrays.

    cels: in the order of the rows; taken one after the other.
    layout_file: name of the layout's file, for messages.

    Raises InvalidInput: listing every array that is not of the chip of the layout.
    """
    rows = []
    problems = []
    for path, cel in cels:
        if problem := _chip_mismatch(path, cel, layout, layout_file):
            problems.append(problem)
        else:
            rows.append(cel.intensity[layout.cells])
    if problems:
        raise InvalidInput(problems)
    first_probe = np.searchsorted(layout.sets, np.arange(len(layout.names)))
    number_in_set = np.arange(len(layout.sets)) - first_probe[layout.sets] + 1
    set_names = (layout.names[number] for number in layout.sets)
    names = tuple(
        set_name if number == 1 else f"{set_name}#{number}"
        for set_name, number in zip(set_names, number_in_set.tolist(), strict=True)
    )
    return Probes(np.array(rows).reshape(len(rows), len(names)), names, layout.left_out)


def _chip_mismatch(path: str, cel: Cel, layout: Layout, layout_file: str) -> Problem | None:
    """Return the problem that an array is not of the layout's chip; None if it is."""
    size = (cel.n_columns, cel.n_rows)
    layout_size = (layout.n_columns, layout.n_rows)
    layout_names = layout.chips or (re.split(r"[\\/]", layout_file)[-1],)
    fits = not cel.chip or any(is_layout_of_chip(cel.chip, name) for name in layout_names)
    if size == layout_size and fits:
        return None
    message = (
        f"is an array of chip '{cel.chip or 'unknown'}' with {size[0]} × {size[1]} cells, but "
        f"{layout_file} is the layout of {listing(layout_names)} with {layout_size[0]} × "
        f"{layout_size[1]}; give the layout of this chip"
    )
    return Problem(path, message)


def is_layout_of_chip(chip: str, name: str) -> bool:
    """Tell whether the name of a layout, or of its file, belongs to a chip.

    It begins with the chip's name; case, ``-``, ``_`` and blanks do not count: the file
    ``hgu133a_hs_entrezg.cdf`` has custom probe sets of the chip ``HG-U133A``.
    """
    letters = [re.escape(letter) for letter in re.sub(r"[-_ ]", "", chip)]
    pattern = "[-_ ]*".join(letters) + r"(?![A-Za-z0-9])"
    return re.match(pattern, name, re.IGNORECASE) is not None
