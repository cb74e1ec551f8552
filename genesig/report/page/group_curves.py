"""What the page keeps of Kaplan-Meier curves of groups of risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from genesig.report.page.rounding import rounded


class GroupCurve(TypedDict):
    """Kaplan-Meier curve of one group of risk, from 0 on."""

    group: str
    time: list[float]
    survival: list[float]
    low: list[float | None]
    high: list[float | None]
    at_risk: list[int]


def group_curves(rows: Sequence[Mapping[Any, Any]]) -> list[GroupCurve]:
    """Return the curves of the rows of survival_curves.tsv."""
    groups = sorted({str(row["group"]) for row in rows})
    return [_group_curve(name, [row for row in rows if row["group"] == name]) for name in groups]


def _group_curve(name: str, rows: Sequence[Mapping[Any, Any]]) -> GroupCurve:
    time, left, low, high = (rounded(np.array([row[key] for row in rows], dtype=float), 5)
                             for key in ("time", "survival", "low", "high"))  # fmt: skip
    at_risk = [int(row["at_risk"]) for row in rows]
    return {"group": name, "time": time, "survival": left, "low": low, "high": high,
            "at_risk": at_risk}  # fmt: skip
