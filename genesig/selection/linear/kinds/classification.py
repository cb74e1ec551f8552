"""Two classes: least squares on ±1, cut halfway between the classes."""

from __future__ import annotations

from genesig.optim.class_line import two_columns
from genesig.selection.linear.kinds.least_squares import LeastSquares, midpoint, validation_error
from genesig.selection.linear.kinds.record import Fitting

CLASSIFICATION = Fitting(
    sets=LeastSquares.of,
    cut=midpoint,
    error=validation_error,
    signs=True,
    stretches=True,
    by_class=two_columns,
)
