"""Processor time and peak memory of every job of a simulated study.

    python benchmarks/speed/study_cost.py SAMPLES GENES [PERMUTATIONS] [SECTION.KEY=VALUE ...]
        [-- OPTIONS OF SNAKEMAKE]

Simulated chips: 30 factors have half of the variance of every gene, so that genes are correlated as
in tissues; the label depends on one factor. Jobs with more memory than 3 × X + 400 MB are marked.
`studies=6` cuts the samples into six studies, each with its own location and spread of every gene.
The study runs on one core with low priority; other options of Snakemake, such as `--
--workflow-profile profiles/slurm`, run it elsewhere.
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

COST_PATTERN = re.compile(r"took ([\d.]+) s of processor time, (\d+) MB")


def simulate(folder: Path, n: int, d: int, n_studies: int) -> None:
    """Write a matrix and a sample table for each study; n_studies 0: a study without studies."""
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((n, 30))
    loadings = rng.standard_normal((30, d)) / np.sqrt(30)
    X = 8 + factors @ loadings + rng.standard_normal((n, d))
    label = np.where(factors[:, 0] + rng.standard_normal(n) > 0, "case", "control")
    names = np.array([f"s{i}" for i in range(n)])
    for k, rows in enumerate(np.array_split(np.arange(n), max(1, n_studies))):
        if n_studies:
            X[rows] = 8 + rng.normal(0, 0.7, d) + np.exp(rng.normal(0, 0.3, d)) * (X[rows] - 8)
        suffix = str(k + 1) if n_studies else ""
        genes = pd.Index([f"g{j}" for j in range(d)], name="gene")
        table = pd.DataFrame(X[rows].T.round(4), index=genes, columns=names[rows])
        table.to_csv(folder / f"expression{suffix}.tsv", sep="\t")
        samples = pd.DataFrame({"sample": names[rows], "class": label[rows]})
        samples.to_csv(folder / f"samples{suffix}.tsv", sep="\t", index=False)


def configure(folder: Path, permutations: int, n_studies: int, changes: list[str]) -> None:
    """Write the config: default settings with changes SECTION.KEY=VALUE."""
    config: dict[str, Any] = {"expression": "expression.tsv", "samples": "samples.tsv"}
    if n_studies:
        studies = [
            {"name": f"study{k}", "expression": f"expression{k}.tsv", "samples": f"samples{k}.tsv"}
            for k in range(1, n_studies + 1)
        ]
        config = {"studies": studies}
    config |= {"label": "class", "controls": {"permutations": permutations}}
    for change in changes:
        name, value = change.split("=", 1)
        section, key = name.split(".")
        config.setdefault(section, {})[key] = yaml.safe_load(value)
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config))


def read_costs(folder: Path) -> list[tuple[str, float, int]]:
    """Return (job, processor seconds, MB) of every job, from its log."""
    job_costs = []
    for log in sorted((folder / "logs").rglob("*.log")):
        seconds, peak = COST_PATTERN.findall(log.read_text())[-1]
        job_costs.append((str(log.relative_to(folder / "logs"))[:-4], float(seconds), int(peak)))
    return job_costs


def run_study(
    folder: Path,
    n: int,
    d: int,
    permutations: int,
    n_studies: int,
    changes: list[str],
    options: list[str],
) -> list[tuple[str, float, int]]:
    """Run a study in a folder; return (job, processor seconds, MB) of its jobs.

    changes: of the config; options: of Snakemake.
    """
    lay_out(folder)
    simulate(folder, n, d, n_studies)
    configure(folder, permutations, n_studies, changes)
    environment = {**os.environ, "PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "snakemake", "all", *(options or ["--cores", "1"])]
    subprocess.run(command, cwd=folder, check=True, env=environment, preexec_fn=lambda: os.nice(5))
    return read_costs(folder)


def main(words: list[str], options: list[str]) -> None:
    """Run one study and print its jobs; words, options: before and after `--`."""
    changes = [word for word in words if "=" in word and not word.startswith("studies=")]
    n_studies = sum(int(word.split("=")[1]) for word in words if word.startswith("studies="))
    sizes = [int(word) for word in words if "=" not in word]
    n, d, permutations = [*sizes, 100][:3]
    with tempfile.TemporaryDirectory() as name:
        jobs = run_study(Path(name), n, d, permutations, n_studies, changes, options)
    bound = 3 * n * d * 8e-6 + 400
    print(f"{n} x {d}, {permutations} permutations; 3 X + 400 MB = {bound:.0f} MB")
    for job, seconds, peak in jobs:
        print(f"{job:40} {seconds:8.1f} s {peak:6} MB{'  over' * (peak > bound)}")
    minutes = sum(seconds for _, seconds, _ in jobs) / 60
    print(f"in all: {minutes:.1f} processor minutes of jobs, {max(peak for *_, peak in jobs)} MB")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)  # without jobs on a cluster
    print(f"with Snakemake: {(usage.ru_utime + usage.ru_stime) / 60:.1f} processor minutes here")


if __name__ == "__main__":
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    main(sys.argv[1:end], sys.argv[end + 1 :])
