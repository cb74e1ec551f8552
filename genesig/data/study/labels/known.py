"""How each kind of response is checked."""

from __future__ import annotations

from genesig.data.study.labels.classification import CLASSIFICATION
from genesig.data.study.labels.record import Labels
from genesig.data.study.labels.regression import REGRESSION
from genesig.data.study.labels.several_classes import SEVERAL_CLASSES
from genesig.data.study.labels.survival import SURVIVAL
from genesig.response.design import SEVERAL

LABELS: dict[str, Labels] = {
    "classification": CLASSIFICATION,
    SEVERAL: SEVERAL_CLASSES,
    "regression": REGRESSION,
    "survival": SURVIVAL,
}
