"""The design of a study: the columns of the sample table that it uses, and their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from genesig.response.covariates import Covariate

SEVERAL = "several_classes"
"""The kind of a classification into more than two classes."""


@dataclass(frozen=True)
class Design:
    """The columns of the sample table that a study uses, and their meaning.

    Attributes
    ----------
    label : str
        Column of the sample table that is to be predicted.
    task : str
        A name in `genesig.response.known.RESPONSES`.
    classes : tuple of str or None
        (negative, positive) class, coded -1 and +1, or the names of more classes, coded 0, 1, ..;
        None where the response has no classes.
    group, pair : str or None
        Column of samples that must stay on one side of every split; column of matched pairs.
        With pairs, `group` is the same column.
    batch : str or None
        Column of samples that were processed together.
    studies : bool
        Whether the batches are studies: folds and halves are drawn within them.
    event, occurred, horizon, ties : str, str, float, str or None
        Of survival, for which `label` is the column of times: the column of events, the word for an
        event, the time at which risks are reported, and the treatment of ties.
    covariates : tuple of Covariate
        Covariates for which models are adjusted.
    filled : bool
        Whether a missing covariate counts as the mean of the training samples.
    weights : str or None
        ``balanced``, or the column of the samples' weights.
    """

    label: str
    task: str
    classes: tuple[str, ...] | None
    group: str | None
    pair: str | None
    batch: str | None = None
    event: str | None = None
    occurred: str | None = None
    horizon: float | None = None
    ties: str | None = None
    covariates: tuple[Covariate, ...] = ()
    filled: bool = False
    weights: str | None = None
    studies: bool = False

    @property
    def kind(self) -> str:
        """Name of the kind of response, as every dict of kinds has it."""
        return self.task if self.classes is None or len(self.classes) == 2 else SEVERAL

    def notes(self) -> dict[str, Any]:
        """Return the fields as a JSON object; optional fields only if they are set."""
        required_fields = ("label", "task", "classes", "group", "pair", "batch")
        return {
            name: value
            for name, value in asdict(self).items()
            if name in required_fields or value not in (None, False, ())
        }

    @classmethod
    def from_notes(cls, notes: Mapping[str, Any]) -> Design:
        """Read what `notes` wrote."""
        classes = notes["classes"]
        covariates = tuple(
            Covariate.from_notes(covariate_notes) for covariate_notes in notes.get("covariates", ())
        )
        names = None if classes is None else tuple(classes)
        return cls(**{**notes, "classes": names, "covariates": covariates})


BALANCED = "balanced"
"""Weights of samples by which each class of a training set counts alike."""


Label = str | Mapping[str, Any]
"""``label`` of a config: a column, or those of time and event; several times are a list."""


def label_columns(label: Label) -> tuple[str, ...]:
    """Return the columns that a config's ``label`` names: one, or those of time and event.

    Of several columns of times the first one stands for all: `time_columns` fill its blanks.
    """
    return (label,) if isinstance(label, str) else (time_columns(label)[0], label["event"])


def time_columns(label: Label | None) -> tuple[str, ...]:
    """Return the columns of times; () for a label of one column, or for none."""
    if label is None or isinstance(label, str):
        return ()
    times = label["time"]
    return (times,) if isinstance(times, str) else tuple(times)
