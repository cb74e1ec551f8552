"""Training sets that are of no use without each other: where one's path ends, so do the others'."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import plain

Array = np.ndarray[Any, Any]

DONE = 3


@plain
def waits(group: Array, doubt: Array, s: int) -> bool:
    """Tell whether another set of the group, whose list may be too long, is to be settled first."""
    for other in range(len(doubt)):
        first = doubt[s] == 0 or other < s
        if group[other] == group[s] and doubt[other] > 0 and other != s and first:
            return True
    return False


@plain
def end(group: Array, found: Any, s: int) -> None:
    """Leave the group of a set."""
    for other in range(len(group)):
        if group[other] == group[s]:
            found.state[other], found.gap[other], found.doubt[other] = DONE, np.nan, 0
