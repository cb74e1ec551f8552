"""Affymetrix files give equal values in every form, and a truncated file gives one line."""

import gzip

import numpy as np
import pytest
from array_files import FORMS, LAYOUTS, PAIRS, PROBE_SET_NAMES, cel_command_console, cel_text
from hypothesis import given, settings
from hypothesis import strategies as st
from rma import sets_of

from genesig.data.files.affy.cel import parse_cel
from genesig.data.files.affy.folder import find_arrays, find_layout, read_arrays, read_cel_folder
from genesig.data.files.affy.layouts import parse_cdf
from genesig.data.files.readers import read_unpacked
from genesig.errors import InvalidInput

INTENSITY = np.arange(1.0, 31).reshape(5, 6)
CELS = {form: write(INTENSITY) for form, write in FORMS.items()}


def refusal_line(parse, content):
    """Return the only line of the refusal of a broken file."""
    with pytest.raises(InvalidInput) as caught:
        parse(content, "f")
    (only_problem,) = caught.value.problems
    assert "\n" not in only_problem.message
    return only_problem.message


@pytest.mark.parametrize("form", CELS)
def test_array_is_equal_in_every_file_form(form):
    cel = parse_cel(CELS[form], "f")
    assert (cel.chip, cel.n_columns, cel.n_rows) == ("Toy", 6, 5)
    np.testing.assert_array_equal(cel.intensity, INTENSITY.ravel())


def test_integers_padded_to_16_bytes_are_read():
    cel = parse_cel(cel_command_console(INTENSITY, padding=12), "f")
    assert (cel.n_columns, cel.n_rows) == (6, 5)


@pytest.mark.parametrize("form", LAYOUTS)
def test_layout_is_equal_in_every_file_form(form):
    cdf = parse_cdf(LAYOUTS[form], "f")
    assert (cdf.n_columns, cdf.n_rows, list(cdf.names)) == (6, 5, PROBE_SET_NAMES)
    np.testing.assert_array_equal(cdf.cells, PAIRS[:, :, 0].ravel())
    np.testing.assert_array_equal(cdf.sets, np.repeat(range(4), 3))


@pytest.mark.parametrize("form", CELS)
def test_array_cut_short_anywhere_is_refused(form):
    content = CELS[form]
    # What follows the intensities is not needed.
    needed = content.index(b"\n\r\n[MASKS]") if form == "text" else len(content) - 1
    for length in range(1, needed + 1):
        assert refusal_line(parse_cel, content[:length])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("form", LAYOUTS)
def test_layout_cut_short_anywhere_is_refused(form):
    content = LAYOUTS[form]
    for length in range(1, len(content.rstrip()) - (8 if form == "text" else 0)):
        assert refusal_line(parse_cdf, content[:length])


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("parse", "content"),
    [
        *((parse_cel, content) for content in CELS.values()),
        *((parse_cdf, content) for content in LAYOUTS.values()),
    ],
)
@settings(max_examples=10 * settings().max_examples)
@given(data=st.data())
def test_a_file_with_altered_bytes_is_read_or_refused_in_one_line(parse, content, data):
    broken = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(broken) - 1))
        instead = data.draw(
            st.sampled_from([b"", b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff"])
            | st.binary(max_size=5)
        )
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
    packed = gzip.compress(CELS["version 4"])
    files = {"b__CEL": CELS["text"], "a__cel__gz": packed, "Toy__cdf": LAYOUTS["version 1"]}
    folder = folder_with(tmp_path, **files, notes__txt=b"x")
    arrays = find_arrays(folder)
    assert list(arrays) == ["a", "b"]
    layout = find_layout(folder, list(arrays.values()), read_unpacked)
    probes = read_arrays(arrays, layout, read_unpacked)
    np.testing.assert_array_equal(probes.X, [1 + PAIRS[:, :, 0].ravel()] * 2)
    assert probes.names[:4] == ("0_at", "0_at#2", "0_at#3", "1_at")
    matrix = read_cel_folder(folder, read_unpacked)
    assert (matrix.rows, matrix.columns) == (probes.names, ("a", "b"))
    np.testing.assert_array_equal(matrix.cells.T, probes.X)
    assert sets_of(probes.names) == list(np.repeat(PROBE_SET_NAMES, 3))


def test_folder_without_arrays_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="holds no CEL file"):
        read_cel_folder(tmp_path, read_unpacked)


def test_all_arrays_of_another_chip_are_listed(tmp_path):
    array_of_other_chip = cel_text(INTENSITY[:4], "HG-Other")
    folder = folder_with(
        tmp_path, a__CEL=array_of_other_chip, b__CEL=CELS["text"], c__CEL=array_of_other_chip
    )
    layout = folder_with(tmp_path, Toy__cdf=LAYOUTS["text"]) / "Toy.cdf"
    with pytest.raises(InvalidInput) as caught:
        read_arrays(find_arrays(folder), layout, read_unpacked)
    assert [p.location[-5:] for p in caught.value.problems] == ["a.CEL", "c.CEL"]


def test_custom_layout_belongs_to_the_chip_its_name_begins_with(tmp_path):
    files = {"a__CEL": cel_text(INTENSITY, "HG-U1"), "hgu1_hs_own__cdf": LAYOUTS["version 1"]}
    folder = folder_with(tmp_path, **files)
    assert len(read_cel_folder(folder, read_unpacked).rows) == 12
