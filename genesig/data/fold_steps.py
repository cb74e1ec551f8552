"""Normalisers that learn across samples: fitted on training rows, applied to any row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.data.sample_steps import average_ranks, inverse_scale
from genesig.errors import GenesigError

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
class VarianceFilter:
    """Keep the share `keep` of genes (at least one) with the largest training variance.

    Attributes
    ----------
    genes : (n_kept,) int, growing
        Kept columns; of equal variances the earlier genes are kept.
    """

    genes: Array
    kind: ClassVar[Literal["fold"]] = "fold"

    @classmethod
    def fit(cls, X: Array, *, keep: float) -> VarianceFilter:
        """Choose genes by their variance over the rows."""
        number = max(1, round(keep * X.shape[1]))
        by_variance = np.argsort(-X.var(axis=0), kind="stable")
        return cls(np.sort(by_variance[:number]))

    def transform(self, X: Array) -> Array:
        """Take the kept columns."""
        return X[:, self.genes]

    def state(self) -> dict[str, Any]:
        """Return the kept columns."""
        return {"genes": self.genes.tolist()}


@dataclass(frozen=True, eq=False)
class FoldFilter:
    """Keep genes with ``max / min > above`` over the training samples.

    Attributes
    ----------
    genes : (n_kept,) int, growing
    """

    genes: Array
    kind: ClassVar[Literal["fold"]] = "fold"

    @classmethod
    def fit(cls, X: Array, *, above: float) -> FoldFilter:
        """Choose genes by their fold change over the rows, which must be positive."""
        low = X.min(axis=0)
        if low.min() <= 0:
            raise GenesigError(
                f"normalise.folds: fold_filter needs positive values, found {low.min():g}; use "
                "range_filter, or put log2 after it in normalise.folds instead of before the splits"
            )
        return cls(_kept("fold_filter", X.max(axis=0) > above * low, above))

    def transform(self, X: Array) -> Array:
        """Take the kept columns."""
        return X[:, self.genes]

    def state(self) -> dict[str, Any]:
        """Return the kept columns."""
        return {"genes": self.genes.tolist()}


@dataclass(frozen=True, eq=False)
class RangeFilter:
    """Keep genes with ``max - min > above`` over the training samples.

    Attributes
    ----------
    genes : (n_kept,) int, growing
    """

    genes: Array
    kind: ClassVar[Literal["fold"]] = "fold"

    @classmethod
    def fit(cls, X: Array, *, above: float) -> RangeFilter:
        """Choose genes by their range over the rows."""
        return cls(_kept("range_filter", np.ptp(X, axis=0) > above, above))

    def transform(self, X: Array) -> Array:
        """Take the kept columns."""
        return X[:, self.genes]

    def state(self) -> dict[str, Any]:
        """Return the kept columns."""
        return {"genes": self.genes.tolist()}


@dataclass(frozen=True, eq=False)
class DetectionFilter:
    """Keep genes with ``x > above`` in at least the share `samples` of the training samples.

    Attributes
    ----------
    genes : (n_kept,) int, growing
    """

    genes: Array
    kind: ClassVar[Literal["fold"]] = "fold"

    @classmethod
    def fit(cls, X: Array, *, above: float, samples: float) -> DetectionFilter:
        """Choose genes by the rows in which they are detected."""
        number = int(np.ceil(samples * len(X) * (1 - 1e-12)))  # 0.2 of 5 rows is 1, not 2
        return cls(_kept("detection_filter", (above < X).sum(axis=0) >= number, above))

    def transform(self, X: Array) -> Array:
        """Take the kept columns."""
        return X[:, self.genes]

    def state(self) -> dict[str, Any]:
        """Return the kept columns."""
        return {"genes": self.genes.tolist()}


def _kept(step: str, mask: Array, above: float) -> Array:
    if not mask.any():
        raise GenesigError(
            f"normalise.folds: {step} leaves no gene above {above:g}; lower its 'above'"
        )
    return np.flatnonzero(mask)


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
