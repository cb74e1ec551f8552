"""What report_data.json keeps of the way from the files to the analysis."""

from __future__ import annotations

from typing import TypedDict

from genesig.report.page.record import Study


class FlowStep(TypedDict):
    """How many samples and genes stand at a step, or left (``out``); null where none are told."""

    step: str
    out: bool
    samples: int | None
    genes: int | None


class Patients(Study):
    """What this topic reads."""

    flow: list[FlowStep]
