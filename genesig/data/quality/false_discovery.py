"""The share of false discoveries among many tests."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def q_values(p: Array) -> Array:
    """Return ``q_(i) = min_{j >= i} m p_(j) / j`` of m p-values, (m,) to (m,).

    The smallest false discovery rate at which a test counts as found: Benjamini and Hochberg 1995,
    theorem 1. Not taken from SciPy, whose statistics every small job would import for this line.
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)[::-1]
    q = np.empty(len(p))
    q[order] = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
    return np.minimum(q, 1.0)
