"""The record of a run: everything needed to do it again."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import genesig
from genesig.results import Dataset

if TYPE_CHECKING:
    import pandas as pd

LIBRARIES = (
    "anndata",
    "matplotlib",
    "numba",
    "numpy",
    "pandas",
    "scikit-learn",
    "scipy",
    "snakemake",
)


def run_record(
    dataset: Dataset, config: Mapping[str, Any], costs: Mapping[str, pd.DataFrame]
) -> dict[str, Any]:
    """Return run.json: resolved config, seed, versions, sha256 of every input, cost of the jobs.

    Parameters
    ----------
    dataset : Dataset
        Its provenance holds the checksums of what was read.
    config : mapping
        The resolved config.
    costs : mapping of str to DataFrame
        Per job, its benchmark table: ``s`` (seconds) and ``max_rss`` (MB).
    """
    return {
        "version": 1,
        "seed": config["seed"],
        "config": dict(config),
        "inputs": dataset.provenance["inputs"],
        "versions": {
            "genesig": genesig.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
        },
        "times": {name: _cost(table) for name, table in costs.items()},
    }


def job_names(paths: Iterable[str]) -> list[str]:
    """Name each job after its benchmark file, without the folders they share."""
    return [" ".join(Path(path).with_suffix("").parts[2:]) for path in paths]


def _cost(table: pd.DataFrame) -> dict[str, float | None]:
    """Return seconds and the largest resident memory in MB; short jobs have no memory reading."""
    memory = float(table["max_rss"].max()) if table["max_rss"].dtype.kind == "f" else None
    return {"seconds": round(float(table["s"].sum()), 2), "memory_mb": memory}
