"""What ended a run, read from its logs: jobs that were killed could not say it themselves."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from signal import Signals

from genesig.errors import Problem
from genesig.machine import AGAIN

SLURM = Path(".snakemake", "slurm_logs")
TAIL = 20_000
"""Bytes at the end of a log that are looked at."""

KILLED = re.compile(r"/tmp\w+\.(\w+)\.py' (?:died with <Signals\.(\w+)|returned .* status (\d+)\.)")
SIGNALS = {
    "SIGKILL": "was killed (SIGKILL), by the system if memory ran out: free some, or run fewer "
    f"jobs at a time (--cores), and {AGAIN}",
    "SIGBUS": f"lost what it read or wrote (SIGBUS), as of a disk that is full or gone: {AGAIN}",
    "SIGXCPU": f"used up its time (ulimit -t): raise that, and {AGAIN}",
}
# What SLURM writes at the end of a job's log, or answers when asked for its state.
REASONS = {
    r"OUT_OF_MEMORY|oom.kill|oom_kill|Out Of Memory": "was killed for its memory: ask for more "
    f"(--set-resources RULE:mem_mb=8000), and {AGAIN}",
    r"TIMEOUT|DUE TO TIME LIMIT": "ran out of time: ask for more minutes "
    f"(--set-resources RULE:runtime=240), and {AGAIN}",
    r"NODE_FAIL|NODE FAILURE|BOOT_FAIL": f"lost its node, which failed: {AGAIN}",
    r"PREEMPTED|DUE TO PREEMPTION": f"had to make room for another job (preempted): {AGAIN}",
    r"SLURM status is: 'CANCELLED|CANCELLED AT": f"was cancelled (scancel): {AGAIN}",
}


def say_failures(log: str) -> None:
    """Print a line for each job of a run that was killed, with what to do.

    Parameters
    ----------
    log : str
        Snakemake's log of the run; those of its SLURM jobs lie in ``.snakemake/slurm_logs``.
    """
    for problem in failures(Path(log), SLURM):
        print(problem, file=sys.stderr)


def failures(log: Path, slurm: Path) -> Iterator[Problem]:
    """Yield a problem for each job that was killed, here or by SLURM."""
    text = _end(log)
    found = dict.fromkeys(_signals(text))
    begun = _begun(log)
    for path in sorted(slurm.rglob("*.log")):
        if path.stat().st_mtime >= begun and (what := _reason(_end(path))):
            rule = path.relative_to(slurm).parts[0].removeprefix("rule_").removeprefix("group_")
            found[Problem(f"rule {rule}, {path}", what)] = None
    if not found and (what := _reason(text)):
        found[Problem(str(log), f"a job {what}")] = None
    yield from found


def _signals(text: str) -> Iterator[Problem]:
    for rule, name, status in KILLED.findall(text):
        number = int(status or 0) - 128  # as a shell says it
        name = name or (Signals(number).name if number in set(Signals) else "")
        if name:
            yield Problem(f"rule {rule}", SIGNALS.get(name, f"was ended by {name}: {AGAIN}"))


def _reason(text: str) -> str | None:
    return next((what for pattern, what in REASONS.items() if re.search(pattern, text)), None)


def _begun(log: Path) -> float:
    """Return when a run began, after which its log is named; 0 for another name."""
    try:
        return datetime.strptime(log.name[:17], "%Y-%m-%dT%H%M%S").timestamp()
    except ValueError:
        return 0.0


def _end(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            stream.seek(-min(TAIL, os.fstat(stream.fileno()).st_size), os.SEEK_END)
            return stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
