"""The part of report_data.json about held-out survival."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from genesig.report.page.group_curves import group_curves
from genesig.report.page.rounding import rounded
from genesig.report.survival.record import RiskGroup, SurvivalRecord

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("survival", "survival_curves", "survival_risk")
SHOWN = ("survival",)
TEXT = ("measure", "group")


def survival(tables: Mapping[str, pd.DataFrame]) -> SurvivalRecord | None:
    """Sum held-out survival up; None where the response is another."""
    if TABLES[0] not in tables:
        return None
    found, curves, risk = (tables[name] for name in TABLES)
    found = found.set_index("measure")
    rows: dict[Any, Any] = {name: rounded(found.loc[name, ["value", "low", "high"]].to_numpy(float),
                                          5) for name in found.index}  # fmt: skip
    return {
        "measures": {
            str(name): {"value": value, "low": low, "high": high}
            for name, (value, low, high) in rows.items()
        },
        "horizon": float(found["horizon"].iloc[0]),
        "samples": int(found["samples"].iloc[0]),
        "events": int(curves["events"].sum()),
        "curves": group_curves(curves.to_dict("records")),
        "risk": [_risk(row) for row in risk.to_dict("records")],
    }


def _risk(row: Mapping[Any, Any]) -> RiskGroup:
    keys = ("expected", "observed", "low", "high")
    expected, observed, low, high = (rounded(row[key], 4) for key in keys)
    return {"samples": int(row["samples"]), "expected": expected, "observed": observed,
            "low": low, "high": high}  # fmt: skip
