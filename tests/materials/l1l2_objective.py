"""What the solvers minimise."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def objective(Z: Array, y: Array, b: Array, tau: float, mu: float) -> float:
    """Return ``(1/n) ||y - Zb||² + mu ||b||² + tau ||b||_1`` (Mosci 2009, eq. 4.4)."""
    r = y - Z @ b
    return float(r @ r / len(y) + mu * (b @ b) + tau * np.abs(b).sum())
