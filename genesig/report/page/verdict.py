"""Whether the study speaks against chance, and what it leaves open."""

from __future__ import annotations

from enum import Enum

from genesig.report.page.record import Study
from genesig.report.page.words import counted

LEVEL = 0.05


class Verdict(Enum):
    """What the study says of the question whether gene expression predicts the response."""

    CONVINCING = "better than chance, in this study"
    ELSEWHERE = "better than chance in other studies, though not shown here"
    NO_BETTER = "no better than chance"
    OPEN = "open"


def verdict(data: Study) -> tuple[Verdict, str]:
    """Return the verdict, and for an open one what is missing.

    p decides about chance, the interval about size: with p <= .05 an interval that reaches the
    value of chance says that the size is uncertain, not that there is nothing. A p that
    permutations were too few to make small, or that was never computed, leaves the question open.
    Where this study cannot tell, data sets of other studies can: ELSEWHERE takes at least half of
    them to be better than chance.
    """
    p, cohorts = data["answer"]["p"], data["answer"]["cohorts"]
    if p["value"] is not None and p["value"] <= LEVEL:
        return Verdict.CONVINCING, ""
    if cohorts["better"] and 2 * cohorts["better"] >= cohorts["tested"]:
        return Verdict.ELSEWHERE, ""
    if not p["permutations"]:
        return Verdict.OPEN, "no labels were permuted, so chance was not ruled out"
    ran = counted(p["permutations"], "permutation")
    if p["value"] is None:
        return Verdict.OPEN, f"p could not be computed from {ran}, so chance was not ruled out"
    if p["smallest"] > LEVEL:
        return Verdict.OPEN, f"{ran} cannot rule out chance: too few"
    return Verdict.NO_BETTER, ""
