"""All trials: a module a topic, each with a list TRIALS."""

from __future__ import annotations

import covariates
from certificate import Trial

TRIALS: tuple[Trial, ...] = (*covariates.TRIALS,)
