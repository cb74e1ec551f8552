"""Compare a few draws of a trial with its claims, for the tests.

benchmarks/accuracy/claims.py draws more, and its table gives the spread of one draw. The tests have
these powers, at a chance of MAX_CHANCE that a true claim fails:

* A share of at most 7% fails from 5 of 12 draws on or 4 of 8, a share of at least 93% from as many
  misses. Leaks of test samples make nearly all draws wrong. 24 draws and standard errors needed 10.
* A mean fails if it is more than 3 to 6 standard deviations of a draw / √draws outside its bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from certificate import Claim, Trial, measured
from claims_page import TABLE
from trials import TRIALS

MAX_CHANCE = 0.00135  # of a failure by accident: three standard errors of many draws
WHOLE_STUDIES = "Whole studies"  # the topics of trials that run studies from file to report
DEFAULT_DRAWS = 12  # of a trial that does not say how many
SEED_STEP = 5  # so that 12 seeds meet all kinds of response and all designs of whole studies


@cache
def certified_deviations() -> dict[tuple[str, str, str, str], tuple[float, int]]:
    """Return the standard deviation of one draw and the draws of each claim of the certificate."""
    table = pd.read_csv(TABLE, sep="\t").dropna(subset=["error"])
    keys = zip(table["topic"], table["data"], table["number"], table["promise"], strict=True)
    deviations = table["error"] * np.sqrt(table["draws"])
    return dict(zip(keys, zip(deviations, table["draws"], strict=True), strict=True))


def is_compatible(values: list[float], claim: Claim, deviation: float, n_certified: int) -> bool:
    """Tell whether draws of a claim, of which NaN made no claim, may come from within its bounds.

    `deviation` is the standard deviation of one draw, measured over `n_certified` draws.
    """
    made = np.array(values, dtype=float)
    made = made[~np.isnan(made)]
    n_draws = len(made)
    if not n_draws:
        return False
    if np.isin(made, (0.0, 1.0)).all():
        n_hits = int(made.sum())
        chance_of_more = scipy.stats.binom.sf(n_hits - 1, n_draws, min(claim.high, 1.0))
        chance_of_fewer = scipy.stats.binom.cdf(n_hits, n_draws, max(claim.low, 0.0))
        return bool(min(chance_of_more, chance_of_fewer) >= MAX_CHANCE)
    slack = scipy.stats.t.isf(MAX_CHANCE, n_certified - 1) * deviation / np.sqrt(n_draws)
    return bool(claim.low - slack <= made.mean() <= claim.high + slack)


def check_trial(trial: Trial) -> None:
    """Draw a trial and fail for the first claim that its draws contradict."""
    seeds = range(0, SEED_STEP * (trial.few or DEFAULT_DRAWS), SEED_STEP)
    draws = [trial.draw(seed) for seed in seeds]
    for claim in trial.claims:
        values = [draw[claim.key] for draw in draws]
        key = (trial.topic, trial.data, claim.number, claim.promise)
        if key in certified_deviations():
            deviation, n_certified = certified_deviations()[key]
        else:  # a trial whose certificate waits for its draws
            deviation = float(np.nanstd(values, ddof=1))
            n_certified = len(values)
        assert is_compatible(values, claim, deviation, n_certified), (
            f"{claim.number}: {measured(draws, claim)}"
        )


def trial_cases(belongs: Callable[[Trial], bool]) -> list[object]:
    """Return the trials of a test file as its cases."""
    return [
        pytest.param(trial, id=f"{trial.topic}: {trial.data}"[:90])
        for trial in TRIALS
        if trial.few is not None and belongs(trial)
    ]
