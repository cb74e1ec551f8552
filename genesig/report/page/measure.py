"""How well a study predicts, as the page shows it: one measure per task, with its direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genesig.report.page.record import Study


@dataclass(frozen=True)
class Measure:
    """What stands on the page for the column ``error`` of controls.tsv.

    Attributes
    ----------
    name : str
    chance : float
        Its value without any signal.
    better : {"smaller", "larger"}
    """

    name: str
    chance: float
    better: str

    @property
    def title(self) -> str:
        """Return the name as it begins a sentence."""
        return f"{self.name[0].upper()}{self.name[1:]}"

    def value(self, error: float | None) -> float | None:
        """Return the error itself, or R² = 1 - error."""
        if error is None or self.better == "smaller":
            return error
        return round(1 - error, 12)

    def interval(self, row: Any) -> tuple[float | None, float | None]:
        """Return the limits, lower one first, of a row with ``low`` and ``high`` of the error."""
        low, high = self.value(row["low"]), self.value(row["high"])
        return (low, high) if self.better == "smaller" else (high, low)

    def values(self, errors: Sequence[float]) -> list[float]:
        """Return those of several errors that are all defined."""
        return [error if self.better == "smaller" else 1 - error for error in errors]


MEASURES = {
    "classification": Measure("class-balanced error", 0.5, "smaller"),
    "regression": Measure("R²", 0.0, "larger"),
}


def measure(data: Study) -> Measure:
    """Return the measure of the study's task."""
    return MEASURES[data["study"]["task"]]
