"""Another way of selecting held against the lists of genes, in words."""

from __future__ import annotations

from typing import TypedDict

from genesig.report.page.measure import measure
from genesig.report.page.record import Study
from genesig.report.page.rows import control_rows
from genesig.report.page.words import decimal, rate

NO_INTERVAL = "a difference without an interval, so chance is not ruled out"


class Difference(TypedDict):
    """The error, that of the linear lists, and the difference with its interval."""

    error: float | None
    linear: float | None
    difference: float | None
    low: float | None
    high: float | None


def against(data: Study, d: Difference, other: str) -> str:
    """Return ``"balanced error is 10 % against 12 % of {other} (95 % CI ...)"``.

    Without limits, nothing is said of an interval.
    """
    shown = measure(data)
    write = rate if data["study"]["classes"] else decimal
    ours, theirs = shown.value(d["error"]), shown.value(d["linear"])
    words = f"{shown.name} is {write(ours)} against {write(theirs)} of {other}"
    if d["low"] is None or d["high"] is None:
        return words
    limits = shown.interval({"low": d["low"], "high": d["high"]})
    if shown.better == "larger":  # 1 − R² apart, shown as R²
        limits = (-d["high"], -d["low"])
    apart = f"{write(limits[0])} to {write(limits[1])}"
    if data["study"]["classes"]:
        apart = apart.replace("\u00a0%", "") + " percentage points"
    return f"{words} (95\u00a0% CI of the difference {apart})"


def neither(data: Study, model: str) -> bool:
    """Whether the intervals of both errors, of this model and of genesig, hold that of chance."""
    chance = data["answer"]["error"]["chance"]
    rows = {row["model"]: row for row in control_rows(data)}
    both = [rows.get(name) for name in ("genesig", model)]
    return all(row is not None and (row["high"] or row["error"]) >= chance for row in both)
