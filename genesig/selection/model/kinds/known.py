"""The table of model parts and predictions by kind of response."""

from __future__ import annotations

from genesig.response.design import SEVERAL
from genesig.response.known import ByKind
from genesig.selection.model.kinds.classification import CLASSIFICATION
from genesig.selection.model.kinds.record import ModelKind
from genesig.selection.model.kinds.regression import REGRESSION
from genesig.selection.model.kinds.several_classes import SEVERAL_CLASSES
from genesig.selection.model.kinds.survival import SURVIVAL

MODEL_KINDS: dict[str, ModelKind] = ByKind(
    {
        "classification": CLASSIFICATION,
        SEVERAL: SEVERAL_CLASSES,
        "regression": REGRESSION,
        "survival": SURVIVAL,
    }
)
