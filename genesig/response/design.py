"""What a study asks of its samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Design:
    """What the study asks of its samples.

    Attributes
    ----------
    label : str
        Column of the sample table that is to be predicted.
    task : str
        A name in `genesig.response.known.RESPONSES`.
    classes : (str, str) or None
        (negative, positive) class, coded -1 and +1; None where the response has no classes.
    group, pair : str or None
        Column of samples that must stay on one side of every split; column of matched pairs.
        With pairs, `group` is the same column.
    batch : str or None
        Column of samples that were processed together.
    event, occurred, horizon, ties : str, str, float, str or None
        Of survival, where `label` is the column of times: the column that says whether the event
        came, the word for it, the time at which risks are told, and how ties are treated.
    """

    label: str
    task: str
    classes: tuple[str, str] | None
    group: str | None
    pair: str | None
    batch: str | None = None
    event: str | None = None
    occurred: str | None = None
    horizon: float | None = None
    ties: str | None = None

    @property
    def kind(self) -> str:
        """Name of the kind of response, as every dict of kinds has it."""
        return self.task

    def notes(self) -> dict[str, Any]:
        """Return the fields as JSON has them; those that a study may lack only where they are."""
        first = ("label", "task", "classes", "group", "pair", "batch")
        return {k: v for k, v in asdict(self).items() if k in first or v is not None}

    @classmethod
    def of(cls, notes: Mapping[str, Any]) -> Design:
        """Read what `notes` wrote."""
        classes = notes["classes"]
        return cls(**{**notes, "classes": None if classes is None else tuple(classes)})


def label_columns(label: str | Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that a config's ``label`` names: one, or those of time and event."""
    return (label,) if isinstance(label, str) else (label["time"], label["event"])
