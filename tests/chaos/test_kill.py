"""A few killed studies; `benchmarks/robustness/killed_studies.py` kills a hundred, of all kinds."""

from __future__ import annotations

from pathlib import Path

import pytest
from killed_studies import run_kills


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classification", "several_studies"])
def test_a_study_that_was_killed_comes_to_the_same_results(tmp_path: Path, kind: str) -> None:
    found = list(run_kills(5, 1, tmp_path, [kind]))
    assert sum(count for count, _, _ in found) == 5
    assert [other for _, _, other in found if other] == []
