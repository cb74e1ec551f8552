"""Every reader returns the numbers and names that its format was written with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from format_files import WRITERS, Numbers, agilent
from hypothesis import given
from hypothesis import strategies as st

from genesig.data.files.affy.folder import CEL
from genesig.data.files.formats.agilent import AGILENT
from genesig.data.files.formats.excel import EXCEL
from genesig.data.files.formats.h5mu import H5MU
from genesig.data.files.formats.idat import IDAT
from genesig.data.files.formats.rdata import RDATA
from genesig.data.files.formats.table import TABLES
from genesig.data.files.readers import FORMATS, format_of, read_matrix

NUMBERS = st.floats(-1e300, 1e300, allow_nan=False, allow_subnormal=False)


@st.composite
def _matrices(draw: st.DrawFn) -> Numbers:
    d = draw(st.integers(1, 4))
    n = draw(st.integers(3, 6))
    row = st.lists(NUMBERS, min_size=n, max_size=n)
    # Ids that look like numbers, dates or missing values are ids all the same.
    ids = st.sampled_from(
        ["001", "1e3", "NA", "SEPT2", "7892501", "a b", "null", "x/y", "AFFX-1_at"]
    )
    genes = draw(st.lists(ids, min_size=d, max_size=d, unique=True))
    samples = [f"GSM{k:03d}" for k in range(n)]
    return Numbers(genes, samples, draw(st.lists(row, min_size=d, max_size=d)))


@pytest.mark.parametrize("name", WRITERS)
@given(numbers=_matrices())
def test_file_written_in_a_format_is_read_back_unchanged(
    name: str, numbers: Numbers, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = WRITERS[name](numbers)
    path: Path = tmp_path_factory.mktemp("format") / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    matrix = read_matrix(path)
    matrix = matrix.transpose() if name == "e.h5ad" else matrix
    assert (list(matrix.rows), list(matrix.columns)) == (numbers.genes, numbers.samples)
    np.testing.assert_array_equal(matrix.cells, numbers.rows)


def test_every_format_is_written_and_comes_back(tmp_path: Path) -> None:
    written = set()
    for name, writer in WRITERS.items():
        content = writer(Numbers())
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        file_format = format_of(tmp_path / name)
        assert file_format is not None
        written.add(file_format.name)
    # Arrays are written below; CEL, IDAT, R, MuData and Excel files by the tests of their readers.
    elsewhere = {kind.name for kind in (AGILENT, CEL, IDAT, EXCEL, RDATA, H5MU, *TABLES.values())}
    missing = sorted({kind.name for kind in FORMATS} - written - elsewhere)
    assert not missing, f"tests/materials/format_files.py, WRITERS: nothing writes {missing}"


@given(numbers=_matrices())
def test_arrays_side_by_side_are_the_matrix(
    numbers: Numbers, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("arrays")
    for k, name in enumerate(numbers.samples):
        (folder / f"{name}.txt").write_text(agilent(numbers, k), encoding="latin-1")
    matrix = read_matrix(folder)
    assert (list(matrix.rows), list(matrix.columns)) == (numbers.genes, numbers.samples)
    np.testing.assert_array_equal(matrix.cells, numbers.rows)
