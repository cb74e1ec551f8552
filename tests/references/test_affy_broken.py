"""Affymetrix files that are cut short, mixed up or altered: one clear line, no traceback."""

import gzip
import re

import numpy as np
import pytest
from affy_files import cdf_binary, cdf_text, cel_binary, cel_command_console, cel_text
from hypothesis import given, settings
from hypothesis import strategies as st
from rma import sets_of

from genesig.data.files.affy.cdf import parse_cdf
from genesig.data.files.affy.cel import parse_cel
from genesig.data.files.affy.folder import arrays_in, layout_in, matrix_of, read_arrays
from genesig.data.files.readers import read_bytes
from genesig.errors import InvalidInput

INTENSITY = np.arange(1.0, 31).reshape(5, 6)
PAIRS = np.arange(24).reshape(4, 3, 2)
NAMES = [f"{k}_at" for k in range(4)]
CELS = {
    "text": cel_text(INTENSITY),
    "binary": cel_binary(INTENSITY),
    "command console": cel_command_console(INTENSITY),
}
LAYOUTS = {"text": cdf_text(NAMES, PAIRS, 6, 5), "binary": cdf_binary(NAMES, PAIRS, 6, 5)}
LAYOUTS |= {f"binary {n}": cdf_binary(NAMES, PAIRS, 6, 5, version=n) for n in (2, 3, 4)}


def problem(parse, content):
    """Return the one line that a broken file is refused with."""
    with pytest.raises(InvalidInput) as caught:
        parse(content, "f")
    (found,) = caught.value.problems
    assert "\n" not in found.what
    return found.what


@pytest.mark.parametrize("form", CELS)
def test_every_form_of_an_array_says_the_same(form):
    cel = parse_cel(CELS[form], "f")
    assert (cel.chip, cel.n_columns, cel.n_rows) == ("Toy", 6, 5)
    np.testing.assert_array_equal(cel.intensity, INTENSITY.ravel())


@pytest.mark.parametrize("form", LAYOUTS)
def test_every_form_of_a_layout_says_the_same(form):
    cdf = parse_cdf(LAYOUTS[form], "f")
    assert (cdf.n_columns, cdf.n_rows, list(cdf.names)) == (6, 5, NAMES)
    np.testing.assert_array_equal(cdf.cells, PAIRS[:, :, 0].ravel())
    np.testing.assert_array_equal(cdf.sets, np.repeat(range(4), 3))


@pytest.mark.parametrize("form", CELS)
def test_an_array_cut_short_anywhere_is_refused(form):
    content = CELS[form]
    # What follows the intensities is not needed.
    needed = content.index(b"\n\r\n[MASKS]") if form == "text" else len(content) - 1
    for length in range(1, needed + 1):
        assert problem(parse_cel, content[:length])


@pytest.mark.parametrize("form", LAYOUTS)
def test_a_layout_cut_short_anywhere_is_refused(form):
    content = LAYOUTS[form]
    for length in range(1, len(content.rstrip()) - (8 if form == "text" else 0)):
        assert problem(parse_cdf, content[:length])


def replaced(content, old, new):
    assert old in content
    return content.replace(old, new)


BROKEN_CELS = {
    "another kind of file": (b"hello world", "is no CEL file"),
    "a layout": (LAYOUTS["binary"], "is no CEL file"),
    "text of version 2": (replaced(CELS["text"], b"Version=3", b"Version=2"), "version 2"),
    "a size that is no number": (replaced(CELS["text"], b"Cols=6", b"Cols=six"), "lacks Cols"),
    "fewer cells announced": (replaced(CELS["text"], b"Cells=30", b"Cells=29"), "holds 29"),
    "a row missing": (re.sub(rb" 2\t2\t.*?\r\n", b"", CELS["text"]), "29 different cells"),
    "a cell twice": (replaced(CELS["text"], b" 2\t2\t", b" 1\t2\t"), "29 different cells"),
    "a cell outside": (replaced(CELS["text"], b" 2\t2\t", b" 9\t9\t"), "29 different cells"),
    "a word among numbers": (replaced(CELS["text"], b"15.0", b"high"), "else than numbers"),
    "decimal commas": (replaced(CELS["text"], b"15.0", b"15,0"), "else than numbers"),
    "a negative intensity": (replaced(CELS["text"], b"15.0", b"-5.0"), "x=2, y=2"),
    "no number": (cel_binary(np.where(INTENSITY == 8, np.nan, INTENSITY)), "x=1, y=1"),
    "numbers missing": (replaced(CELS["text"], b"15.0\t1.0\t 25", b"15.0"), "29 different cells"),
    "binary of version 5": (cel_binary(INTENSITY, version=5), "of version 5; version 4"),
    "sizes that disagree": (CELS["binary"][:8] + b"\7" + CELS["binary"][9:], "7 × 5 cells but"),
    "a negative length": (CELS["binary"][:20] + b"\xff" * 4 + CELS["binary"][24:], "damaged"),
    "no table of intensities": (cel_command_console(INTENSITY, table="Other"), "without a table"),
    "another kind of column": (cel_command_console(INTENSITY, column=(5, 4)), "not one column"),
    "no group of data": (b"\x3b\x01" + b"\0" * 40, "with 0 groups"),
    "parameters without a size": (
        replaced(CELS["command console"], "cel-cols".encode("utf-16-be"),
                 "cel-colz".encode("utf-16-be")), "lacks affymetrix-cel-cols"),
    "Command Console sizes that disagree": (
        replaced(CELS["command console"], b"\0\0\0\6\0\0\0\x18", b"\0\0\0\7\0\0\0\x18"),
        "7 × 5 cells but"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BROKEN_CELS.values(), ids=BROKEN_CELS)
def test_a_broken_array_is_refused(content, message):
    assert message in problem(parse_cel, content)


BROKEN_LAYOUTS = {
    "another kind of file": (b"hello world", "is no CDF file"),
    "an array": (CELS["text"], "is no CDF file"),
    "no size": (replaced(LAYOUTS["text"], b"Rows=5", b"Rows="), "lacks Rows, Cols or"),
    "no number of sets": (replaced(LAYOUTS["text"], b"Units=4", b"Units=4x"), "or NumberOfUnits"),
    "a set without a name": (replaced(LAYOUTS["text"], b"Name=2_at", b"Nam=2_at"), "not complete"),
    "no probe set": (
        b"[CDF]\n[Chip]\nRows=5\nCols=6\nNumberOfUnits=0\n[QC1]\n",
        "has no probe set",
    ),
    "a set without its end": (replaced(LAYOUTS["text"], b"Cell6=", b"X="), "is not complete"),
    "a column missing": (replaced(LAYOUTS["text"], b"\tATOM", b""), "is not complete"),
    "cells outside": (cdf_text(NAMES, PAIRS + 9, 6, 5), "outside its 6 × 5"),
    "binary cells outside": (cdf_binary(NAMES, PAIRS + 9, 6, 5), "outside its 6 × 5"),
    "binary of version 5": (
        cdf_binary(NAMES, PAIRS, 6, 5, version=5),
        "of version 5; version 1 to 4 are read, export",
    ),
    "a place outside": (LAYOUTS["binary"][:280] + b"\xff\xff\xff\x7f" * 4, "points to byte"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN_LAYOUTS.values(), ids=BROKEN_LAYOUTS)
def test_a_broken_layout_is_refused(content, message):
    assert message in problem(parse_cdf, content)


@pytest.mark.parametrize(("parse", "content"), [
    *((parse_cel, content) for content in CELS.values()),
    *((parse_cdf, content) for content in LAYOUTS.values()),
])  # fmt: skip
@settings(max_examples=150)
@given(data=st.data())
def test_a_file_with_altered_bytes_is_read_or_refused_in_one_line(parse, content, data):
    broken = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(broken) - 1))
        instead = data.draw(st.sampled_from([b"", b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff"])
                            | st.binary(max_size=5))  # fmt: skip
        broken[at : at + data.draw(st.integers(0, 5))] = instead
    refusal = ""
    try:
        parse(bytes(broken), "f")
    except InvalidInput as error:
        refusal = str(error)
    assert len(refusal.splitlines()) <= 1


def folder_with(tmp_path, **files):
    for name, content in files.items():
        (tmp_path / name.replace("__", ".")).write_bytes(content)
    return tmp_path


def test_a_folder_is_read_by_the_names_of_its_files(tmp_path):
    packed = gzip.compress(CELS["binary"])
    files = {"b__CEL": CELS["text"], "a__cel__gz": packed, "Toy__cdf": LAYOUTS["binary"]}
    folder = folder_with(tmp_path, **files, notes__txt=b"x")
    arrays = arrays_in(folder)
    assert list(arrays) == ["a", "b"]
    layout = layout_in(folder, list(arrays.values()), read_bytes)
    probes = read_arrays(arrays, layout, read_bytes)
    np.testing.assert_array_equal(probes.X, [1 + PAIRS[:, :, 0].ravel()] * 2)
    assert probes.names[:4] == ("0_at", "0_at#2", "0_at#3", "1_at")
    matrix = matrix_of(folder, read_bytes)
    assert (matrix.rows, matrix.columns) == (probes.names, ("a", "b"))
    np.testing.assert_array_equal(matrix.cells.T, probes.X)
    assert sets_of(probes.names) == list(np.repeat(NAMES, 3))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "holds no CEL file"),
        ({"a__CEL": CELS["text"], "a__cel__gz": b"x"}, "two CEL files of 'a'"),
        ({"a__CEL": CELS["text"]}, "1 array of chip 'Toy' but no CDF file; put Toy.cdf here"),
        ({"a__CEL": CELS["text"], "U__cdf": b"x", "V__cdf": b"x"}, "but only 'U.cdf', 'V.cdf'"),
        ({"a__CEL": CELS["text"], "Toy__cdf": cdf_binary(NAMES, PAIRS, 6, 6)}, "with 6 × 6; give"),
        ({"a__CEL": cel_text(INTENSITY, "Toys"), "Toy__cdf": LAYOUTS["text"]}, "of chip 'Toys'"),
        ({"a__CEL": gzip.compress(CELS["text"])[:-9], "Toy__cdf": b"x"}, "gzip file is truncated"),
        ({"a__CEL": CELS["text"], "Toy__cdf": b"  "}, "is empty"),
    ],
)
def test_a_folder_that_cannot_be_read_says_why(tmp_path, files, message):
    folder = folder_with(tmp_path, **files)
    with pytest.raises(InvalidInput, match=re.escape(message)):
        matrix_of(folder, read_bytes)


def test_all_arrays_of_another_chip_are_listed(tmp_path):
    other = cel_text(INTENSITY[:4], "HG-Other")
    folder = folder_with(tmp_path, a__CEL=other, b__CEL=CELS["text"], c__CEL=other)
    layout = folder_with(tmp_path, Toy__cdf=LAYOUTS["text"]) / "Toy.cdf"
    with pytest.raises(InvalidInput) as caught:
        read_arrays(arrays_in(folder), layout, read_bytes)
    assert [p.where[-5:] for p in caught.value.problems] == ["a.CEL", "c.CEL"]


def test_a_layout_of_ones_own_belongs_to_the_chip_its_name_begins_with(tmp_path):
    files = {"a__CEL": cel_text(INTENSITY, "HG-U1"), "hgu1_hs_own__cdf": LAYOUTS["binary"]}
    folder = folder_with(tmp_path, **files)
    assert len(matrix_of(folder, read_bytes).rows) == 12
