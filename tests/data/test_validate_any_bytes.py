"""Validation of random file content gives messages and no exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import Study
from spoiled_bytes import TABLES, answers


@pytest.mark.parametrize("name", ["config.yaml", "samples.tsv", "expression.tsv"])
def test_spoiled_files_end_in_lines_for_people(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Study(tmp_path).write()
    assert 1 in answers(Path(name), TABLES, 12, capsys)
