"""Collect the trials of all topics; each module has a list TRIALS."""

from __future__ import annotations

import bent_signal
import cohort_groups
import covariates
import designs
import gene_sets
import intervals
import lists
import missing
import probabilities
import risks
import whole_signals
import whole_studies
from certificate import Trial

TRIALS: tuple[Trial, ...] = (
    *covariates.TRIALS,
    *gene_sets.TRIALS,
    *intervals.TRIALS,
    *cohort_groups.TRIALS,
    *bent_signal.TRIALS,
    *lists.TRIALS,
    *missing.TRIALS,
    *probabilities.TRIALS,
    *risks.TRIALS,
    *whole_studies.TRIALS,
    *whole_signals.TRIALS,
    *designs.TRIALS,
)
