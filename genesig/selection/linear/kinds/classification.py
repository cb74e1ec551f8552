"""Two classes: least squares on ±1, cut halfway between the classes."""

from __future__ import annotations

from genesig.optim.class_line import two_columns
from genesig.selection.linear.committee import average
from genesig.selection.linear.kinds.least_squares import LeastSquares
from genesig.selection.linear.kinds.record import Fitting
from genesig.selection.linear.validation import midpoint, validation_error

CLASSIFICATION = Fitting(sets=LeastSquares.of, cut=midpoint, error=validation_error, signs=True,
                         stretches=True, predict=average, by_class=two_columns)  # fmt: skip
