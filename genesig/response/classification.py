"""Two classes: -1 and +1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.response.design import Design
from genesig.response.record import ClassNames, Response, label_words

if TYPE_CHECKING:
    import pandas as pd

CLASS_CODES = (-1.0, 1.0)


def _read(obs: pd.DataFrame, design: Design) -> Array:
    positive = (design.classes or ("", ""))[1]
    return np.where(obs[design.label].astype(str) == positive, 1.0, -1.0)


def _required_samples(y: Array, classes: ClassNames) -> dict[str, Array]:
    return {
        f"class '{name}'": y == side for name, side in zip(classes or (), CLASS_CODES, strict=False)
    }


def _training_fault(y: Array, classes: ClassNames) -> str | None:
    if len(np.unique(y)) > 1:
        return None
    if not len(y) or classes is None:
        return "do not have two different responses"
    return f"are all '{classes[int(y[0] > 0)]}', and both classes are needed"


def _describe_counts(y: Array, classes: ClassNames) -> str:
    named_sides = zip(CLASS_CODES, classes or (), strict=False)
    sizes = ", ".join(f"{int((y == side).sum())} {name}" for side, name in named_sides)
    return f"{sizes}; positive: {(classes or ('', ''))[1]}"


CLASSIFICATION = Response(
    read=_read,
    label_cells=label_words,
    plain=lambda y: y,
    number=lambda y: y,
    strata=lambda y, parts: (y > 0).astype(np.int64),
    required_samples=_required_samples,
    training_fault=_training_fault,
    describe_counts=_describe_counts,
)
