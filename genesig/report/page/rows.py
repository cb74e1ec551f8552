"""Rows of the result tables: as dicts, those of one mu, those of each predictor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.report.page.record import PackedTable, Study

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Row = dict[str, Any]


def transposed(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return rows as columns of these names."""
    found = [list(row) for row in rows]
    return {name: [row[place] for row in found] for place, name in enumerate(names)}


def columns_of(rows: Iterable[Any], *names: str) -> dict[str, list[Any]]:
    """Return these keys of the rows as columns."""
    found = list(rows)
    return {name: [row[name] for row in found] for name in names}


def on_components(points: Sequence[Sequence[float]]) -> dict[str, list[float]]:
    """Return places on components as columns."""
    pairs = enumerate(zip(*points, strict=True), start=1)
    return {f"component_{k}": list(column) for k, column in pairs}


def records(table: PackedTable) -> list[Row]:
    """Return the rows of a packed table as dicts."""
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def same_mu(rows: Iterable[Row], mu: float) -> list[Row]:
    """Return the rows of one mu."""
    return [r for r in rows if r["mu"] is not None and abs(float(r["mu"]) - mu) <= 1e-6 * mu]


def of_chosen(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of the chosen lists, which have no mu of their own."""
    return [row for row in rows if row["mu"] is None]


def at_mu(table: pd.DataFrame, mu: float | None) -> Array:
    """Mark the rows of one mu, however the TSV rounded it; None marks those of the chosen lists."""
    values = table["mu"].to_numpy(dtype=float)
    if mu is None:
        return np.asarray(np.isnan(values))
    found: Array = np.isclose(values, mu, rtol=1e-6, atol=0)
    return found


def own_rows(controls: PackedTable) -> list[Row]:
    """Return the rows of this procedure, of its chosen lists and along mu."""
    return [row for row in records(controls) if row["model"] == "genesig"]


def control_rows(data: Study) -> list[Row]:
    """Return genesig with its chosen lists and the baselines, best first."""
    rows = of_chosen(r for r in records(data["tables"]["controls"]) if r["error"] is not None)
    return sorted(rows, key=lambda row: (row["error"], row["model"] != "genesig"))


def own_margins(predictions: pd.DataFrame, classes: Sequence[str] | None) -> Any:
    """Return each score; of several classes that of its own less the largest of the others."""
    if "score" in predictions or not classes:
        return predictions["score"]
    scores = predictions[[f"score of {name}" for name in classes]].to_numpy(dtype=float)
    own = predictions["label"].astype(str).to_numpy()[:, None] == np.array(classes, dtype=object)
    return scores[own] - np.where(own, -np.inf, scores).max(axis=1)


_SYMBOL_OF = {"symbol": "gene", "nearest_symbol": "nearest", "prototype_symbol": "prototype"}


def is_repeated(columns: Sequence[str], rows: Sequence[Sequence[Any]], place: int) -> bool:
    """Whether a column of symbols is nothing but the ids once more."""
    own = _SYMBOL_OF.get(columns[place])
    if own is None or own not in columns:
        return False
    other = columns.index(own)
    return all(row[place] in (row[other], None) for row in rows)
