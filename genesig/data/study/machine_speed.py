"""How fast this processor is, beside the one on which the constants of `cost` were measured."""

from __future__ import annotations

import time

import numpy as np

LOOP_SECONDS = 0.0019
ARRAY_SECONDS = 0.00095
"""Processor seconds of the two trials there, an AMD EPYC of two cores."""

TRIALS = 5
"""Trials of each, of which the fastest counts: other work makes a trial slower, never faster."""


def slowness() -> float:
    """Return how many times as long this processor takes for a loop and for sums of arrays.

    The two trials count alike; all of them take less than a tenth of a second.
    """
    values = np.linspace(0.0, 1.0, 4096)
    loop_seconds = []
    array_seconds = []
    for _ in range(TRIALS):
        start = time.process_time()
        total = 0.0
        for number in range(50_000):
            total += number * 0.5
        middle = time.process_time()
        for _ in range(400):
            values * values + values
        loop_seconds.append(middle - start)
        array_seconds.append(time.process_time() - middle)
    ratio = min(loop_seconds) / LOOP_SECONDS * min(array_seconds) / ARRAY_SECONDS
    return float(np.sqrt(ratio))
