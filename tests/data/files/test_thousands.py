"""Points that separate thousands are refused, and decimal points are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from format_files import tabbed

from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.table import without_commas
from genesig.data.files.readers import read_matrix
from genesig.errors import InvalidInput

RNG = np.random.default_rng(5)
RAW = np.exp2(RNG.normal(9, 2.2, (300, 8))) + 20
LOG = np.log2(RAW)


def _with_points_of_thousands(value: float) -> str:
    return f"{round(value):,}".replace(",", ".")


def _without_points(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


SOUND: dict[str, tuple[Any, Callable[[float], str]]] = {
    "logarithms of three decimals": (LOG, "{:.3f}".format),
    "logarithms of three decimals, without zeros at the end": (LOG, _without_points),
    "logarithms cut at 0": (np.maximum(LOG - 9, 0), _without_points),
    "logarithms cut at 5": (np.maximum(LOG, 8), _without_points),
    "logarithms of whole levels": (np.where(LOG < 9, np.rint(LOG), LOG), _without_points),
    "intensities of one decimal": (RAW, "{:.1f}".format),
    "intensities of three decimals": (RAW, "{:.3f}".format),
    "intensities of four digits": (RAW, "{:.4g}".format),
    "intensities of four digits, none above 1000": (np.minimum(RAW, 999), "{:.4g}".format),
    "whole intensities": (RAW, "{:.0f}".format),
    "whole intensities below 1000": (np.minimum(RAW, 999), "{:.0f}".format),
    "999 for what is missing": (np.where(LOG < 9, 999, LOG), _without_points),
    "ratios": (RAW / 700, _without_points),
}


def _table(folder: Path, X: Any, write: Callable[[float], str]) -> Path:
    header = ["gene", *(f"s{k}" for k in range(X.shape[1]))]
    rows = [[f"g{k}", *map(write, map(float, x))] for k, x in enumerate(X)]
    (folder / "e.tsv").write_text(tabbed([header, *rows]))
    return folder / "e.tsv"


@pytest.mark.parametrize("transposed", [False, True])
def test_points_that_may_be_thousands_are_refused(transposed: bool, tmp_path: Path) -> None:
    path = _table(tmp_path, RAW.T if transposed else RAW, _with_points_of_thousands)
    with pytest.raises(
        InvalidInput, match=r"e\.tsv: (\d+)\.(\d{3}) and every .*\(\1\2\): three digits"
    ):
        read_matrix(str(path))


@pytest.mark.parametrize("name", SOUND)
def test_decimal_points_are_read(name: str, tmp_path: Path) -> None:
    X, write = SOUND[name]
    expected = [[float(write(float(value))) for value in row] for row in X]
    np.testing.assert_array_equal(read_matrix(str(_table(tmp_path, X, write))).cells, expected)


@pytest.mark.parametrize(
    ("different", "largest", "text", "expected"),
    [
        (10, 999.0, "1,365", 1365.0),
        (9, 999.0, "1,365", np.nan),  # too few other numbers
        (10, 500.0, "1,365", 1365.0),
        (10, 499.0, "1,365", np.nan),  # none of them near a thousand
        (10, 999.0, "1,999.5", 1999.5),
        (10, 999.0, "2,000", np.nan),  # far above them
        (10, 1000.0, "1,365", np.nan),  # a thousand without a comma
    ],
)
def test_commas_are_of_thousands_beside_many_numbers_just_below_one(
    different: int, largest: float, text: str, expected: float
) -> None:
    numbers = np.append(np.arange(1.0, different), largest)
    cells = np.append(numbers, np.nan)[None]
    names = tuple(f"s{k}" for k in range(cells.size))
    matrix = Matrix(("gene",), names, cells, {(0, different): text}, (2,))
    np.testing.assert_array_equal(without_commas(matrix).cells[0, -1], expected)
