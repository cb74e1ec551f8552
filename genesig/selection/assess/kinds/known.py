"""How each kind of response is assessed."""

from __future__ import annotations

from genesig.selection.assess.kinds.classification import CLASSIFICATION
from genesig.selection.assess.kinds.record import Assessed
from genesig.selection.assess.kinds.regression import REGRESSION
from genesig.selection.assess.kinds.survival import SURVIVAL

ASSESSED: dict[str, Assessed] = {
    "classification": CLASSIFICATION,
    "regression": REGRESSION,
    "survival": SURVIVAL,
}
