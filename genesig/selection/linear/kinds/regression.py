"""A number as outcome: least squares, without a threshold."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.selection.linear.kinds.least_squares import LeastSquaresElasticNets, validation_error
from genesig.selection.linear.kinds.record import Fitting
from genesig.selection.linear.training_sets import TrainingSet


def zero_thresholds(training_set: TrainingSet, scores: Array) -> Array:
    """Return a threshold of 0 for each tau and lambda, (n_tau, n_lam)."""
    return np.zeros(scores.shape[1:3])


REGRESSION_FITTING = Fitting(
    elastic_nets=LeastSquaresElasticNets.from_rows,
    thresholds=zero_thresholds,
    validation_error=validation_error,
    signed_classes=False,
    allows_fusion=True,
)
