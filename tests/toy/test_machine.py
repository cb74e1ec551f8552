"""Machine failures stop a study with one line; a second run completes it."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from study_runs import command, environment, make_study, run

CHANGES = {"nonlinear": {"enabled": False}, "controls": {"permutations": 0, "baselines": []}}
RESUME_HINT = "run again: what is finished is kept"


def may_mount() -> bool:
    """Tell whether a process may have disks of its own."""
    tried = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return (
        shutil.which("unshare") is not None
        and not subprocess.run(tried, capture_output=True, check=False).returncode
    )


def run_after(folder: Path, prepare: str, target: str) -> tuple[int, str]:
    """Run the study to a target after shell commands, in a process group with its own disks."""
    script = f"{prepare} && exec {' '.join(command(target))}"
    unshare = ["unshare", "-rm"] if "mount" in prepare else []
    process = subprocess.run(
        [*unshare, "bash", "-c", script],
        cwd=folder,
        env=environment(),
        text=True,
        capture_output=True,
        check=False,
        timeout=300,
    )
    return process.returncode, process.stdout + process.stderr


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "study").mkdir()
    return Path(make_study(tmp_path / "study", CHANGES))


@pytest.mark.slow
@pytest.mark.skipif(not may_mount(), reason="no disks of one's own here")
@pytest.mark.parametrize(
    ("prepare", "line"),
    [
        ("mount -t tmpfs -o size=20k tmpfs results", "results/data/raw.h5ad: the disk is full ("),
        ("mount -t tmpfs -o size=4k tmpfs results", "the disk is full ("),
        ("mount -t tmpfs -o ro tmpfs results", "results: cannot be written to"),
        ("mount -t tmpfs -o ro tmpfs logs", "logs: cannot be written to"),
    ],
    ids=["full", "fuller", "read-only results", "read-only logs"],
)
def test_full_disk_is_named_and_the_study_resumes(study: Path, prepare: str, line: str) -> None:
    for name in ("results", "logs"):
        (study / name).mkdir()
    code, output = run_after(study, prepare, "results/dataset.h5ad")
    assert code != 0
    assert f"error: {line}" in output or f": {line}" in output
    assert "Traceback" not in output
    run(study, "results/dataset.h5ad")


@pytest.mark.slow
@pytest.mark.skipif(not may_mount(), reason="no disks of one's own here")
def test_read_only_home_needs_a_cache_folder(study: Path) -> None:
    home = study.parent / "home"
    home.mkdir()
    prepare = f"mount -t tmpfs -o ro tmpfs {home} && export HOME={home} XDG_CACHE_HOME="
    code, output = run_after(study, f"{prepare}$PWD/.cache", "results/splits.json")
    assert code == 0, output
    code, output = run_after(study, f"{prepare}{home}/.cache", "results/splits.json")
    assert code != 0
    assert f"Read-only file system: '{home}/.cache'" in output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "line"), [("ulimit -v 300000", "not enough memory, of which this process may have")]
)
def test_resource_limit_is_reported_before_anything_runs(
    study: Path, limit: str, line: str
) -> None:
    code, output = run_after(study, limit, "results/validation.json")
    assert code != 0
    assert line in output
    assert "Traceback" not in output
    assert not (study / "results").exists()
    run(study, "results/validation.json")


@pytest.mark.slow
def test_killed_job_is_named_and_the_study_resumes(study: Path) -> None:
    begun = subprocess.Popen(
        command("results/splits.json"),
        cwd=study,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    jobs: list[psutil.Process] = []
    while begun.poll() is None and not jobs:
        time.sleep(0.05)
        children = psutil.Process(begun.pid).children(recursive=True)
        # A child that has not yet become the job's Python is a copy of Snakemake.
        jobs = [
            child
            for child in children
            if child.name().startswith("python") and child.cmdline()[-1].endswith(".validate.py")
        ]
    jobs[-1].kill()
    output, _ = begun.communicate()
    assert begun.returncode != 0
    (line,) = [line for line in output.splitlines() if line.startswith("error: ")]
    assert line.startswith("error: rule validate: was killed (SIGKILL)")
    assert line.endswith(RESUME_HINT)
    run(study, "results/splits.json")


@pytest.mark.slow
def test_second_run_in_one_folder_is_refused(study: Path) -> None:
    first_run = subprocess.Popen(
        command("results/splits.json"),
        cwd=study,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    locks = study / ".snakemake" / "locks"
    while not (locks.exists() and any(locks.iterdir())):
        assert first_run.poll() is None
        time.sleep(0.05)
    second = run(study, "results/splits.json", check=False)
    assert second.returncode != 0
    assert "cannot be locked" in second.stdout + second.stderr
    assert first_run.wait() == 0
    run(study, "results/splits.json")


@pytest.mark.slow
def test_results_may_lie_elsewhere(study: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (study / "results").symlink_to(tmp_path / "elsewhere")
    run(study, "results/splits.json")
    linked = (tmp_path / "elsewhere/splits.json").read_bytes()
    (study / "results").unlink()
    run(study, "results/splits.json")
    assert (study / "results/splits.json").read_bytes() == linked
