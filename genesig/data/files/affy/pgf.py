"""PGF, CLF and MPS files: which cells of a chip of whole transcripts are whose probes."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from genesig.arrays import Array
from genesig.data.files.affy.arrays import Layout
from genesig.data.files.delimited import lines_of
from genesig.data.files.formats.text import as_text
from genesig.errors import did_you_mean, refuse
from genesig.words import counted, listing

File = tuple[bytes, str]
AGAIN = "copy or download it again"


@dataclass(frozen=True)
class _Table:
    """Rows with tabs below lines ``#%key=value``.

    Attributes
    ----------
    where : str
    head : dict
        Key -> its values, in the order of the file.
    rows : iterator of (line, str)
        Without comments and blank lines.
    """

    where: str
    head: Mapping[str, list[str]]
    rows: Iterator[tuple[int, str]]

    def columns(self, level: int, names: Sequence[str]) -> list[int]:
        """Return the places of columns in the rows of a level."""
        known = self.head.get(f"header{level}", [""])[0].split("\t")
        for name in names:
            if name not in known:
                what = f"its rows have no column {name} ({listing(filter(None, known))})"
                near = did_you_mean(name, known)
                raise refuse(self.where, f"{what}{near}; {AGAIN}, from the chip's library files")
        return [known.index(name) for name in names]

    def broken(self, row: tuple[int, str], needed: str) -> Exception:
        """Return the error of a row."""
        return refuse(self.where, f"'{row[1].strip()[:40]}' is not {needed}; {AGAIN}", row[0])


def parse_transcripts(pgf: File, clf: File, mps: File) -> Layout:
    """Parse the library files of a chip: probe sets, places of probes, transcript clusters.

    A probe set of the layout is a transcript cluster: the perfect matches of the probe sets that
    the third file lists for it and whose type is ``main``, each cell once. The others of the list
    are controls; they are left out and counted.

    Parameters
    ----------
    pgf, clf, mps : (content, where)
        Each a whole file, unpacked, and its name for messages.

    Raises
    ------
    InvalidInput
        A file is of another kind or chip, has a broken row or ends too early; a cluster's probe
        set, a probe's place, or every probe set of type ``main`` is missing.

    Notes
    -----
    Affymetrix Power Tools, file formats PGF, CLF and MPS.
    """
    places, probes, clusters = (_opened(*file) for file in (clf, pgf, mps))
    chips = tuple(probes.head.get("chip_type", ()))
    for table in (places, clusters):
        of = table.head.get("chip_type", [*chips])
        if chips and not {*of} & {*chips}:
            what = f"is of chip {listing(of)}, but {probes.where} of {listing(chips)}"
            raise refuse(table.where, f"{what}; take the library files of one chip")
    names, wanted = _clusters(clusters)
    sets, ids, others = _perfect_matches(probes, wanted, clusters.where)
    shape, cells = _cells(places, ids, probes.where)
    size = shape[0] * shape[1]
    # A probe in two probe sets of a cluster is one measurement.
    first = np.sort(np.unique(sets * size + cells, return_index=True)[1])
    order = first[np.argsort(sets[first], kind="stable")]
    present, sets = np.unique(sets[order], return_inverse=True)
    known = tuple(np.array(names, dtype=object)[present])
    said = f"{counted(others, 'probe set')} of {clusters.where} not of type main: left out"
    return Layout(chips, *shape, known, cells[order], sets, said if others else "")


def _opened(content: bytes, where: str) -> _Table:
    text = as_text(content, where, old=True)
    if not text.endswith("\n"):
        raise refuse(where, f"ends in the middle of a line; {AGAIN}")
    head: dict[str, list[str]] = {}
    rows: Iterator[tuple[int, str]]
    rows = ((k, row) for k, row in enumerate(lines_of(text), 1) if row.strip())
    for number, row in rows:
        if row.startswith("#%"):
            key, _, value = row[2:].partition("=")
            head.setdefault(key.strip(), []).append(value.rstrip())
        elif not row.startswith("#"):
            if "header0" in head:
                rows = chain([(number, row)], rows)
            head.setdefault("header0", [row])  # of files that name their columns by a plain row
            break
    else:
        if "sequential" not in head:
            raise refuse(where, f"has no rows below its header; {AGAIN}")
    return _Table(where, head, rows)


def _clusters(table: _Table) -> tuple[list[str], dict[int, tuple[int, list[int]]]]:
    """Return the clusters, and probe set -> its line and the numbers of its clusters."""
    known = table.head["header0"][0].split("\t")
    name = "transcript_cluster_id" if "transcript_cluster_id" in known else "probeset_id"
    at, listed = table.columns(0, [name, "probeset_list"])
    numbers: dict[str, int] = {}
    wanted: dict[int, tuple[int, list[int]]] = {}
    for line, row in table.rows:
        try:
            cells = row.split("\t")
            sets = [int(each) for each in cells[listed].split()]
        except (IndexError, ValueError):
            raise table.broken((line, row), "a cluster and its probe sets") from None
        if not (cells[at].strip() and sets):
            raise table.broken((line, row), "a cluster and its probe sets")
        number = numbers.setdefault(cells[at].strip(), len(numbers))
        for each in sets:
            wanted.setdefault(each, (line, []))[1].append(number)
    return list(numbers), wanted


def _perfect_matches(
    table: _Table, wanted: Mapping[int, tuple[int, list[int]]], lists: str
) -> tuple[Array, Array, int]:
    """Return cluster and id of each perfect match, and how many sets wanted are not main ones."""
    name, kind = table.columns(0, ["probeset_id", "type"])
    probe, match = table.columns(2, ["probe_id", "type"])
    last = max(probe, match) + 1
    sets = array("q")
    ids = array("q")
    found = set[int]()
    others = 0
    clusters: Sequence[int] | None = None
    at = (0, "")
    try:
        for at in table.rows:
            if (row := at[1]).startswith("\t\t"):
                cells = row.split("\t", last)
                number = int(cells[probe])
                if clusters is None:
                    raise ValueError  # before the first probe set
                if _has(cells[match], "pm"):
                    sets.extend(clusters)
                    ids.extend([number] * len(clusters))
            elif not row.startswith("\t"):
                cells = row.split("\t")
                number = int(cells[name])
                main = _has(cells[kind], "main")
                clusters = wanted.get(number, (0, []))[1] if main else []
                others += number in wanted and not main
                found.update({number} & wanted.keys())
    except (IndexError, ValueError, OverflowError):
        raise table.broken(at, "a probe set, an atom or a probe") from None
    for number, (place, _) in wanted.items():
        if number not in found:
            what = f"probe set {number} is not in {table.where}; take both files of one version"
            raise refuse(lists, what, place)
    if not ids:
        raise refuse(
            table.where,
            f"has no perfect match of a probe set of type main in {lists}; "
            "take the library files of one version",
        )
    return np.array(sets), np.array(ids), others


def _has(kinds: str, word: str) -> bool:
    """Tell whether ``a:b->c`` has a word; what follows an arrow is a kind of what is before it."""
    return any(kind.partition("->")[0] == word for kind in kinds.strip().split(":"))


def _cells(table: _Table, ids: Array, of: str) -> tuple[tuple[int, int], Array]:
    """Return columns and rows of the chip, and the cell of each probe."""
    columns, rows = (_number(table, key) for key in ("cols", "rows"))
    at = table.columns(0, ["probe_id", "x", "y"])
    listed = array("q")
    line = 0
    row = ""
    try:
        for line, row in table.rows:
            cells = row.split("\t")
            number, x, y = (int(cells[k]) for k in at)
            if not (0 <= x < columns and 0 <= y < rows):
                what = f"probe {number} lies outside the chip's {columns} × {rows} cells; {AGAIN}"
                raise refuse(table.where, what, line)
            listed.append(number)
            listed.append(y * columns + x)
    except (IndexError, ValueError, OverflowError):
        raise table.broken((line, row), "a probe with its x and y") from None
    return (columns, rows), _looked_up(table, np.array(listed, dtype=np.int64), ids, of)


def _looked_up(table: _Table, listed: Array, ids: Array, of: str) -> Array:
    """Return the cell of each probe: as it is listed, else by the order that the header states."""
    known, place = listed.reshape(-1, 2).T
    order = np.argsort(known, kind="stable")
    twice = np.flatnonzero(np.diff(known[order]) == 0)
    if len(twice):
        raise refuse(table.where, f"lists probe {known[order][twice[0]]} twice; {AGAIN}")
    cells = np.full(len(ids), -1)
    if "sequential" in table.head:  # row by row, whatever #%order says, as Affymetrix' own tools
        cells = ids - _number(table, "sequential", 0)
        cells[cells >= _number(table, "cols") * _number(table, "rows")] = -1
    if len(known):
        found = order[np.searchsorted(known, ids, sorter=order).clip(max=len(order) - 1)]
        cells = np.where(known[found] == ids, place[found], cells)
    if (absent := np.flatnonzero(cells < 0)).size:
        what = f"lacks probe {ids[absent[0]]} of {of}; {AGAIN}, and both files of one version"
        raise refuse(table.where, what)
    return cells


def _number(table: _Table, key: str, least: int = 1) -> int:
    text = table.head.get(key, [""])[0].strip()
    if not (text.isdecimal() and len(text) < 7 and int(text) >= least):
        shown = text if len(text) <= 20 else f"{text[:20]}…"
        what = f"its line #%{key}={shown} is no whole number from {least} to 999999"
        what = what if text else f"has no line #%{key}=NUMBER, as layouts of chips have it"
        raise refuse(table.where, f"{what}; {AGAIN}, from the chip's library files")
    return int(text)
