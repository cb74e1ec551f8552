"""Two classes: -1 and +1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.response.design import Design
from genesig.response.record import Classes, Response, label_words

if TYPE_CHECKING:
    import pandas as pd

SIDES = (-1.0, 1.0)


def _read(obs: pd.DataFrame, design: Design) -> Array:
    positive = (design.classes or ("", ""))[1]
    return np.where(obs[design.label].astype(str) == positive, 1.0, -1.0)


def _needed(y: Array, classes: Classes) -> dict[str, Array]:
    return {f"class '{name}'": y == side for name, side in zip(classes or (), SIDES, strict=False)}


def _untold(y: Array, classes: Classes) -> str | None:
    if len(np.unique(y)) > 1:
        return None
    if not len(y) or classes is None:
        return "do not have two different responses"
    return f"are all '{classes[int(y[0] > 0)]}', and both classes are needed"


def _counted(y: Array, classes: Classes) -> str:
    found = zip(SIDES, classes or (), strict=False)
    sizes = ", ".join(f"{int((y == side).sum())} {name}" for side, name in found)
    return f"{sizes}; positive: {(classes or ('', ''))[1]}"


CLASSIFICATION = Response(
    read=_read,
    shown=label_words,
    plain=lambda y: y,
    number=lambda y: y,
    strata=lambda y, parts: (y > 0).astype(np.int64),
    needed=_needed,
    untold=_untold,
    counted=_counted,
)
