"""The numbers of the first screen about samples of other studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from genesig.report.page.finding import CohortError, Cohorts
from genesig.report.page.measure import Measure
from genesig.report.page.rounding import rounded

About = Mapping[str, Any]
"""The content of an about.json."""


def cohorts(external: Sequence[About], shown: Measure) -> Cohorts:
    """Count the data sets in which the model is better, or worse, than chance; list their errors.

    Parameters
    ----------
    external : sequence of mapping
        What was found in each data set (results/external/*/about.json).
    shown : Measure
        Of the kind of response.
    """
    measure, _, chance = shown.elsewhere
    new = [one for one in external if not one["seen_before"]]
    found = [_score(one, measure) for one in new]
    return {
        "tested": len(new),
        "better": sum(row["low"] is not None and row["low"] > chance for row in found),
        "worse": sum(row["high"] is not None and row["high"] < chance for row in found),
        "rows": [_row(one, shown) for one in external],
    }


def _score(one: About, measure: str) -> About:
    nothing = {"value": None, "low": None, "high": None}
    return next((row for row in one["scores"] if row["measure"] == measure), nothing)


def _row(one: About, shown: Measure) -> CohortError:
    """Return the error as controls.tsv has it: balanced error, 1 − R² or 1 − C."""
    of_errors = shown.better == "smaller"
    row = _score(one, "balanced_error" if of_errors else shown.elsewhere[0])
    value, low, high = (row[key] for key in ("value", "low", "high"))
    if not of_errors:
        value, low, high = (None if v is None else 1 - v for v in (value, high, low))
    return {
        "name": one["name"],
        "samples": len(one["predictions"]),
        "seen": bool(one["seen_before"]),
        "error": rounded(value, 4) if value is not None else None,
        "low": rounded(low, 4) if low is not None else None,
        "high": rounded(high, 4) if high is not None else None,
    }
