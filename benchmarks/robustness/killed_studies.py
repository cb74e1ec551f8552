"""Kill studies at random moments, go on with them, compare the results with those of whole runs.

    python benchmarks/robustness/killed_studies.py [kills] [seed]

Studies of every kind of response, and one of several studies, in turn: a job, Snakemake or the
whole group of processes gets a signal, and the study is gone on with as docs/how_to/running.md
says, up to ten times, until it is whole. What is left of a killed Snakemake's jobs may still be
at work by then, as it would be for a user.
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

VICTIMS = ("job", "master", "group")
HOW = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
CORES = 1
ROUND = 10
SMALLEST: dict[str, Any] = {
    "label": "state",
    "splits": {"repeats": 1, "subsamples": 2, "batches": 1},
    "linear": {"tau_count": 3, "mu": [1e-6, 1.0]},
    "nonlinear": {"enabled": False},
    "signature": {"permutations": 1},
    "controls": {"permutations": 2, "permutations_per_job": 2, "baselines": ["dummy"]},
}
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
    """Yield of each study how often it was killed, how, and which results came out otherwise.

    One is killed up to `ROUND` times on its way; a kill counts where there was somebody to get it.
    """
    # Begun in the background, this would hand on that SIGINT is to be ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    draw = random.Random(seed)
    victims = cycle(draw.sample(list(product(VICTIMS, HOW)), len(VICTIMS) * len(HOW)))
    wholes: dict[str, tuple[float, dict[str, bytes]]] = {}
    n_left = times
    for kind in cycle(kinds):
        if kind not in wholes:
            wholes[kind] = _is_complete(kind, place)
        folder = place / f"{kind} killed"
        (duration, expected) = wholes[kind]
        messages: list[str] = []
        outlived: list[psutil.Process] = []
        for victim, how in islice(victims, min(ROUND, n_left)):
            moment = draw.uniform(0, 2 * duration / ROUND)
            left_over, sent = disturb_run(folder, victim, how, moment, draw)
            outlived += left_over
            messages += [f"{how.name} to {victim} after {moment:.1f} s"] if sent else []
            run(folder, "--unlock", cores=CORES)
        run(folder, cores=CORES)
        study_results = results(folder)
        differences = differing_results(expected, study_results)
        yield len(messages), f"{kind}: {', '.join(messages)}", differences
        for job in outlived:
            with suppress(psutil.NoSuchProcess):  # nor is it another one of the same number
                job.kill()
        for folder_name in ("results", "logs", ".snakemake"):
            shutil.rmtree(folder / folder_name)
        n_left -= len(messages)
        if not n_left:
            return


def _is_complete(kind: str, place: Path) -> tuple[float, dict[str, bytes]]:
    """Lay two studies of a kind out, one to be killed; return the other's seconds and results."""
    for name in ("whole", "killed"):
        folder = place / f"{kind} {name}"
        folder.mkdir()
        _lay_out(kind, folder)
    begun = time.monotonic()
    run(place / f"{kind} whole", cores=CORES)
    return time.monotonic() - begun, results(place / f"{kind} whole")


def _lay_out(kind: str, folder: Path) -> None:
    config = SMALLEST | KINDS[kind]
    if kind == "several_studies":
        lay_out_studies(folder, config)
        return
    data = study_of(kind, 1, n=30, signal=1.0)
    make_study(folder, config)
    write_matrix(folder, data.genes, data.samples, data.X.T)
    data.obs.to_csv(folder / "samples.tsv", sep="\t", index_label="sample")


def disturb_run(
    folder: Path, victim: str, how: signal.Signals, moment: float, draw: random.Random
) -> tuple[list[psutil.Process], bool]:
    """Begin a study or go on with it, send the signal, and wait.

    Return the jobs that outlive their Snakemake, and whether there was one to get the signal. Exit
    code 0 is only for a study that is whole.
    """
    begun = subprocess.Popen(
        command(cores=CORES),
        cwd=folder,
        env=environment(),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with suppress(subprocess.TimeoutExpired):
        begun.wait(moment)
    sent = False
    while begun.poll() is None and not (sent := _send_signal(begun.pid, victim, how, draw)):
        time.sleep(0.02)
    code = begun.wait()
    is_finished = (folder / "results/report.html").exists()
    assert code != 0 or is_finished, "ended with exit code 0 before it was finished"
    return [
        process for process in psutil.process_iter() if _session(process.pid) == begun.pid
    ], sent


def _session(process: int) -> int:
    with suppress(ProcessLookupError, PermissionError):
        return os.getsid(process)
    return 0


def _send_signal(master: int, victim: str, how: signal.Signals, draw: random.Random) -> bool:
    """Send the signal; to a job only where there is one."""
    with suppress(ProcessLookupError, psutil.NoSuchProcess):
        if victim == "group":
            os.killpg(master, how)
        elif victim == "master":
            os.kill(master, how)
        else:
            jobs = [
                child
                for child in psutil.Process(master).children(recursive=True)
                if any("/scripts/" in word for word in child.cmdline())
            ]
            if not jobs:
                return False
            draw.choice(jobs).send_signal(how)
    return True


def main(times: int = 100, seed: int = 0) -> int:
    """Do so many kills; return 1 if a result came out otherwise."""
    n_kills = wrong = 0
    with TemporaryDirectory() as place:
        for count, messages, differences in run_kills(times, seed, Path(place)):
            n_kills = n_kills + count
            wrong = wrong + len(differences)
            print(
                f"{n_kills:3d} {messages}: {', '.join(differences) or 'the same results'}",
                flush=True,
            )
    print(f"{n_kills} kills, {wrong} files with another content")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
