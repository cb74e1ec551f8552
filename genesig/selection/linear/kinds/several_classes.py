"""Several classes: one list for all, and the class whose mean out-of-fold score is nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.classes import centres, coded, discriminant, margins, shares
from genesig.optim.multitask import JointSets, joint_coef, joint_path, joint_scores, joint_sets
from genesig.optim.refit import covariate_coef
from genesig.optim.solution import Path
from genesig.response.design import Design
from genesig.selection.assess.covariates import Covariates, adjust_for_covariates
from genesig.selection.assess.several import wrong
from genesig.selection.linear.kinds.calibration import calibrate_classes
from genesig.selection.linear.kinds.record import Fitting, MatrixSettings
from genesig.selection.linear.path import NestedModels
from genesig.selection.linear.training_sets import LinearSettings, TrainingSet


@dataclass(frozen=True)
class MultiTaskElasticNets:
    """k training sets with a column of Y for each class, see `record.ElasticNets`."""

    joint: JointSets
    class_share: Array
    """(k, T) float: share of each class in the training samples; folds have their parent's."""
    parent: Array | None = None
    """(k,) int: outer set of each inner one, whose paths end together; None if each ends alone."""

    @classmethod
    def from_rows(
        cls,
        X: Array,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        matrix_settings: MatrixSettings,
    ) -> MultiTaskElasticNets:
        """Make k training sets from class numbers Y and masks `rows`, (n, k), with covariates."""
        adjustment = adjust_for_covariates(covariates, Y, rows)
        sample_weights = None if adjustment is None else np.square(adjustment.root)
        class_share = shares(Y, rows, int(Y.max()) + 1, sample_weights)
        joint = joint_sets(
            X,
            coded(Y, class_share),
            rows,
            centre=matrix_settings.centre,
            unit_variance=matrix_settings.unit_variance,
            weights=matrix_settings.penalty_factors,
            adjustment=adjustment,
        )
        return cls(joint, class_share)

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""
        return self.joint.sets.X

    @property
    def tau_max(self) -> Array:
        """``(2/n) max_j ||z_j'Y|| / w_j`` of each, (k,)."""
        return self.joint.tau_max

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, (k,)."""
        return self.joint.norm

    def null_gradient(self, numbers: slice) -> Array:
        """Return the size of each gene's gradient, see `record.ElasticNets`."""
        return self.joint.sets.strength(numbers, self.joint.Y)

    def inside(
        self,
        Y: Array,
        rows: Array,
        covariates: Sequence[Covariates | None],
        parent: Array,
        *,
        end_together: bool = True,
    ) -> MultiTaskElasticNets:
        """Return training sets inside of these, coded by the class shares of the outer sets."""
        outer = self.joint.sets
        class_share = self.class_share[parent]
        joint = joint_sets(
            outer.X,
            coded(Y, class_share),
            rows,
            centre=outer.centre,
            unit_variance=outer.unit_variance,
            share_copy_with=self.joint,
            adjustment=adjust_for_covariates(covariates, Y, rows),
            norm=None if end_together else self.norm[parent],
        )
        return MultiTaskElasticNets(joint, class_share, parent if end_together else None)

    def path(self, tau: Array, mu: Array, settings: LinearSettings, max_genes: int | None) -> Path:
        """Minimise ``(1/n)||Y - ZB||² + mu ||B||² + tau Σ w_j ||B_j||``."""
        return joint_path(
            self.joint, tau, mu, tolerance=settings.tolerance, longest=max_genes, groups=self.parent
        )

    def ridge_scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit each list by ridge and return scores, (k, m, L, n, T)."""
        return joint_scores(self.joint, lists, lam, rows)

    def ridge_coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit each list by ridge and return values (nnz, T) and intercept (k, m, T)."""
        return joint_coef(self.joint, lists, lam)

    def covariate_coef(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return weights of covariates, (k, m, q, T), see `refit.covariate_coef`, and means."""
        adjustment = self.joint.sets.adjustment
        if adjustment is None or not adjustment.mean.shape[1]:
            return None, None
        return covariate_coef(
            self.joint.sets, lists, values, self.joint.y_on_basis
        ), adjustment.mean


def _out_of_fold(training_set: TrainingSet, scores: Array) -> tuple[Array, Array]:
    """Return the class numbers and the out-of-fold scores (n_tau, n_lam, n_train, T)."""
    rows = np.concatenate(training_set.inner_folds)
    fold_scores = [
        scores[fold][..., validation_rows, :]
        for fold, validation_rows in enumerate(training_set.inner_folds)
    ]
    return training_set.y[rows], np.concatenate(fold_scores, axis=-2)


def _sample_weights(training_set: TrainingSet) -> Array | None:
    """Return the weights of the training samples, in the order of `_out_of_fold`."""
    if training_set.covariates is None:
        return None
    rows = np.concatenate(training_set.inner_folds)
    training_mask = training_set.training_mask()[:, 0]
    return np.asarray(training_set.covariates.training_weights(training_set.y, training_mask)[rows])


def _class_means(training_set: TrainingSet, scores: Array) -> Array:
    """Return the mean out-of-fold score of each class, (n_tau, n_lam, T, T)."""
    y, f = _out_of_fold(training_set, scores)
    return centres(y, f, f.shape[-1])


def _squared_losses(y: Array, f: Array, thresholds: Array, sample_weights: Array | None) -> Array:
    """Return the squared distance of scores from the coded classes, by weighted class shares."""
    member = (y[:, None] == np.arange(f.shape[-1])).astype(float)
    class_share = np.average(member, axis=0, weights=sample_weights)
    return np.asarray(np.square(coded(y[:, None], class_share[None])[:, 0] - f).sum(axis=-1))


def _class_errors(y: Array, f: Array, thresholds: Array, sample_weights: Array | None) -> Array:
    """Return 1 for each sample whose nearest class mean is another class, else 0."""
    return wrong(y, np.moveaxis(margins(f, thresholds), -2, 0)).transpose(1, 2, 0)


CLASS_LOSSES = {
    "squared_error": (_squared_losses, False),
    "balanced_error": (_class_errors, True),
    "misclassification": (_class_errors, False),
}
"""Loss of each training sample by its out-of-fold score, and whether each class weighs the same."""


def _validation_error(
    training_set: TrainingSet, scores: Array, thresholds: Array, criterion: str
) -> tuple[Array, Array]:
    """Return the validation error and its standard error, as `least_squares.validation_error`."""
    y, f = _out_of_fold(training_set, scores)
    loss, balanced = CLASS_LOSSES[criterion]
    _, class_number, class_size = np.unique(y, return_inverse=True, return_counts=True)
    weight = np.full(len(y), 1 / len(y))
    if balanced:
        weight = 1 / (len(class_size) * class_size[class_number])
    fold_sizes = [len(rows) for rows in training_set.inner_folds]
    fold_numbers = np.arange(len(fold_sizes))
    in_fold = np.repeat(fold_numbers, fold_sizes) == fold_numbers[:, None]
    fold_weights = in_fold @ weight
    losses = loss(y, f, thresholds, _sample_weights(training_set)) * weight
    fold_losses = np.stack([losses[..., fold_rows].sum(axis=-1) for fold_rows in in_fold])
    error = fold_losses.sum(axis=0)
    squared_deviation = np.square(fold_losses / fold_weights[:, None, None] - error)
    variance = np.tensordot(fold_weights, squared_deviation, 1) / max(1, len(fold_weights) - 1)
    return error, np.sqrt(variance)


def _decide(models: NestedModels, thresholds: Sequence[Any]) -> tuple[NestedModels, Array]:
    """Return models of class margins instead of class columns, see `classes.discriminant`.

    The class with the largest margin is predicted, without a threshold. A training set whose
    threshold is no matrix of class means keeps its weights.
    """
    values = models.values.copy()
    intercept = models.intercept.copy()
    n_mu = models.gap.shape[1]
    gamma = None if models.gamma is None else models.gamma.copy()
    for fit, class_means in enumerate(thresholds):
        if np.ndim(class_means) == 2:
            rotation, constant = discriminant(class_means)
            entries = slice(*models.indptr[[fit * n_mu, (fit + 1) * n_mu]])
            values[entries] = values[entries] @ rotation
            intercept[fit] = intercept[fit] @ rotation + constant
            if gamma is not None:
                gamma[fit] = gamma[fit] @ rotation
    margin_models = replace(models, values=values, intercept=intercept, gamma=gamma)
    return margin_models, np.zeros(len(thresholds))


def _class_margins(scores: Array, class_means: Any) -> Array:
    """Return the margins of scores, which the models of `_decide` also predict."""
    return margins(scores, class_means) if np.ndim(class_means) == 2 else scores


def _one_column_per_class(design: Design) -> tuple[int, ...]:
    """Return (T,): a score has a column for each class."""
    return (len(design.classes or ()),)


SEVERAL_CLASSES_FITTING = Fitting(
    elastic_nets=MultiTaskElasticNets.from_rows,
    thresholds=_class_means,
    validation_error=_validation_error,
    signed_classes=False,
    decide=_decide,
    decision_scores=_class_margins,
    rotates_scores=True,
    calibrate=calibrate_classes,
    output_shape=_one_column_per_class,
)
