"""All trials: a module a topic, each with a list TRIALS."""

from __future__ import annotations

import gene_sets
from certificate import Trial

TRIALS: tuple[Trial, ...] = (*gene_sets.TRIALS,)
