"""Tables keep names as text and exact numbers, in either orientation and every format."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest
from places import SHARED

from genesig.data.files.formats.table import TABLES
from genesig.data.files.readers import (
    load_schema,
    read_config,
    read_matrix,
    read_sample_table,
    read_samples,
    read_text,
)
from genesig.errors import GenesigError, InvalidInput
from genesig.results.run import sha256


def _file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_table_is_read_as_text(tmp_path: Path) -> None:
    path = _file(tmp_path / "s.tsv", "id\tclass\tage\n001\t1.0\t 30\n\n1e3\tNA\tnan\n")
    table = read_samples(path, None, None)
    assert table.index.name == "id"
    assert list(table.index) == ["001", "1e3"]
    assert table.to_dict("list") == {"class": ["1.0", "NA"], "age": ["30", "nan"]}
    assert read_sample_table(path, None, None).lines == [2, 4]


def test_a_matrix_keeps_names_and_the_last_digit(tmp_path: Path) -> None:
    number = 0.1 + 0.2
    matrix = read_matrix(_file(tmp_path / "e.tsv", f"\t001\tNA\n1.0\t{number!r}\t-1e-300\n"))
    assert (matrix.rows, matrix.columns) == (("1.0",), ("001", "NA"))
    np.testing.assert_array_equal(matrix.cells, [[number, -1e-300]])
    assert matrix.texts == {}


def test_cell_that_is_no_number_keeps_its_text_when_transposed(tmp_path: Path) -> None:
    matrix = read_matrix(_file(tmp_path / "e.csv", "g,a,b\nx,1,inf\ny,,2\nz,True,3\n"))
    np.testing.assert_array_equal(np.isfinite(matrix.cells), [[1, 0], [0, 1], [0, 1]])
    assert [matrix.text(0, 1), matrix.text(1, 0), matrix.text(2, 0)] == ["inf", "", "True"]
    assert [matrix.transpose().text(1, 0), matrix.transpose().text(1, 2)] == ["inf", "3"]
    assert matrix.lines == (2, 3, 4)
    assert matrix.transpose().transpose().rows == matrix.rows


@pytest.mark.parametrize(
    "text",
    ["g,1;a;b\nx,y;1,5;-0,25e-3\nz;7;,5\n", 'g;a;b\n"x,y";"1,5";-0,25e-3\nz;"7";,5\n'],
)
def test_decimal_commas_go_with_semicolons(text: str, tmp_path: Path) -> None:
    matrix = read_matrix(_file(tmp_path / "e.csv", text))
    np.testing.assert_array_equal(matrix.cells, [[1.5, -0.25e-3], [7, 0.5]])
    assert matrix.rows == ("x,y", "z")
    matrix_with_points = read_matrix(_file(tmp_path / "m.csv", text.replace("7", "7.5")))
    assert matrix_with_points.text(0, 0) == "1,5"


def test_a_column_of_truth_values_is_not_numbers(tmp_path: Path) -> None:
    matrix = read_matrix(_file(tmp_path / "e.csv", "g,a\nx,True\ny,False\n"))
    assert np.isnan(matrix.cells).all()
    assert matrix.text(1, 0) == "False"


def test_quotes_protect_the_delimiter(tmp_path: Path) -> None:
    text = '"g","a, left",b\n"x, y",1,2\n'
    matrix = read_matrix(_file(tmp_path / "e.csv", text))
    assert (matrix.rows, matrix.columns) == (("x, y",), ("a, left", "b"))
    table = read_samples(_file(tmp_path / "s.csv", text), None, None)
    assert list(table.columns) == ["a, left", "b"]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("packed", [False, True])
def test_text_is_equal_in_every_way_of_storage(
    mark: bytes, end: str, packed: bool, tmp_path: Path
) -> None:
    content = mark + f"sample\tclass{end}Å\tβ{end}".encode()
    path = tmp_path / ("t.tsv.gz" if packed else "t.tsv")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert read_text(path) == "sample\tclass\nÅ\tβ\n"


@pytest.mark.parametrize("suffix", TABLES)
def test_every_format_reads_its_own_files(suffix: str, tmp_path: Path) -> None:
    between = "," if suffix == ".csv" else "\t"
    path = _file(tmp_path / f"E{suffix.upper()}", f"g{between}a\nx{between}1\n")
    assert read_matrix(path).cells.tolist() == [[1.0]]


def test_file_hash_equals_hash_of_bytes_on_disk(tmp_path: Path) -> None:
    path = _file(tmp_path / "a", "one\r\n")
    assert sha256(path) == hashlib.sha256(b"one\r\n").hexdigest()


def test_config_is_read_as_written(tmp_path: Path) -> None:
    path = _file(tmp_path / "c.yaml", "\ufefflabel: class\r\nlinear:\r\n  mu: [1.0e-6, 1]\r\n")
    assert read_config(path) == {"label": "class", "linear": {"mu": [1e-6, 1]}}


def test_missing_schema_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genesig.data.files.readers.shipped_folder", lambda: tmp_path)
    with pytest.raises(GenesigError, match=r"config\.schema\.yaml is not there"):
        load_schema()


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize(
    ("name", "shape"), [("golub_1999", (7129, 72)), ("singh_2002", (12600, 102))]
)
def test_real_matrices_keep_rows_and_last_values(name: str, shape: tuple[int, int]) -> None:
    path = SHARED / f"{name}_expression.tsv.gz"
    matrix = read_matrix(path)
    assert matrix.cells.shape == shape
    with gzip.open(path, "rt") as stream:  # the last line, by hand
        last_cells = stream.read().splitlines()[-1].split("\t")
    assert matrix.rows[-1] == last_cells[0]
    np.testing.assert_array_equal(matrix.cells[-1], np.array(last_cells[1:], dtype=float))


def test_first_cell_such_as_bzh001_is_no_bzip2(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("BZH001\tS1\tS2\nG1\t1\t2\nG2\t3\t4\n")
    assert read_matrix(path).rows == ("G1", "G2")


def test_missing_file_in_a_folder_that_may_not_be_listed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> None:
        raise PermissionError(folder)

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(InvalidInput, match="no such file"):
        read_matrix(tmp_path / "x.tsv")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "GSE55235",
            "no such file (looked for in {cwd}); to download it: genesig fetch GSE55235",
        ),
        ("matrix", "no such file (looked for in {cwd}); did you mean 'matrix.tsv'?"),
    ],
)
def test_missing_file_without_ending_is_refused(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("matrix.tsv").write_text("g\ts\n")
    with pytest.raises(InvalidInput) as raised:
        read_matrix(name)
    assert str(raised.value) == f"error: {name}: {words.format(cwd=tmp_path)}"


def test_impossible_file_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is no name of a file"):
        read_matrix("a\0.tsv")
