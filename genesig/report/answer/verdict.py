"""Whether the study speaks against chance, and what it leaves open."""

from __future__ import annotations

from genesig.report.answer.record import Answer

LEVEL = 0.05

CONVINCING, NO_BETTER, OPEN = "convincing", "no better than chance", "open"


def verdict(data: Answer) -> tuple[str, str]:
    """Return one of the three verdicts, and for an open one what is missing.

    Convincing takes both: an interval of the error without the value of chance, and p <= .05. One
    of them against it is enough for no better than chance; but a p that permutations were too few
    to make small, one that was never computed and an interval that could not be leave it open.
    """
    error, p = data["answer"]["error"], data["answer"]["p"]
    limit = error["value"] if error["high"] is None else error["high"]
    beyond = limit is not None and limit >= error["chance"]
    if beyond or p["smallest"] <= LEVEL < (p["value"] or 0.0):
        return NO_BETTER, ""
    if p["value"] is None:
        return OPEN, "chance was not tested"
    if p["value"] > LEVEL:
        return OPEN, f"too few permutations ({p['permutations']}) to tell it from chance"
    if error["high"] is None:
        return OPEN, "the error has no interval"
    return CONVINCING, ""
