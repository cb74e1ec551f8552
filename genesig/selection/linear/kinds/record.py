"""Interface of a kind of outcome in the nested cross-validation: elastic nets, errors, decisions.

Shapes: n samples, d genes, k training sets, m points of a path, L lambdas. With several classes,
weights and scores have one more axis, (T,).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.optim.solution import Path
from genesig.optim.structured.stretches import Stretches
from genesig.response.design import Design
from genesig.selection.assess.covariates import Covariates
from genesig.selection.linear.kinds.calibration import Calibration
from genesig.selection.linear.training_sets import LinearSettings, TrainingSet


@dataclass(frozen=True)
class LinearModel:
    """One linear model of one training set."""

    genes: Array
    """(m,) int: columns of the matrix, ascending."""
    values: Array
    """(m,) or (m, T) float: weight of each gene."""
    intercept: Any
    """float or (T,) float: the intercept less the threshold."""
    gamma: Array | None
    """(q,) or (q, T) float: weight of each covariate; None without covariates."""
    crossfitted_scores: Array | None = None
    """(n, ...) float: score of each training sample, see `grid.crossfit`; NaN of other samples."""

    def scores(self, X: Array, rows: Array) -> Array:
        """Return the scores of some rows of the matrix, without covariates."""
        return np.asarray(self.intercept + X[np.ix_(rows, self.genes)] @ self.values)


class MatrixSettings(NamedTuple):
    """Scaling and penalty that all training sets of a matrix share."""

    centre: bool
    """Whether each gene is centred on the training rows."""
    unit_variance: bool
    """Whether each gene is divided by its standard deviation on the training rows."""
    penalty_factors: Array | None
    """(d,) float: factor of each gene's l1 term; None if all are 1."""
    ties: str | None
    """Treatment of ties in survival times."""
    fusion: Stretches | None = None
    """Norm of the penalty ``fused``, which replaces the l1 norm."""


class ElasticNets(Protocol):
    """k training sets of one matrix, of one kind of outcome, with the solver of that kind.

    The criterion of training set k is loss + mu ||b||² + tau Σ w_j |b_j| of standardised genes Z.
    """

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""

    @property
    def tau_max(self) -> Array:
        """Smallest tau at which nothing is selected, (k,)."""

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each training set, the unit of mu and lambda, (k,)."""

    def null_gradient(self, numbers: slice) -> Array:
        """Return the size of each gene's gradient where nothing is selected, (n_sets, d).

        It measures the association of each gene alone with the outcome, up to a factor of the set.
        """

    def inside(
        self,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        parent: Array,
        *,
        end_together: bool = True,
    ) -> ElasticNets:
        """Return training sets inside of these, with the same scaling and penalty factors.

        Responses Y and masks `rows` are (n, k'), `parent` (k',) numbers the sets that contain them.
        With `end_together` the paths of one parent may all end where the first one ends, because
        only a list that all folds have can be chosen. Without it each path ends by itself, and the
        norm is that of the parent, which is near enough to its own.
        """

    def path(self, tau: Array, mu: Array, settings: LinearSettings, max_genes: int | None) -> Path:
        """Select along absolute tau and mu (k, m).

        A row of the path ends before its first list of more than `max_genes` genes.
        """

    def ridge_scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit each list at each lambda (k, L); return scores (k, m, L, n) of at least `rows`."""

    def ridge_coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit each list at lambda (k,); return values (nnz,) and intercept (k, m), per unit of X.

        The intercept is for samples whose covariates are at their means.
        """

    def covariate_coef(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return the weights of covariates beside these values, (k, m, q), and their means (k, q).

        None without covariates.
        """


def shift_thresholds(models: Any, thresholds: Sequence[Any]) -> tuple[Any, Array]:
    """Return the models and the threshold of each, unchanged."""
    return models, np.array(thresholds)


def subtract_threshold(scores: Array, threshold: Any) -> Array:
    """Return the scores less their threshold."""
    return np.asarray(scores - threshold)


def no_further_axis(design: Design) -> tuple[int, ...]:
    """Return the shape of one score, a single number."""
    return ()


@dataclass(frozen=True)
class Fitting:
    """Fitting, validation and decision of one kind of outcome."""

    elastic_nets: Callable[
        [Array, Array, Array, Sequence[Covariates | None], MatrixSettings], ElasticNets
    ]
    """X (n, d), responses Y and masks (n, k), covariates of each set, `MatrixSettings`: to the
    elastic nets of k training sets."""
    thresholds: Callable[[TrainingSet, Array], Array]
    """Training set and scores (n_folds, n_tau, n_lam, n) by its inner folds: to the threshold of
    the scores, (n_tau, n_lam), or (n_tau, n_lam, T, T) class means."""
    validation_error: Callable[[TrainingSet, Array, Array, str], tuple[Array, Array]]
    """The same, their thresholds and the name of a criterion: to the validation error and its
    standard error, both (n_tau, n_lam)."""
    signed_classes: bool
    """Whether y is -1 and 1 for two classes."""
    allows_fusion: bool = False
    """Whether the elastic nets accept `MatrixSettings.fusion`."""
    decide: Callable[[Any, Sequence[Any]], tuple[Any, Array]] = shift_thresholds
    """Models (`path.NestedModels`) and the thresholds of each set: to the models whose scores
    predict, and one threshold of each set, (k,)."""
    decision_scores: Callable[[Array, Any], Array] = subtract_threshold
    """Out-of-fold scores (n, ...) and their threshold: to scores as `decide`'s models give them."""
    rotates_scores: bool = False
    """Whether a threshold transforms the scores by class means instead of shifting them."""
    calibrate: Calibration | None = None
    """Cross-fitted decision scores to the line of probabilities or risks; None for a number."""
    output_shape: Callable[[Design], tuple[int, ...]] = no_further_axis
    """Design: to the shape of one score, () or (T,)."""
