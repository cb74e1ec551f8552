"""The size of values: whether they look as if logarithms had been taken of them."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Logarithms to base 2 of 16-bit scanners stay below 16; these bounds leave room.
LOGGED_P99, LOGGED_MAX = 30.0, 50.0
# Steps that take logarithms, or after which the scale is of no account.
LOGARITHMS = {"log2", "log_cpm", "median_polish", "rank_samples"}


def sizes(X: Array) -> tuple[float, float, float]:
    """Return smallest value, 99th percentile and largest value of those that are not missing."""
    X = X[np.isfinite(X)]
    return float(X.min()), float(np.percentile(X, 99)), float(X.max())


def looks_raw(p99: float, most: float) -> bool:
    """Tell whether values of this size were probably never logged."""
    return p99 > LOGGED_P99 or most > LOGGED_MAX
