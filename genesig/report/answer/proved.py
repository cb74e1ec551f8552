"""The numbers of the first screen about genes that can be named, and what naming costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from genesig.report.page.finding import Evidence, Price
from genesig.report.page.record import PackedTable
from genesig.report.page.rows import Row, records
from genesig.selection.assess.controls import NAMED


def evidence(tables: Mapping[str, PackedTable], fdr: float) -> Evidence | None:
    """Count the genes that can be named at this rate of error; None where none was looked for."""
    if "named" not in tables["signature"]["columns"]:
        return None
    signature, every = (records(tables[name]) for name in ("signature", "evidence"))
    named = [row["q"] for row in every if row["named"]]
    return {
        "named": len(named),
        "expected": len(named) * max(named, default=0.0),
        "passing": sum(row["q"] <= fdr for row in every),
        "model": sum(row["coef"] != 0 for row in signature),
        "price": _price(records(tables["controls"])) if named else None,
    }


def _price(controls: Sequence[Row]) -> Price | None:
    row = next((row for row in controls if row["model"] == NAMED), None)
    if row is None or row["error"] is None or row["difference"] is None:
        return None
    found: Price = {
        "error": row["error"], "low": row["low"], "high": row["high"],
        "difference": row["difference"], "difference_low": row["difference_low"],
        "difference_high": row["difference_high"],
    }  # fmt: skip
    same = found["difference"] == found["difference_low"] == found["difference_high"] == 0
    return None if same else found


def core(tables: Mapping[str, PackedTable]) -> int | None:
    """Count the core genes; None where genes have evidence instead."""
    if "core" not in tables["signature"]["columns"]:
        return None
    return sum(bool(row["core"]) for row in records(tables["signature"]))
