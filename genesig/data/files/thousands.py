"""Points that are those of thousands: 26.615 for 26615, beside 383 for itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.errors import refuse

Array = np.ndarray[Any, Any]

ROWS = 1000
"""Looked at together; the first ones tell nearly every other table."""
WHOLE = 0.05
"""Least share of whole numbers; one in a thousand values of three decimals is whole."""
DIFFERENT = 10
"""Least of different ones among them: -999 stands for a missing value."""
BELOW, ABOVE = 500, 2
"""Some lie on either side of a thousand: whole ones from 500 on, and fractions below 2."""
THIRD = 0.8
"""Least share of fractions whose third digit is not 0; nine in ten if all digits are alike."""


def check_points(matrix: Matrix, where: str) -> None:
    """Refuse a table of which every point looks like one of thousands.

    Numbers below 1000 are whole then, and the others have three digits behind the point. A table of
    three decimals is told by the former, one of four digits by their third.

    Raises
    ------
    InvalidInput
        With one of the numbers, both ways.
    """
    cells, whole, third, known, example = matrix.cells, 0, 0, 0, 0.0
    numbers, least = set[float](), np.inf
    for start in range(0, len(cells), ROWS):
        x = np.abs(cells[start : start + ROWS])
        x = x[np.isfinite(x)]
        parted = x[x % 1 > 0]
        thousands = np.rint(1000 * parted)
        if (x >= 1000).any() or (parted < 1).any() or (thousands / 1000 != parted).any():
            return
        known, whole = known + len(x), whole + len(x) - len(parted)
        third += int((thousands % 10 > 0).sum())
        least = min(least, parted.min(initial=np.inf))
        numbers |= {*np.unique(x[x % 1 == 0]).tolist()}
        example = example or float(parted.max(initial=0.0))
    varied = len(numbers) >= DIFFERENT and max(numbers) >= BELOW and least < ABOVE
    if varied and whole >= WHOLE * known and third > THIRD * (known - whole):
        what = f"{example:.3f} and every number with a point looks like one of thousands "
        what += f"({1000 * example:.0f}): three digits stand behind it, and the others are below "
        raise refuse(where, f"{what}1000; export the table without such points")
