"""Many columns down their paths, point after point, and what each selects there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled import jit, plain
from genesig.compiled.column import Column
from genesig.compiled.screen import Screen, Sets
from genesig.compiled.sweep import DONE, FIRST, SOLVE, Progress, step

Array = np.ndarray[Any, Any]

ALL, NO_ROOM, FULL = 0, 1, 2  # what a walk ends with


class Way(NamedTuple):
    """M points of the paths of q columns, at the first of which nothing is selected.

    tau, mu, longest, strong (q, M) as in `Point`, longest negative where the dual is begun with;
    gap, size (q, M), steps (q, M, 2) what came out: NaN, 0 and -1 where a column has ended; place
    (3,) the points done, whether the next is begun, the coefficients that are kept.
    """

    tau: Array
    mu: Array
    longest: Array
    strong: Array
    gap: Array
    size: Array
    steps: Array
    place: Array


@jit
def walk(
    many: Column, sets: Sets, screen: Screen, progress: Progress, way: Way, feature: Array,
    value: Array, most: int,
) -> int:  # fmt: skip
    """Go down the paths; a column ends after its first fit of more than `most` features.

    feature, value receive what is selected, point by point. To be called again with more room for
    known features where it returns NO_ROOM, or for these two where it returns FULL.
    """
    place = way.place
    while place[0] < way.tau.shape[1]:
        if place[1] == 0:
            begin(many.at, sets, progress, way, most)
        if not step(many, sets, screen, progress):
            return NO_ROOM
        if not write(sets, progress, way, feature, value):
            return FULL
    return ALL


@plain
def begin(at: Any, sets: Sets, progress: Progress, way: Way, most: int) -> None:
    """Take the columns that have not ended to their next point.

    The form is the one whose matrix is smaller, of the active features or of the samples.
    """
    m = way.place[0]
    for q in range(len(progress.state)):
        at.tau[q], at.mu[q], at.strong[q] = way.tau[q, m], way.mu[q, m], way.strong[q, m]
        at.longest[q] = way.longest[q, m]
        at.dual[q] = sets.n_support[q] > at.longest[q]
        ended = m > 0 and (way.steps[q, m - 1, 0] < 0 or way.size[q, m - 1] > most)
        progress.state[q] = DONE if ended else (FIRST if m == 0 else SOLVE)
        way.steps[q, m, 0] = -1 if ended else 0
        progress.steps[q, 0] = progress.steps[q, 1] = 0
    way.place[1] = 1


@plain
def write(sets: Sets, progress: Progress, way: Way, feature: Array, value: Array) -> bool:
    """Write what came out at a point; False where that does not fit."""
    m, kept, needed = way.place[0], way.place[2], 0
    for q in range(len(progress.state)):
        needed += sets.n_support[q] if way.steps[q, m, 0] >= 0 else 0
    if kept + needed > len(feature):
        return False
    for q in range(len(progress.state)):
        if way.steps[q, m, 0] < 0:
            continue
        way.gap[q, m], way.size[q, m] = progress.gap[q], sets.n_support[q]
        way.steps[q, m, 0], way.steps[q, m, 1] = progress.steps[q, 0], progress.steps[q, 1]
        for a in range(sets.n_support[q]):
            feature[kept], value[kept] = sets.support[q, a], sets.value[q, a]
            kept += 1
    way.place[0], way.place[1], way.place[2] = m + 1, 0, kept
    return True
