"""Sparse principal components, as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.models.weights import check_folds, shares
from genesig.optim.nonlinear.checks import InvalidProblem
from genesig.optim.sparse_components import (
    SHARES,
    directions,
    held_out,
    moments,
    sparse_components,
    weighed,
)

Array = np.ndarray[Any, Any]


class SparsePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Directions in which samples differ, each of few features.

        min_{A, B} sum_k (1/n)||Z a_k - Z b_k||² + mu ||b_k||² + tau_k ||b_k||_1,    A'A = I

    Parameters
    ----------
    n_components : int
        Fewer where the samples or features are fewer.
    tau : float, optional
        Fraction of the smallest tau at which a component has no feature. None takes the largest one
        whose reconstruction of rows left out is within one standard error of the best.
    mu : float
        Weight of the squared l2 term, in units of ||Z'Z||/n.
    unit_variance : bool
        Divide each feature by its standard deviation.
    cv : int, splitter or iterable of (rows, held-out rows)
        Folds that choose tau.

    Attributes
    ----------
    components_ : (k, d) array
        Loadings b_k, of length 1, the largest above 0; or 0 for a component without a feature.
    explained_ : (k,) array
        Share of the variance that each adds to those before it (adjusted for correlation).
    tau_, gap_ : float
    unexplained_ : float
        Share of the variance of rows left out that was not reconstructed; NaN with a given tau.

    Source: Zou, Hastie, Tibshirani 2006.
    """

    def __init__(
        self, n_components: int = 2, *, tau: float | None = None, mu: float = 1e-3,
        unit_variance: bool = True, cv: Any = 5,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.tau = tau
        self.mu = mu
        self.unit_variance = unit_variance
        self.cv = cv

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to X (n, d), rows weighted by sample_weight (n,)."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if self.n_components < 1 or (self.tau or 0.0) < 0 or self.mu <= 0:
            values = f"{self.n_components}, {self.tau} and {self.mu}"
            raise InvalidProblem(
                f"n_components must be at least 1, tau 0, and mu above 0; found {values}"
            )
        k, self.unexplained_ = min(self.n_components, *X.shape), np.nan
        v = shares(sample_weight, X)
        if self.tau is None:
            folds = [held for _, held in check_cv(self.cv).split(X)]
            check_folds(folds, v)
            tried = held_out(
                X, k, np.array(SHARES), folds, mu=self.mu, unit_variance=self.unit_variance,
                weights=v,
            )  # fmt: skip
            self.unexplained_ = float(tried.unexplained[tried.chosen])
        self.tau_ = float(tried.tau[tried.chosen]) if self.tau is None else self.tau
        self.mean_, self.scale_ = moments(X, self.unit_variance, v)
        Z = (X - self.mean_) / self.scale_
        own = weighed(Z, v)
        found = sparse_components(Z, directions(own, k), tau=self.tau_, mu=self.mu, weights=v)
        self.components_ = found.loadings().T
        self._n_features_out = len(self.components_)
        self.explained_, self.gap_ = found.explained(own), found.gap
        return self

    def transform(self, X: Any) -> Array:
        """Return the scores Z b_k of the rows of X, (n, k)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray((X - self.mean_) / self.scale_ @ self.components_.T)
