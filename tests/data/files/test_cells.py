"""Reading the cells of a table in blocks gives the same matrix as reading all at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from genesig.data.files import cells
from genesig.data.files.readers import read_matrix

ODD_CELLS = {
    (3, 1): "NA",
    (7, 0): "1e-05",
    (8, 2): "-0.00",
    (13, 2): "1.5x",
    (21, 0): "",
    (30, 1): "inf",
    (31, 1): "12,5",
    (38, 0): "8.123456789012345678",
}


def table(names: str, odd: dict[tuple[int, int], str]) -> str:
    """Return 40 rows of three numbers each, some of which are not plain."""
    X = np.random.default_rng(0).normal(7, 9, (40, 3))
    rows = [[odd.get((i, k), repr(float(v))) for k, v in enumerate(row)] for i, row in enumerate(X)]
    lines = ["\t".join([names.format(i), *row]) for i, row in enumerate(rows)]
    return "\n".join(["gene\ta\tb\tc", *lines, ""])


@pytest.mark.parametrize("names", ["g{}", '"g{}"', '"g ""{}"""', ' "g{}', "Ä{} "])
@pytest.mark.parametrize(
    "odd", [{}, ODD_CELLS, ODD_CELLS | {(17, 1): '"1.25"'}], ids=["plain", "odd", "quoted"]
)
def test_blocks_of_cells_equal_one_block(
    names: str, odd: dict[tuple[int, int], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "e.tsv"
    path.write_text(table(names, odd))
    full_matrix = read_matrix(path)
    monkeypatch.setattr(cells, "CELLS_PER_BLOCK", 20)
    blocks = read_matrix(path)
    assert blocks.cells.tobytes() == full_matrix.cells.tobytes()
    assert (blocks.rows, blocks.texts, blocks.lines) == (
        full_matrix.rows,
        full_matrix.texts,
        full_matrix.lines,
    )
    assert set(full_matrix.texts.items()) == {
        (k, v) for k, v in odd.items() if not is_finite_number(v)
    }


def is_finite_number(text: str) -> bool:
    """Tell whether a cell is a finite number."""
    try:
        return bool(np.isfinite(float(text.strip('"'))))
    except ValueError:
        return False


def test_plain_blocks_are_read_without_a_parser_of_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "e.tsv"
    path.write_text(table('"g{}"', {}))
    monkeypatch.setattr(cells, "CELLS_PER_BLOCK", 20)
    monkeypatch.setattr("pandas.read_csv", None)
    assert read_matrix(path).rows[:2] == ("g0", "g1")
