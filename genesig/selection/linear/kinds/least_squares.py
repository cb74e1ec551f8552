"""Least squares for two classes (-1 and 1) and for numbers: elastic nets, errors, thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.optim.refit import covariate_coef, refit_coef, refit_scores
from genesig.optim.solution import Path
from genesig.optim.solvers import path
from genesig.optim.structured.stretches import with_stretches
from genesig.optim.training import TrainingSets, training_sets
from genesig.selection.assess.covariates import Covariates, adjust_for_covariates
from genesig.selection.assess.scores import wrong
from genesig.selection.linear.kinds.record import MatrixSettings
from genesig.selection.linear.training_sets import LinearSettings, TrainingSet


@dataclass(frozen=True)
class LossCriterion:
    """A loss of each sample, and the weights of the samples."""

    loss: Callable[[Array, Array], Array]
    """``loss(y, f)``: responses (n, 1, ...) and scores (n, ...) to losses (n, ...)."""
    balanced: bool = False
    """Whether each class weighs one half, whatever its size; otherwise samples weigh the same."""
    counts_errors: bool = False
    """Whether the loss counts wrong samples, so that it depends on the threshold."""

    def weights(self, y: Array) -> Array:
        """Return the weight of each sample, (n,), with sum 1."""
        if not self.balanced:
            return np.full(len(y), 1.0 / len(y))
        _, class_number, class_size = np.unique(y, return_inverse=True, return_counts=True)
        return np.asarray(1.0 / (len(class_size) * class_size[class_number]))


def squared_error(y: Array, f: Array) -> Array:
    """(y - f)², for classes and for regression."""
    return np.asarray(np.square(y - f))


def log_loss(y: Array, f: Array) -> Array:
    """log(1 + exp(-2 y f)): minus the log-likelihood when f is half the log-odds of class +1."""
    return np.asarray(np.logaddexp(0.0, -2.0 * y * f))


CRITERIA = {
    "squared_error": LossCriterion(squared_error),
    "balanced_error": LossCriterion(wrong, balanced=True, counts_errors=True),
    "misclassification": LossCriterion(wrong, counts_errors=True),
    "log_loss": LossCriterion(log_loss),
}


def midpoint(training_set: TrainingSet, scores: Array) -> Array:
    """Return the threshold C = (m₋ + m₊)/2, (n_tau, n_lam), of scores (n_folds, n_tau, n_lam, n).

    m± is the mean out-of-fold score of each class of the training set. A least-squares score of
    unbalanced classes leans to the larger class, so that 0 is not neutral.
    """
    y = training_set.y
    class_sums = np.zeros((2, *scores.shape[1:3]))
    for fold, rows in enumerate(training_set.inner_folds):
        for class_index, sign in enumerate((-1.0, 1.0)):
            class_sums[class_index] += scores[fold][..., rows[y[rows] == sign]].sum(axis=-1)
    sizes = [np.sum(y[training_set.train] == sign) for sign in (-1.0, 1.0)]
    return np.asarray((class_sums[0] / sizes[0] + class_sums[1] / sizes[1]) / 2)


def validation_error(
    training_set: TrainingSet, scores: Array, thresholds: Array, criterion: str
) -> tuple[Array, Array]:
    """Return the mean validation error and its standard error over the grid, (n_tau, n_lam) each.

    E = sum_i w_i loss(y_i, f_i), with f_i by the fold that left sample i out; with the mean E_k and
    the weight W_k of fold k, SE² = sum_k W_k (E_k - E)² / (K - 1). Equal folds make E the mean of
    the fold means; weights let a fold lack one of the classes.

    Parameters
    ----------
    training_set : TrainingSet
    scores : (n_folds, n_tau, n_lam, n_samples) float
    thresholds : (n_tau, n_lam) float
        Subtracted from the scores if the criterion counts errors.
    criterion : str
        A name in `CRITERIA`.

    References
    ----------
    Friedman, Hastie, Tibshirani 2010, J. Stat. Softw. 33(1); ``cv.glmnet`` computes cvm and cvsd
    by the same weighted formulas.
    """
    sample_weight = np.zeros(len(training_set.y))
    loss_criterion = CRITERIA[criterion]
    train = training_set.train
    sample_weight[train] = loss_criterion.weights(training_set.y[train])
    fold_weights = np.array([sample_weight[rows].sum() for rows in training_set.inner_folds])
    shift = thresholds[..., None] if loss_criterion.counts_errors else 0.0
    fold_losses = np.stack(
        [
            loss_criterion.loss(training_set.y[rows], scores[fold][..., rows] - shift)
            @ sample_weight[rows]
            for fold, rows in enumerate(training_set.inner_folds)
        ]
    )
    error = fold_losses.sum(axis=0)
    squared_deviation = np.square(fold_losses / fold_weights[:, None, None] - error)
    variance = np.tensordot(fold_weights, squared_deviation, 1) / max(1, len(fold_weights) - 1)
    return error, np.sqrt(variance)


@dataclass(frozen=True)
class LeastSquaresElasticNets:
    """k training sets under the squared error, see `record.ElasticNets`."""

    sets: TrainingSets

    @classmethod
    def from_rows(
        cls,
        X: Array,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        matrix_settings: MatrixSettings,
    ) -> LeastSquaresElasticNets:
        """Make k training sets from responses Y and masks `rows`, (n, k), with covariates."""
        sets = training_sets(
            X,
            Y,
            rows,
            centre=matrix_settings.centre,
            weights=matrix_settings.penalty_factors,
            unit_variance=matrix_settings.unit_variance,
            adjustment=adjust_for_covariates(covariates, Y, rows),
        )
        return cls(
            sets if matrix_settings.fusion is None else with_stretches(sets, matrix_settings.fusion)
        )

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""
        return self.sets.X

    @property
    def tau_max(self) -> Array:
        """``(2/n) max_j |z_j'y| / w_j`` of each, (k,)."""
        return self.sets.tau_max

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, (k,)."""
        return self.sets.norm

    def null_gradient(self, numbers: slice) -> Array:
        """Return the size of each gene's gradient, see `record.ElasticNets`."""
        return self.sets.strength(numbers)

    def inside(
        self,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        parent: Array,
        *,
        end_together: bool = True,
    ) -> LeastSquaresElasticNets:
        """Return training sets inside of these, see `record.ElasticNets`."""
        outer = self.sets
        return LeastSquaresElasticNets(
            training_sets(
                outer.X,
                Y,
                rows,
                centre=outer.centre,
                share_copy_with=outer,
                unit_variance=outer.unit_variance,
                adjustment=adjust_for_covariates(covariates, Y, rows),
                norm=None if end_together else outer.norm[parent],
            )
        )

    def path(self, tau: Array, mu: Array, settings: LinearSettings, max_genes: int | None) -> Path:
        """Minimise ``(1/n)||y - Zb||² + mu ||b||² + tau Σ w_j |b_j|``."""
        return path(
            self.sets,
            tau,
            mu,
            solver=settings.solver,
            tolerance=settings.tolerance,
            longest=max_genes,
        )

    def ridge_scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit each list by ridge and return scores, see `refit.refit_scores`."""
        return refit_scores(self.sets, lists, lam, rows)

    def ridge_coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit each list by ridge and return coefficients, see `refit.refit_coef`."""
        return refit_coef(self.sets, lists, lam)

    def covariate_coef(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return the weights of covariates, see `refit.covariate_coef`, and their means."""
        adjustment = self.sets.adjustment
        if adjustment is None or not adjustment.mean.shape[1]:
            return None, None
        return covariate_coef(self.sets, lists, values), adjustment.mean
