"""The same study through a SLURM controller; needs one, and the extra slurm."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
from typing import NamedTuple

import pytest
import yaml
from study_runs import differing_results, lay_out_studies, make_study, results, run

from genesig.data.files.readers import load_schema
from genesig.data.study.config_check import resolve_config
from genesig.data.study.cost import Size, job_resources, study_costs

QUICK_SECTIONS = {
    "across": {"align": "auto"},
    "splits": {"subsamples": 2, "batches": 2},
    "linear": {"tau_count": 3, "mu": [1e-3]},
    "signature": {"permutations": 2},
    "controls": {"permutations": 2, "permutations_per_job": 1, "baselines": ["dummy"]},
}

FEW_JOBS = {
    **QUICK_SECTIONS,
    "splits": {"subsamples": 2, "batches": 1},
    "controls": {"permutations": 1, "permutations_per_job": 1, "baselines": ["dummy"]},
    "nonlinear": {"enabled": False},
}

# sacct answers only where SLURM keeps accounts, which the controllers of tests may not do.
PROFILE = ("--workflow-profile", "profiles/slurm", "--slurm-status-command", "squeue")


RECORDING_SBATCH = """#!/bin/bash
job=$({sbatch} "$@") || exit
scontrol show job --oneliner "${{job%%;*}}" >> {record}
echo "$job"
"""


class ClusterJob(NamedTuple):
    """What SLURM knows of a job: its rule or group, and what it was submitted with."""

    rule: str
    partition: str
    memory_mb: int
    minutes: int


def controller_answers():
    return bool(
        importlib.util.find_spec("snakemake_executor_plugin_slurm")
        and shutil.which("sinfo")
        and subprocess.run(["sinfo"], capture_output=True, check=False).returncode == 0
    )


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not controller_answers(), reason="no SLURM controller here"),
]


def partitions():
    listed = subprocess.run(["sinfo", "-h", "-o", "%R"], capture_output=True, text=True, check=True)
    return listed.stdout.split()


@pytest.fixture
def submissions(tmp_path, monkeypatch):
    """Return a file with what SLURM says of each job right after its submission.

    SLURM itself forgets jobs some minutes after their end.
    """
    record = tmp_path / "submissions"
    wrapper = tmp_path / "bin/sbatch"
    wrapper.parent.mkdir()
    wrapper.write_text(RECORDING_SBATCH.format(sbatch=shutil.which("sbatch"), record=record))
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    return record


def submitted_jobs(record):
    """Return the jobs of a run in the order of submission."""
    jobs = []
    for line in record.read_text().splitlines():
        fields = dict(field.split("=", 1) for field in line.split() if "=" in field)
        rule = re.match("(?:rule|group)_([a-z_]+?)(?:_wildcards_.*)?$", fields["Comment"])[1]
        memory = fields["MinMemoryNode"][:-1]
        unit = fields["MinMemoryNode"][-1]
        memory_mb = int(memory) * {"M": 1, "G": 1024}[unit]
        minutes = minutes_of(fields["TimeLimit"])
        jobs.append(ClusterJob(rule, fields["Partition"], memory_mb, minutes))
    return jobs


def minutes_of(limit):
    """Return the minutes of a time limit such as 1-02:30:00 or 10:00."""
    days, _, clock = limit.rpartition("-")
    hours, minutes, _ = ["0", *clock.split(":")][-3:]
    return 24 * 60 * int(days or 0) + 60 * int(hours) + int(minutes)


@pytest.mark.parametrize("several", [False, True])
def test_the_cluster_gives_the_bytes_of_the_laptop(tmp_path, several):
    def make(folder):
        return lay_out_studies(folder, QUICK_SECTIONS) if several else make_study(folder)

    (tmp_path / "laptop").mkdir()
    (tmp_path / "cluster").mkdir()
    laptop = make(tmp_path / "laptop")
    run(laptop)
    cluster = make(tmp_path / "cluster")
    run(cluster, *PROFILE, "--jobs", "10")
    assert differing_results(results(cluster), results(laptop)) == []


def test_jobs_ask_for_the_partition_of_the_site_and_their_own_memory_and_time(
    tmp_path, submissions
):
    study = make_study(tmp_path, FEW_JOBS)
    # A site's profile, which the profile of the workflow must leave alone.
    site = tmp_path / "site"
    site.mkdir()
    partition = partitions()[-1]
    resources = {"default-resources": [f"slurm_partition={partition}"]}
    (site / "config.yaml").write_text(yaml.safe_dump(resources))
    options = ["--jobs", "10", "--set-resources", "baselines:runtime=77"]
    options += ["--until", "null", "baselines"]
    run(study, "--profile", str(site), *PROFILE, *options)
    jobs = submitted_jobs(submissions)
    assert {job.partition for job in jobs} == {partition}
    config = resolve_config(
        yaml.safe_load((study / "config/config.yaml").read_text()), load_schema()
    )
    size = Size(**json.loads((study / "results/validation.json").read_text())["size"])
    costs = study_costs(config, size)
    alone = [job for job in jobs if not job.rule.startswith("start")]
    fit_rules = {"fit", "fit_observed", "fit_final"}
    assert {job.rule for job in alone} == {"chance", "baselines", "null", *fit_rules}
    for job in alone:
        expected = job_resources(costs.get(job.rule, costs["others"]))
        assert job.memory_mb == expected["mem_mb"]
        assert job.minutes == (77 if job.rule == "baselines" else expected["runtime"])


def test_job_killed_for_its_memory_is_retried_with_twice_as_much(tmp_path, submissions):
    configured = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True)
    if not re.search("OverMemoryKill|ConstrainRAMSpace *= yes", configured.stdout):
        pytest.skip("this controller kills no job for its memory")
    study = make_study(tmp_path, FEW_JOBS, editable_package=True)
    cost = study / "genesig/data/study/cost.py"
    memory = "int(1.25 * cost.megabytes) + SUBMITTED_JOB_MB"
    assert memory in cost.read_text()
    cost.write_text(cost.read_text().replace(memory, "250"))
    run(study, *PROFILE, "--jobs", "10", "--until", "chance")
    jobs = submitted_jobs(submissions)
    assert [job.memory_mb for job in jobs if job.rule == "chance"] == [250, 500]
