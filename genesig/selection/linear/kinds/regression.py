"""A number: least squares, not cut."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.selection.linear.kinds.least_squares import LeastSquares, validation_error
from genesig.selection.linear.kinds.record import Fitting
from genesig.selection.linear.tasks import TrainingSet


def _nowhere(task: TrainingSet, scores: Array) -> Array:
    return np.zeros(scores.shape[1:3])


REGRESSION = Fitting(
    sets=LeastSquares.of, cut=_nowhere, error=validation_error, signs=False, stretches=True
)
