"""Plain decimal numbers of a large text: correctly rounded, sooner than a parser of tables.

SciPy's reader of Matrix Market files takes a number a line by `fast_float`. It would take ``1.5x``
for 1.5, and at the end of a text read on behind it: so the text is held to lines of
``-?[0-9]*[.]?[0-9]*`` before. Those without a digit it refuses. It adds each number to 0, so that
-0 needs its sign back.

Source: Lemire, Number parsing at a gigabyte per second, Softw. Pract. Exper. 51 (2021).
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
LINE_END, MINUS = ord("\n"), ord("-")


def decimals(lines: str, count: int) -> Array | None:
    """Return the numbers of `count` lines as float64; None where one is no plain decimal.

    Parameters
    ----------
    lines : str
        Each begins with a line end, and has one number.
    """
    text = lines.encode("utf-8")
    if not _plain(text, count):
        return None
    import scipy.io

    header = b"%%%%MatrixMarket matrix array real general\n%d 1" % count
    try:
        cells: Array = scipy.io.mmread(BytesIO(b"".join([header, text, b"\n"])))[:, 0]
    except ValueError:
        return None
    _sign_zeros(cells, text)
    return cells if np.isfinite(cells).all() else None


def _plain(text: bytes, count: int) -> bool:
    """Tell whether there are `count` lines of digits, with a minus before and a point at most."""
    left = text.translate(None, b"0123456789")
    return (
        not left.translate(None, b".-\n")
        and left.count(b"\n") == count
        and b".." not in left
        and _signs_lead(text)
    )


def _signs_lead(text: bytes) -> bool:
    """Tell whether every minus begins a line; `text` begins with a line end."""
    letters = np.frombuffer(text, dtype=np.uint8)
    return bool((letters[np.flatnonzero(letters == MINUS) - 1] == LINE_END).all())


def _sign_zeros(cells: Array, text: bytes) -> None:
    zeros = np.flatnonzero(cells == 0)
    if zeros.size:
        letters = np.frombuffer(text, dtype=np.uint8)
        first = letters[np.flatnonzero(letters == LINE_END)[zeros] + 1]
        cells[zeros[first == MINUS]] = -0.0
