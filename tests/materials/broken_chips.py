"""Broken Affymetrix studies: arrays and layouts cut short, mixed up, or of another chip."""

from __future__ import annotations

import gzip
import re
import struct
from collections.abc import Callable, Iterator
from unittest.mock import patch

import numpy as np
from affy_files import (
    FORMS,
    LAYOUTS,
    NAMES,
    PAIRS,
    SIZE,
    cdf_binary,
    cdf_text,
    cel_binary,
    cel_command_console,
)
from broken_study import Broken, study
from format_files import tabbed

from genesig.data.files.affy.cdf import parse_cdf
from genesig.data.files.affy.cel import parse_cel
from genesig.data.files.content import Cursor

LIGHT = np.random.default_rng(0).lognormal(6, 1, (8, 5, 6)).round()
SAMPLES = [f"S{k}" for k in range(8)]
SHEET = tabbed([["sample", "class"], *([name, "ab"[k % 2]] for k, name in enumerate(SAMPLES))])
RMA = {
    "samples": [{"step": "rma_background"}],
    "folds": [{"step": s} for s in ("quantile", "median_polish", "centre", "unit_variance")],
}


def chips(words: list[str], form: str = "version 4", **changed: bytes | None) -> Broken:
    """Make a study of eight arrays and a layout, some of whose files are others or are not there.

    A file is named with two underscores for the dot.
    """
    files: dict[str, bytes | None] = {
        f"a/{name}.CEL": FORMS[form](LIGHT[k]) for k, name in enumerate(SAMPLES)
    }
    files["a/Toy.cdf"] = LAYOUTS["text"]
    files |= {f"a/{name.replace('__', '.')}": content for name, content in changed.items()}
    there = {name: content for name, content in files.items() if content is not None}
    config = {"expression": "a", "samples": "s.tsv", "label": "class", "normalise": RMA}
    return study({**there, "s.tsv": SHEET}, config, words)


def changed(content: bytes, pattern: bytes, new: bytes, times: int = 1) -> bytes:
    """Replace what a pattern finds, and make sure that it is there."""
    content, found = re.subn(pattern, new, content, count=times, flags=re.DOTALL)
    assert found
    return content


def _array(words: list[str], form: str, pattern: bytes, new: bytes) -> Broken:
    """Make the study whose second array is changed."""
    return chips(["S1.CEL: ", *words], S1__CEL=changed(FORMS[form](LIGHT[1]), pattern, new))


def _layout(words: list[str], pattern: bytes, new: bytes, times: int = 1) -> Broken:
    """Make the study whose layout, a text, is changed."""
    return chips(["Toy.cdf: ", *words], Toy__cdf=changed(LAYOUTS["text"], pattern, new, times))


CHIPS: dict[str, Broken] = {
    "an array of another chip than the layout": chips(
        ["S1.CEL: is an array of chip 'HG-Other' with 6 × 5 cells", "layout of 'Toy'",
         "give the layout of this chip"],
        S1__CEL=cel_binary(LIGHT[1], "HG-Other"),
    ),
    "an array of another size": chips(
        ["S1.CEL: is an array of chip 'Toy' with 6 × 4 cells", "'Toy' with 6 × 5"],
        S1__CEL=cel_binary(LIGHT[1][:4]),
    ),
    "a layout of another size": chips(
        ["S0.CEL: is an array of chip 'Toy' with 6 × 5 cells", "with 7 × 5; give the layout"],
        **{f"S{k}__CEL": None for k in range(1, 8)},
        Toy__cdf=cdf_text(NAMES, PAIRS, 7, 5),
    ),
    "an array of a chip whose name begins alike": chips(
        ["S1.CEL: is an array of chip 'Toys'"], S1__CEL=cel_binary(LIGHT[1], "Toys")
    ),
    "one array without its layout": chips(
        ["a: holds 1 array of chip 'Toy' but no CDF file; put Toy.cdf here"],
        **{f"S{k}__CEL": None for k in range(1, 8)}, Toy__cdf=None,
    ),
    "no layout": chips(
        ["a: holds 8 arrays of chip 'Toy' but no CDF file; put Toy.cdf here"], Toy__cdf=None
    ),
    "two layouts of other chips": chips(
        ["a: holds 8 arrays of chip 'Toy' but only 'U.cdf', 'V.cdf'; put Toy.cdf here"],
        Toy__cdf=None, U__cdf=LAYOUTS["text"], V__cdf=LAYOUTS["text"],
    ),
    "two files of one sample": chips(
        ["a: holds two CEL files of 'S1'; keep the one"],
        S1__CEL__gz=gzip.compress(FORMS["text"](LIGHT[1])),
    ),
    "an empty array": chips(["S1.CEL: is empty; copy or download it again"], S1__CEL=b""),
    "a page of a web site": chips(
        ["S1.CEL: is no CEL file: it begins neither with [CEL]", "again"],
        S1__CEL=b"<!DOCTYPE html><html>404</html>",
    ),
    "a layout for an array": chips(
        ["S1.CEL: is no CEL file", "again"], S1__CEL=LAYOUTS["version 1"]
    ),
    "an array for a layout": chips(
        ["Toy.cdf: is no CDF file: it begins neither", "again"], Toy__cdf=FORMS["text"](LIGHT[0])
    ),
    "a gzip file cut short": chips(
        ["S1.CEL.gz: the gzip file is truncated", "copy or download it again"],
        S1__CEL=None, S1__CEL__gz=gzip.compress(FORMS["text"](LIGHT[1]))[:-30],
    ),
    "a negative intensity": chips(
        ["S1.CEL: 1 of 30 intensities are negative or no number, the first at x=2, y=0"],
        S1__CEL=cel_binary(np.where(np.arange(30).reshape(5, 6) == 2, -1, LIGHT[1])),
    ),
    "decimal commas": chips(
        ["S1.CEL: section [INTENSITY] holds something else than numbers; copy"],
        S1__CEL=FORMS["text"](LIGHT[1]).replace(b".0\t1.0", b",0\t1.0"),
    ),
    "text of version 2": _array(
        ["is a CEL text file of version 2; version 3 is read", "export"],
        "text", b"Version=3", b"Version=2",
    ),
    "a size that is no number": _array(["lacks Cols"], "text", b"Cols=6", b"Cols=six"),
    "fewer cells announced": _array(["holds 29"], "text", b"Cells=30", b"Cells=29"),
    "a row missing": _array(["29 different cells"], "text", rb" 2\t2\t[^\n]*\n", b""),
    "a cell twice": _array(["29 different cells"], "text", rb" 2\t2\t", rb" 1\t2\t"),
    "a cell outside": _array(["29 different cells"], "text", rb" 2\t2\t", rb" 9\t9\t"),
    "a cell with its mean only": _array(
        ["29 different cells"], "text", rb"( 2\t2\t[\d.]+)[^\r]*", rb"\1"
    ),
    "a word among numbers": _array(
        ["else than numbers"], "text", rb" 2\t2\t[\d.]+", rb" 2\t2\thigh"
    ),
    "one decimal comma": _array(
        ["else than numbers"], "text", rb" 2\t2\t(\d+)\.", rb" 2\t2\t\1,"
    ),
    "a negative intensity in a text": _array(["x=2, y=2"], "text", rb" 2\t2\t", rb" 2\t2\t-"),
    "an intensity that is no number": chips(
        ["S1.CEL: ", "x=1, y=1"],
        S1__CEL=cel_binary(np.where(np.arange(30).reshape(5, 6) == 7, np.nan, LIGHT[1])),
    ),
    "binary of version 5": chips(
        ["S1.CEL: is a binary CEL file of version 5; version 4 is read, export"],
        S1__CEL=cel_binary(LIGHT[1], version=5),
    ),
    "sizes that disagree": _array(
        ["announces 7 × 5 cells but holds 30; the file is damaged, copy"],
        "version 4", struct.pack("<i", 6), struct.pack("<i", 7),
    ),
    "a negative length": _array(
        ["is damaged: byte 24 announces -1 bytes"],
        "version 4", b"^(.{20}).{4}", rb"\1" + b"\xff" * 4,
    ),
    "a container of something else": _array(
        ["is a Command Console file but no CEL file: it lacks affymetrix-cel-cols", "keep"],
        "Command Console", "cel-cols".encode("utf-16-be"), "cel-colz".encode("utf-16-be"),
    ),
    "a container whose sizes disagree": _array(
        ["announces 7 × 5 cells but holds 30"],
        "Command Console", b"\0\0\0\6\0\0\0\x18", b"\0\0\0\7\0\0\0\x18",
    ),
    "a container of nothing": chips(
        ["S1.CEL: is a Command Console file with 0 groups"], S1__CEL=b"\x3b\x01" + b"\0" * 40
    ),
    "a container with another kind of column": chips(
        ["S1.CEL: ", "not one column"], S1__CEL=cel_command_console(LIGHT[1], column=(5, 4))
    ),
    "a container without intensities": chips(
        ["S1.CEL: is a Command Console file without a table 'Intensity'", "export"],
        S1__CEL=cel_command_console(LIGHT[1], table="Other"),
    ),
    "a layout without probe sets": chips(
        ["Toy.cdf: has no probe set"],
        Toy__cdf=b"[CDF]\n[Chip]\nRows=5\nCols=6\nNumberOfUnits=0\n[QC1]\n",
    ),
    "a layout that is another kind of file": chips(
        ["Toy.cdf: is no CDF file"], Toy__cdf=b"hello world"
    ),
    "an array that is another kind of file": chips(
        ["S1.CEL: is no CEL file"], S1__CEL=b"hello world"
    ),
    "an empty layout": chips(["Toy.cdf: is empty"], Toy__cdf=b"  "),
    "a layout without its size": _layout(["lacks Rows, Cols or"], b"Rows=5", b"Rows="),
    "a layout without its number of sets": _layout(
        ["or NumberOfUnits"], b"Units=4", b"Units=4x"
    ),
    "a set without a name": _layout(["not complete"], b"Name=2_at", b"Nam=2_at"),
    "a set without its end": _layout(["is not complete"], b"Cell6=", b"X=", 0),
    "a layout without a column": _layout(["is not complete"], rb"\tATOM", b"", 0),
    "a binary layout with cells outside": chips(
        ["Toy.cdf: ", "outside its 6 × 5"], Toy__cdf=cdf_binary(NAMES, PAIRS + 9, *SIZE)
    ),
    "a binary layout of version 5": chips(
        ["Toy.cdf: ", "of version 5; version 1 to 4 are read, export"],
        Toy__cdf=cdf_binary(NAMES, PAIRS, *SIZE, version=5),
    ),
    "a binary layout that points outside": chips(
        ["Toy.cdf: points to byte"],
        Toy__cdf=LAYOUTS["version 1"][:280] + b"\xff\xff\xff\x7f" * 4,
    ),
    "a layout with cells outside": chips(
        ["Toy.cdf: names cells outside its 6 × 5 ones; copy or download"],
        Toy__cdf=cdf_text(NAMES, PAIRS + 9, *SIZE),
    ),
    "a sheet of other samples": chips(
        ["a: no sample of s.tsv is here", "the matrix has columns 'T0'"],
        **{f"S{k}__CEL": None for k in range(8)},
        **{f"T{k}__CEL": FORMS["version 4"](LIGHT[k]) for k in range(8)},
    ),
}  # fmt: skip


def header_ends(content: bytes, parse: Callable[[bytes, str], object]) -> list[int]:
    """Return where each part of a header ends: each line of a text, else each field as it is read.

    The last one is the end of the file, which is no cut.
    """
    if content.startswith(b"["):
        first = content.index(b"Cell1=0" if b"[CDF]" in content else b" 0\t0\t")
        return [match.end() for match in re.finditer(rb"\r\n", content[:first])]
    ends: set[int] = set()
    take = Cursor.take

    def noting(cursor: Cursor, count: int) -> bytes:
        found = take(cursor, count)
        ends.add(cursor.at)
        return found

    with patch.object(Cursor, "take", noting):
        parse(content, "")
    return sorted(ends - {len(content)})


def _cut() -> Iterator[tuple[str, Broken]]:
    for form, write in FORMS.items():
        content = write(LIGHT[1])
        for end in header_ends(content, parse_cel):
            case = chips(["S1.CEL: "], form, S1__CEL=content[:end])
            yield f"array, {form}, after {end} bytes", case
    for form in ("text", "version 1", "version 4"):
        content = LAYOUTS[form]
        for end in header_ends(content, parse_cdf):
            yield f"layout, {form}, after {end} bytes", chips(["Toy.cdf: "], Toy__cdf=content[:end])


CUT_SHORT = dict(_cut())
