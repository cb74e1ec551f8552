"""Run Bioconductor on a matrix, for references too large to store."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PARITY_SCRIPT = Path(__file__).with_name("parity_live.R")


@dataclass(frozen=True)
class Answer:
    """Results (samples × genes) and seconds of each run of parity_live.R, by its name."""

    results: dict[str, Any]
    seconds: dict[str, float]


def ask(X: Any, batch: list[str], covariates: Any, folder: Path) -> Answer | str:
    """Run the R script on samples × genes; return its answer, or why there is none."""
    if shutil.which("Rscript") is None:
        return "R is not installed"
    (folder / "x.bin").write_bytes(np.ascontiguousarray(X, dtype="<f8").tobytes())
    (folder / "batch.txt").write_text("\n".join(batch) + "\n")
    np.savetxt(folder / "covariates.tsv", covariates, delimiter="\t", fmt="%.17g")
    size = [str(X.shape[1]), str(X.shape[0])]
    process = subprocess.run(
        ["Rscript", str(PARITY_SCRIPT), str(folder), *size],
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        return process.stderr.strip().splitlines()[-1]
    seconds = {name: float(s) for name, s in map(str.split, process.stdout.splitlines())}
    results = {
        name: np.fromfile(folder / f"{name}.bin", dtype="<f8").reshape(X.shape) for name in seconds
    }
    return Answer(results, seconds)
