"""Whole studies by several commits in turn: processor time, wall time, peak memory of a job.

    python benchmarks/speed/study_speed.py HEAD cfecddfe 0d431e1 [--studies default survival ...]
        [--permutations 100] [--cores 2] [--repeats 1] [--keep FOLDER] [--write]

Each commit is checked out into a temporary folder and has an empty cache for compiled code. The
first run of a study by a commit is cold: it compiles. Later runs are warm. The table has medians,
and ratios of the first commit to each of the others; --write puts the table of each study into
docs/evidence/speed.md. It needs a machine without other work.

Simulated studies have blocks of 20 correlated genes; the outcome depends on one gene in each of the
first five blocks. They have the shapes of published data sets.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml
from speed_page import markdown_table, processor_name, publish

ROOT = Path(__file__).parents[2]
BLOCK = 20
N_TRUE = 5


class Shape(NamedTuple):
    """Samples, genes, task and number of classes (0: none) of a simulated study."""

    n_samples: int
    n_genes: int
    task: str
    n_classes: int = 0


# Name -> shape; None: the study of the commit's config.
STUDIES = {
    "default": None,
    "survival": Shape(144, 70, "survival"),
    "four_classes": Shape(102, 5563, "classification", 4),
    "two_classes": Shape(168, 2905, "classification", 2),
    "many_genes": Shape(100, 54675, "classification", 2),
}


class Run(NamedTuple):
    """One run of a study by a commit: seconds, and MB of its largest process."""

    processor: float
    wall: float
    megabytes: float


def main() -> None:
    """Run the studies in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commits", nargs="+", help="the first is compared with each of the others")
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--permutations", type=int, default=100)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1, help="warm runs")
    parser.add_argument("--keep", type=Path, help="folder for the studies, to look at")
    parser.add_argument("--write", action="store_true", help="write the table into the page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        with check_out(options.commits, Path(temporary)) as trees:
            machine = f"{options.cores} cores of {processor_name()}"
            for study in options.studies:
                runs = run_in_turn(study, trees, folder, options)
                title = f"{study_title(study)}, {options.permutations} permutations, {machine}"
                publish(study, markdown_table(table(title, runs)), options.write)


@contextmanager
def check_out(commits: list[str], folder: Path) -> Iterator[dict[str, Path]]:
    """Yield commit -> folder of its files; remove the folders afterwards."""
    trees: dict[str, Path] = {}
    try:
        for commit in commits:
            tree = folder / f"tree-{len(trees)}"
            git("worktree", "add", "--quiet", "--detach", str(tree), commit)
            trees[commit] = tree
        yield trees
    finally:
        for tree in trees.values():
            git("worktree", "remove", "--force", str(tree))


def git(*words: str) -> None:
    """Run git in the project."""
    subprocess.run(["git", "-C", str(ROOT), *words], check=True)


def run_in_turn(
    study: str, trees: dict[str, Path], folder: Path, options: argparse.Namespace
) -> dict[str, list[Run]]:
    """Return the runs of each commit, the cold one first; the order changes from turn to turn."""
    runs: dict[str, list[Run]] = {commit: [] for commit in trees}
    commits = list(trees)
    for turn in range(1 + options.repeats):
        first_commit = turn % len(commits)
        for commit in commits[first_commit:] + commits[:first_commit]:
            number = commits.index(commit)
            run_folder = folder / f"{study}-{number}-{turn}"
            run_folder.mkdir(exist_ok=True)
            write_study(study, run_folder, trees[commit], options.permutations)
            cache = folder / f"cache-{study}-{number}"
            runs[commit].append(run_study(run_folder, trees[commit], cache, options.cores))
    return runs


def run_study(study: Path, tree: Path, cache: Path, cores: int) -> Run:
    """Run a study by the files of a commit."""
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        str(cores),
        "--directory",
        str(study),
        "--snakefile",
        str(tree / "Snakefile"),
    ]
    environment = os.environ | {
        "PYTHONPATH": str(tree),
        "XDG_CACHE_HOME": str(cache),
        "OPENBLAS_NUM_THREADS": "1",
    }
    start = time.monotonic()
    with (study / "snakemake.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=tree, env=environment, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{study}: the study failed; see {log.name}")
    processor = usage.ru_utime + usage.ru_stime
    return Run(processor, time.monotonic() - start, usage.ru_maxrss / 1000)


def write_study(study: str, folder: Path, tree: Path, permutations: int) -> None:
    """Write the config and the files of a study; the default one has those of its commit."""
    shape = STUDIES[study]
    if shape is None:
        config = yaml.safe_load((tree / "config" / "config.yaml").read_text(encoding="utf-8"))
        for section in (config, config["data"]):
            for key in {"expression", "samples", "annotation"} & section.keys():
                section[key] = str(tree / section[key])
    else:
        config = simulate(shape, folder)
    config["controls"] = {"permutations": permutations}
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def simulate(shape: Shape, folder: Path) -> dict[str, Any]:
    """Write a simulated study and return its config."""
    rng = np.random.default_rng(55)
    n = shape.n_samples
    d = shape.n_genes
    block = np.arange(d) // BLOCK
    factors = rng.standard_normal((n, block[-1] + 1))
    X = 8 + 0.8 * factors[:, block] + 0.6 * rng.standard_normal((n, d))
    true_genes = np.arange(N_TRUE) * BLOCK % d
    score = (X[:, true_genes] - 8).sum(axis=1)
    samples = pd.DataFrame({"sample": [f"s{number}" for number in range(n)]})
    for column, values in OUTCOMES[shape.task](score, shape.n_classes, rng).items():
        samples[column] = values
    genes = pd.Index([f"g{number}" for number in range(d)], name="gene")
    matrix = pd.DataFrame(X.T.round(4), index=genes, columns=samples["sample"])
    matrix.to_csv(folder / "expression.tsv", sep="\t")
    samples.to_csv(folder / "samples.tsv", sep="\t", index=False)
    config: dict[str, Any] = {"expression": "expression.tsv", "samples": "samples.tsv"}
    if shape.task == "survival":
        label = {"time": "time", "event": "event"}
        return config | {"label": label, "data": {"task": "survival", "event": "dead"}}
    return config | {"label": "class"}


def classes(score: np.ndarray, n_classes: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the column of classes of about one size, in the order of a noisy score."""
    noisy = score + 2 * rng.standard_normal(len(score))
    cuts = np.quantile(noisy, np.arange(1, n_classes) / n_classes)
    return {"class": [f"class{number}" for number in np.searchsorted(cuts, noisy)]}


def survival(score: np.ndarray, n_classes: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the columns of times and events; about a third is censored."""
    death_time = rng.exponential(np.exp(-0.5 * score))
    censoring_time = rng.exponential(np.exp(-0.5 * score.mean()) * 3, len(score))
    return {
        "time": np.round(np.minimum(death_time, censoring_time) + 0.001, 4),
        "event": np.where(death_time <= censoring_time, "dead", "alive"),
    }


OUTCOMES: dict[str, Callable[..., dict[str, Any]]] = {
    "classification": classes,
    "survival": survival,
}


UNITS = {"processor": "processor, s", "wall": "wall, s", "megabytes": "largest process, MB"}
"""Heading of each measure of a `Run`."""


def study_title(study: str) -> str:
    """Return the name of a study, with its samples and genes."""
    shape = STUDIES[study]
    size = "" if shape is None else f", {shape.n_samples} × {shape.n_genes:,}"
    return f"{study.replace('_', ' ').capitalize()}{size}"


def table(title: str, runs: dict[str, list[Run]]) -> list[list[str]]:
    """Return medians of cold and warm runs by commit, and the ratios of the first to the others."""
    names = [commit_name(commit) for commit in runs]
    rows = [[title, "measure", *names, *(f"{names[0]} / {name}" for name in names[1:])]]
    for temperature, turns in (("cold", slice(0, 1)), ("warm", slice(1, None))):
        for measure, heading in UNITS.items():
            values = [
                [getattr(run, measure) for run in commit_runs[turns]]
                for commit_runs in runs.values()
            ]
            if not values[0]:  # no warm runs
                continue
            medians = [median(commit_values) for commit_values in values]
            ratios = [f"{medians[0] / other_median:.2f}" for other_median in medians[1:]]
            rows.append([temperature, heading, *(f"{value:,.0f}" for value in medians), *ratios])
    return rows


def commit_name(commit: str) -> str:
    """Return the short name of a commit, such as of HEAD."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short=8", commit]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
