"""The settings of the selection of gene sets: section ``structured`` of the config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, kw_only=True)
class SetsProtocol:
    """One attribute for each key of the section that a fit reads; the schema explains them.

    ``sets``, ``smallest`` and ``largest`` are read once, by `genesig.data.study.gene_sets`.
    """

    weights: str
    others: str
    mu: Sequence[float]
    tau_min: float
    tau_count: int
    most: int
    one_standard_error: bool
    tolerance: float

    def tau_fractions(self) -> Array:
        """Return the grid of tau as falling fractions of tau_max, which itself selects nothing."""
        return np.geomspace(1.0, self.tau_min, self.tau_count + 1)[1:]

    def mu_grid(self) -> Array:
        """Return the weights of the squared norm, falling: at ties the smoothest wins."""
        return np.sort(np.asarray(self.mu, dtype=float))[::-1]
