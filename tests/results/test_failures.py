"""Failures of jobs are explained from their logs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from genesig.results.run import find_failures, print_failures

COMMAND = "Command 'set -euo pipefail;  /venv/bin/python /home/x/.snakemake/scripts/tmpd_4b.fit.py'"
LOCAL = {
    f"{COMMAND} died with <Signals.SIGKILL: 9>.": "rule fit: was killed (SIGKILL), by the system",
    f"{COMMAND} returned non-zero exit status 137.": "rule fit: was killed (SIGKILL)",
    f"{COMMAND} died with <Signals.SIGTERM: 15>.": "rule fit: was ended by SIGTERM: run again",
    f"{COMMAND} died with <Signals.SIGBUS: 7>.": "rule fit: lost what it read or wrote",
}
SLURM = {
    "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some of the step tasks have been "
    "OOM Killed.": "was killed for its memory: ask for more (--set",
    "slurmstepd: error: Exceeded job memory limit": "was killed for its memory",
    "slurmstepd: error: *** JOB 7 ON node3 CANCELLED AT 2026-11-22T05:00:00 DUE TO TIME "
    "LIMIT ***": "ran out of time: ask for more minutes (--set",
    "slurmstepd: error: *** JOB 7 ON node3 CANCELLED AT 2026-11-22T05:00:00 DUE TO NODE FAILURE, "
    "SEE SLURMCTLD LOG FOR DETAILS ***": "lost its node, which failed: run again",
    "slurmstepd: error: *** JOB 7 ON node3 CANCELLED AT 2026-11-22T05:00:00 ***": (
        "was cancelled (scancel): run again"
    ),
    "slurmstepd: error: *** JOB 7 ON n CANCELLED AT 2026-11-22T05:00:00 DUE TO PREEMPTION ***": (
        "had to make room"
    ),
}
STATES = {
    "OUT_OF_MEMORY": "for its memory",
    "TIMEOUT": "ran out of time",
    "NODE_FAIL": "its node",
    "CANCELLED": "scancel",
    "PREEMPTED": "to make room",
}


def _failure_messages(folder: Path, log: str) -> list[str]:
    (folder / "2026-11-22T050000.123456.snakemake.log").write_text(log)
    failures_found = find_failures(
        folder / "2026-11-22T050000.123456.snakemake.log", folder / "slurm_logs"
    )
    return [str(problem) for problem in failures_found]


@pytest.mark.parametrize("text", LOCAL)
def test_locally_killed_job_is_named(text: str, tmp_path: Path) -> None:
    (line,) = _failure_messages(tmp_path, f"RuleException:\n{text}\n{text}\nExiting\n")
    assert line.startswith(f"error: {LOCAL[text]}")
    assert line.endswith("run again: what is finished is kept")


@pytest.mark.parametrize("text", SLURM)
def test_the_reason_of_slurm_is_fetched_from_its_log(text: str, tmp_path: Path) -> None:
    log = tmp_path / "slurm_logs/rule_fit/observed_1of2/7.log"
    log.parent.mkdir(parents=True)
    log.write_text(f"Building DAG of jobs...\n{text}\n")
    (line,) = _failure_messages(tmp_path, "Exiting because a job execution failed.")
    assert line.startswith(f"error: rule fit, {log}: {SLURM[text]}")
    os.utime(log, (0, 0))  # of an earlier run
    assert _failure_messages(tmp_path, "Exiting because a job execution failed.") == []


@pytest.mark.parametrize("state", STATES)
def test_slurm_state_suffices_for_a_message(state: str, tmp_path: Path) -> None:
    (line,) = _failure_messages(tmp_path, f"SLURM-job '7' failed, SLURM status is: '{state}'.")
    assert STATES[state] in line


def test_job_that_reported_its_own_failure_is_not_named_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "slurm_logs/rule_fit/a/7.log"
    log.parent.mkdir(parents=True)
    log.write_text("error: a: the disk is full (0 bytes free): free some and run again\n")
    text = f"{COMMAND} returned non-zero exit status 1.\n"
    assert _failure_messages(tmp_path, text) == []
    assert _failure_messages(tmp_path, f"{COMMAND} returned non-zero exit status 2.\n") == []
    assert list(find_failures(tmp_path / "absent.log", tmp_path / "none")) == []
    print_failures(str(tmp_path / "absent.log"))
    assert capsys.readouterr().err == ""
