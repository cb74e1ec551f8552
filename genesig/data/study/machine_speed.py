"""Measure how fast this processor is, compared with the one that `cost` was measured on."""

from __future__ import annotations

import time

import numpy as np

LOOP_SECONDS = 0.0019
ARRAY_SECONDS = 0.00095  # processor seconds of the two trials there, an AMD EPYC of two cores

TRIALS = 5
"""Trials of each, of which the fastest counts: other work makes a trial slower, never faster."""


def slowness() -> float:
    """Return this processor's time for a loop and for array sums, relative to the reference.

    Geometric mean of both ratios. The measurement takes less than a tenth of a second.
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
