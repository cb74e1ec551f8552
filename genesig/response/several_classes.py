"""More than two classes: 0, 1, .. in the order of their names in the design."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.response.design import Design
from genesig.response.record import ClassNames, Response, label_words

if TYPE_CHECKING:
    import pandas as pd


def _read(obs: pd.DataFrame, design: Design) -> Array:
    class_code = {name: number for number, name in enumerate(design.classes or ())}
    return np.array([float(class_code[name]) for name in obs[design.label].astype(str)])


def _required_samples(y: Array, classes: ClassNames) -> dict[str, Array]:
    return {f"class '{name}'": y == number for number, name in enumerate(classes or ())}


def _training_fault(y: Array, classes: ClassNames) -> str | None:
    missing_classes = [name for number, name in enumerate(classes or ()) if not (y == number).any()]
    if not missing_classes:
        return None
    return f"have no '{missing_classes[0]}', and every class is needed"


SEVERAL_CLASSES = Response(
    read=_read,
    label_cells=label_words,
    plain=lambda y: y,
    number=lambda y: (y[:, None] == np.arange(y.max() + 1)) * 2.0 - 1,
    strata=lambda y, parts: y.astype(np.int64),
    required_samples=_required_samples,
    training_fault=_training_fault,
    describe_counts=lambda y, classes: ", ".join(
        f"{int((y == number).sum())} {name}" for number, name in enumerate(classes or ())
    ),
)
