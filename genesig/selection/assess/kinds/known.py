"""The table of assessments by kind of response."""

from __future__ import annotations

from genesig.response.design import SEVERAL
from genesig.response.known import ByKind
from genesig.selection.assess.kinds.classification import CLASSIFICATION
from genesig.selection.assess.kinds.record import Assessed
from genesig.selection.assess.kinds.regression import REGRESSION
from genesig.selection.assess.kinds.several_classes import SEVERAL_CLASSES
from genesig.selection.assess.kinds.survival import SURVIVAL

ASSESSED: dict[str, Assessed] = ByKind(
    {
        "classification": CLASSIFICATION,
        SEVERAL: SEVERAL_CLASSES,
        "regression": REGRESSION,
        "survival": SURVIVAL,
    }
)
