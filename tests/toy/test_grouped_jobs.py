"""Short jobs of permutations can be submitted together, as docs/how_to/clusters.md shows."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from places import ROOT
from study_runs import make_study, run

pytest.importorskip("snakemake_executor_plugin_cluster_generic")
pytestmark = pytest.mark.slow

# Writes processors, memory and minutes of each submission, and runs it.
SUBMIT = """#!/bin/bash
echo "$1 $2 $3" >> {record}
bash "$4" &> /dev/null
echo 1
"""
FEW_FITS = {
    "splits": {"subsamples": 2, "batches": 1},
    "controls": {"permutations": 3, "permutations_per_job": 1, "baselines": ["dummy"]},
    "nonlinear": {"enabled": False},
}
N_FITS = 3  # one for each permutation


@pytest.fixture(autouse=True)
def python_of_this_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let jobs, which call `python`, find the one with genesig and the plugins."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def options_of_the_docs() -> list[str]:
    """Return the options of the row of the how-to that submits jobs together."""
    page = (ROOT / "docs/how_to/clusters.md").read_text()
    line = re.search(r"^\| ten `fit` jobs .*`(--groups [^`]*)`", page, re.MULTILINE)
    assert line is not None
    return line[1].split()


def test_fits_of_a_group_are_one_submission_within_the_memory_that_is_set(tmp_path: Path) -> None:
    study = make_study(tmp_path, FEW_FITS)
    record = tmp_path / "submissions"
    submit = tmp_path / "submit"
    submit.write_text(SUBMIT.format(record=record))
    submit.chmod(0o755)
    command = f"{submit} {{threads}} {{resources.mem_mb}} {{resources.runtime}}"
    executor = ["--executor", "cluster-generic", "--cluster-generic-submit-cmd", command]
    run(study, "--until", "fit_final")  # here, as it takes no part
    options = options_of_the_docs()
    run(study, *executor, "--jobs", "4", *options, "--until", "fit")
    submissions = [tuple(map(int, line.split())) for line in record.read_text().splitlines()]
    assert len(list((study / "results/linear").glob("*/1of1.npz"))) == N_FITS
    ((processors, memory_mb, _),) = submissions
    assert 1 < processors <= N_FITS
    assert memory_mb <= int(options[-1].removeprefix("mem_mb="))
