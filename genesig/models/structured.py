"""Structured penalties as scikit-learn estimators: groups of features, and their order."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from genesig.arrays import Array
from genesig.errors import pick
from genesig.genome import Genome
from genesig.models.estimator import (
    CrossFitted,
    FeatureSelector,
    NumberRegressor,
    SignClassifier,
    check_classes,
    check_numbers,
    mean_one_weights,
    root_weight_column,
    sample_weight_keywords,
    shared_docstring,
)
from genesig.optim.components import mean_and_scale
from genesig.optim.nonlinear.problem import InvalidProblem
from genesig.optim.structured.columns import Blocks
from genesig.optim.structured.fused import fused_path
from genesig.optim.structured.solution import Minimisers
from genesig.optim.structured.solvers import (
    Composite,
    Groups,
    LatentOverlap,
    Penalty,
    structured_path,
)


@dataclass(frozen=True)
class FeatureScale:
    """Means and scales of the features over training rows, (d,); 1 for a constant feature."""

    mean: Array
    scale: Array

    @classmethod
    def from_rows(
        cls, X: Array, *, unit_variance: bool, weights: Array | None = None
    ) -> FeatureScale:
        """Return means and scales of X (n, d), whose rows may have weights (n,)."""
        return cls(*mean_and_scale(X, unit_variance, weights))

    def apply(self, X: Array) -> Array:
        """Return rows X (m, d) centred and scaled."""
        return np.asarray((X - self.mean) / self.scale)


def absolute_levels(estimator: Any, tau_max: float, mu_unit: float) -> tuple[Array, float]:
    """Return tau (1,) and mu in absolute terms, from the settings `tau` and `mu` of an estimator.

    These are a fraction of tau_max, and a multiple of mu_unit.
    """
    check_numbers(estimator, positive=("tau",), not_negative=("mu",))
    # tau_max is 0 if the response is constant; solvers need a positive tau.
    return np.array([estimator.tau * (tau_max or 1.0)]), float(estimator.mu * mu_unit)


def warn_if_unconverged(fits: Minimisers) -> None:
    """Warn the caller of `fit`, five frames up, if the fit did not converge."""
    if fits.message:
        warnings.warn(fits.message, ConvergenceWarning, stacklevel=5)


class LinearBlocks(FeatureSelector, BaseEstimator):  # type: ignore[misc]
    """Base of linear models of centred features with a penalty on blocks of them."""

    coef_: Any  # (d,), or (T, d) for T responses
    intercept_: Any  # float, or (T,)

    def _absolute_levels(self, Z: Array, Y: Array, penalty: Penalty) -> tuple[Array, float]:
        """Return tau (1,) and mu in absolute terms, for centred Z (n, d) and Y (n, T)."""
        n = len(Z)
        gram = Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z
        largest_eigenvalue = float(np.linalg.norm(gram, 2))
        return absolute_levels(self, 2 / n * penalty.dual(Z.T @ Y), largest_eigenvalue / n)

    def _set_fit(self, fits: Minimisers, scale: FeatureScale, centre: Array) -> None:
        """Set the fitted attributes, in units of X, from a path of one tau.

        centre (T,): means of the responses.
        """
        warn_if_unconverged(fits)
        self.tau_ = float(fits.tau[0])
        self.gap_ = float(fits.gap[0])
        self.n_iter_ = int(fits.steps[0])
        self.blocks_ = fits.support(0)
        self.norms_ = fits.norms.toarray()[0]
        B = fits.coef(0) / scale.scale[:, None]
        self.support_ = np.asarray(B.any(axis=1))
        self.coef_ = B.T
        self.intercept_ = centre - scale.mean @ B

    def _values(self, X: Any) -> Array:
        """Return f(x), (m, T)."""
        check_is_fitted(self)
        return self._scores(validate_data(self, X, dtype=np.float64, reset=False))

    def _scores(self, X: Array) -> Array:
        """Return f(x) of checked rows, (m, T)."""
        return np.asarray(X @ np.atleast_2d(self.coef_).T + self.intercept_)


class ClassColumns(CrossFitted):
    """Classes coded as responses; the predicted class has the nearest mean training score.

    Two classes are -1 and +1, with the threshold halfway between their mean scores. More classes
    have a column each: 1 for members and 0 for others, divided by the square root of the class's
    share, so that rare classes count.
    """

    classes_: Array
    _fit: Callable[..., None]  # (X, Y, weights) fits f to X (n, d) and Y (n, T)
    _scores: Callable[..., Array]  # checked X to f(x), (n, T)
    _values: Callable[..., Array]  # X to f(x), (n, T)

    def _coded_classes(self, y: Array, weights: Array | None) -> Array:
        """Set `classes_`, and return the coded responses (n, T), not centred."""
        check_classification_targets(y)
        self.classes_, class_index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:  # scikit-learn's own checks look for these words
            raise InvalidProblem("y has only one class; at least two are needed")
        check_classes(y, weights)
        if len(self.classes_) == 2:
            return np.where(class_index == 1, 1.0, -1.0)[:, None]
        membership = np.eye(len(self.classes_))[class_index]
        return np.asarray(membership / np.sqrt(np.average(membership, axis=0, weights=weights)))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and the classes y (n,), rows weighted by sample_weight (n,)."""
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        weights = mean_one_weights(sample_weight, rows)
        self._fit(rows, self._coded_classes(labels, weights), weights)
        self._set_class_means(self._scores(rows), labels, weights)
        return self._calibrated(X, labels, **sample_weight_keywords(sample_weight))

    def _set_class_means(self, scores: Array, y: Array, weights: Array | None) -> None:
        """Set the mean training scores of the classes, (K, T)."""
        rows = [y == label for label in self.classes_]
        class_weights = [None if weights is None else weights[in_class] for in_class in rows]
        self.means_ = np.array(
            [
                np.average(scores[in_class], axis=0, weights=row_weights)
                for in_class, row_weights in zip(rows, class_weights, strict=True)
            ]
        )

    def decision_function(self, X: Any) -> Array:
        """Return the score of each class, (m, K), larger if f(x) is nearer to its mean m_k.

        It is ``f(x)'m_k - ||m_k||²/2``. For two classes it is (m,): f(x) less the midpoint of the
        two means.
        """
        scores = self._values(X)
        if len(self.classes_) == 2:
            return np.asarray(scores[:, 0] - self.means_.mean())
        return np.asarray(scores @ self.means_.T - (self.means_**2).sum(axis=1) / 2)

    def predict(self, X: Any) -> Array:
        """Return the class of each row, (m,)."""
        scores = self.decision_function(X)
        class_index = np.argmax(scores, axis=1) if scores.ndim > 1 else (scores > 0).astype(int)
        return np.asarray(self.classes_[class_index])


PENALTY_CLASSES: dict[str, Callable[[Blocks], Penalty]] = {
    "group": Groups,
    "latent": LatentOverlap,
    "composite": Composite,
}


class _GroupLasso(LinearBlocks):
    """SUMMARY.

        min_B (1/n)||Y - Z B||² + mu ||B||² + tau Omega(B)

    over the centred, scaled features Z, with one column of B a response. A group is in the model
    for all responses or for none; with a group of each feature this is the lasso of one response,
    and the multi-task lasso of several.

    Parameters
    ----------
    groups : list of lists of feature numbers, optional
        None makes each feature a group.
    weights : sequence of float, optional
        Weight of each group's norm; None is the square root of its size.
    penalty : {"group", "latent", "composite"}
        group: groups must not overlap. latent: they may; the selected features are a union of
        groups, and mu is on the coefficients of each group. composite: they may; the features that
        are left out are a union of groups, as in trees. It needs the solver "projection", and its
        tau is a fraction of an upper bound of tau_max.
    tau : float
        Fraction of the smallest tau that selects nothing.
    mu : float
        Weight of the squared norm, in units of ||Z'Z||/n.
    unit_variance : bool
        Divide each feature by its standard deviation.
    solver : {"blocks", "projection"}
    tolerance : float
        Largest duality gap relative to ||Y||²/n; a larger one is warned of.

    Attributes
    ----------
    coef_ : (d,) or (T, d)
        In the units of X; 0 for features without a selected group.
    intercept_ : float or (T,)
    support_ : (d,) bool array
        Features with a coefficient.
    blocks_ : int array
        Numbers of the selected groups, ascending.
    norms_ : (G,)
        Norm of each group's coefficients, on the scale of Z.
    tau_, gap_, n_iter_ : float, float, int

    Raises
    ------
    GenesigError
        Before any fit: if groups overlap that must not, for an empty group, and for a solver that
        does not have the penalty.

    References
    ----------
    Mosci 2009, sections 5.4.2 to 5.4.5; Jacob, Obozinski, Vert 2009.
    """

    def __init__(
        self,
        groups: Sequence[Sequence[int]] | None = None,
        *,
        weights: Sequence[float] | None = None,
        penalty: str = "group",
        tau: float = 0.05,
        mu: float = 1e-6,
        unit_variance: bool = True,
        solver: str = "blocks",
        tolerance: float = 1e-9,
    ) -> None:
        self.groups = groups
        self.weights = weights
        self.penalty = penalty
        self.tau = tau
        self.mu = mu
        self.unit_variance = unit_variance
        self.solver = solver
        self.tolerance = tolerance

    def _fit(self, X: Array, Y: Array, sample_weights: Array | None) -> None:
        """Set the fitted attributes from X (n, d), Y (n, T) and weights (n,) of mean 1 or None."""
        scale = FeatureScale.from_rows(X, unit_variance=self.unit_variance, weights=sample_weights)
        centre = np.average(Y, axis=0, weights=sample_weights)
        penalty = self._penalty(X.shape[1])
        root_weights = root_weight_column(sample_weights, len(X))
        Z = root_weights * scale.apply(X)
        centred_response = root_weights * (Y - centre)
        tau, mu = self._absolute_levels(Z, centred_response, penalty)
        fits = structured_path(
            Z, centred_response, penalty, tau, mu, solver=self.solver, tolerance=self.tolerance
        )
        self._set_fit(fits, scale, centre)

    def _penalty(self, d: int) -> Penalty:
        """Return the penalty on the groups of d features."""
        groups = [[j] for j in range(d)] if self.groups is None else self.groups
        sizes = np.array([len(group) for group in groups], dtype=float)
        weights = np.sqrt(sizes) if self.weights is None else self.weights
        blocks = Blocks.from_lists(groups, weights)
        blocks.check(d)
        return pick("penalty", PENALTY_CLASSES, self.penalty)(blocks)


class GroupLassoRegressor(RegressorMixin, _GroupLasso):  # type: ignore[misc]
    """Selects groups of features, and predicts one number or several; see `_GroupLasso`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> model = GroupLassoRegressor([[0, 1], [2, 3], [4, 5]], tau=0.3).fit(X, X[:, 0] + X[:, 1])
    >>> model.blocks_, model.get_support(indices=True)
    (array([0]), array([0, 1]))
    """

    __doc__ = shared_docstring(_GroupLasso, "Regression on groups of features", __doc__)

    def __sklearn_tags__(self) -> Any:
        """Return the tags of a regressor of one or several responses."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and y (n,) or (n, T), rows weighted by sample_weight (n,)."""
        X, y = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, multi_output=True, ensure_min_samples=2
        )
        y = np.asarray(y, dtype=float)
        self._fit(X, y.reshape(len(y), -1), mean_one_weights(sample_weight, X))
        if y.ndim == 1:
            self.coef_ = self.coef_[0]
            self.intercept_ = float(self.intercept_[0])
        self._has_response_columns = y.ndim > 1
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x), (m,) or (m, T)."""
        values = self._values(X)
        return values if self._has_response_columns else values[:, 0]


class GroupLassoClassifier(ClassColumns, _GroupLasso):
    """Selects groups of features, and tells two or more classes apart; see `_GroupLasso`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> y = np.array(["a", "b", "c"])[np.digitize(X[:, 4], [-0.5, 0.5])]
    >>> model = GroupLassoClassifier(tau=0.6).fit(X, y)
    >>> model.get_support(indices=True), model.coef_.shape
    (array([4]), (3, 6))
    """

    __doc__ = shared_docstring(
        _GroupLasso,
        "Two or more classes by groups of features, the one whose mean score is nearest",
        __doc__,
    )

    def __init__(
        self,
        groups: Sequence[Sequence[int]] | None = None,
        *,
        weights: Sequence[float] | None = None,
        penalty: str = "group",
        tau: float = 0.05,
        mu: float = 1e-6,
        unit_variance: bool = True,
        solver: str = "blocks",
        tolerance: float = 1e-9,
        calibration: Any = None,
    ) -> None:
        super().__init__(
            groups=groups,
            weights=weights,
            penalty=penalty,
            tau=tau,
            mu=mu,
            unit_variance=unit_variance,
            solver=solver,
            tolerance=tolerance,
        )
        self.calibration = calibration


class _FusedLasso(BaseEstimator):  # type: ignore[misc]
    """SUMMARY.

        min_b (1/n)||y - Zb||² + mu ||t||² + tau sum_j w_j |t_j|

    over the centred, scaled features Z, with t_j = b_j - b_{j-1} along each chromosome and t_j =
    b_j for its first feature, whose weight is `first`; w_j = 1 elsewhere.

    Parameters
    ----------
    chromosomes, positions : sequence of length d, optional
        Of the features. None is one chromosome, and the order of the columns of X.
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

    _row_weights = staticmethod(mean_one_weights)

    def __init__(
        self,
        chromosomes: Sequence[Any] | None = None,
        positions: Sequence[float] | None = None,
        *,
        tau: float = 0.05,
        mu: float = 1e-6,
        first: float = 0.0,
        unit_variance: bool = True,
        tolerance: float = 1e-9,
    ) -> None:
        self.chromosomes = chromosomes
        self.positions = positions
        self.tau = tau
        self.mu = mu
        self.first = first
        self.unit_variance = unit_variance
        self.tolerance = tolerance

    def _fit(self, X: Array, y: Array, sample_weights: Array | None) -> None:
        """Set the fitted attributes from X (n, d), y (n,) and weights (n,) of mean 1 or None."""
        if not (0 < self.tau < np.inf and 0 <= self.mu < np.inf and 0 <= self.first < np.inf):
            values = f"{self.tau}, {self.mu} and {self.first}"
            raise InvalidProblem(f"tau must be above 0, mu and first at least 0; found {values}")
        genome = Genome.from_columns(X.shape[1], self.chromosomes, self.positions)
        scale = FeatureScale.from_rows(X, unit_variance=self.unit_variance, weights=sample_weights)
        fits = fused_path(
            scale.apply(X),
            y,
            genome,
            np.array([self.tau]),
            mu=self.mu,
            first_weight=self.first,
            tolerance=self.tolerance,
            weights=sample_weights,
        )
        if fits.path.message:
            warnings.warn(fits.path.message, ConvergenceWarning, stacklevel=4)  # caller of `fit`
        self.levels_ = fits.coef[0]
        self.coef_ = self.levels_ / scale.scale
        self.intercept_ = float(np.average(y, weights=sample_weights) - scale.mean @ self.coef_)
        self.tau_ = self.tau * fits.tau_max
        self.gap_ = float(fits.gap[0])

    def _score(self, X: Any) -> Array:
        """Return f(x) of each row of X, (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.intercept_ + X @ self.coef_)


class FusedLassoRegressor(NumberRegressor, _FusedLasso):
    """Coefficients that change seldom along chromosomes; see `_FusedLasso`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 20))
    >>> model = FusedLassoRegressor(tau=0.3, first=1.0).fit(X, X[:, 5:10].sum(axis=1))
    >>> int(np.argmax(np.diff(model.levels_))) + 1, int(np.argmin(np.diff(model.levels_))) + 1
    (5, 10)
    """

    __doc__ = shared_docstring(
        _FusedLasso, "Regression with coefficients that change seldom along chromosomes", __doc__
    )


class FusedLassoClassifier(SignClassifier, _FusedLasso):
    """The sign of f, with coefficients that change seldom along chromosomes; see `_FusedLasso`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 20))
    >>> model = FusedLassoClassifier(tau=0.3, first=1.0).fit(X, X[:, 5:10].sum(axis=1) > 0)
    >>> bool(model.levels_[5:10].min() > model.levels_[12:].max())
    True
    """

    __doc__ = shared_docstring(
        _FusedLasso,
        "Two classes, coded as ±1, by coefficients that change seldom along chromosomes",
        __doc__,
    )

    def __init__(
        self,
        chromosomes: Sequence[Any] | None = None,
        positions: Sequence[float] | None = None,
        *,
        tau: float = 0.05,
        mu: float = 1e-6,
        first: float = 0.0,
        unit_variance: bool = True,
        tolerance: float = 1e-9,
        calibration: Any = None,
    ) -> None:
        super().__init__(
            chromosomes=chromosomes,
            positions=positions,
            tau=tau,
            mu=mu,
            first=first,
            unit_variance=unit_variance,
            tolerance=tolerance,
        )
        self.calibration = calibration
