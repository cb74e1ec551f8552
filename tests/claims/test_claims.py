"""Test each stated number on a few draws; whole studies are in the file beside."""

import numpy as np
import pandas as pd
import pytest
from certificate import Claim
from claim_checks import WHOLE_STUDIES, check_trial, is_compatible, trial_cases
from claims_page import PAGE, TABLE, page
from trials import TRIALS

SHARE = Claim("x", "share", "at most 7%", 0.0, 0.07)
COVERAGE = Claim("x", "95% CI", "holds the truth in 93 to 98%", 0.93, 0.98)
SLOPE = Claim("x", "slope", "within 0.8 and 1.25", 0.8, 1.25)


@pytest.mark.slow
@pytest.mark.parametrize(
    "trial", trial_cases(lambda trial: not trial.topic.startswith(WHOLE_STUDIES))
)
def test_measured_claim_lies_within_its_stated_interval(trial):
    check_trial(trial)


def test_claims_have_unique_keys():
    keys = [(trial.topic, trial.data, claim.key) for trial in TRIALS for claim in trial.claims]
    assert len(set(keys)) == len(keys)
    assert all(claim.low <= claim.high for trial in TRIALS for claim in trial.claims)


@pytest.mark.parametrize(
    ("claim", "values", "expected"),
    [
        (SHARE, [1.0] * 4 + [0.0] * 8, True),
        (SHARE, [1.0] * 5 + [0.0] * 7, False),
        (COVERAGE, [1.0] * 12, True),
        (COVERAGE, [1.0] * 8 + [0.0] * 4, True),
        (COVERAGE, [1.0] * 7 + [0.0] * 5, False),
        (SLOPE, [1.5, 1.6], True),
        (SLOPE, [1.8, 1.9], False),
        (SLOPE, [0.2, 0.3], False),
        (SLOPE, [np.nan], False),
    ],
)
def test_draws_far_outside_the_bounds_of_a_claim_are_refused(claim, values, expected):
    assert is_compatible(values, claim, deviation=0.18, n_certified=12) == expected


def test_claims_page_equals_page_written_from_the_measured_table():
    table = pd.read_csv(TABLE, sep="\t")
    assert PAGE.read_text() == page(table, TRIALS), "run: benchmarks/accuracy/claims.py page"
    stated_claims = set(
        zip(table["topic"], table["data"], table["number"], table["promise"], strict=True)
    )
    claimed = {(t.topic, t.data, c.number, c.promise) for t in TRIALS for c in t.claims}
    assert stated_claims <= claimed
