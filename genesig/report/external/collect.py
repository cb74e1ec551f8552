"""The part of report_data.json about external cohorts, and warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

from genesig.report.page.record import (
    MAX_PLOTTED_SAMPLES,
    Estimate,
    GroupCurve,
    Study,
    evenly_spaced_rows,
    float_fields,
    group_curves,
)
from genesig.report.page.words import clean, counted, decimal
from genesig.selection.assess.intervals import confusion_matrix, roc_curve


class SampleGroups(TypedDict):
    """Groups of samples that are not independent, such as patients with several samples."""

    column: str  # column of the sample table that names the group
    count: int  # number of groups
    classes: dict[str, int] | None  # groups of each class; None without classes


class LeftOut(TypedDict):
    """Number of samples that were left out for one reason."""

    reason: str
    count: int


class CohortScore(Estimate):
    """A measure in a cohort, with its limits."""

    samples: float  # samples that the measure is computed from


class CohortSample(TypedDict):
    """A sample of a cohort with its prediction."""

    sample: str
    given: str  # cell of the label column of the cohort
    label: str  # the same label with the names of this study
    predicted: str | float  # class, risk group or number
    wrong: bool | None  # None without classes
    score: float  # the largest one of several classes


class RocCurve(TypedDict):
    """Receiver operating characteristic over falling thresholds."""

    x: list[float]  # false positive rates
    y: list[float]  # true positive rates


class ReliabilityGroup(TypedDict):
    """Samples of similar scores."""

    score: float  # mean score
    samples: int
    share: float  # share of positive samples
    low: float  # lower limit of the 95% CI of the share
    high: float  # upper limit
    expected: float  # share that the score predicts


class CohortGene(TypedDict):
    """A row of genes.tsv: a gene of the final model in this study and in the cohort."""

    gene: str
    symbol: str
    weight: float
    training_mean: float | None
    training_sd: float | None
    mean: float | None
    sd: float | None
    shift: float | None  # difference of the means, in training standard deviations
    shift_before: NotRequired[float | None]  # the shift without ComBat; only after ComBat
    score_shift: float | None  # weight times difference of the means
    imputed: int  # samples of the cohort that lack the gene


class ShiftHistogram(TypedDict):
    """Histogram of the shifts of genes, in training standard deviations."""

    genes: int  # number of genes
    counts: list[int]  # genes in each bar
    median: float  # median absolute shift
    beyond: float  # share of genes with an absolute shift above 1


class CohortShift(TypedDict):
    """Shifts of all genes of a cohort, in training standard deviations."""

    measured: ShiftHistogram  # before ComBat
    scored: ShiftHistogram  # as the model scored them
    edges: list[float]  # edges of the bars
    by_chance: float  # standard error of the shift of a gene that does not differ


class ValueQuantiles(TypedDict):
    """Quantiles of the values of this study and of the cohort."""

    share: list[float]  # probabilities of the quantiles
    training: list[float]
    cohort: list[float]


class CohortFiles(TypedDict):
    """Where the values of a cohort come from, and how they were brought to this study."""

    name: str
    file: str
    inputs: dict[str, str]  # SHA-256 of each file
    warnings: list[str]
    combat: bool
    batches: int


class CohortSamples(TypedDict):
    """The samples of a cohort."""

    samples: int
    classes: dict[str, int] | None  # samples of each class
    left_out: list[LeftOut]
    seen_before: int  # samples that were also in the training set
    groups: NotRequired[SampleGroups]  # only if samples come in groups


class CohortPredictions(TypedDict):
    """How well the final model predicts the samples of a cohort."""

    scores: dict[str, CohortScore]
    points: list[CohortSample]  # at most `MAX_PLOTTED_SAMPLES`, evenly spaced
    roc: RocCurve | None  # two classes only
    confusion: list[list[int]] | None  # a row for each true class
    reliability: list[ReliabilityGroup]
    events: NotRequired[int]  # survival only, like the next two
    curves: NotRequired[list[GroupCurve]]  # Kaplan-Meier curves of the risk groups
    horizon: NotRequired[float]


class CohortGenes(TypedDict):
    """The genes of the final model, and the values of all genes, in a cohort."""

    needed: int  # genes of the final model
    absent: int  # those that no sample of the cohort has
    imputed: int  # samples with at least one imputed gene
    missing: float  # largest allowed share of missing genes
    genes: list[CohortGene]
    shift: CohortShift
    quantiles: ValueQuantiles


class CohortRecord(CohortFiles, CohortSamples, CohortPredictions, CohortGenes):
    """The final model in one external cohort."""


class NotAssessable(TypedDict):
    """A cohort in which the model could not be tested, with the reason."""

    name: str
    reason: str


class External(Study):
    """The keys of report_data.json that this topic reads."""

    external: list[CohortRecord]
    not_assessable: list[NotAssessable]


JsonObject = Mapping[str, Any]  # an object of about.json, or one of its rows
# fields of about.json that stay as they are
COPIED_FIELDS = (
    "name",
    "file",
    "classes",
    "combat",
    "batches",
    "needed",
    "absent",
    "imputed",
    "missing",
    "seen_before",
    "inputs",
    "warnings",
)
MAX_MEDIAN_SHIFT = 1.0  # median absolute shift of the genes, in training standard deviations


def collect_external(
    abouts: Sequence[JsonObject], classes: Sequence[str] | None
) -> dict[str, list[Any]]:
    """Return `External.external` and `External.not_assessable` from the contents of about.json."""
    return {
        "external": [
            _cohort_record(about, classes) for about in abouts if "not_assessable" not in about
        ],
        "not_assessable": [
            {"name": about["name"], "reason": about["not_assessable"]}
            for about in abouts
            if "not_assessable" in about
        ],
    }


def cohort_warnings(cohorts: Sequence[CohortRecord]) -> list[str]:
    """Return sentences about cohorts whose test is weak: known samples, or shifted genes."""
    sentences = []
    for cohort in cohorts:
        name = clean(cohort["name"])
        median = cohort["shift"]["scored"]["median"]
        if cohort["seen_before"]:
            count = counted(cohort["seen_before"], "sample")
            sentences.append(
                f"{name}: {count} with the values of a training sample, so that its test says"
                " nothing of new samples."
            )
        if median > MAX_MEDIAN_SHIFT:
            sentences.append(
                f"{name}: half of the genes lie more than {decimal(median, 1)} training standard"
                " deviations off, so that the threshold may not hold there even where the order of"
                " the samples does."
            )
    return sentences


def _cohort_record(about: JsonObject, classes: Sequence[str] | None) -> CohortRecord:
    """Return the record of one cohort; its fields have the names that about.json gives them."""
    samples = about["predictions"]
    two_classes = classes if len(classes or ()) == 2 else None
    # A curve needs samples of both classes.
    has_roc = two_classes is not None and all(about["classes"].values())
    record: CohortRecord = {
        **{key: about[key] for key in COPIED_FIELDS},  # type: ignore[typeddict-item]
        "samples": len(samples),
        "left_out": _count_reasons(about["dropped"]),
        "scores": {
            row["measure"]: float_fields(row, *CohortScore.__annotations__)
            for row in about["scores"]
        },
        "points": [
            _sample_of_page(samples[row])
            for row in evenly_spaced_rows(len(samples), MAX_PLOTTED_SAMPLES)
        ],
        "roc": _roc_curve(samples, two_classes[1]) if two_classes and has_roc else None,
        "confusion": _confusion_matrix(samples, classes) if classes else None,
        "reliability": about["reliability"],
        "genes": about["genes"],
        "shift": {key: about["shift"][key] for key in CohortShift.__annotations__},
        "quantiles": {key: about["quantiles"][key] for key in ValueQuantiles.__annotations__},
    }
    if "groups" in about:
        record["groups"] = about["groups"]
    if "curves" in about:
        record |= {
            "events": about["events"],
            "curves": group_curves(about["curves"]),
            "horizon": about["horizon"],
        }
    return record


def _sample_of_page(sample: JsonObject) -> CohortSample:
    """Return the record of a row of `predictions` in about.json, which may have a score a class."""
    fields: CohortSample = {
        key: sample[key] for key in ("sample", "given", "label", "predicted", "wrong")
    }  # type: ignore[assignment]
    return {**fields, "score": sample["score"] if "score" in sample else _largest_score(sample)}


def _largest_score(sample: JsonObject) -> float:
    """Return the largest score over the classes, each in a column ``score of CLASS``."""
    return max(float(value) for key, value in sample.items() if key.startswith("score of "))


def _count_reasons(dropped: Sequence[JsonObject]) -> list[LeftOut]:
    """Count the samples that were left out, by reason."""
    reasons = [
        str(dropped_row["reason"]) for dropped_row in dropped if dropped_row["kind"] == "sample"
    ]
    return [{"reason": reason, "count": reasons.count(reason)} for reason in dict.fromkeys(reasons)]


def _roc_curve(samples: Sequence[JsonObject], positive: str) -> RocCurve:
    """Trace (false, true) positive rates over falling thresholds; tied scores are one step."""
    is_positive = np.array([sample["label"] == positive for sample in samples])
    scores = np.array([sample["score"] for sample in samples], dtype=float)
    false_positive_rate, true_positive_rate = roc_curve(is_positive, scores)
    return {"x": false_positive_rate.tolist(), "y": true_positive_rate.tolist()}


def _confusion_matrix(samples: Sequence[JsonObject], classes: Sequence[str]) -> list[list[int]]:
    """Count the samples by true class (rows) and called class (columns).

    With two classes, a score of 0 counts as an error; with several, such a sample is left out.
    """
    true_class = np.array([classes.index(sample["label"]) for sample in samples], dtype=int)
    if len(classes) == 2:
        wrong = np.array([sample["wrong"] for sample in samples], dtype=bool)
        predicted_class = np.where(wrong, 1 - true_class, true_class)
    else:
        predicted_class = np.array(
            [
                classes.index(sample["predicted"]) if sample["predicted"] in classes else -1
                for sample in samples
            ]
        )
    counts = confusion_matrix(true_class, predicted_class, len(classes))
    without_uncalled = counts[:, :-1]
    return without_uncalled.tolist()  # type: ignore[no-any-return]
