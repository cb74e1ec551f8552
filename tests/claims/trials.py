"""All trials: a module a topic, each with a list TRIALS."""

from __future__ import annotations

import lists
import probabilities
from certificate import Trial

TRIALS: tuple[Trial, ...] = (
    *lists.TRIALS,
    *probabilities.TRIALS,
)
