"""Genes that are alike: what rounding leaves must not put one before the other."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

DIGITS = 9
"""Of the largest value: copies of a gene, fitted together, differ by less."""


def rounded(values: Array) -> Array:
    """Return sizes (n,) as shares of the largest one, rounded, so that those of copies are equal.

    Sorted by them, copies stand in the order of their names, whatever the scale of the data.
    """
    largest = np.abs(values).max(initial=0.0)
    return np.round(values / largest, DIGITS) if largest > 0 else values
