"""Whatever the files hold, the answer is lines for people: no exception, no half a message."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from small_study import Study
from spoiled_bytes import spoil

from genesig.cli import main


@pytest.mark.parametrize("name", ["config.yaml", "samples.tsv", "expression.tsv"])
def test_spoiled_files_end_in_lines_for_people(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    codes = set()
    for seed in range(12):
        Study(tmp_path).write()
        spoil(tmp_path / name, random.Random(seed))
        code = main(["validate", "config.yaml"])
        lines = capsys.readouterr().err.splitlines()
        assert code == any(line.startswith("error: ") for line in lines), seed
        assert all(line.startswith(("error: ", "warning: ")) for line in lines), seed
        codes.add(code)
    assert 1 in codes
