"""Columns that belong together: the probes of a set, the sets of a gene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.errors import GenesigError

Array = np.ndarray[Any, Any]


def numbered(step: str, by: Sequence[str] | None, n_columns: int) -> Array:
    """Give the columns' sets the numbers 0, 1, ... in the order in which they first occur.

    Parameters
    ----------
    step : str
        Who asks, for the message.
    by : (n_columns,) sequence of names, or None
        The set of each column; None makes each column a set of its own.
    n_columns : int

    Raises
    ------
    GenesigError
        If `by` does not name a set for each column.
    """
    if by is None:
        return np.arange(n_columns)
    if isinstance(by, str) or len(by) != n_columns:
        found = f"'{by}'" if isinstance(by, str) else f"{len(by)} names"
        raise GenesigError(f"{step}: needs the set of each of {n_columns} columns, found {found}")
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(str(name), len(numbers)) for name in by], dtype=np.int64)
