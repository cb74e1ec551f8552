"""Affymetrix PGF, CLF and MPS files: the probes of the transcript clusters of a chip."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from genesig.arrays import Array
from genesig.data.files.affy.arrays import Layout
from genesig.data.files.content import COPY_AGAIN
from genesig.data.files.delimited import lines_of
from genesig.data.files.formats.text import as_text
from genesig.errors import did_you_mean, input_error
from genesig.words import counted, listing

NamedContent = tuple[bytes, str]  # content of a file, unpacked, and its name for messages


@dataclass(frozen=True)
class _Table:
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


def _open_table(content: bytes, file_name: str) -> _Table:
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
    return _Table(file_name, header, rows)


def _read_clusters(table: _Table) -> tuple[list[str], dict[int, tuple[int, list[int]]]]:
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
    table: _Table, clusters_of_set: Mapping[int, tuple[int, list[int]]], mps_file: str
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


def _read_cells(table: _Table, ids: Array, pgf_file: str) -> tuple[tuple[int, int], Array]:
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


def _look_up_cells(table: _Table, listed: Array, ids: Array, pgf_file: str) -> Array:
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


def _header_number(table: _Table, key: str, minimum: int = 1) -> int:
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
