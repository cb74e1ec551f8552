"""The features that a Cox fit works with: those it needs, and the next ones by their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import jit, plain
from genesig.compiled.operations import larger, zeros

Array = np.ndarray[Any, Any]

STEEPEST = 1023  # class of the largest ratio


@jit
def take_in(g: Array, weight: Array, rest: int, inside: Array, outside: Array) -> None:
    """Add up to `rest` features with the largest ``|g_j| / w_j`` to those inside.

    inside (d,) bool are those that are needed, outside (d,) bool becomes the others with a penalty.
    Ratios are told apart by thousandths of the largest; of the last class the first ones enter.
    """
    top, free = 0.0, rest
    for j in range(len(g)):
        if weight[j] > 0.0:
            top = larger(top, abs(g[j]) / weight[j])
    scale = STEEPEST / top if top > 0.0 else 0.0
    count = zeros(STEEPEST + 1, np.int64)
    for j in range(len(g)):
        if not inside[j]:
            count[place(g[j], weight[j], scale)] += 1
    last = STEEPEST
    while last > 0 and count[last] <= free:
        free -= count[last]
        last -= 1
    for j in range(len(g)):
        if not inside[j] and weight[j] > 0.0 and g[j] != 0.0:
            own = place(g[j], weight[j], scale)
            if own > last or (own == last and free > 0):
                inside[j] = True
                free -= own == last
        outside[j] = not inside[j] and weight[j] > 0.0


@plain
def place(g: float, weight: float, scale: float) -> Any:
    """Return the class of a ratio, 0 for those next to 0."""
    return int(abs(g) / weight * scale) if weight > 0.0 else 0
