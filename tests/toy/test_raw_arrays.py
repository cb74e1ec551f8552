"""Raw arrays to report and a newly scored array, by the documented commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from array_files import RAW_KINDS as KINDS
from array_files import lay
from study_runs import environment

from genesig.cli import main

pytestmark = pytest.mark.slow

QUICK_SECTIONS = {
    "nonlinear": {"enabled": False},
    "controls": {"permutations": 3, "baselines": []},
    "signature": {"permutations": 20},
    "splits": {"repeats": 1, "subsamples": 4, "batches": 1},
    "linear": {"tau_count": 4},
}


def begun(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lay out the arrays and begin their study."""
    lay(folder, kind)
    monkeypatch.chdir(folder)
    assert main(["init", "study", "--expression", "arrays", "--samples", "samples.tsv"]) == 0
    monkeypatch.chdir(folder / "study")
    return folder / "study/config.yaml"


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_begins_with_the_steps_of_its_arrays(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = yaml.safe_load(begun(tmp_path, kind, monkeypatch).read_text())
    steps = [step["step"] for step in config.get("normalise", {}).get("folds", [])]
    assert ("median_polish" in steps) == (kind == "transcripts")
    assert main(["validate", "config.yaml"]) == 0
    assert "24 samples (12 control, 12 case" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_raw_arrays_are_analysed_and_a_new_array_is_scored(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = begun(tmp_path, kind, monkeypatch)
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | QUICK_SECTIONS))
    line = [sys.executable, "-c", "from genesig.cli import main; main()", "run", "config.yaml"]
    process = subprocess.run(
        [*line, "--cores", "2"], env=environment(), capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    assert "</html>" in Path("results/report.html").read_text(encoding="utf-8")
    signature = pd.read_csv("results/signature.tsv", sep="\t", dtype={"gene": str})
    assert set(signature["gene"][:3]) <= set(KINDS[kind][2])
    new = ["predict", "results/model.json", "../new", "--layout", "../arrays"]
    assert main(new) == 0
    assert list(pd.read_csv("predictions.tsv", sep="\t")["predicted"]) == ["control", "case"]
