"""Normalisers that learn across samples: fitted on training rows, applied to any row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.data.steps.sample_steps import average_ranks, inverse_scale

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Quantile:
    """Give each sample the mean distribution of the training samples.

    ``target[i] = mean over training samples of their i-th smallest value``; a value of (average)
    rank r becomes target at r, halfway between two where r is.

    Attributes
    ----------
    target : (n_genes,) float, growing

    Notes
    -----
    B. M. Bolstad et al. (2003), Bioinformatics 19:185. Ties as in limma's normalizeQuantiles.
    """

    target: Array
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array) -> Quantile:
        """Average the sorted rows."""
        return cls(np.sort(X, axis=1).mean(axis=0))

    def transform(self, X: Array) -> Array:
        """Look the ranks of each row up in the target."""
        twice = (2 * average_ranks(X)).astype(np.int64)  # average ranks are whole or half
        lower, upper = self.target[twice // 2 - 1], self.target[(twice + 1) // 2 - 1]
        return np.asarray((lower + upper) / 2)

    def state(self) -> dict[str, Any]:
        """Return the target distribution."""
        return {"target": self.target.tolist()}


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

    def state(self) -> dict[str, Any]:
        """Return the means."""
        return {"mean": self.mean.tolist()}


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

    def state(self) -> dict[str, Any]:
        """Return the inverse deviations."""
        return {"inverse_scale": self.inverse_scale.tolist()}
