"""The part of report_data.json about several studies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from genesig.report.page.rounding import plain, rounded
from genesig.report.studies.record import HeldOutStudy, StudiesRecord

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("studies", "meta")
TEXT = ("row", "study", "class")
EFFECT_OF = "effect of "
WHOLE = ("leave_one_study_out", "leave_one_batch_out")
FDR = 0.05


def studies(tables: Mapping[str, pd.DataFrame], scheme: str) -> StudiesRecord | None:
    """Sum up what several studies say; None where there is one."""
    if TABLES[0] not in tables:
        return None
    found, meta = (tables[name] for name in TABLES)
    mean, further = (found[found["row"] == row].iloc[0] for row in ("mean", "next study"))
    shown = meta[meta["gene"].astype(str).isin(set(map(str, tables["signature"]["gene"])))]
    shown = shown.sort_values("p_value", kind="stable")
    each = found[found["row"] == "study"].to_dict("records")
    ends = ["value", "low", "high"]
    return {
        "measure": str(mean["measure"]),
        "whole": scheme in WHOLE,
        "studies": [_study(row, shown) for row in each],
        "mean": [_number(mean[key]) for key in ends],
        "next": [_number(further[key]) for key in ends[1:]],
        "i2": _number(mean["i2"]),
        "columns": [str(column) for column in shown.columns],
        "genes": [[_cell(value) for value in row] for row in shown.itertuples(index=False)],
        "named": meta["gene"][meta["q_value"] <= FDR].nunique(),
        "tested": meta["gene"][meta["p_value"].notna()].nunique(),
    }


def _study(row: Mapping[Any, Any], shown: pd.DataFrame) -> HeldOutStudy:
    own = EFFECT_OF + str(row["study"])
    known = shown[shown[own].notna()] if own in shown else shown[:0]
    same = float((known[own] * known["effect"] > 0).mean()) if len(known) else None
    counts = {key: None if row[key] != row[key] else int(row[key])
              for key in ("measured", "genes", "lost")}  # fmt: skip
    return {
        "name": str(row["study"]), "samples": int(row["samples"]), "value": _number(row["value"]),
        "low": _number(row["low"]), "high": _number(row["high"]), "error": _number(row["error"]),
        "measured": counts["measured"], "genes": counts["genes"], "lost": counts["lost"],
        "apart": bool(row["apart"] == 1), "same_sign": _number(same),
    }  # fmt: skip


def _cell(value: Any) -> Any:
    return _number(value) if isinstance(value, float) else plain(value)


def _number(value: Any) -> float | None:
    return None if value is None else rounded(float(value), 5)
