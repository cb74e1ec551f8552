"""Processor time and peak memory of every job of a study, beside what the study announces.

    python benchmarks/speed/study_cost.py SAMPLES GENES [PERMUTATIONS] [SECTION.KEY=VALUE ...]
        [-- OPTIONS OF SNAKEMAKE]

Simulated chips: 30 factors carry half of the variance of every gene, so that genes are correlated
as those of tissues are; the label follows one factor. Memory is held against 3 × X + 400 MB.
`studies=6` cuts the samples into that many studies, each with a location and spread of every gene.
The study runs on one core, niced, as processor time is what counts; other options of Snakemake,
such as `-- --workflow-profile profiles/slurm`, run it elsewhere.
"""

import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))
from places import lay_out

COST = re.compile(r"took ([\d.]+) s of processor time, (\d+) MB")


def simulate(folder: Path, n: int, d: int, number: int) -> None:
    """Write a matrix and a sample table for each of some studies, or for the one study."""
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((n, 30))
    loads = rng.standard_normal((30, d)) / np.sqrt(30)
    X = 8 + factors @ loads + rng.standard_normal((n, d))
    label = np.where(factors[:, 0] + rng.standard_normal(n) > 0, "case", "control")
    names = np.array([f"s{i}" for i in range(n)])
    for k, rows in enumerate(np.array_split(np.arange(n), max(1, number))):
        if number:
            X[rows] = 8 + rng.normal(0, 0.7, d) + np.exp(rng.normal(0, 0.3, d)) * (X[rows] - 8)
        of = str(k + 1) if number else ""
        genes = pd.Index([f"g{j}" for j in range(d)], name="gene")
        table = pd.DataFrame(X[rows].T.round(4), index=genes, columns=names[rows])
        table.to_csv(folder / f"expression{of}.tsv", sep="\t")
        pd.DataFrame({"sample": names[rows], "class": label[rows]}).to_csv(
            folder / f"samples{of}.tsv", sep="\t", index=False
        )


def configure(folder: Path, permutations: int, number: int, changes: list[str]) -> None:
    """Write the config, default settings but for those that are named."""
    config: dict[str, Any] = {"expression": "expression.tsv", "samples": "samples.tsv"}
    if number:
        names = [str(k) for k in range(1, number + 1)]
        config = {
            "studies": [
                {
                    "name": f"study{k}",
                    "expression": f"expression{k}.tsv",
                    "samples": f"samples{k}.tsv",
                }
                for k in names
            ]
        }
    config |= {"label": "class", "controls": {"permutations": permutations}}
    for change in changes:
        (section, key) = change.split("=")[0].split(".")
        value = change.split("=")[1]
        config.setdefault(section, {})[key] = yaml.safe_load(value)
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config))


def costs(folder: Path) -> list[tuple[str, float, int]]:
    """Return (job, seconds of processor, MB) of every job, from its log."""
    job_costs = []
    for log in sorted((folder / "logs").rglob("*.log")):
        seconds, peak = COST.findall(log.read_text())[-1]
        job_costs.append((str(log.relative_to(folder / "logs"))[:-4], float(seconds), int(peak)))
    return job_costs


def run_study(
    folder: Path,
    n: int,
    d: int,
    permutations: int,
    number: int,
    changes: list[str],
    options: list[str],
) -> list[tuple[str, float, int]]:
    """Run one study in a folder; return what its jobs cost."""
    lay_out(folder)
    simulate(folder, n, d, number)
    configure(folder, permutations, number, changes)
    environment = {**os.environ, "PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    run = [sys.executable, "-m", "snakemake", "all", *(options or ["--cores", "1"])]
    subprocess.run(run, cwd=folder, check=True, env=environment, preexec_fn=lambda: os.nice(5))
    return costs(folder)


def main(
    n: int, d: int, permutations: int, number: int, changes: list[str], options: list[str]
) -> None:
    """Run one study and print its jobs."""
    with tempfile.TemporaryDirectory() as name:
        jobs = run_study(Path(name), n, d, permutations, number, changes, options)
    bound = 3 * n * d * 8e-6 + 400
    print(f"{n} x {d}, {permutations} permutations; 3 X + 400 MB = {bound:.0f} MB")
    for job, seconds, peak in jobs:
        print(f"{job:40} {seconds:8.1f} s {peak:6} MB{'  over' * (peak > bound)}")
    minutes = sum(seconds for _, seconds, _ in jobs) / 60
    print(f"in all: {minutes:.1f} processor minutes of jobs, {max(peak for *_, peak in jobs)} MB")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # of a cluster, without its jobs
    print(f"with Snakemake: {(used.ru_utime + used.ru_stime) / 60:.1f} processor minutes here")


if __name__ == "__main__":
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    own = sys.argv[1:end]
    options = sys.argv[end + 1 :]
    n, d, permutations = map(int, [*(a for a in own if "=" not in a), 100][:3])
    given = [change for change in own if "=" in change]
    known = [int(each.split("=")[1]) for each in given if each.startswith("studies=")]
    changes = [change for change in given if not change.startswith("studies=")]
    main(n, d, permutations, *known or [0], changes, options)
