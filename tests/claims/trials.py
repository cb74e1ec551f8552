"""All trials: a module a topic, each with a list TRIALS."""

from __future__ import annotations

import gene_sets
import intervals
import lists
import missing
import probabilities
from certificate import Trial

TRIALS: tuple[Trial, ...] = (
    *gene_sets.TRIALS,
    *intervals.TRIALS,
    *lists.TRIALS,
    *missing.TRIALS,
    *probabilities.TRIALS,
)
