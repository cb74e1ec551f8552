"""Studies of survival and of several classes, tested on samples that they have not seen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from places import ROOT

EXAMPLES = {"survival": ("curves", "concordance"), "several": ("confusion", "balanced_error")}
LABELS = {"survival": {"time": "years", "event": "status"}, "several": "tumour"}
DATA = {"survival": {"data": {"event": "relapse"}}, "several": {}}


def _halves(name: str, folder: Path) -> None:
    """Write the shipped example as two studies, four samples to the one and four to the other."""
    example = ROOT / "resources/examples"
    matrix = pd.read_csv(example / f"{name}.tsv.gz", sep="\t", index_col=0, dtype=str)
    samples = pd.read_csv(example / f"{name}_samples.tsv", sep="\t", index_col=0, dtype=str)
    for half, start in (("here", 0), ("there", 1)):
        half_samples = samples[np.arange(len(samples)) // 4 % 2 == start]
        half_samples.to_csv(folder / f"{half}_samples.tsv", sep="\t")
        matrix[list(half_samples.index)].to_csv(folder / f"{half}.tsv", sep="\t")


def _sets(folder: Path) -> None:
    """Write sets of ten genes, of which the first has those that the response goes with."""
    lines = [
        f"of {k}\tabout\t" + "\t".join(f"gene{j:03d}" for j in range(k, k + 10))
        for k in range(1, 300, 20)
    ]
    (folder / "sets.gmt").write_text("\n".join(lines) + "\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_other_half_of_an_example_is_scored_and_reported(name: str, tmp_path: Path) -> None:
    _halves(name, tmp_path)
    config = {
        "expression": "here.tsv",
        "samples": "here_samples.tsv",
        "label": LABELS[name],
        "splits": {"folds": 3, "inner_folds": 3, "repeats": 1, "subsamples": 0},
        "linear": {"tau_count": 8},
        "quality": {"modules": 0},
        "controls": {"permutations": 0, "baselines": []},
        "external": [{"name": "there", "expression": "there.tsv", "samples": "there_samples.tsv"}],
        "structured": {"sets": "sets.gmt", "smallest": 2, "tau_count": 5},
        **DATA[name],
    }
    _sets(tmp_path)
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(config))
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "1",
        "--configfile",
        "c.yaml",
        "--snakefile",
        str(ROOT / "Snakefile"),
    ]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    picture, measure = EXAMPLES[name]
    results = tmp_path / "results"
    sets = pd.read_csv(results / "sets.tsv", sep="\t")
    assert sets["set"][0] == "of 1"
    assert sets["cv_frequency"][0] == 1
    assert pd.read_csv(results / "sets_error.tsv", sep="\t")["error"][0] < 0.5
    genes = pd.read_csv(results / "sets_genes.tsv", sep="\t")
    assert sum(column.startswith("weight ") for column in genes) == 4 * (name == "several")
    scores = pd.read_csv(results / "external/there/scores.tsv", sep="\t", index_col=0)
    for _, rows in scores.groupby("list"):
        assert rows.loc[measure, "value"] > (0.5 if name == "survival" else -1)
    assert (results / f"figures/external_there_{picture}.svg").is_file()
    record = json.loads((results / "run.json").read_text())
    kind = "survival" if name == "survival" else "several classes"
    assert record["not_applied"] == [f"nonlinear selection is not offered for {kind}"]
    assert record["config"]["nonlinear"]["enabled"] is False
