"""How each kind of response is fitted."""

from __future__ import annotations

from genesig.response.design import SEVERAL
from genesig.selection.linear.kinds.classification import CLASSIFICATION
from genesig.selection.linear.kinds.record import Fitting
from genesig.selection.linear.kinds.regression import REGRESSION
from genesig.selection.linear.kinds.several_classes import SEVERAL_CLASSES
from genesig.selection.linear.kinds.survival import SURVIVAL

FITTED: dict[str, Fitting] = {
    "classification": CLASSIFICATION,
    SEVERAL: SEVERAL_CLASSES,
    "regression": REGRESSION,
    "survival": SURVIVAL,
}
