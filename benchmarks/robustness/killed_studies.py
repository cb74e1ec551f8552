"""Kill studies at random moments, resume them, and compare results with uninterrupted runs.

    python benchmarks/robustness/killed_studies.py [kills] [seed]

Studies of every kind of response, and a study of several studies, in turn: up to ten times a job,
Snakemake or the whole process group gets a signal, and the study is resumed as
docs/how_to/running.md says. Then it is completed. Jobs that outlive a killed Snakemake may still
run at that time, as they would for a user.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import cycle, islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))

from study_data import study_of
from study_runs import (
    command,
    differing_results,
    environment,
    lay_out_studies,
    make_study,
    results,
    run,
    write_matrix,
)

VICTIMS = ("job", "master", "group")  # master: Snakemake itself
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
CORES = 1
MAX_KILLS = 10  # of one study
SMALL_CONFIG: dict[str, Any] = {
    "label": "state",
    "splits": {"repeats": 1, "subsamples": 2, "batches": 1},
    "linear": {"tau_count": 3, "mu": [1e-6, 1.0]},
    "nonlinear": {"enabled": False},
    "signature": {"permutations": 1},
    "controls": {"permutations": 2, "permutations_per_job": 2, "baselines": ["dummy"]},
}
# Kind of study -> further sections of its config.
KINDS: dict[str, dict[str, Any]] = {
    "classification": {},
    "several_classes": {},
    "regression": {"data": {"task": "regression"}},
    "survival": {
        "label": {"time": "state", "event": "end"},
        "data": {"task": "survival", "event": "dead"},
    },
    "several_studies": {"label": "diagnosis", "across": {"align": "auto"}},
}


def run_kills(
    times: int, seed: int, place: Path, kinds: Iterable[str] = KINDS
) -> Iterator[tuple[int, str, list[str]]]:
    """Yield number of kills, description and names of differing results, until `times` kills.

    Each item is a study that was killed up to `MAX_KILLS` times. Only received signals count.
    """
    # A process in the background ignores SIGINT, and so do the processes it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = random.Random(seed)
    kills = cycle(rng.sample(list(product(VICTIMS, SIGNALS)), len(VICTIMS) * len(SIGNALS)))
    uninterrupted: dict[str, tuple[float, dict[str, bytes]]] = {}
    n_left = times
    for kind in cycle(kinds):
        if kind not in uninterrupted:
            uninterrupted[kind] = _lay_out_and_run(kind, place)
        folder = place / f"{kind} killed"
        seconds, expected_results = uninterrupted[kind]
        messages: list[str] = []
        surviving_jobs: list[psutil.Process] = []
        for victim, kill_signal in islice(kills, min(MAX_KILLS, n_left)):
            moment = rng.uniform(0, 2 * seconds / MAX_KILLS)
            jobs, is_sent = run_and_kill(folder, victim, kill_signal, moment, rng)
            surviving_jobs += jobs
            messages += [f"{kill_signal.name} to {victim} after {moment:.1f} s"] if is_sent else []
            run(folder, "--unlock", cores=CORES)
        run(folder, cores=CORES)
        differences = differing_results(expected_results, results(folder))
        yield len(messages), f"{kind}: {', '.join(messages)}", differences
        for job in surviving_jobs:
            with suppress(psutil.NoSuchProcess):  # psutil kills no new process of the same number
                job.kill()
        for folder_name in ("results", "logs", ".snakemake"):
            shutil.rmtree(folder / folder_name)
        n_left -= len(messages)
        if not n_left:
            return


def _lay_out_and_run(kind: str, place: Path) -> tuple[float, dict[str, bytes]]:
    """Lay out a study to kill and the same to run; return seconds and results of the latter."""
    for name in ("killed", "whole"):
        folder = place / f"{kind} {name}"
        folder.mkdir()
        _lay_out(kind, folder)
    start = time.monotonic()
    run(folder, cores=CORES)
    return time.monotonic() - start, results(folder)


def _lay_out(kind: str, folder: Path) -> None:
    """Write the config and the data of a study."""
    config = SMALL_CONFIG | KINDS[kind]
    if kind == "several_studies":
        lay_out_studies(folder, config)
        return
    data = study_of(kind, 1, n=30, signal=1.0)
    make_study(folder, config)
    write_matrix(folder, data.genes, data.samples, data.X.T)
    data.obs.to_csv(folder / "samples.tsv", sep="\t", index_label="sample")


def run_and_kill(
    folder: Path, victim: str, kill_signal: signal.Signals, moment: float, rng: random.Random
) -> tuple[list[psutil.Process], bool]:
    """Start or resume a study, send the signal after `moment` seconds, and wait for Snakemake.

    Return the jobs that outlive Snakemake, and whether the signal was received. An exit code of 0
    without a report is an error.
    """
    snakemake = subprocess.Popen(
        command(cores=CORES),
        cwd=folder,
        env=environment(),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with suppress(subprocess.TimeoutExpired):
        snakemake.wait(moment)
    is_sent = False
    while snakemake.poll() is None and not is_sent:
        is_sent = _send_signal(snakemake.pid, victim, kill_signal, rng)
        time.sleep(0 if is_sent else 0.02)
    code = snakemake.wait()
    is_finished = (folder / "results/report.html").exists()
    assert code != 0 or is_finished, "ended with exit code 0 before it was finished"
    jobs = [job for job in psutil.process_iter() if _session(job.pid) == snakemake.pid]
    return jobs, is_sent


def _session(process: int) -> int:
    """Return the session of a process; 0 if it has ended."""
    with suppress(ProcessLookupError, PermissionError):
        return os.getsid(process)
    return 0


def _send_signal(master: int, victim: str, kill_signal: signal.Signals, rng: random.Random) -> bool:
    """Send the signal; return False if the victim is a job and no job runs."""
    with suppress(ProcessLookupError, psutil.NoSuchProcess):
        if victim == "group":
            os.killpg(master, kill_signal)
        elif victim == "master":
            os.kill(master, kill_signal)
        else:
            jobs = [
                child
                for child in psutil.Process(master).children(recursive=True)
                if any("/scripts/" in word for word in child.cmdline())
            ]
            if not jobs:
                return False
            rng.choice(jobs).send_signal(kill_signal)
    return True


def main(times: int = 100, seed: int = 0) -> int:
    """Kill studies `times` times; return 1 if a result differs."""
    n_kills = 0
    n_differing = 0
    with TemporaryDirectory() as place:
        for count, messages, differences in run_kills(times, seed, Path(place)):
            n_kills += count
            n_differing += len(differences)
            outcome = ", ".join(differences) or "equal results"
            print(f"{n_kills:3d} {messages}: {outcome}", flush=True)
    print(f"{n_kills} kills, {n_differing} differing files")
    return int(n_differing > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
