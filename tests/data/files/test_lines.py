"""Reading a large text in pieces bounds the memory and leaves the result unchanged."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from genesig.data.files import delimited
from genesig.data.files.delimited import lines_of
from genesig.data.files.readers import read_matrix
from genesig.errors import InvalidInput

MATRICES = 4
N_SAMPLES_OF_TABLE = 60


@pytest.mark.slow
@pytest.mark.parametrize("digits", [".17g", ".5f"], ids=["cut twice", "kept"])
def test_reading_a_table_keeps_peak_memory_bounded(digits: str, tmp_path: Path) -> None:
    few, many = (_peak_memory(tmp_path / "e.tsv.gz", genes, digits) for genes in (6000, 18000))
    assert many - few <= MATRICES * 12000 * N_SAMPLES_OF_TABLE * 8


def _peak_memory(path: Path, genes: int, digits: str) -> int:
    """Return what reading a table takes at its peak; blocks of it are as large in each."""
    X = np.random.default_rng(0).normal(7, 2, (genes, N_SAMPLES_OF_TABLE))
    written = [[format(v, digits) for v in row] for row in X]
    rows = (f"g{i}\t" + "\t".join(row) for i, row in enumerate(written))
    header = "\t".join(["gene", *(f"s{i}" for i in range(N_SAMPLES_OF_TABLE))])
    path.write_bytes(gzip.compress("\n".join([header, *rows]).encode(), 1))
    read_matrix(path)  # what is imported is not counted
    tracemalloc.start()
    cells = read_matrix(path).cells
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(cells, np.array(written, dtype=float))
    return peak


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_lines_in_pieces_equal_lines_of_the_whole_text(
    end: str, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "PIECE_LENGTH", piece)
    expected = ["a\té", "", "µ\x0b\u2028", "last"]
    for text in (end.join(expected), end.join(["\ufeff" + expected[0], *expected[1:]])):
        assert list(lines_of(text.encode())) == expected


def test_file_with_only_a_byte_order_mark_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_bytes(b"\xef\xbb\xbf")
    with pytest.raises(InvalidInput, match="is empty"):
        read_matrix(path)


def test_table_without_header_gets_one() -> None:
    """Its line is then the 0th, so that messages count the others as the file does."""
    matrix = delimited.parse_matrix("gene\ts1\nb\t1\na\t2", ".tsv", "e", first_line=0)
    assert (matrix.rows, matrix.lines) == (("b", "a"), (1, 2))


@pytest.mark.parametrize(("cell", "is_short"), [("5.1", True), ("5.123456789012", False)])
def test_cells_are_short_or_long_by_the_middle_of_a_text(cell: str, is_short: bool) -> None:
    text = "\t".join([cell] * 100)
    assert delimited._has_short_cells(text, "\t") == is_short
    assert delimited._has_short_cells(text.encode(), "\t") == is_short
