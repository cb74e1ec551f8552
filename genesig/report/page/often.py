"""What a gene is called that most splits select: core, unless genes have evidence of their own."""

from __future__ import annotations

from genesig.report.page.record import Study
from genesig.report.page.words import percent


def often(data: Study) -> str:
    """Return what such a gene of the linear lists is, to be counted: ``"core gene"``."""
    if data["answer"]["evidence"] is None:
        return "core gene"
    return "frequent gene"


def bound(data: Study) -> str:
    """Return the share of the splits from which a gene counts as such."""
    return percent(data["config"]["signature"]["frequency"])
