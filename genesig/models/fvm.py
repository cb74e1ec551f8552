"""The Feature Vector Machine: a lasso in a space where features, not samples, have a kernel.

Source: Li, Yang and Xing (2006).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.arrays import Array
from genesig.models.estimator import Selects, check_numbers, checked, mask_of
from genesig.optim.feature_vectors import pointwise_information, select_feature_vectors
from genesig.optim.nonlinear.problem import InvalidProblem


class FeatureVectorMachine(RegressorMixin, Selects, BaseEstimator):  # type: ignore[misc]
    """min_b ½ b'K b - k_y'b + (λ/2)||b||_1, K and k_y mutual information between ranks.

    Selection is its purpose. It sees one feature's dependence on the response at a time, of any
    shape, and leaves out features that repeat one another. Its prediction is weak: a vote of
    the selected features for one of the response's bins, whose mean is returned. On the paper's own
    example the squared error is about half of the response's variance.

    Weighted samples fill the bins by their weights, each in one bin: whole weights are rows that
    occur so often but for those that the edge of a bin would cut.

    Parameters
    ----------
    n_features : int, optional
        Most features to take in, at the lowest λ that takes no more. None solves for one `lam`.
    lam : float
        λ as a fraction of its largest useful value 2 max k_y; with `n_features` the smallest that
        may be reached.
    n_bins : int
        Bins of the ranks; at least 5 samples for each, about.
    nonnegative : bool
        b ≥ 0, which needs no shift of the diagonal.
    tolerance : float
        Of the optimality conditions, relative to max k_y.

    Attributes
    ----------
    support_ : (d,) bool array
        Selected features.
    order_ : (k,) int
        Features in the order in which they came in.
    coef_ : (d,)
    information_ : (d,)
        Mutual information of each feature with the response, in nats.
    shift_ : float
        What was added to the diagonal of K, because mutual information is no positive
        semidefinite kernel and the objective would be unbounded; 0 where it was not needed.
    lam_ : float
        λ that was reached, as a fraction.
    violation_ : float
        Largest breach of the optimality conditions.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = FeatureVectorMachine(n_features=1).fit(X, np.abs(X[:, 1]))
    >>> model.get_support(indices=True)
    array([1])
    """

    def __init__(
        self, *, n_features: int | None = None, lam: float = 0.5, n_bins: int = 5,
        nonnegative: bool = False, tolerance: float = 1e-6,
    ) -> None:  # fmt: skip
        self.n_features = n_features
        self.lam = lam
        self.n_bins = n_bins
        self.nonnegative = nonnegative
        self.tolerance = tolerance

    def _check(self) -> None:
        check_numbers(self, positive=("tolerance",))
        if self.n_bins < 2 or not 0 <= self.lam <= 1:
            raise InvalidProblem(
                f"n_bins must be at least 2 and lam in [0, 1]; found {self.n_bins}, {self.lam:g}"
            )
        if self.n_features is not None and self.n_features < 1:
            raise InvalidProblem(f"n_features must be at least 1, found {self.n_features}")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Bin, and graft; X (n, d), y (n,) numbers (±1 for classes), sample_weight (n,)."""
        self._check()
        X, y, v = checked(self, X, y, sample_weight, "their ranks mean nothing", y_numeric=True)
        if v is not None:
            X, y, v = X[v > 0], y[v > 0], v[v > 0] / v[v > 0].mean()
        made = select_feature_vectors(
            X, y, n_features=self.n_features, bins=self.n_bins, lam=self.lam,
            nonnegative=self.nonnegative, tolerance=self.tolerance, weights=v,
        )  # fmt: skip
        self.information_, found = made.information, made.found
        largest = 2 * float(self.information_.max())
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[found.order] = found.coef
        self.order_ = found.order
        self.support_ = mask_of(self.order_, X.shape[1])
        self.shift_, self.violation_ = found.shift, found.violation
        self.lam_ = found.lam / largest if largest else 0.0
        self._learn(X[:, self.support_], made.codes[:, self.support_], y, made.response, v)
        return self

    def _learn(self, X: Array, codes: Array, y: Array, response: Array, v: Array | None) -> None:
        """Keep the training edges, the votes and the mean response of each bin."""
        self.edges_ = [
            np.array([X[codes[:, p] <= b, p].max(initial=-np.inf) for b in range(self.n_bins - 1)])
            for p in range(X.shape[1])
        ]
        self.mean_ = float(np.average(y, weights=v))
        counts = np.bincount(response, v, minlength=self.n_bins)
        sums = np.bincount(response, y if v is None else v * y, minlength=self.n_bins)
        self.bin_used_ = counts > 0
        self.bin_means_ = np.where(counts > 0, sums / np.where(counts > 0, counts, 1), self.mean_)
        self.votes_ = pointwise_information(codes, response, self.n_bins, v)

    def predict(self, X: Any) -> Array:
        """Return the mean response of the bin with argmax_b Σ_p coef_p log P(b, c_p)/P(b)P(c_p)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)[:, self.support_]
        if X.shape[1] == 0:
            return np.full(len(X), self.mean_)
        total, coef = np.zeros((len(X), self.n_bins)), self.coef_[self.support_]
        for p, edges in enumerate(self.edges_):
            codes = np.searchsorted(edges, X[:, p], side="left")
            total += coef[p] * self.votes_[p].T[codes]
        total[:, ~self.bin_used_] = -np.inf
        return np.asarray(self.bin_means_[np.argmax(total, axis=1)])
