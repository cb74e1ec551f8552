"""Test what reports of whole studies state on a few studies of each kind and design."""

import pytest
from claim_checks import WHOLE_STUDIES, check_trial, trial_cases

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("trial", trial_cases(lambda trial: trial.topic.startswith(WHOLE_STUDIES)))
def test_statement_of_a_whole_study_lies_within_its_stated_interval(trial):
    check_trial(trial)
