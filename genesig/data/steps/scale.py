"""The size of values: whether they look as if logarithms had been taken of them."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Logarithms to base 2 of 16-bit scanners stay below 16; these bounds leave room.
LOGGED_P99, LOGGED_MAX = 30.0, 50.0
# What programs and people write where nothing was measured, and all cells must be numbers.
CODES = (-9.0, -99.0, -999.0, -9999.0, -99999.0)
# Steps that take logarithms, or after which the scale is of no account.
LOGARITHMS = {"log2", "log_cpm", "median_polish", "rank_samples"}


def sizes(X: Array) -> tuple[float, float, float]:
    """Return smallest value, 99th percentile and largest value of those that are not missing."""
    X = X[np.isfinite(X)]
    return float(X.min()), float(np.percentile(X, 99)), float(X.max())


def looks_raw(p99: float, most: float) -> bool:
    """Tell whether values of this size were probably never logged."""
    return p99 > LOGGED_P99 or most > LOGGED_MAX


def missing_codes(X: Array) -> tuple[float, ...]:
    """Return the numbers that stand for no value: -9, -99, -999, ..., in place of NA.

    A number is a code if all negative values are codes, or if it occurs ten times and ten times as
    often as any other near it, within 3 and a tenth: among differences of intensities -999 is rare.
    """
    negative = X[X < 0]
    found = [code for code in CODES if (negative == code).any()]
    if np.isin(negative, CODES).all():
        return tuple(found)
    return tuple(code for code in found if _crowded(negative, code))


def _crowded(values: Array, code: float) -> bool:
    times = int((values == code).sum())
    near = values[(np.abs(values - code) <= 3 + abs(code) / 10) & (values != code)]
    most = int(np.unique(near, return_counts=True)[1].max(initial=1))
    return times >= 10 and times >= 10 * most
