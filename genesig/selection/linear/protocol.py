"""The settings of the two-stage protocol: section ``linear`` of the config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """One attribute for each key of the section; the schema explains and bounds them."""

    tau_min: float
    tau_count: int
    lam: Sequence[float]
    mu: Sequence[float]
    criterion: str
    one_standard_error: bool
    solver: str
    tolerance: float

    def tau_fractions(self) -> Array:
        """Return the grid of tau as falling fractions of tau_max, (tau_count,).

        tau_max itself selects nothing and is left out.
        """
        return np.geomspace(1.0, self.tau_min, self.tau_count + 1)[1:]

    def lam_grid(self) -> Array:
        """Return lam in rising order, (n_lam,), whatever the order in the config."""
        return np.sort(np.asarray(self.lam, dtype=float))
