"""The kinds of response by the names of ``data.task``."""

from __future__ import annotations

from genesig.response.classification import CLASSIFICATION
from genesig.response.design import SEVERAL
from genesig.response.record import Response
from genesig.response.regression import REGRESSION
from genesig.response.several_classes import SEVERAL_CLASSES
from genesig.response.survival import SURVIVAL

RESPONSES: dict[str, Response] = {
    "classification": CLASSIFICATION,
    SEVERAL: SEVERAL_CLASSES,
    "regression": REGRESSION,
    "survival": SURVIVAL,
}
