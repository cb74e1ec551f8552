"""All trials: a module a topic, each with a list TRIALS."""

from __future__ import annotations

import intervals
from certificate import Trial

TRIALS: tuple[Trial, ...] = (*intervals.TRIALS,)
