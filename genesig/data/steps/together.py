"""Steps that find at once, for many sets of training rows, what they would find for each alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from genesig.data.steps.normalise import NORMALISERS, TOGETHER, Steps

Array = np.ndarray[Any, Any]


def steps_together(X: Array, steps: Steps, trains: Sequence[Array]) -> Iterator[Steps]:
    """Yield the steps for each set of training rows of X, with what was found for many at once.

    The first step alone sees the rows of X as they are, so that sets have something in common.
    """
    if not steps or steps[0]["step"] not in TOGETHER:
        yield from [steps] * len(trains)
        return
    settings = {key: value for key, value in steps[0].items() if key != "step"}
    for found in NORMALISERS[steps[0]["step"]].together(X, trains, **settings):
        yield [{"step": steps[0]["step"], **found}, *steps[1:]]
