"""Kinds of outcome in the nested cross-validation: elastic nets, errors, thresholds, calibration.

The inner folds of a training set divide its training rows. Scores (n_folds, n_tau, n_lam, n, ...)
are those of all n samples by the refits of each fold; the out-of-fold score of a training sample is
by the refit of the fold that leaves it out. Instead of tau, the second axis may count other lists.

The slope of a calibration line is shrunken by what its standard error allows, so that few samples
with a weak signal state probabilities near the class shares, and risks near the overall risk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import moment_settings
from genesig.errors import GenesigError
from genesig.genome import Genome
from genesig.optim.classes import (
    ShrunkenLine,
    centres,
    coded,
    discriminant,
    fitted_line,
    margins,
    probabilities,
    shrunken_line,
    slope_shrinkage,
)
from genesig.optim.cox.risk_sets import DEFAULT_TIES, left_out_deviance
from genesig.optim.structured.stretches import Stretches
from genesig.response.design import SEVERAL_CLASSES, Design
from genesig.response.kinds import ByKind
from genesig.results import Dataset
from genesig.selection.assess.clusters import design_effect, influence_spread, wrong_classes
from genesig.selection.assess.covariates import Covariates
from genesig.selection.assess.intervals import wrong
from genesig.selection.linear.elastic_nets import (
    CoxElasticNets,
    ElasticNets,
    LeastSquaresElasticNets,
    MatrixSettings,
    MultiTaskElasticNets,
    NestedModels,
)
from genesig.selection.linear.training_sets import (
    LinearSettings,
    NormalisedMatrix,
    TrainingSet,
)

Calibration = Callable[[TrainingSet, Array], ShrunkenLine]
"""Training set and its cross-fitted scores (K, n, ...) of K draws of the inner folds, NaN for other
samples -> line of probabilities, or of logarithmic hazards, that is fitted to these scores."""


def calibrate_two_classes(training_set: TrainingSet, scores: Array) -> ShrunkenLine:
    """Return the line from one score (K, n) of two classes, y = -1 and 1."""
    class_scores = np.stack([np.zeros_like(scores), scores], axis=-1)
    return _class_line(training_set, class_scores, training_set.y > 0)


def _class_line(
    training_set: TrainingSet, class_scores: Array, class_number: Array
) -> ShrunkenLine:
    """Return the line from scores (K, n, T) and classes (n,); a sample with NaN does not count."""
    rows = ~np.isnan(class_scores).any(axis=(0, 2))
    class_scores = class_scores[:, rows]
    class_number = class_number[rows].astype(np.int64)
    effect = 1.0
    if training_set.group is not None:
        effect = slope_design_effect(class_scores, class_number, training_set.group[rows])
    return shrunken_line(class_scores, class_number, effect)


def slope_design_effect(class_scores: Array, class_number: Array, group: Array) -> float:
    """Return the ratio of the slope's variance with groups to that of independent samples; >= 1.

    The influence of a sample on the slope is the residual of each class times its centred score,
    as the mean over draws of the folds.

    class_scores (n, T) or (K, n, T) float. class_number, group (n,) int.
    """
    p = probabilities(class_scores, fitted_line(class_scores, class_number))
    n, T = p.shape[-2:]
    residual = np.eye(T)[class_number] - p
    centred = class_scores - class_scores.reshape(-1, T).mean(axis=0)
    influence = (residual * centred).sum(axis=-1).reshape(-1, n).mean(axis=0)
    return _corrected_design_effect(influence, group)


def _corrected_design_effect(influence: Array, group: Array, weights: Array | None = None) -> float:
    """Return the variance of the sum of influences (n,) with groups over that without; >= 1.

    Both variances are corrected for few groups. weights (n,): of the samples, in the influences.
    """
    if not np.isfinite(influence).all():  # no slope could be fitted
        return 1.0
    grouped, ungrouped = (
        influence_spread(influence, g, weights=weights) for g in (group, np.arange(len(group)))
    )
    return max(1.0, design_effect(grouped, ungrouped, group, weights))


def calibrate_survival(training_set: TrainingSet, scores: Array) -> ShrunkenLine:
    """Return the slope (1,) by which scores (n,) are multiplied to be logarithms of hazards.

    It is 0 if left-out samples do not show that a high score means an early event. The fitted slope
    is multiplied by its `slope_shrinkage`.
    """
    # Imported here, because studies of classes do not need the solver.
    from genesig.optim.cox.path import fit_slope, slope_influence

    weights = None if training_set.covariates is None else training_set.covariates.weights
    rows = ~np.isnan(scores)
    if weights is not None:
        rows &= weights > 0
        weights = weights[rows]
    y = training_set.y[rows]
    scores = scores[rows]
    ties = training_set.ties or DEFAULT_TIES
    slope = fit_slope(y["time"], y["event"], scores, ties, weights)
    if not slope.value > 0:
        return ShrunkenLine(np.zeros(1), 0.0)
    variance = slope.variance
    if training_set.group is not None:
        influence, _ = slope_influence(y["time"], y["event"], scores, slope.value, weights)
        variance *= _corrected_design_effect(influence, training_set.group[rows], weights)
    shrinkage = slope_shrinkage(slope.value, variance)
    return ShrunkenLine(np.array([shrinkage * slope.value]), shrinkage)


@dataclass(frozen=True)
class Fitting:
    """Fitting, validation and decision of one kind of outcome."""

    elastic_nets: Callable[
        [Array, Array, Array, Sequence[Covariates | None], MatrixSettings], ElasticNets
    ]
    """X (n, d), responses Y (n, k), masks (n, k) of training rows, covariates of each set,
    `MatrixSettings` -> elastic nets of k training sets."""
    thresholds: Callable[[TrainingSet, Array], Array]
    """Training set, scores (n_folds, n_tau, n_lam, n) by its inner folds -> threshold of the
    scores (n_tau, n_lam), or class means (n_tau, n_lam, T, T) of several classes."""
    validation_error: Callable[[TrainingSet, Array, Array, str], tuple[Array, Array]]
    """Training set, scores, their thresholds, name of a criterion -> validation error and its
    standard error, both (n_tau, n_lam)."""
    signed_classes: bool  # whether y is -1 and 1 for two classes
    allows_fusion: bool = False  # whether the elastic nets accept `MatrixSettings.fusion`
    decide: Callable[[Any, Sequence[Any]], tuple[Any, Array]] = lambda models, thresholds: (
        models,
        np.array(thresholds),
    )
    """Models (`NestedModels`) of k sets, threshold or class means of each set -> models whose
    scores predict, and the threshold (k,) to subtract from these scores; 0 for several classes."""
    decision_scores: Callable[[Array, Any], Array] = lambda scores, threshold: scores - threshold
    """Out-of-fold scores (n, ...), their threshold or class means -> scores as the models of
    `decide` give them, less the threshold."""
    rotates_scores: bool = False
    """Whether a threshold transforms the scores by class means instead of shifting them."""
    calibrate: Calibration | None = None
    """Line of probabilities or risks from cross-fitted decision scores; None for a number."""
    calibrates_all_draws: bool = True
    """Whether the line is fitted to all draws of the inner folds, or to the first alone."""
    output_shape: Callable[[Design], tuple[int, ...]] = lambda design: ()
    """Design -> shape of the score of one sample, () or (T,)."""


@dataclass(frozen=True)
class LossCriterion:
    """A loss of each sample, and the weights of the samples."""

    loss: Callable[[Array, Array], Array]
    """``loss(y, f)``: responses (m,) and scores (..., m) to losses (..., m)."""
    balanced: bool = False
    """Whether each class weighs one half, whatever its size; otherwise samples weigh the same."""
    counts_errors: bool = False  # whether it counts wrong samples, which needs a threshold

    def weights(self, y: Array) -> Array:
        """Return the weight of each sample, (n,), with sum 1."""
        if not self.balanced:
            return np.full(len(y), 1.0 / len(y))
        _, class_number, class_size = np.unique(y, return_inverse=True, return_counts=True)
        return np.asarray(1.0 / (len(class_size) * class_size[class_number]))


def squared_error(y: Array, f: Array) -> Array:
    """Return (y - f)², for classes and for regression."""
    return np.asarray(np.square(y - f))


def log_loss(y: Array, f: Array) -> Array:
    """Return log(1 + exp(-2 y f)): the negative log-likelihood if f is half the log-odds of +1."""
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

    thresholds (n_tau, n_lam) float: subtracted from the scores if the criterion counts errors.
    criterion: a name in `CRITERIA`.

    Source: Friedman, Hastie, Tibshirani 2010, J. Stat. Softw. 33(1); ``cv.glmnet`` computes cvm and
    cvsd by the same weighted formulas.
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
    return _error_over_folds(fold_losses, fold_weights)


def _error_over_folds(fold_losses: Array, fold_weights: Array) -> tuple[Array, Array]:
    """Return E and SE of `validation_error`, from losses (K, n_tau, n_lam) that are W_k E_k."""
    error = fold_losses.sum(axis=0)
    squared_deviation = np.square(fold_losses / fold_weights[:, None, None] - error)
    variance = np.tensordot(fold_weights, squared_deviation, 1) / max(1, len(fold_weights) - 1)
    return error, np.sqrt(variance)


def _out_of_fold_scores(training_set: TrainingSet, scores: Array) -> tuple[Array, Array]:
    """Return class numbers (n_train,) and scores (n_tau, n_lam, n_train, T), fold after fold."""
    rows = np.concatenate(training_set.inner_folds)
    fold_scores = [
        scores[fold][..., validation_rows, :]
        for fold, validation_rows in enumerate(training_set.inner_folds)
    ]
    return training_set.y[rows], np.concatenate(fold_scores, axis=-2)


def _sample_weights(training_set: TrainingSet) -> Array | None:
    """Return the weights of the training samples, in the order of `_out_of_fold_scores`."""
    if training_set.covariates is None:
        return None
    rows = np.concatenate(training_set.inner_folds)
    training_mask = training_set.training_mask()[:, 0]
    return np.asarray(training_set.covariates.training_weights(training_set.y, training_mask)[rows])


def _class_means(training_set: TrainingSet, scores: Array) -> Array:
    """Return the mean out-of-fold score of each class, (n_tau, n_lam, T, T)."""
    y, f = _out_of_fold_scores(training_set, scores)
    return centres(y, f, f.shape[-1])


def _squared_losses(y: Array, f: Array, thresholds: Array, sample_weights: Array | None) -> Array:
    """Return the squared distance of scores from the coded classes, by weighted class shares."""
    member = (y[:, None] == np.arange(f.shape[-1])).astype(float)
    class_share = np.average(member, axis=0, weights=sample_weights)
    return np.asarray(np.square(coded(y[:, None], class_share[None])[:, 0] - f).sum(axis=-1))


def _class_errors(y: Array, f: Array, thresholds: Array, sample_weights: Array | None) -> Array:
    """Return 1 for each sample whose nearest class mean is of another class, else 0."""
    return wrong_classes(y, np.moveaxis(margins(f, thresholds), -2, 0)).transpose(1, 2, 0)


CLASS_LOSSES = {
    "squared_error": _squared_losses,
    "balanced_error": _class_errors,
    "misclassification": _class_errors,
}
"""Criterion -> loss of each training sample, from class numbers y (m,), scores f (n_tau, n_lam, m,
T), class means as thresholds, and weights (m,) or None; a loss uses those that it needs."""


def _class_validation_error(
    training_set: TrainingSet, scores: Array, thresholds: Array, criterion: str
) -> tuple[Array, Array]:
    """Return the validation error and its standard error, as `validation_error`."""
    y, f = _out_of_fold_scores(training_set, scores)
    weight = CRITERIA[criterion].weights(y)
    fold_sizes = [len(rows) for rows in training_set.inner_folds]
    fold_numbers = np.arange(len(fold_sizes))
    in_fold = np.repeat(fold_numbers, fold_sizes) == fold_numbers[:, None]
    fold_weights = in_fold @ weight
    losses = CLASS_LOSSES[criterion](y, f, thresholds, _sample_weights(training_set)) * weight
    fold_losses = np.stack([losses[..., fold_rows].sum(axis=-1) for fold_rows in in_fold])
    return _error_over_folds(fold_losses, fold_weights)


def _decide_by_margins(
    models: NestedModels, thresholds: Sequence[Any]
) -> tuple[NestedModels, Array]:
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
            entries = slice(models.indptr[fit * n_mu], models.indptr[(fit + 1) * n_mu])
            values[entries] = values[entries] @ rotation
            intercept[fit] = intercept[fit] @ rotation + constant
            if gamma is not None:
                gamma[fit] = gamma[fit] @ rotation
    margin_models = replace(models, values=values, intercept=intercept, gamma=gamma)
    return margin_models, np.zeros(len(thresholds))


def _class_margins(scores: Array, class_means: Any) -> Array:
    """Return the margins of scores, which the models of `_decide_by_margins` also predict.

    With a threshold of 0 in place of class means, the scores stay.
    """
    return margins(scores, class_means) if np.ndim(class_means) == 2 else scores


def median_score(training_set: TrainingSet, scores: Array) -> Array:
    """Return the median out-of-fold score of the training samples, (n_tau, n_lam).

    A sample above it is in the half of higher risk.
    """
    fold_scores = [scores[fold][..., rows] for fold, rows in enumerate(training_set.inner_folds)]
    return np.asarray(np.median(np.concatenate(fold_scores, axis=-1), axis=-1))


def cox_deviance(
    training_set: TrainingSet, scores: Array, thresholds: Array, criterion: str
) -> tuple[Array, Array]:
    """Return the out-of-fold deviance and its standard error, both (n_tau, n_lam).

    `thresholds` and `criterion`, which other kinds need, have no effect.
    """
    train = training_set.train
    grid = scores.shape[1:3]
    y = training_set.y[train]
    folds = [np.flatnonzero(np.isin(train, rows)) for rows in training_set.inner_folds]
    training_scores = scores[..., train].reshape(len(scores), -1, len(train))
    ties = training_set.ties or DEFAULT_TIES
    deviances = left_out_deviance(y["time"], y["event"], folds, training_scores, ties)
    error, standard_error = (values.reshape(grid) for values in deviances)
    return error, standard_error


FITTINGS: dict[str, Fitting] = ByKind(
    {
        "classification": Fitting(
            elastic_nets=LeastSquaresElasticNets.from_rows,
            thresholds=midpoint,
            validation_error=validation_error,
            signed_classes=True,
            allows_fusion=True,
            calibrate=calibrate_two_classes,
        ),
        SEVERAL_CLASSES: Fitting(
            elastic_nets=MultiTaskElasticNets.from_rows,
            thresholds=_class_means,
            validation_error=_class_validation_error,
            signed_classes=False,
            decide=_decide_by_margins,
            decision_scores=_class_margins,
            rotates_scores=True,
            calibrate=lambda training_set, scores: _class_line(
                training_set, scores, training_set.y
            ),
            output_shape=lambda design: (len(design.classes or ()),),
        ),
        "regression": Fitting(
            elastic_nets=LeastSquaresElasticNets.from_rows,
            thresholds=lambda training_set, scores: np.zeros(scores.shape[1:3]),
            validation_error=validation_error,
            signed_classes=False,
            allows_fusion=True,
        ),
        "survival": Fitting(
            elastic_nets=CoxElasticNets.from_rows,
            thresholds=median_score,
            validation_error=cox_deviance,
            signed_classes=False,
            # By the first draw: in simulated studies the mean of all was hardly nearer the truth.
            calibrate=lambda training_set, draws: calibrate_survival(training_set, draws[0]),
            calibrates_all_draws=False,
        ),
    }
)


def score_thresholds(training_set: TrainingSet, scores: Array, settings: LinearSettings) -> Array:
    """Return the threshold of out-of-fold scores at each point of the grid, see `Fitting`.

    It is 0 unless ``linear.threshold`` is ``midpoint``.
    """
    if settings.threshold != "midpoint":
        return np.zeros(scores.shape[1:3])
    return FITTINGS[training_set.kind].thresholds(training_set, scores)


def outer_elastic_nets(
    matrix: NormalisedMatrix, settings: LinearSettings, omic_factors: Array | None = None
) -> ElasticNets:
    """Return the elastic nets of the training sets of a matrix.

    `omic_factors` (n_omics,) multiply the l1 terms of the genes of each omic; all are 1 without it.
    """
    training_sets = matrix.training_sets
    kind = training_sets[0].kind
    fitting = FITTINGS[kind]
    dataset = matrix.study.dataset
    # A prior weight is the factor of the gene's l1 term: below 1 it is selected more easily.
    penalty_factors = dataset.prior_weights(omic_factors)
    matrix_settings = MatrixSettings(
        **moment_settings(matrix.study.fold_steps),
        ties=training_sets[0].ties,
        fusion=_fusion_penalty(dataset, matrix.genes, settings),
        penalty_factors=None if penalty_factors is None else penalty_factors[matrix.genes],
    )
    if matrix_settings.fusion is not None and not fitting.allows_fusion:
        raise GenesigError(f"linear.penalty: 'fused' is not made for {kind}; use l1")
    return fitting.elastic_nets(
        matrix.X,
        np.column_stack([training_set.y for training_set in training_sets]),
        np.hstack([training_set.training_mask() for training_set in training_sets]),
        [training_set.covariates for training_set in training_sets],
        matrix_settings,
    )


def _fusion_penalty(dataset: Dataset, genes: Array, settings: LinearSettings) -> Stretches | None:
    """Return the norm of the penalty ``fused`` for the genes of a matrix; None for l1."""
    if settings.penalty == "l1":
        return None
    chromosomes, positions = dataset.places()
    genome = Genome.from_columns(len(genes), chromosomes[genes], positions[genes])
    return Stretches(genome, settings.jump)


def inner_elastic_nets(training_sets: list[TrainingSet], outer: ElasticNets) -> ElasticNets:
    """Return the elastic nets of the rows that train each inner fold of each set, in order.

    outer: elastic nets of the training sets.
    """
    n_folds = np.array([len(training_set.inner_folds) for training_set in training_sets])
    parent = np.repeat(np.arange(len(training_sets)), n_folds)
    Y = np.column_stack([training_set.y for training_set in training_sets])
    rows = np.hstack([training_set.inner_training_masks() for training_set in training_sets])
    covariates = [training_sets[number].covariates for number in parent]
    return outer.inside(Y[:, parent], rows, covariates, parent)
