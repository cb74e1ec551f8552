"""The features that a Cox fit works with: those it needs, and the next ones by their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import jit, plain
from genesig.compiled.operations import larger, zeros

Array = np.ndarray[Any, Any]

STEEPEST = 1023  # class of the largest ratio


@jit
def miss(g: Array, weight: Array, tau: float, share: float, outside: Array, inside: Array) -> bool:
    """Let those outside in that miss their bound, |g_j| <= tau w_j; False where none does.

    Those that do by at least `share` of the most.
    """
    most = 0.0
    for j in range(len(g)):
        if outside[j]:
            most = larger(most, abs(g[j]) - tau * weight[j])
    if most > 0.0:
        for j in range(len(g)):
            if outside[j] and abs(g[j]) - tau * weight[j] >= share * most:
                inside[j] = True
    return most > 0.0


@jit
def take_in(
    g: Array, weight: Array, rest: int, inside: Array, outside: Array, within: Array
) -> Any:
    """Add up to `rest` features with the largest ``|g_j| / w_j`` to those inside; return how many.

    inside (d,) bool are those that are needed, outside (d,) bool becomes the others with a penalty,
    within (d,) int begins with the numbers of those inside. Ratios are told apart by thousandths of
    the largest; of the last class the first ones enter.
    """
    top, free, number = 0.0, rest, 0
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
        if inside[j]:
            within[number] = j
            number += 1
    return number


@plain
def place(g: float, weight: float, scale: float) -> Any:
    """Return the class of a ratio, 0 for those next to 0."""
    return int(abs(g) / weight * scale) if weight > 0.0 else 0
