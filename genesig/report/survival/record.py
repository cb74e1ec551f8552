"""What report_data.json keeps of held-out survival."""

from __future__ import annotations

from typing import TypedDict

from genesig.report.page.group_curves import GroupCurve
from genesig.report.page.record import Study


class Told(TypedDict):
    """A measure with its 95 % interval; null where it is not defined."""

    value: float | None
    low: float | None
    high: float | None


class RiskGroup(TypedDict):
    """Samples of similar predicted risk: the mean predicted, and what happened."""

    samples: int
    expected: float
    observed: float | None
    low: float | None
    high: float | None


class SurvivalRecord(TypedDict):
    """Measures by name, curves of the groups, groups of like risk."""

    measures: dict[str, Told]
    horizon: float
    samples: int
    events: int
    curves: list[GroupCurve]
    risk: list[RiskGroup]


class Survival(Study):
    """What this topic reads."""

    survival: SurvivalRecord | None
