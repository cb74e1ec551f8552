"""Rows of the result tables: as dicts, those of one mu, those of each predictor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.report.page.record import PackedTable, Study

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Row = dict[str, Any]


def records(table: PackedTable) -> list[Row]:
    """Return the rows of a packed table as dicts."""
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def same_mu(rows: Iterable[Row], mu: float) -> list[Row]:
    """Return the rows of one mu."""
    return [r for r in rows if r["mu"] is not None and abs(float(r["mu"]) - mu) <= 1e-6 * mu]


def at_mu(table: pd.DataFrame, mu: float) -> Array:
    """Mark the rows of one mu, however the TSV rounded it."""
    found: Array = np.isclose(table["mu"].to_numpy(dtype=float), mu, rtol=1e-6, atol=0)
    return found


def own_rows(controls: PackedTable, mu: float) -> list[Row]:
    """Return the rows of this procedure at one mu."""
    return same_mu([row for row in records(controls) if row["model"] == "genesig"], mu)


def control_rows(data: Study) -> list[Row]:
    """Return genesig at the signature's mu and the baselines, best first."""
    controls = data["tables"]["controls"]
    others = [row for row in records(controls) if row["model"] != "genesig"]
    found = [*own_rows(controls, data["mu"][data["at"]]), *others]
    known = [row for row in found if row["error"] is not None]
    return sorted(known, key=lambda row: (row["error"], row["model"] != "genesig"))
