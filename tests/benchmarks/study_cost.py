"""Processor time and peak memory of every job of a study, beside what the study announces.

    python tests/benchmarks/study_cost.py SAMPLES GENES [PERMUTATIONS] [SECTION.KEY=VALUE ...]

Simulated chips: 30 factors carry half of the variance of every gene, so that genes are correlated
as those of tissues are; the label follows one factor. Memory is held against 3 × X + 400 MB.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "materials"))
from study_folder import lay_out

COST = re.compile(r"took ([\d.]+) s of processor time, (\d+) MB")


def simulate(folder: Path, n: int, d: int) -> None:
    """Write expression.tsv and samples.tsv."""
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((n, 30))
    loads = rng.standard_normal((30, d)) / np.sqrt(30)
    X = 8 + factors @ loads + rng.standard_normal((n, d))
    label = np.where(factors[:, 0] + rng.standard_normal(n) > 0, "case", "control")
    names = [f"s{i}" for i in range(n)]
    genes = pd.Index([f"g{j}" for j in range(d)], name="gene")
    table = pd.DataFrame(X.T.round(4), index=genes, columns=names)
    table.to_csv(folder / "expression.tsv", sep="\t")
    pd.DataFrame({"sample": names, "class": label}).to_csv(
        folder / "samples.tsv", sep="\t", index=False
    )


def configure(folder: Path, permutations: int, changes: list[str]) -> None:
    """Write the config, default settings but for those that are named."""
    config: dict[str, Any] = {"expression": "expression.tsv", "samples": "samples.tsv"}
    config |= {"label": "class", "controls": {"permutations": permutations}}
    for change in changes:
        (section, key), value = change.split("=")[0].split("."), change.split("=")[1]
        config.setdefault(section, {})[key] = yaml.safe_load(value)
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config))


def costs(folder: Path) -> list[tuple[str, float, int]]:
    """Return (job, seconds of processor, MB) of every job, from its log."""
    found = []
    for log in sorted((folder / "logs").rglob("*.log")):
        seconds, peak = COST.findall(log.read_text())[-1]
        found.append((str(log.relative_to(folder / "logs"))[:-4], float(seconds), int(peak)))
    return found


def main(n: int, d: int, permutations: int, changes: list[str]) -> None:
    """Run one study and print its jobs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder)
        simulate(folder, n, d)
        configure(folder, permutations, changes)
        run = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all"]
        subprocess.run(run, cwd=folder, check=True)
        bound = 3 * n * d * 8e-6 + 400
        print(f"{n} x {d}, {permutations} permutations; 3 X + 400 MB = {bound:.0f} MB")
        for job, seconds, peak in costs(folder):
            print(f"{job:40} {seconds:8.1f} s {peak:6} MB{'  over' * (peak > bound)}")


if __name__ == "__main__":
    n, d, permutations = map(int, [*sys.argv[1:4], 100][:3])
    main(n, d, permutations, sys.argv[4:])
