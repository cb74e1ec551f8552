"""Two classes: least squares on -1 and 1, with a threshold halfway between the classes."""

from __future__ import annotations

from genesig.selection.linear.kinds.calibration import calibrate_two_classes
from genesig.selection.linear.kinds.least_squares import (
    LeastSquaresElasticNets,
    midpoint,
    validation_error,
)
from genesig.selection.linear.kinds.record import Fitting

CLASSIFICATION_FITTING = Fitting(
    elastic_nets=LeastSquaresElasticNets.from_rows,
    thresholds=midpoint,
    validation_error=validation_error,
    signed_classes=True,
    allows_fusion=True,
    calibrate=calibrate_two_classes,
)
