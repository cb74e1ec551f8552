"""How a study is put into words: what it measures, its classes, labels and predictors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from genesig.optim.class_line import doubt_of_line
from genesig.report.page.record import Study, StudyFacts
from genesig.report.page.words import clean, decimal, enumerated, percent, rate, shorten
from genesig.response.design import SEVERAL
from genesig.response.known import ByKind
from genesig.selection.assess.controls import FDR_SELECTED


def codes(classes: Sequence[str]) -> tuple[int, ...]:
    """Return the response of each class: -1 and 1 of two, 0, 1, .. of more."""
    return (-1, 1) if len(classes) == 2 else tuple(range(len(classes)))


def class_of(value: float, classes: Sequence[str]) -> int:
    """Return the number of the class whose response this is."""
    return codes(classes).index(round(value))


def two(study: StudyFacts) -> list[str] | None:
    """Return the negative and the positive class, where there are just these."""
    classes = study["classes"]
    return classes if classes is not None and len(classes) == 2 else None


def shrinkage_words(data: Study) -> str:
    """Say how much of its slope the final model's line keeps, and whether it is in doubt."""
    shrinkage = data["held_out"].get("shrinkage")
    if shrinkage is None:
        return ""
    why = doubt_of_line(shrinkage)
    if why:
        return f"Probabilities of new samples are in doubt: {why}. "
    return f"The line of model.json keeps {percent(shrinkage)} of its fitted slope. "


@dataclass(frozen=True)
class Words:
    """Words for a kind of outcome without classes; ``{}`` is the name of its column.

    Attributes
    ----------
    outcome, subject : str
        The kind of outcome; what is predicted.
    higher : str
        The outcome that a positive weight points to.
    directions : (str, str)
        Of a gene that rises with the outcome, and of one that falls.
    output, further : str
        What the model returns; what else is measured.
    effect : str
        The size of the effect of one gene.
    """

    outcome: str
    subject: str
    higher: str
    directions: tuple[str, str]
    output: str
    further: str
    effect: str


NUMBER = Words(
    "a number", "{}", "a larger {}", ("rises with {}", "falls with {}"),
    "the predicted number", "calibration", "change per standard deviation of {}",
)  # fmt: skip
TIME = Words(
    "a time that may be censored", "survival ({})", "an early event",
    ("higher risk", "lower risk"), "a score, and from it the risk by a horizon",
    "Uno's C, AUC and Brier score up to a horizon, calibration",
    "change with early events, per standard deviation of the martingale residual",
)  # fmt: skip


@dataclass(frozen=True)
class Measure:
    """How well a model predicts, larger is better: 1 less the column ``error`` of controls.tsv.

    Attributes
    ----------
    name : str
    chance : float
        Its value without any signal.
    column : str
        Its column in tables of the page.
    share : bool
        Whether it is a share of the samples, written as per cent.
    words : Words
    fitted : bool
        Whether the score is an estimate of the response itself.
    timed : bool
        Whether the outcome is the time to an event.
    full : str
        What a letter stands for, where the name is one, as it begins a sentence.
    elsewhere : (str, str, float)
        What stands first of another data set: its row of scores.tsv, its name, its value without
        any signal.
    """

    name: str
    chance: float
    column: str
    share: bool = False
    words: Words = NUMBER
    fitted: bool = False
    timed: bool = False
    full: str = ""
    elsewhere: tuple[str, str, float] = ("auc", "AUC", 0.5)

    @property
    def title(self) -> str:
        """Return the name as it begins a sentence."""
        return self.full or f"{self.name[0].upper()}{self.name[1:]}"

    @property
    def as_good(self) -> str:
        """Return what is as good as a value or better."""
        return f"an equal or higher {self.name}"

    @property
    def write(self) -> Callable[[float | None], str]:
        """Return how its values are written: shares as per cent, others in decimals."""
        return rate if self.share else decimal

    @property
    def write_limits(self) -> Callable[[float | None], str]:
        """Return how limits of its intervals are written: shares as whole per cent."""
        return percent if self.share else decimal

    def value(self, error: float | None) -> float | None:
        """Return 1 - error: the balanced accuracy, R² or C."""
        return None if error is None else round(1 - error, 12)

    def interval(self, row: Any) -> tuple[float | None, float | None]:
        """Return the limits, lower one first, of a row with ``low`` and ``high`` of the error."""
        return self.value(row["high"]), self.value(row["low"])

    def columns(self, rows: Sequence[Any]) -> dict[str, list[float | None]]:
        """Return values and limits of rows that have an error, as columns."""
        limits = [self.interval(row) for row in rows]
        return {
            self.column: [self.value(row["error"]) for row in rows],
            "low": [low for low, _ in limits],
            "high": [high for _, high in limits],
        }

    def values(self, errors: Sequence[float]) -> list[float]:
        """Return those of several errors that are all defined."""
        return [1 - error for error in errors]


ACCURACY = Measure("balanced accuracy", 0.5, "balanced_accuracy", share=True)

MEASURES = ByKind({
    "classification": ACCURACY,
    SEVERAL: ACCURACY,
    "regression": Measure(
        "R²",
        0.0,
        "r2",
        fitted=True,
        elsewhere=("r2", "R²", 0.0),
    ),
    "survival": Measure(
        "C",
        0.5,
        "concordance",
        words=TIME,
        timed=True,
        full="Concordance (C)",
        elsewhere=("concordance", "C", 0.5),
    ),
})  # fmt: skip


def subject(data: Study) -> str:
    """Return what a study without classes predicts."""
    return measure(data).words.subject.format(clean(data["study"]["label"]))


def subject_noun(data: Study) -> str:
    """Return ``"patient"``; ``"sample"`` if a patient may have several."""
    return "patient" if data["study"]["groups"] is None else "sample"


def speaks_for(data: Study) -> str:
    """Say what the sign of a weight means."""
    classes, label = data["study"]["classes"], data["study"]["label"]
    if classes and len(classes) > 2:
        return "A gene points to the class in which its weight is largest"
    way = clean(classes[1] if classes else measure(data).words.higher.format(label))
    return f"A gene of positive weight points to {way}"


def measure(data: Study) -> Measure:
    """Return the measure of the study's task."""
    found, classes = MEASURES[data["study"]["task"]], data["study"]["classes"]
    return replace(found, chance=1 / len(classes)) if classes else found


MODELS = {
    "genesig": "genesig (this procedure)",
    FDR_SELECTED: "genesig, FDR-selected genes only",
    "dummy": "no-information baseline",
    "covariates": "covariates alone",
    "covariates and ridge": "covariates and ridge, all genes",
    "ridge": "ridge, all genes",
    "lasso": "lasso (l1-penalised regression)",
    "pcr": "principal components, all genes",
    "kernel_pcr": "kernel principal components",
    "linear_svm": "linear SVM, all genes",
    "nearest_centroid": "nearest centroid, all genes",
    "random_forest": "random forest, all genes",
    "nonlinear": "nonlinear selection",
    "sets": "gene sets",
    "fvm": "feature vector machine",
}


def model_name(model: str) -> str:
    """Return the name of a method in words."""
    return MODELS.get(model, shorten(model.replace("_", " "), 30))


def picked(of: int) -> str:
    """Say how the best of the other methods was chosen, which flatters it a little."""
    if of == 1:
        return "the other method"
    return f"the best of {of} other methods on held-out samples"


def often(data: Study) -> str:
    """Return what such a gene of the linear lists is, to be counted: ``"core gene"``."""
    if data["answer"]["evidence"] is None:
        return "core gene"
    return "frequent gene"


def bound(data: Study) -> str:
    """Return the share of the splits from which a gene counts as such."""
    return percent(data["config"]["signature"]["cv_frequency"])


PLACES = {
    "samples": "",
    "within": "within each {group}",
    "groups": "between whole groups ({group}) of equal size",
    "both": "within each {group} whose label varies, and between the others of equal size",
}


def shuffled(data: Study) -> str:
    """Return ``"permuted"`` and where: what may change places decides what p speaks of."""
    return f"permuted{where(data)}"


def where(data: Study) -> str:
    """Return what is given and where labels may go, with a space before it; or nothing."""
    it, names = data["study"], held(data)
    together = f" given {names}" if names else ""
    places = [PLACES[it["exchanged"]].format(group=clean(it["group"]))]
    if data["batch"] is not None:
        places.append(f"within each batch ({clean(data['batch']['column'])})")
    if data["design"]["outer"] == 1:
        places.append("separately among training and test samples")
    words = ", ".join(place for place in places if place)
    return together + (f" {words}" if words else "")


def held(data: Study) -> str:
    """Return ``"age and sex"``, what is held fixed and stays in its place, or nothing."""
    names = data["config"]["data"]["covariates"]
    return enumerated(names) if names else ""
