"""Kill a few studies and resume them; `benchmarks/robustness/killed_studies.py` kills a hundred."""

from __future__ import annotations

from pathlib import Path

import pytest
from killed_studies import run_kills


@pytest.mark.slow
@pytest.mark.parametrize(  # tests/toy/test_workflow.py kills and resumes two classes, too
    "kind", [pytest.param("classification", marks=pytest.mark.long), "several_studies"]
)
def test_killed_study_gives_the_same_results_after_resuming(tmp_path: Path, kind: str) -> None:
    killed_runs = list(run_kills(3, 1, tmp_path, [kind]))
    assert sum(count for count, _, _ in killed_runs) == 3
    assert [difference for _, _, difference in killed_runs if difference] == []
