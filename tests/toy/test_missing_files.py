"""A study with missing input files is refused, even if results of another study exist."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from study_runs import command, make_study, write_config

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("key", "name"), [("expression", "nope.tsv.gz"), ("samples", "samples.tvs")]
)
def test_missing_file_is_refused_despite_results_of_another_study(
    tmp_path: Path, key: str, name: str
) -> None:
    make_study(tmp_path)
    for result in ("validation.json", "data/raw.h5ad", "dataset.h5ad", "splits.json"):
        (tmp_path / "results" / result).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "results" / result).write_text("of another study")
    write_config(tmp_path, {key: name})
    process = subprocess.run(
        command("-n"), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert process.returncode == 1
    output = process.stdout + process.stderr
    assert f"error: {name}: no such file (looked for in {tmp_path})" in output
