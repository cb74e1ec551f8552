"""The record of a run: everything needed to do it again."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import genesig
from genesig.plugins import packages
from genesig.results import Dataset

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


def run_record(dataset: Dataset, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings.json: resolved config, seed, versions, sha256 of every input.

    The same run gives the same record: what differs from run to run stands in times/jobs.tsv.

    Parameters
    ----------
    dataset : Dataset
        Its provenance holds the checksums of what was read.
    config : mapping
        The resolved config.
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
            **packages(),
        },
    }
