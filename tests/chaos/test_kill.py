"""A few kills of a study; `python tests/chaos/kill.py` does fifty."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from kill import kills, one_study, several_studies


@pytest.mark.slow
@pytest.mark.parametrize(("make", "times"), [(one_study, 5), (several_studies, 3)])
def test_a_study_that_was_killed_comes_to_the_same_results(
    tmp_path: Path, make: Callable[[Path], None], times: int
) -> None:
    found = list(kills(times, 1, tmp_path, make))
    assert len(found) == times
    assert [each for each in found if each[1]] == []
