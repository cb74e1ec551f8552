"""Lines from cross-fitted scores to probabilities of classes, or to risks of an event.

The slope of a line is shrunken by what its standard error allows, so that few samples with a weak
signal state probabilities near the class shares, and risks near the risk of all samples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from genesig.arrays import Array
from genesig.optim.class_line import ShrunkenLine, fitted_line, probabilities, shrunken_line
from genesig.optim.cox.risk_sets import DEFAULT_TIES
from genesig.selection.assess.clusters import design_effect, influence_spread
from genesig.selection.linear.training_sets import TrainingSet

Calibration = Callable[[TrainingSet, Array], ShrunkenLine]
"""Training set and its cross-fitted scores (n, ...), NaN for other samples: to their line."""


def calibrate_two_classes(training_set: TrainingSet, scores: Array) -> ShrunkenLine:
    """Return the line from one score (n,) of two classes, y = -1 and 1."""
    class_scores = np.stack([np.zeros_like(scores), scores], axis=-1)
    return _class_line(training_set, class_scores, training_set.y > 0)


def calibrate_classes(training_set: TrainingSet, scores: Array) -> ShrunkenLine:
    """Return the line from the scores (n, T) of T classes, y = 0 to T - 1."""
    return _class_line(training_set, scores, training_set.y)


def _class_line(
    training_set: TrainingSet, class_scores: Array, class_number: Array
) -> ShrunkenLine:
    rows = ~np.isnan(class_scores).any(axis=1)
    class_scores = class_scores[rows]
    class_number = class_number[rows].astype(np.int64)
    effect = 1.0
    if training_set.group is not None:
        effect = slope_design_effect(class_scores, class_number, training_set.group[rows])
    return shrunken_line(class_scores, class_number, effect)


def slope_design_effect(class_scores: Array, class_number: Array, group: Array) -> float:
    """Return the variance of the slope over groups, over that of independent samples; at least 1.

    The influence of a sample on the slope is the residual of each class times its centred score.

    Parameters
    ----------
    class_scores : (n, T) float
    class_number, group : (n,) int
    """
    p = probabilities(class_scores, fitted_line(class_scores, class_number))
    residual = np.eye(class_scores.shape[1])[class_number] - p
    return _design_effect(
        (residual * (class_scores - class_scores.mean(axis=0))).sum(axis=1), group
    )


def _design_effect(influence: Array, group: Array) -> float:
    """Return the variance of a sum of influences (n,) over groups, over that of samples; >= 1."""
    if not np.isfinite(influence).all():
        return 1.0
    alone = influence_spread(influence, np.arange(len(group)))
    return max(1.0, design_effect(influence_spread(influence, group), alone, group))


def calibrate_survival(training_set: TrainingSet, scores: Array) -> ShrunkenLine:
    """Return the slope (1,) by which scores (n,) are multiplied to be logarithms of hazards.

    It is 0 if left-out samples do not show that a high score means an early event. The fitted slope
    b with standard error s is multiplied by max(0, 1 - s²/b²).

    Source: van Houwelingen and le Cessie 1990, Stat Med 9:1303. The larger constant that
    `shrunken_line` has for classes made the risks of simulated studies with a signal too equal.
    """
    # Imported here, because studies of classes do not need the solver.
    from genesig.optim.cox.slope import fit_slope, slope_influence

    weights = None if training_set.covariates is None else training_set.covariates.weights
    rows = ~np.isnan(scores)
    if weights is not None:
        rows &= weights > 0
    y = training_set.y[rows]
    scores = scores[rows]
    slope = fit_slope(
        y["time"],
        y["event"],
        scores,
        training_set.ties or DEFAULT_TIES,
        None if weights is None else weights[rows],
    )
    if not slope.value > 0:
        return ShrunkenLine(np.zeros(1), 0.0)
    variance = slope.variance
    if training_set.group is not None:
        influence, _ = slope_influence(y["time"], y["event"], scores, slope.value)
        variance *= _design_effect(influence, training_set.group[rows])
    shrinkage = max(0.0, 1 - variance / slope.value**2)
    return ShrunkenLine(np.array([shrinkage * slope.value]), shrinkage)
