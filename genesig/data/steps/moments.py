"""Mean and spread of each gene over the training samples taken away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.data.steps.standardise import inverse_scale

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Centre:
    """Subtract the training mean from each gene.

    Attributes
    ----------
    mean : (n_genes,) float
    """

    mean: Array
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array) -> Centre:
        """Average each column."""
        return cls(X.mean(axis=0))

    def transform(self, X: Array) -> Array:
        """Subtract the stored means."""
        return X - self.mean


@dataclass(frozen=True, eq=False)
class UnitVariance:
    """Divide each gene by its training standard deviation (ddof=0).

    Attributes
    ----------
    inverse_scale : (n_genes,) float
        1 / standard deviation; 0 for a gene that is constant on the training rows, which
        becomes 0 everywhere.
    """

    inverse_scale: Array
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array) -> UnitVariance:
        """Measure the deviation of each column from its mean."""
        return cls(inverse_scale(X, axis=0))

    def transform(self, X: Array) -> Array:
        """Multiply by the stored inverse deviations."""
        return X * self.inverse_scale
