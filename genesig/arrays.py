"""The type of an array of any shape and kind of number, and the rows of arrays."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def row_entries(indptr: Array, row: int) -> slice:
    """Return the slice of the entries of one row; `indptr` has the index at which each begins."""
    return slice(int(indptr[row]), int(indptr[row + 1]))


def row_squares(M: Array) -> Array:
    """Return the squared norm of each row of M (m, n), (m,)."""
    return np.asarray(np.einsum("ai,ai->a", M, M))
