"""The fused lasso along chromosomes, as scikit-learn estimators."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.genome.order import Genome
from genesig.models.structured import Scale
from genesig.models.two_classes import SignClassifier
from genesig.models.weights import check_classes, passed_on, shares
from genesig.optim.nonlinear.checks import InvalidProblem
from genesig.optim.structured.fused import fused_path

Array = np.ndarray[Any, Any]


class _FusedLasso(BaseEstimator):  # type: ignore[misc]
    """SUMMARY.

        min_b (1/n)||y - Zb||² + mu ||t||² + tau sum_j w_j |t_j|

    over the centred, scaled features Z, with t_j = b_j - b_{j-1} along each chromosome and t_j =
    b_j for its first feature, whose weight is `first`; w_j = 1 elsewhere.

    Parameters
    ----------
    chromosomes, positions : sequence of length d, optional
        Of the features; None is one chromosome, and the order in which they stand.
    tau : float
        Fraction of the smallest tau at which no penalised step is left.
    mu : float
        Weight of the squared steps, in units of the norm of their design.
    first : float
        0 leaves the level of each chromosome free; 1 leaves out chromosomes without a signal.
    unit_variance : bool
        Divide each feature by its standard deviation.
    tolerance : float
        Largest relative duality gap; a larger one is warned of.

    Attributes
    ----------
    coef_ : (d,) array
        In the units of X.
    intercept_ : float
    levels_ : (d,) array
        b, on the scale of Z: constant between the jumps.
    tau_, gap_ : float

    Source: Mosci 2009, chapter 5; Tibshirani et al. 2005.
    """

    def __init__(
        self, chromosomes: Sequence[Any] | None = None, positions: Sequence[float] | None = None,
        *, tau: float = 0.05, mu: float = 1e-6, first: float = 0.0, unit_variance: bool = True,
        tolerance: float = 1e-9,
    ) -> None:  # fmt: skip
        self.chromosomes = chromosomes
        self.positions = positions
        self.tau = tau
        self.mu = mu
        self.first = first
        self.unit_variance = unit_variance
        self.tolerance = tolerance

    def _fit(self, X: Array, y: Array, v: Array | None) -> None:
        """Fill the fitted attributes from checked X (n, d), a real response y, weights v (n,)."""
        if not (0 < self.tau < np.inf and 0 <= self.mu < np.inf and 0 <= self.first < np.inf):
            found = f"{self.tau}, {self.mu} and {self.first}"
            raise InvalidProblem(f"tau must be above 0, mu and first at least 0; found {found}")
        genome = Genome.of(X.shape[1], self.chromosomes, self.positions)
        scale = Scale.of(X, unit_variance=self.unit_variance, weights=v)
        fits = fused_path(
            scale.apply(X), y, genome, np.array([self.tau]), mu=self.mu, first=self.first,
            tolerance=self.tolerance, weights=v,
        )  # fmt: skip
        if fits.path.message:
            warnings.warn(fits.path.message, ConvergenceWarning, stacklevel=3)
        self.levels_ = fits.coef[0]
        self.coef_ = self.levels_ / scale.scale
        self.intercept_ = float(np.average(y, weights=v) - scale.mean @ self.coef_)
        self.tau_, self.gap_ = self.tau * fits.tau_max, float(fits.gap[0])

    def _score(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.intercept_ + X @ self.coef_)


class FusedLassoRegressor(RegressorMixin, _FusedLasso):  # type: ignore[misc]
    """Coefficients that change seldom along chromosomes; see `_FusedLasso`."""

    __doc__ = (_FusedLasso.__doc__ or "").replace(
        "SUMMARY", "Regression with coefficients that change seldom along chromosomes"
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and a real response y (n,), rows weighted by sample_weight (n,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self._fit(X, np.asarray(y, dtype=float), shares(sample_weight, X))
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x) of each row of X, (n,)."""
        return self._score(X)


class FusedLassoClassifier(SignClassifier, _FusedLasso):
    """The sign of f, with coefficients that change seldom along chromosomes; see `_FusedLasso`."""

    __doc__ = (_FusedLasso.__doc__ or "").replace(
        "SUMMARY", "Two classes, coded as ±1, by coefficients that change seldom along chromosomes"
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and the classes y (n,) of its rows, weighted by sample_weight (n,)."""
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        v = shares(sample_weight, rows)
        check_classes(labels, v)
        self._fit(rows, self._coded(labels), v)
        return self._calibrated(X, labels, **passed_on(sample_weight))

    def decision_function(self, X: Any) -> Array:
        """Return f(x) of each row of X, (n,); above 0 is the second class."""
        return self._score(X)
