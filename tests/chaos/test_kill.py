"""A few kills of a study; `python tests/chaos/kill.py` does a hundred, over all kinds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from kill import kills


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classification", "several_studies"])
def test_a_study_that_was_killed_comes_to_the_same_results(tmp_path: Path, kind: str) -> None:
    found = list(kills(5, 1, tmp_path, [kind]))
    assert sum(count for count, _, _ in found) == 5
    assert [other for _, _, other in found if other] == []
