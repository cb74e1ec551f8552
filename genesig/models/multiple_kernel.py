"""One kernel for each block of features, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.arrays import Array
from genesig.errors import pick
from genesig.models.estimator import (
    check_numbers,
    mean_one_weights,
    root_weight_column,
    shared_docstring,
)
from genesig.models.structured import (
    ClassColumns,
    FeatureScale,
    absolute_levels,
    warn_if_unconverged,
)
from genesig.optim.nonlinear.problem import InvalidProblem
from genesig.optim.structured.columns import Kernels
from genesig.optim.structured.path import block_paths, tau_maxima


def linear(A: Array, Z: Array, width: float) -> Array:
    """Return ``a'z`` for rows of A (m, p) and Z (n, p), (m, n); width has no effect."""
    return np.asarray(A @ Z.T)


def gaussian(A: Array, Z: Array, width: float) -> Array:
    """Return ``exp(-||a - z||² / (2 width² p))`` for rows of A (m, p) and Z (n, p), (m, n)."""
    squares = (A**2).sum(axis=1)[:, None] - 2 * (A @ Z.T) + (Z**2).sum(axis=1)
    return np.asarray(np.exp(-np.maximum(squares, 0) / (2 * width**2 * Z.shape[1])))


KERNEL_FUNCTIONS: dict[str, Callable[[Array, Array, float], Array]] = {
    "linear": linear,
    "gaussian": gaussian,
}


class _MultipleKernel(BaseEstimator):  # type: ignore[misc]
    """SUMMARY.

        min_f (1/n)||y - sum_k f_k||² + mu sum_k ||f_k||² + tau sum_k ||f_k||

    with one f_k for each block of features and each kind of kernel, and ||f_k|| the norm of that
    kernel. Kernels are centred on the training rows, and scaled to a mean diagonal of 1. Means over
    rows have the sample weights. For several omics use a block for each: `shares_` then says how
    much each omic contributes.

    Parameters
    ----------
    blocks : list of lists of feature numbers, optional
        None is one block with all features.
    kernels : sequence of {"linear", "gaussian"}
    width : float
        Of the Gaussian kernel, in standard deviations times the square root of the block's size.
    tau : float
        Fraction of the smallest tau that selects nothing.
    mu : float
        Weight of the squared norms, in units of the mean diagonal, which is 1.
    unit_variance : bool
        Divide each feature by its standard deviation.
    tolerance : float
        Largest duality gap relative to ||y||²/n; a larger one is warned of.

    Attributes
    ----------
    kernels_ : list of (block, kernel)
        Number of the block and kind of kernel, in the order of `norms_` and `shares_`.
    chosen_ : int array
        Numbers of the selected kernels, ascending.
    norms_, shares_ : (K,)
        ||f_k||, and the standard deviation of f_k over the training rows.
    intercept_ : (T,)
    tau_, gap_, n_iter_ : float, float, int

    References
    ----------
    Mosci 2009, section 5.4.6; Bach, Lanckriet, Jordan 2004.
    """

    def __init__(
        self,
        blocks: Sequence[Sequence[int]] | None = None,
        kernels: Sequence[str] = ("linear", "gaussian"),
        *,
        width: float = 1.0,
        tau: float = 0.1,
        mu: float = 1e-3,
        unit_variance: bool = True,
        tolerance: float = 1e-9,
    ) -> None:
        self.blocks = blocks
        self.kernels = kernels
        self.width = width
        self.tau = tau
        self.mu = mu
        self.unit_variance = unit_variance
        self.tolerance = tolerance

    def _fit(self, X: Array, Y: Array, weights: Array | None) -> None:
        """Set the fitted attributes from X (n, d), Y (n, T) and weights (n,) of mean 1 or None."""
        check_numbers(self, positive=("width",))
        self._block_columns = self._checked_blocks(X.shape[1])
        root_weights = root_weight_column(weights, len(X))
        self._scale = FeatureScale.from_rows(X, unit_variance=self.unit_variance, weights=weights)
        self.intercept_ = np.average(Y, axis=0, weights=weights)
        self._weights = weights
        self._training_rows = self._scale.apply(X)
        centred_response = root_weights * (Y - self.intercept_)
        self.kernels_ = [
            (block, kind) for block in range(len(self._block_columns)) for kind in self.kernels
        ]
        raw_kernels = np.array(
            [self._raw_kernel(self._training_rows, block, kind) for block, kind in self.kernels_]
        )
        self._training_means = np.average(raw_kernels, axis=1, weights=weights)  # (K, n)
        kernels = root_weights * self._centred(raw_kernels, self._training_means) * root_weights.T
        mean_diagonal = np.einsum("kii->k", kernels) / len(X)
        # 1 for a kernel of constant features, which is 0
        self._mean_diagonals = np.where(mean_diagonal > 1e-12, mean_diagonal, 1.0)
        kernels /= self._mean_diagonals[:, None, None]
        design = Kernels(kernels, np.ones(len(kernels)))
        responses = centred_response[None]
        tau_max = float(tau_maxima(design, responses)[0])
        tau, mu = absolute_levels(self, tau_max, mu_unit=1.0)
        (path,) = block_paths(design, responses, tau[None], mu, tolerance=self.tolerance)
        warn_if_unconverged(path)
        self.tau_ = float(tau[0])
        self.gap_ = float(path.gap[0])
        self.n_iter_ = int(path.steps[0])
        self.chosen_ = path.support(0)
        self.norms_ = path.norms.toarray()[0]
        pieces = {int(kernel): path.piece(0, kernel) for kernel in self.chosen_}
        self._coefs = {kernel: root_weights * coefs for kernel, coefs in pieces.items()}
        self.shares_ = np.zeros(len(kernels))
        for kernel, coefs in pieces.items():
            self.shares_[kernel] = np.linalg.norm(kernels[kernel] @ coefs) / np.sqrt(len(X))

    def _checked_blocks(self, d: int) -> list[Array]:
        """Return the feature numbers of each block.

        Raise without kernels or blocks, for an empty block, for features that a block has twice,
        and for anything but whole numbers from 0 to d - 1.
        """
        if not len(self.kernels):
            raise InvalidProblem("kernels must name at least one kernel")
        blocks = [range(d)] if self.blocks is None else self.blocks
        block_columns = [np.asarray(features) for features in blocks]
        if not block_columns:
            raise InvalidProblem("blocks must have at least one block")
        for number, columns in enumerate(block_columns):
            are_numbers = columns.dtype.kind in "iu" and len(columns)
            if not are_numbers or columns.min() < 0 or columns.max() >= d:
                raise InvalidProblem(f"block {number} must name features from 0 to {d - 1}")
            if len(np.unique(columns)) < len(columns):
                raise InvalidProblem(f"block {number} names a feature twice")
        return block_columns

    def _raw_kernel(self, A: Array, block: int, kind: str) -> Array:
        """Return the kernel of rows A (m, d) with the training rows, neither centred nor scaled."""
        columns = self._block_columns[block]
        kernel_function = pick("kernels", KERNEL_FUNCTIONS, kind)
        return kernel_function(A[:, columns], self._training_rows[:, columns], self.width)

    def _centred(self, raw_kernels: Array, training_means: Array) -> Array:
        """Return kernels (k, m, n) about the mean of the training rows in feature space.

        training_means (k, n): means of the training rows' kernels over the first axis.
        """
        training_means = training_means[:, None, :]
        row_means, overall_means = (
            np.average(kernels, axis=2, weights=self._weights)
            for kernels in (raw_kernels, training_means)
        )
        return np.asarray(
            raw_kernels - training_means - row_means[:, :, None] + overall_means[:, :, None]
        )

    def _values(self, X: Any) -> Array:
        """Return f(x), (m, T)."""
        check_is_fitted(self)
        return self._scores(validate_data(self, X, dtype=np.float64, reset=False))

    def _scores(self, X: Array) -> Array:
        """Return f(x) of checked rows, (m, T)."""
        rows = self._scale.apply(X)
        scores = np.tile(self.intercept_, (len(rows), 1))
        for number, coefs in self._coefs.items():
            raw_kernel = self._raw_kernel(rows, *self.kernels_[number])
            kernel = self._centred(raw_kernel[None], self._training_means[[number]])[0]
            scores += kernel @ coefs / self._mean_diagonals[number]
        return scores


class MultipleKernelRegressor(RegressorMixin, _MultipleKernel):  # type: ignore[misc]
    """Selects kernels, and predicts a number; see `_MultipleKernel`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> model = MultipleKernelRegressor([[0, 1, 2], [3, 4, 5]], tau=0.5).fit(X, X[:, 4] ** 2)
    >>> [model.kernels_[k] for k in model.chosen_]
    [(1, 'gaussian')]
    """

    __doc__ = shared_docstring(_MultipleKernel, "Regression by several kernels", __doc__)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and y (n,), rows weighted by sample_weight (n,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self._fit(X, np.asarray(y, dtype=float)[:, None], mean_one_weights(sample_weight, X))
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x), (m,)."""
        return self._values(X)[:, 0]


class MultipleKernelClassifier(ClassColumns, _MultipleKernel):
    """Selects kernels, and tells two or more classes apart; see `_MultipleKernel`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> model = MultipleKernelClassifier([[0, 1, 2], [3, 4, 5]], tau=0.5).fit(X, X[:, 4] > 0)
    >>> [model.kernels_[k] for k in model.chosen_]
    [(1, 'linear')]
    """

    __doc__ = shared_docstring(
        _MultipleKernel,
        "Two or more classes by several kernels, the one whose mean score is nearest",
        __doc__,
    )

    def __init__(
        self,
        blocks: Sequence[Sequence[int]] | None = None,
        kernels: Sequence[str] = ("linear", "gaussian"),
        *,
        width: float = 1.0,
        tau: float = 0.1,
        mu: float = 1e-3,
        unit_variance: bool = True,
        tolerance: float = 1e-9,
        calibration: Any = None,
    ) -> None:
        super().__init__(
            blocks=blocks,
            kernels=kernels,
            width=width,
            tau=tau,
            mu=mu,
            unit_variance=unit_variance,
            tolerance=tolerance,
        )
        self.calibration = calibration
