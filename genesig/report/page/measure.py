"""How the page names and writes a study's measure, classes, methods and permutations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from genesig.optim.classes import doubt_of_line
from genesig.report.page.record import Study, StudyFacts
from genesig.report.page.words import (
    bracketed_confidence,
    clean,
    confidence,
    decimal,
    enumerated,
    percent,
    rate,
    shorten,
)
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.selection.assess.controls import FDR_SELECTED
from genesig.selection.assess.covariates import COVARIATES, COVARIATES_AND_RIDGE


def class_codes(classes: Sequence[str]) -> tuple[int, ...]:
    """Return the number of each class in the data: −1 and 1 of two classes, 0, 1, .. of more."""
    return (-1, 1) if len(classes) == 2 else tuple(range(len(classes)))


def class_number(value: float, classes: Sequence[str]) -> int:
    """Return the index of the class that a number of `class_codes` stands for."""
    return class_codes(classes).index(round(value))


def class_sizes(study: StudyFacts) -> list[str]:
    """Return ``["27 ALL", "11 AML"]``; [] without classes."""
    pairs = zip(study["counts"] or (), study["classes"] or (), strict=True)
    return [f"{count} {clean(name)}" for count, name in pairs]


def two_classes(study: StudyFacts) -> list[str] | None:
    """Return the negative and the positive class; None unless there are two classes."""
    classes = study["classes"]
    return classes if classes is not None and len(classes) == 2 else None


def shrinkage_words(data: Study) -> str:
    """Return the sentence on how far the slope from score to probability or risk was shrunk.

    It warns instead if the slope is in doubt; it is empty for a number, which has no slope.
    """
    shrinkage = data["held_out"].get("shrinkage")
    if shrinkage is None:
        return ""
    is_survival = data["study"]["classes"] is None
    if reason := doubt_of_line(shrinkage, survival=is_survival):
        quantity = "Predicted risks" if is_survival else "Probabilities"
        return f"{quantity} of new samples are in doubt: {reason}. "
    quantity = "risks" if is_survival else "probabilities"
    return (
        f"For {quantity} of new samples, model.json multiplies the fitted slope of the score by"
        f" {percent(shrinkage)}, because few samples make slopes too large. "
    )


@dataclass(frozen=True)
class OutcomeWords:
    """Words for a kind of outcome without classes; ``{}`` stands for the name of its column."""

    outcome: str  # the kind of outcome
    subject: str  # what is predicted
    higher: str  # the outcome that a positive weight points to
    directions: tuple[str, str]  # of a gene that rises with the outcome, and of one that falls
    output: str  # what the model returns
    other_measures: str  # what is measured beside the main measure
    effect: str  # the size of the effect of one gene


NUMBER_OUTCOME = OutcomeWords(
    "a number",
    "{}",
    "a larger {}",
    ("rises with {}", "falls with {}"),
    "the predicted number",
    "calibration",
    "change per standard deviation of {}",
)
TIME_OUTCOME = OutcomeWords(
    "a time that may be censored",
    "survival ({})",
    "an early event",
    ("higher risk", "lower risk"),
    "a score, and from it the risk by a horizon",
    "Uno's C, AUC and Brier score up to a horizon, calibration",
    "change with early events, per standard deviation of the martingale residual",
)


class ExternalMeasure(NamedTuple):
    """Main measure of an external cohort."""

    key: str  # its row of scores.tsv
    name: str
    chance: float  # its value by chance


AUC_OF_COHORTS = ExternalMeasure("auc", "AUC", 0.5)


@dataclass(frozen=True)
class Measure:
    """How well a model predicts, larger is better: 1 less the column ``error`` of controls.tsv."""

    name: str
    chance: float  # its value without any signal
    column: str  # its column in tables of the page
    share: bool = False  # whether it is a share of the samples, written in per cent
    words: OutcomeWords = NUMBER_OUTCOME
    fitted: bool = False  # whether the score is an estimate of the outcome itself
    timed: bool = False  # whether the outcome is the time to an event
    long_name: str = ""  # longer name for the start of a sentence, if `name` is a single letter
    # sentence that explains a measure which many readers do not know, with {noun} and {error}
    meaning: str = ""
    external_measure: ExternalMeasure = AUC_OF_COHORTS

    @property
    def title(self) -> str:
        """Return the name as it begins a sentence."""
        return self.long_name or f"{self.name[0].upper()}{self.name[1:]}"

    @property
    def as_good(self) -> str:
        """Return the phrase for all values that are at least as good."""
        return f"an equal or higher {self.name}"

    @property
    def write(self) -> Callable[[float | None], str]:
        """Return the function that writes values: shares in per cent, others in decimals."""
        return rate if self.share else decimal

    @property
    def write_limits(self) -> Callable[[float | None], str]:
        """Return the function that writes limits of intervals: shares in whole per cent."""
        return percent if self.share else decimal

    def value(self, error: float | None) -> float | None:
        """Return the balanced accuracy, R² or C of an error: 1 - error."""
        return None if error is None else round(1 - error, 12)  # 1 - 0.9 gives 0.1

    def interval(self, row: Any) -> tuple[float | None, float | None]:
        """Return the limits, lower one first, of a row with ``low`` and ``high`` of the error."""
        return self.value(row["high"]), self.value(row["low"])

    def text(self, error: float | None) -> str:
        """Return the value of an error as text: ``"85%"``."""
        return self.write(self.value(error))

    def precise_text(self, error: float | None) -> str:
        """Return the value of an error with the decimals of a difference: ``"79.7%"``."""
        return percent(self.value(error), 1) if self.share else self.text(error)

    def confidence(self, row: Any) -> str:
        """Return ``"95% CI 82–100%"`` of a row with ``low`` and ``high`` of the error, if any."""
        return confidence(*self.interval(row), self.write_limits)

    def bracketed_confidence(self, row: Any) -> str:
        """Return ``" (95% CI 82–100%)"``, as `confidence`."""
        return bracketed_confidence(*self.interval(row), self.write_limits)

    def columns(self, rows: Sequence[Any]) -> dict[str, list[float | None]]:
        """Return value, low and high of each row, as columns of the data of a figure."""
        limits = [self.interval(row) for row in rows]
        return {
            self.column: [self.value(row["error"]) for row in rows],
            "low": [low for low, _ in limits],
            "high": [high for _, high in limits],
        }

    def values(self, errors: Sequence[float]) -> list[float]:
        """Return the values of errors that are all defined."""
        return [1 - error for error in errors]


ACCURACY = Measure("balanced accuracy", 0.5, "balanced_accuracy", share=True)

MEASURES = ByKind(
    {
        "classification": ACCURACY,
        SEVERAL_CLASSES: ACCURACY,
        "regression": Measure(
            "R²",
            0.0,
            "r2",
            fitted=True,
            meaning="No {noun} is classified: R² is the share of the variance that is predicted.",
            external_measure=ExternalMeasure("r2", "R²", 0.0),
        ),
        "survival": Measure(
            "C",
            0.5,
            "concordance",
            words=TIME_OUTCOME,
            timed=True,
            long_name="Concordance (C)",
            meaning="Each {noun} is ranked, not classified: C is the share of comparable pairs in"
            " the predicted order; {error} of the pairs were not.",
            external_measure=ExternalMeasure("concordance", "C", 0.5),
        ),
    }
)


EVENT_NAME = re.compile(r"(?!true$)[^\W\d_]{4,}([ -]\w+)*")  # relapse, but neither 1 nor yes
DEATH = re.compile("dead|died|deceased", re.IGNORECASE)


def subject(data: Study) -> str:
    """Return the outcome of a study without classes in words: ``"time to relapse"``."""
    metric = measure(data)
    event = clean(data["config"]["data"]["event"] or "") if metric.timed else ""
    if EVENT_NAME.fullmatch(event):
        return f"time to {'death' if DEATH.fullmatch(event) else event}"
    return metric.words.subject.format(clean(data["study"]["label"]))


def subject_noun(data: Study) -> str:
    """Return ``"patient"``; ``"sample"`` if a patient may have several."""
    return "patient" if data["study"]["groups"] is None else "sample"


def weight_direction(data: Study) -> str:
    """Return the text on what the sign of a weight means."""
    classes = data["study"]["classes"]
    label = data["study"]["label"]
    if classes and len(classes) > 2:
        return "A gene points to the class in which its weight is largest"
    target = clean(classes[1] if classes else measure(data).words.higher.format(label))
    return f"A gene of positive weight points to {target}"


def measure(data: Study) -> Measure:
    """Return the measure of the study's task."""
    metric = MEASURES[data["study"]["task"]]
    classes = data["study"]["classes"]
    return replace(metric, chance=1 / len(classes)) if classes else metric


MODELS = {
    "genesig": "genesig (this procedure)",
    FDR_SELECTED: "genesig, FDR-selected genes only",
    "dummy": "no-information baseline",
    "covariates": "covariates alone",
    "covariates and ridge": "covariates and ridge, all genes",
    "ridge": "ridge, all genes",
    "lasso": "lasso (l1-penalised regression)",
    "elastic_net": "elastic net",
    "pcr": "principal components, all genes",
    "kernel_pcr": "kernel principal components",
    "linear_svm": "linear SVM, all genes",
    "nearest_centroid": "nearest centroid, all genes",
    "random_forest": "random forest, all genes",
    "t_test_lda": "t-test and LDA",
    "shrunken_centroids": "shrunken centroids",
    "gradient_boosting": "gradient boosting, top genes",
    "compound_covariate": "compound covariate, top genes",
    "nonlinear": "nonlinear selection",
    "sets": "gene sets",
    "fvm": "feature vector machine",
}

EXCLUDED_MODELS = ("genesig", FDR_SELECTED, "dummy", "sets", COVARIATES, COVARIATES_AND_RIDGE)
"""Rows of controls.tsv that are no other method: genesig, chance, covariates, gene sets."""


def model_name(model: str) -> str:
    """Return the name of a method in words."""
    return MODELS.get(model, shorten(model.replace("_", " "), 30))


def method_choice(n_methods: int) -> str:
    """Return ``"the best of 5 other methods on held-out samples"``: the choice flatters it."""
    if n_methods == 1:
        return "the other method"
    return f"the best of {n_methods} other methods on held-out samples"


def frequency_threshold(data: Study) -> str:
    """Return the share of the outer splits that must select a core gene, as text."""
    return percent(data["config"]["signature"]["cv_frequency"])


# by `StudyFacts.exchanged`
PERMUTATION_SCOPES = {
    "samples": "",
    "within": "within each {group}",
    "groups": "between whole groups ({group}) of equal size",
    "both": "within each {group} whose label varies, and between the others of equal size",
}


def permuted_words(data: Study) -> str:
    """Return ``"permuted"`` with the scope of the permutations, which decides what p means."""
    return f"permuted{permutation_scope(data)}"


def permutation_scope(data: Study) -> str:
    """Return the phrase on where labels are exchanged, such as ``" within each patient"``.

    It begins with a space, and is empty if any two samples may exchange their labels.
    """
    facts = data["study"]
    names = covariate_names(data)
    covariates = f" given {names}" if names else ""
    places = [PERMUTATION_SCOPES[facts["exchanged"]].format(group=clean(facts["group"]))]
    if data["batch"] is not None:
        places.append(f"within each batch ({clean(data['batch']['column'])})")
    if data["design"]["outer"] == 1:  # a single split: into training and test samples, as given
        places.append("separately among training and test samples")
    words = ", ".join(place for place in places if place)
    return covariates + (f" {words}" if words else "")


def count_as_good(data: Study) -> int:
    """Return the number of permutations whose error does not exceed the observed error."""
    observed = data["null"]["observed"] or 0.0
    # Equal errors may differ by rounding.
    return sum(error <= observed + 1e-9 for error in data["null"]["errors"])


def covariate_names(data: Study) -> str:
    """Return ``"age and sex"``, the covariates of every model; empty without covariates."""
    names = data["config"]["data"]["covariates"]
    return enumerated(names) if names else ""
