"""Laboratories that measure the same genes, each a little differently."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Centre:
    """Arrays of one laboratory: log2 intensities of genes that tell two classes apart, or not."""

    def __init__(self, genes: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.levels = self.rng.uniform(4, 13, genes)
        self.effects = self.rng.normal(0, 0.6, genes)
        self.spreads = self.rng.uniform(0.3, 0.9, genes)

    def elsewhere(self) -> Centre:
        """Return another one: each gene is off by its own half of a standard deviation."""
        other = Centre(len(self.levels), int(self.rng.integers(1 << 30)))
        other.levels = self.levels + self.rng.normal(0, 0.5, len(self.levels)) * self.spreads
        other.effects, other.spreads = self.effects, self.spreads
        return other

    def arrays(self, y: Array) -> Array:
        """Return the values of samples with these labels, each a little brighter or darker."""
        noise = self.rng.standard_normal((len(y), len(self.levels))) * self.spreads
        light = self.rng.normal(0, 0.2, (len(y), 1))
        return np.asarray(self.levels + np.outer(y, self.effects) + noise + light)


def both(n: int) -> Array:
    return np.where(np.arange(n) % 2, 1.0, -1.0)
