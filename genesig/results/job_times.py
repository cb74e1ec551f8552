"""What each job cost: the benchmark files of a run as one table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def job_times(costs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return times/jobs.tsv: job, seconds, largest resident memory in MB.

    Parameters
    ----------
    costs : mapping of str to DataFrame
        The benchmark table of each job by its path: ``s`` (seconds) and ``max_rss`` (MB, no number
        where the job was too short for a reading).
    """
    import pandas as pd

    rows = [
        (_job(path), round(float(table["s"].sum()), 2), _memory(table))
        for path, table in costs.items()
    ]
    return pd.DataFrame(rows, columns=["job", "seconds", "memory_mb"])


def _job(path: str) -> str:
    """Name a job after its benchmark file, without the folders they share."""
    return " ".join(Path(path).with_suffix("").parts[2:])


def _memory(table: pd.DataFrame) -> float | None:
    return float(table["max_rss"].max()) if table["max_rss"].dtype.kind == "f" else None
