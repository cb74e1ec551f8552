"""Test each stated number on a few draws; benchmarks/accuracy/claims.py draws more."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from certificate import Claim, measured
from claims_page import PAGE, TABLE, page
from trials import TRIALS

MAX_CHANCE = 0.00135  # of a mean so far outside by accident: three standard errors of many draws
SAMPLE_OF_TRIALS = 24  # draws of a trial that does not say how many
TRIAL_CASES = [
    pytest.param(t, id=f"{t.topic}: {t.data}"[:90], marks=[] if t.few else [pytest.mark.slow])
    for t in TRIALS
    if t.few is not None
]


def errors_allowed(n_draws):
    """Return how many standard errors a mean of so few draws may lie outside by accident."""
    return float(scipy.stats.t.isf(MAX_CHANCE, max(n_draws - 1, 1)))


@pytest.mark.slow
@pytest.mark.parametrize("trial", TRIAL_CASES)
def test_measured_claim_lies_within_its_stated_interval(trial):
    rows = [trial.draw(seed) for seed in range(trial.few or SAMPLE_OF_TRIALS)]
    for claim in trial.claims:
        measured_values = measured(rows, claim)
        allowed = errors_allowed(measured_values.draws)
        assert measured_values.within(claim.low, claim.high, allowed), (
            f"{claim.number}: {measured_values}"
        )


def test_claims_have_unique_keys():
    keys = [(trial.topic, trial.data, claim.key) for trial in TRIALS for claim in trial.claims]
    assert len(set(keys)) == len(keys)
    assert all(claim.low <= claim.high for trial in TRIALS for claim in trial.claims)


def test_mean_far_outside_its_interval_is_refused():
    claim = Claim("x", "share", "5 %", 0.03, 0.07)
    allowed = errors_allowed(30)
    assert not measured([{"x": 1.0}] * 15 + [{"x": 0.0}] * 15, claim).within(0.03, 0.07, allowed)
    assert measured([{"x": 0.0}] * 20, claim).within(0.03, 0.07, errors_allowed(20))
    assert not measured([{"x": np.nan}], claim).within(0.03, 0.07, allowed)


def test_claims_page_equals_page_written_from_the_measured_table():
    table = pd.read_csv(TABLE, sep="\t")
    assert PAGE.read_text() == page(table, TRIALS), "run: benchmarks/accuracy/claims.py page"
    stated_claims = set(
        zip(table["topic"], table["data"], table["number"], table["promise"], strict=True)
    )
    claimed = {(t.topic, t.data, c.number, c.promise) for t in TRIALS for c in t.claims}
    assert stated_claims <= claimed
