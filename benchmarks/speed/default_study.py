"""Time and memory of the default study on two cores.

    python benchmarks/speed/default_study.py [RUNS]

It prints the wall time of each run, and the peak of the memory of all its processes together.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import psutil

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))
from places import lay_out


def resident_bytes(process: psutil.Process) -> int:
    """Return the memory of a process and all its children, in bytes."""
    total = 0
    for member in [process, *process.children(recursive=True)]:
        try:
            total += member.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


def run(folder: Path) -> tuple[float, float]:
    """Return seconds and peak MB of one complete run."""
    start = time.perf_counter()
    peak = 0
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all"]
    with subprocess.Popen(command, cwd=folder) as snakemake:
        process = psutil.Process(snakemake.pid)
        while snakemake.poll() is None:
            peak = max(peak, resident_bytes(process))
            time.sleep(0.1)
    if snakemake.returncode:
        raise SystemExit(f"snakemake ended with {snakemake.returncode}")
    return time.perf_counter() - start, peak / 1e6


def main(runs: int) -> None:
    """Run the default study several times; print each run and the medians."""
    seconds = []
    memory = []
    for number in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as name:
            lay_out(Path(name))
            run_seconds, peak = run(Path(name))
        print(f"run {number}: {run_seconds:.1f} s, {peak:.0f} MB", flush=True)
        seconds.append(run_seconds)
        memory.append(peak)
    print(f"median of {runs}: {median(seconds):.1f} s, {median(memory):.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
