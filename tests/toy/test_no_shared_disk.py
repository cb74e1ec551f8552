"""A study whose jobs share no disk reads all its files through a storage."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from places import ROOT
from rna_series import (
    ANNOTATION,
    COUNT_SAMPLES,
    COUNTS,
    MATRIX,
    annotation_table,
    counts_table,
    empty_matrix,
)
from study_runs import differing_results, results, run

from genesig.results import Dataset

pytest.importorskip("snakemake_executor_plugin_cluster_generic")
pytest.importorskip("snakemake_storage_plugin_fs")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("rsync") is None, reason="needs rsync"),
]

# Each job gets a folder of its own, in which it sees nothing of the study.
SUBMIT = """#!/bin/bash
node=$(mktemp -d {folder}/node.XXXXXX)
cd "$node"
(bash "$1" &> log; echo $? > exit_code) &> /dev/null &
echo "$node"
"""
STATUS = """#!/bin/bash
case $(cat "$1/exit_code" 2> /dev/null) in
    "") echo running ;;
    0) echo success ;;
    *) cat "$1/log" >&2; echo failed ;;
esac
"""


def copy_smallest_study(folder):
    """Lay out `.test` and its data as in the clone; return the study's folder."""
    shutil.copytree(ROOT / "resources/examples", folder / "resources/examples")
    study = folder / ".test"
    (study / "config").mkdir(parents=True)
    shutil.copy(ROOT / ".test/config/config.yaml", study / "config")
    for part in ("Snakefile", "workflow", "genesig"):
        (study / part).symlink_to(ROOT / part)
    return study


def write_command(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def run_without_shared_disk(study, nodes, usage, *options):
    """Run a study by jobs that are submitted; return the storage and what the run printed."""
    nodes.mkdir()
    submit = write_command(nodes / "submit", SUBMIT.format(folder=nodes))
    status = write_command(nodes / "status", STATUS)
    storage = nodes / "storage"
    cluster = ["--executor", "cluster-generic", "--cluster-generic-submit-cmd", submit]
    cluster += ["--cluster-generic-status-cmd", status, "--seconds-between-status-checks", "1"]
    cluster += ["--default-storage-provider", "fs", "--default-storage-prefix", str(storage)]
    cluster += ["--jobs", "4", "--configfile", "config/config.yaml", "--shared-fs-usage", *usage]
    return storage, run(study, *cluster, *options).stdout


@pytest.fixture(autouse=True)
def python_of_this_environment(monkeypatch):
    """Let jobs, which call `python`, find the one with genesig and the plugins."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_jobs_of_a_shared_workflow_without_shared_inputs_are_all_submitted(tmp_path):
    study = copy_smallest_study(tmp_path)
    usage = ["persistence", "software-deployment", "sources", "source-cache"]
    storage, _ = run_without_shared_disk(study, tmp_path / "nodes", usage, "--until", "split")
    assert len(list((tmp_path / "nodes").glob("node.*"))) == 4
    assert (storage / "results/splits.json").exists()


def test_study_without_shared_disk_equals_the_results_of_one_machine(tmp_path):
    (tmp_path / "laptop").mkdir()
    laptop = copy_smallest_study(tmp_path / "laptop")
    run(laptop)
    study = copy_smallest_study(tmp_path / "cluster")
    storage, printed = run_without_shared_disk(
        study, tmp_path / "nodes", ["sources", "source-cache"]
    )
    planned = int(re.search(r"^total +(\d+)$", printed, re.MULTILINE)[1])
    uploads = int(re.search(r"^upload +(\d+)$", printed, re.MULTILINE)[1])
    # The target rule `all` has nothing to run.
    assert len(list((tmp_path / "nodes").glob("node.*"))) == planned - uploads - 1
    assert (storage / "results/report.html").exists()
    assert differing_results(results(storage), results(laptop)) == []
    assert not (study / "results/report.html").exists()


def test_folder_of_files_without_shared_disk_is_read_from_its_copy(tmp_path):
    study = copy_smallest_study(tmp_path)
    (study / "arrays").mkdir()
    lines = (ROOT / "resources/examples/counts_samples.tsv").read_text().splitlines()
    for number, line in enumerate(lines[1:]):
        values = [f"g{gene}\t{(7 * gene + 3 * number) % 40 + 5}" for gene in range(30)]
        text = "\n".join([f"gene\t{line.split()[0]}", *values]) + "\n"
        (study / f"arrays/{line.split()[0]}.tsv").write_text(text)
    config = yaml.safe_load((study / "config/config.yaml").read_text())
    config["expression"] = "arrays"
    (study / "config/config.yaml").write_text(yaml.safe_dump(config))
    storage, _ = run_without_shared_disk(
        study, tmp_path / "nodes", ["sources", "source-cache"], "--until", "read"
    )
    assert (storage / "results/data/raw.h5ad").exists()


def test_rna_seq_series_without_shared_disk_is_read_with_its_counts(tmp_path):
    study = copy_smallest_study(tmp_path)
    geo = study / "data/geo"
    geo.mkdir(parents=True)
    content = {MATRIX: empty_matrix(), COUNTS: counts_table(), ANNOTATION: annotation_table()}
    for name, packed in content.items():
        (geo / name).write_bytes(packed)
    config = yaml.safe_load((study / "config/config.yaml").read_text())
    series = f"data/geo/{MATRIX}"
    config |= {"expression": series, "samples": series, "label": "disease state"}
    (study / "config/config.yaml").write_text(yaml.safe_dump(config))
    usage = ["sources", "source-cache"]
    storage, _ = run_without_shared_disk(study, tmp_path / "nodes", usage, "--until", "read")
    assert len(Dataset.load(storage / "results/data/raw.h5ad").samples) == len(COUNT_SAMPLES)
