"""The settings of nonlinear selection: section ``nonlinear`` of the config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, kw_only=True)
class NonlinearProtocol:
    """One attribute for each key of the section but ``enabled``; the schema explains them."""

    genes: int | None
    kernel: str
    width: Sequence[float]
    degree: int
    offset: float
    penalty: str
    mu: float
    groups: str | None
    block_tau: float
    nu: Sequence[float]
    tau_min: float
    tau_count: int
    debias: bool
    lam: Sequence[float]
    solver: str
    tolerance: float
    max_iterations: int
    fvm_genes: Sequence[int]
    fvm_bins: int

    def tau_fractions(self) -> Array:
        """Return the grid of tau as falling fractions of tau_max, which itself selects nothing."""
        return np.geomspace(1.0, self.tau_min, self.tau_count + 1)[1:]

    def ridge_grid(self) -> Array:
        """Return the weights of the final ridge, falling: at ties the smoothest wins."""
        return np.sort(np.asarray(self.lam, dtype=float))[::-1]

    def settings_grid(self) -> list[tuple[float, float]]:
        """Return the pairs (nu, width) in the order of the config."""
        return [(float(nu), float(width)) for nu, width in product(self.nu, self.width)]
