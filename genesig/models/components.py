"""Estimators of sparse principal components, kernel components, and steps along chromosomes.

Source: Mosci 2009, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
    is_classifier,
)
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.arrays import Array
from genesig.compiled.steps import denoise_sample
from genesig.errors import pick
from genesig.genome import Genome
from genesig.models.estimator import (
    FoldClassifier,
    FoldRegressor,
    FoldRouting,
    checked_weights,
    held_out_folds,
    mean_one_weights,
)
from genesig.optim.components import (
    TAU_FRACTIONS,
    Points,
    choose_components,
    component_regressions,
    mean_and_scale,
    principal_directions,
    search_tau,
    sparse_components,
    times_root_weights,
)
from genesig.optim.nonlinear.problem import InvalidProblem


class SparsePCA(
    FoldRouting,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Directions in which samples differ, each of few features.

        min_{A, B} sum_k (1/n)||Z a_k - Z b_k||² + mu ||b_k||² + tau_k ||b_k||_1,    A'A = I

    Parameters
    ----------
    n_components : int
        At most the number of samples and of features.
    tau : float, optional
        Fraction of the smallest tau at which a component has no feature. None takes the largest one
        whose reconstruction of rows left out is within one standard error of the best.
    mu : float
        Weight of the squared l2 term, in units of ||Z'Z||/n.
    unit_variance : bool
        Divide each feature by its standard deviation.
    cv : int, splitter or iterable of (rows, held-out rows)
        Folds that choose tau; the rows are all that a fold does not hold out.

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

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> X[:, :3] += 3 * X[:, [5]]
    >>> np.flatnonzero(SparsePCA(1, tau=0.3).fit(X).components_[0])
    array([0, 1, 2, 5])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        tau: float | None = None,
        mu: float = 1e-3,
        unit_variance: bool = True,
        cv: Any = 5,
    ) -> None:
        self.n_components = n_components
        self.tau = tau
        self.mu = mu
        self.unit_variance = unit_variance
        self.cv = cv

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Fit to X (n, d), rows weighted by sample_weight (n,).

        ``groups`` (n,) goes to the folds: set `cv` to a splitter that keeps groups together.
        """
        split_parameters = self._split_parameters(params)
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if self.n_components < 1 or (self.tau or 0.0) < 0 or self.mu <= 0:
            values = f"{self.n_components}, {self.tau} and {self.mu}"
            raise InvalidProblem(
                f"n_components must be at least 1, tau 0, and mu above 0; found {values}"
            )
        n_components = min(self.n_components, *X.shape)
        self.unexplained_ = np.nan
        weights = mean_one_weights(sample_weight, X)
        if self.tau is None:
            splitter = check_cv(self.cv)
            folds = held_out_folds(splitter.split(X, **split_parameters), len(X), weights)
            tau_search = search_tau(
                X,
                n_components,
                np.array(TAU_FRACTIONS),
                folds,
                mu=self.mu,
                unit_variance=self.unit_variance,
                weights=weights,
            )
            self.unexplained_ = float(tau_search.unexplained[tau_search.chosen])
        self.tau_ = float(tau_search.tau[tau_search.chosen]) if self.tau is None else self.tau
        self.mean_, self.scale_ = mean_and_scale(X, self.unit_variance, weights)
        Z = (X - self.mean_) / self.scale_
        weighted_rows = times_root_weights(Z, weights)
        components = sparse_components(
            Z,
            principal_directions(weighted_rows, n_components),
            tau=self.tau_,
            mu=self.mu,
            weights=weights,
        )
        self.components_ = components.loadings().T
        self._n_features_out = len(self.components_)
        self.explained_ = components.explained(weighted_rows)
        self.gap_ = components.gap
        return self

    def transform(self, X: Any) -> Array:
        """Return the scores Z b_k of the rows of X, (n, k)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray((X - self.mean_) / self.scale_ @ self.components_.T)


HAS_WIDTH = {"linear": False, "gaussian": True}


class _KernelPCR(BaseEstimator):  # type: ignore[misc]
    """Shared by both estimators: settings, choice of number of components and width, and f(x)."""

    _row_weights = staticmethod(checked_weights)

    def __init__(
        self,
        kernel: str = "gaussian",
        width: float | Sequence[float] = 1.0,
        n_components: int | None = None,
        cv: Any = 5,
    ) -> None:
        self.kernel = kernel
        self.width = width
        self.n_components = n_components
        self.cv = cv

    def _widths(self) -> list[float | None]:
        """Return the kernel widths to choose from; None for the linear kernel."""
        if not pick("kernel", HAS_WIDTH, self.kernel):
            return [None]
        widths = [float(width) for width in np.ravel(self.width)]
        if not widths or not all(0 < width < np.inf for width in widths):
            raise InvalidProblem(f"width must be positive, found {self.width!r}")
        return [*widths]

    def _fit(
        self,
        X: Array,
        y: Array,
        weights: Array | None,
        split_parameters: dict[str, Any] | None = None,
    ) -> None:
        """Choose number of components and width unless set; fit f to y (n,) with weights (n,)."""
        widths = self._widths()
        n_components = self.n_components
        if n_components is not None and (n_components < 0 or len(widths) > 1):
            raise InvalidProblem("n_components must be at least 0, and go with one width")
        self.mean_ = np.average(X, axis=0, weights=weights)
        points = Points.from_rows(X, self.mean_)
        all_rows = np.arange(len(y))
        self.width_ = widths[0]
        if n_components is None:
            cv = check_cv(self.cv, y, classifier=is_classifier(self))
            splits = cv.split(X, y, **(split_parameters or {}))
            folds = held_out_folds(splits, len(X), weights)
            choice = choose_components(points, y, folds, widths, weights)
            self.width_ = choice.width
            n_components = choice.components
        K = points.kernel(all_rows, all_rows, self.width_, weights)
        alpha, intercept = component_regressions(K, y, weights)
        self.n_components_ = min(int(n_components), len(intercept) - 1)
        self.dual_coef_ = alpha[:, self.n_components_]
        self.intercept_ = float(intercept[self.n_components_])
        self.X_fit_ = X
        self._training_weights = weights

    def _score(self, X: Any) -> Array:
        """Return f(x) of the rows of X, (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        n_train = len(self.X_fit_)
        points = Points.from_rows(np.vstack([self.X_fit_, X]), self.mean_)
        kernel_rows = points.kernel(
            np.arange(n_train, n_train + len(X)),
            np.arange(n_train),
            self.width_,
            self._training_weights,
        )
        return np.asarray(self.intercept_ + kernel_rows @ self.dual_coef_)


class KernelPCRRegressor(FoldRegressor, _KernelPCR):
    """``f(x) = intercept + k(x)'alpha``: least squares on the first components of kernel PCA.

    Parameters
    ----------
    kernel : {"gaussian", "linear"}
        linear is principal component regression.
    width : float or sequence of float
        Of the Gaussian kernel, in multiples of the median distance between training rows.
    n_components : int, optional
        m, at most the rank of the centred kernel matrix. None chooses it.
    cv : int, splitter or iterable of (rows, held-out rows)
        Folds whose squared error chooses m and a sequence's width; as in `SparsePCA`.

    Attributes
    ----------
    dual_coef_ : (n,) array
    intercept_ : float
    n_components_ : int
    width_ : float or None
        None for the linear kernel.

    Source: Mosci 2009, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = KernelPCRRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.9)
    True
    """


class KernelPCRClassifier(FoldClassifier, _KernelPCR):
    """The sign of ``f(x)``, fitted to two classes coded -1 and +1.

    Parameters and attributes are those of `KernelPCRRegressor`, and ``classes_``: (negative,
    positive).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = KernelPCRClassifier().fit(X, X[:, 0] ** 2 > 0.5)
    >>> bool(model.score(X, X[:, 0] ** 2 > 0.5) > 0.8)
    True
    """

    def __init__(
        self,
        kernel: str = "gaussian",
        width: float | Sequence[float] = 1.0,
        n_components: int | None = None,
        cv: Any = 5,
        *,
        calibration: Any = None,
    ) -> None:
        super().__init__(kernel=kernel, width=width, n_components=n_components, cv=cv)
        self.calibration = calibration


class TotalVariation(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Each sample, along each chromosome, becomes a step function (array CGH, copy numbers).

        min_f 1/2 ||f - y||² + tau sum_i |f_{i+1} - f_i|

    Each row stands for itself: nothing is learned from others.

    Parameters
    ----------
    chromosomes, positions : sequence of length d, optional
        Of the features; None is one chromosome, and the order in which they stand.
    tau : float, optional
        In standard deviations of the row's noise, estimated from the differences of neighbours.
        None chooses segments by BIC among those of several tau, and returns their means.

    Source: Mosci 2009, chapter 5; Johnson 2013.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0, 2.0]], 20, axis=1) + np.random.default_rng(2).normal(0, 0.1, (3, 40))
    >>> [len(np.unique(row)) for row in TotalVariation().fit_transform(X)]
    [2, 2, 2]
    """

    def __init__(
        self,
        chromosomes: Sequence[Any] | None = None,
        positions: Sequence[float] | None = None,
        tau: float | None = None,
    ) -> None:
        self.chromosomes = chromosomes
        self.positions = positions
        self.tau = tau

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Check the settings against the features of X (n, d).

        As rows tell nothing of each other, sample_weight (n,) is checked, too, and changes nothing.
        """
        X = validate_data(self, X, dtype=np.float64)
        checked_weights(sample_weight, X)
        if self.tau is not None and not 0 <= self.tau < np.inf:
            raise InvalidProblem(f"tau must be a number of at least 0, found {self.tau}")
        self.genome_ = Genome.from_columns(X.shape[1], self.chromosomes, self.positions)
        return self

    def transform(self, X: Any) -> Array:
        """Return the step functions of the rows of X, (n, d)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        step_functions: Array = np.empty_like(X)
        order = self.genome_.order
        lines = self.genome_.starts
        for row, values in enumerate(X[:, order]):
            step_functions[row, order] = denoise_sample(values, lines, self.tau)
        return step_functions
