"""Plain decimals are parsed to the same bits as by Python's float; other cells go to pandas."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from genesig.data.files.cells import parse_decimals

PLAIN_DECIMAL = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")


@given(st.lists(st.text("0123456789.-+eE x_", max_size=30), min_size=1, max_size=8))
@example(["1", ""])
@example(["1", "", "2"])
@example(["", ""])
@example(["1.5x"])
@example(["1.2.3"])
@example(["1-2"])
@example(["."])
@example(["-."])
def test_decimal_lines_are_read_as_by_float_or_not_at_all(cells: list[str]) -> None:
    parsed = parse_decimals("".join("\n" + cell for cell in cells), len(cells))
    if parsed is not None:
        assert all(PLAIN_DECIMAL.fullmatch(cell) for cell in cells)
        assert parsed.tobytes() == np.array([float(cell) for cell in cells]).tobytes()


@given(
    st.lists(
        st.decimals(-(10**9), 10**9, allow_nan=False, places=17).map("{:f}".format)
        | st.floats(allow_nan=False, allow_infinity=False).map("{:.17f}".format)
        | st.integers(-(10**25), 10**25).map(str),
        min_size=1,
    )
)
@example(["9007199254740993", "0.1", "5.", ".5", "-.5", "007"])
@example(["-0", "0", "-0.00", "1", "-.0", "0.0", "-0." + 400 * "0" + "1"])
def test_plain_decimals_are_rounded_correctly(cells: list[str]) -> None:
    parsed = parse_decimals("".join("\n" + cell for cell in cells), len(cells))
    if parsed is None:
        assert any(np.isinf(float(cell)) for cell in cells)
    else:
        assert parsed.tobytes() == np.array([float(cell) for cell in cells]).tobytes()


@pytest.mark.parametrize(
    "cell", ["", "-", "-.", "1e5", "NA", "nan", "inf", "٣", "1,5", " 1", "9" * 400, "1\x0b"]
)
def test_cells_that_are_no_plain_decimals_are_read_by_pandas(cell: str) -> None:
    assert parse_decimals(f"\n1.5\n{cell}\n2", 3) is None
    assert parse_decimals(f"\n1.5\n{cell}", 2) is None


@pytest.mark.parametrize("text", ["1\n2", "1\n2\n3", "\n1\n2\n3", "\n1", "\n1\n2\n", ""])
def test_lines_are_as_many_as_promised(text: str) -> None:
    assert parse_decimals(text, 2) is None
