"""A denoiser of samples along chromosomes, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.arrays import Array
from genesig.genome.total_variation import Genome, denoised
from genesig.models.estimator import counts
from genesig.optim.nonlinear.problem import InvalidProblem


class TotalVariation(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Each sample, along each chromosome, becomes a step function (array CGH, copy numbers).

        min_f 1/2 ||f - y||² + tau sum_i |f_{i+1} - f_i|

    Each row stands for itself: nothing is learned from others.

    Parameters
    ----------
    chromosomes, positions : sequence of length d, optional
        Of the features; None is one chromosome, and the order in which they stand.
    tau : float, optional
        In standard deviations of the row's noise, which is taken from the differences of
        neighbours. None takes the means of the segments that BIC keeps of those of several tau.

    Source: Mosci 2009, chapter 5; Johnson 2013.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0, 2.0]], 20, axis=1) + np.random.default_rng(2).normal(0, 0.1, (3, 40))
    >>> [len(np.unique(row)) for row in TotalVariation().fit_transform(X)]
    [2, 2, 2]
    """

    def __init__(
        self, chromosomes: Sequence[Any] | None = None, positions: Sequence[float] | None = None,
        tau: float | None = None,
    ) -> None:  # fmt: skip
        self.chromosomes = chromosomes
        self.positions = positions
        self.tau = tau

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Check the settings against the features of X (n, d).

        As rows tell nothing of each other, sample_weight (n,) is checked, too, and changes nothing.
        """
        X = validate_data(self, X, dtype=np.float64)
        counts(sample_weight, X)
        if self.tau is not None and not 0 <= self.tau < np.inf:
            raise InvalidProblem(f"tau must be a number of at least 0, found {self.tau}")
        self.genome_ = Genome.of(X.shape[1], self.chromosomes, self.positions)
        return self

    def transform(self, X: Any) -> Array:
        """Return the step functions of the rows of X, (n, d)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        out: Array = np.empty_like(X)
        order, lines = self.genome_.order, self.genome_.starts
        for row, y in enumerate(X[:, order]):
            out[row, order] = denoised(y, lines, self.tau)
        return out
