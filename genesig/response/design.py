"""The design of a study: the columns of the sample table it uses, and the rules of a decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from genesig.response.covariates import Covariate

SEVERAL_CLASSES = "several_classes"  # the kind of a classification into more than two classes
BALANCED = "balanced"  # weights of samples by which each class of a training set counts alike

Label = str | Mapping[str, Any]
"""``label`` of a config: a column, or those of time and event; several times are a list."""

SENSITIVITY = "sensitivity"
SPECIFICITY = "specificity"
COST = "cost"
YOUDEN = "youden"
DECISION_RULES = (SENSITIVITY, SPECIFICITY, COST, YOUDEN)
"""Keys of the section ``decision`` of a config: each states how the threshold is found."""


@dataclass(frozen=True)
class Design:
    """The columns of the sample table that a study uses, and their meaning."""

    label: str  # column of the sample table that is to be predicted
    task: str  # a name in `genesig.response.kinds.RESPONSES`
    # (negative, positive) class, coded -1 and +1, or the names of more classes, coded 0, 1, ..;
    # None if the response has no classes
    classes: tuple[str, ...] | None
    group: str | None  # column of samples that must stay on one side of every split
    pair: str | None  # column of matched pairs, which is then also `group`
    batch: str | None = None  # column of samples that were processed together
    # of survival, for which `label` is the column of times: the column of events
    event: str | None = None
    occurred: str | None = None  # of survival: the word for an event
    horizon: float | None = None  # of survival: the time at which risks are reported
    # of survival: how tied events enter the partial likelihood, ``breslow`` or ``efron``
    ties: str | None = None
    covariates: tuple[Covariate, ...] = ()  # covariates for which models are adjusted
    filled: bool = False  # whether a missing covariate counts as the mean of the training samples
    weights: str | None = None  # ``balanced``, or the column of the samples' weights
    studies: bool = False  # whether the batches are studies: folds and halves are drawn within them

    @property
    def kind(self) -> str:
        """Name of the kind of response, as every dict of kinds has it."""
        return self.task if self.classes is None or len(self.classes) == 2 else SEVERAL_CLASSES

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


def label_columns(label: Label) -> tuple[str, ...]:
    """Return the columns that a config's ``label`` names: one, or those of time and event.

    Of several columns of times only the first is returned; the times of the others fill its blanks.
    """
    return (label,) if isinstance(label, str) else (time_columns(label)[0], label["event"])


def time_columns(label: Label | None) -> tuple[str, ...]:
    """Return the columns of times; () for a label of one column, or for none."""
    if label is None or isinstance(label, str):
        return ()
    times = label["time"]
    return (times,) if isinstance(times, str) else tuple(times)


def decision_rules_in(decision: Mapping[str, Any]) -> list[str]:
    """Return the rules in a section ``decision``; a valid section has at most one.

    A rule that is absent, None, false or 0 is not set.
    """
    return [name for name in DECISION_RULES if decision.get(name)]
